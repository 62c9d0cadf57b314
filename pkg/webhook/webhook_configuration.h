#pragma once

// Builds the ValidatingWebhookConfiguration that tells an API server when to call us, from the
// guards of the resources that quotas limit (k8s.io/api v0.36.3,
// admissionregistration/v1/types.go).
//
// Rules are as narrow as possible. Rules without a condition (every CREATE, and the UPDATE of
// subresources) share one webhook for all resources of a quota API that are limited in the same
// namespaces. An UPDATE with a condition is a webhook of its own, because conditions belong to
// webhooks, not to rules. A namespaceSelector cannot say "has one of these labels", so each label
// key is a webhook of its own, which leaves out the namespaces of the keys before it: no request is
// sent twice. Equal input, in any order, gives an identical object. No I/O; any thread.

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/api/selector.h"
#include "pkg/json/value.h"
#include "pkg/quota/evaluator.h"
#include "pkg/webhook/endpoint.h"
#include "pkg/webhook/ownership.h"

namespace webhook {

inline const api::GroupVersionResource kWebhookConfigurations{"admissionregistration.k8s.io", "v1",
                                                              "validatingwebhookconfigurations"};

// A set of namespaces: all but those with these names, or those with these names and those with at
// least one of these labels, whatever its value.
struct Namespaces {
  bool all_but = true;
  std::set<std::string, std::less<>> names = {};
  std::set<std::string, std::less<>> label_keys = {};  // empty if all_but
  // By its name alone.
  [[nodiscard]] bool Contain(std::string_view ns) const { return names.contains(ns) != all_but; }
  auto operator<=>(const Namespaces&) const = default;
};

// If a resource is limited in more namespaces than this, the webhook selects all: the API server
// compares each request with the names one by one.
inline constexpr std::size_t kMostNamespaces = 500;
// If the object would contain more names than this in all, every webhook selects all namespaces:
// the object must fit into one request.
inline constexpr std::size_t kMostNamesInAll = 5000;
// If a resource is limited in the namespaces of more label keys than this, the webhook selects all
// namespaces: each key needs a webhook of its own.
inline constexpr std::size_t kMostLabelKeys = 8;
// If label keys would need more webhooks than this in all, these select all namespaces: each of
// them repeats the CA bundle, and the API server compares each request with each.
inline constexpr std::size_t kMostWebhooksForKeys = 100;
// If webhooks for conditions would take more bytes than this in all, the largest are left out, and
// every update of their resources is asked about: etcd takes objects of 1.5 MiB.
inline constexpr std::size_t kMostBytesForConditions = 512 << 10;

// A resource whose requests must reach us: every CREATE, and these updates.
struct GuardedResource {
  std::string quota_api;  // that limits it; several as Together() names them
  api::GroupResource resource;
  std::string version;  // its objects are sent in this version; "": in that of the request
  bool updates = false;
  std::string update_condition;           // CEL; "": every UPDATE
  std::vector<std::string> subresources;  // sorted
  Namespaces namespaces = {};  // exempt ones are excluded, too, but not those that are named
  auto operator<=>(const GuardedResource&) const = default;
};

GuardedResource Guarded(std::string quota_api, const quota::Evaluator& evaluator);

struct ConfigurationOptions {
  std::string name = "quota-controller-manager";
  std::variant<ServiceReference, AdmissionUrl> endpoint;  // how the API server reaches us
  std::string failure_policy = "Fail";                    // or "Ignore"
  std::string installation;                               // the owner; "": none is written
  json::Value owner;                                      // an ownerReference; null: none
  // Requests in these namespaces, and in that of the Service, are not sent to us. So the parts that
  // the cluster needs to start, and the daemon itself, can always be started again.
  std::vector<std::string> exempt_namespaces{"kube-system", "kube-public", "kube-node-lease"};
  std::chrono::seconds timeout{10};
  // Nor in namespaces whose labels fulfil this. REQUIRES: it has a Negation().
  std::optional<api::LabelRequirement> exempt_labels = {};
  // exempt_namespaces, and the namespace of the Service.
  [[nodiscard]] std::set<std::string, std::less<>> Exempt() const;
  // The member of matchExpressions that is false for exempt labels; null: none.
  [[nodiscard]] json::Value NotExempt() const;
};

// Returns the requirement that holds for all other namespaces; nullopt if there is none.
std::optional<api::LabelRequirement> Negation(const api::LabelRequirement& requirement);

// The path of our webhooks: this and the name of the quota API ("/validate/core"), appended to the
// path of the URL if there is one.
inline constexpr std::string_view kValidatePath = "/validate/";

// True if a rule of ours may name the resource: no wildcard, no subresource.
bool IsPlain(const api::GroupResource& resource);

// If `ca_pem` is "", the API server uses its own roots, or somebody injects a bundle. Resources
// that are not plain are left out. REQUIRES: each resource occurs once for a quota API.
json::Value DesiredConfiguration(const ConfigurationOptions& options,
                                 const std::vector<GuardedResource>& guarded,
                                 std::string_view ca_pem);

}  // namespace webhook
