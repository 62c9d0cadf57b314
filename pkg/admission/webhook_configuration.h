#pragma once

// The ValidatingWebhookConfiguration by which an API server learns what to ask us, as data: built
// from the guards of the tracked resources that quotas constrain (k8s.io/api v0.36.3,
// admissionregistration/v1/types.go).
//
// Rules are as narrow as they can be. What needs no condition (every CREATE, and the UPDATE of
// subresources) is one webhook for all resources of a quota API that are limited in the same
// namespaces, whatever their number. An UPDATE with a condition is a webhook of its own, because
// conditions belong to webhooks, not to rules. Equal input, in any order, gives an identical
// object. No I/O; any thread.

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pkg/admission/endpoint.h"
#include "pkg/admission/ownership.h"
#include "pkg/api/resource.h"
#include "pkg/json/value.h"
#include "pkg/quota/evaluator.h"

namespace admission {

inline const api::GroupVersionResource kWebhookConfigurations{"admissionregistration.k8s.io", "v1",
                                                              "validatingwebhookconfigurations"};

// The label that the API server keeps on each namespace: its name.
inline constexpr std::string_view kNamespaceLabel = "kubernetes.io/metadata.name";

// Namespaces by their names: these alone, or all but these.
struct Namespaces {
  bool all_but = true;
  std::set<std::string, std::less<>> names = {};
  [[nodiscard]] bool Contain(std::string_view ns) const { return names.contains(ns) != all_but; }
  auto operator<=>(const Namespaces&) const = default;
};

// A resource that is limited in more namespaces is asked about in all: a selector is compared with
// each request, name by name.
inline constexpr std::size_t kMostNamespaces = 500;
// So are all, where more names than these would stand in the object, which has to fit into one
// request.
inline constexpr std::size_t kMostNamesInAll = 5000;

// What must be let through to us of one tracked resource of one quota API, beside every CREATE.
struct GuardedResource {
  std::string quota_api;
  api::GroupResource resource;
  std::string version;  // in which its objects come to us; "": in that of the request
  bool updates = false;
  std::string update_condition;           // CEL; "": every UPDATE
  std::vector<std::string> subresources;  // sorted
  Namespaces namespaces = {};             // all_but: beside those that are exempt
  auto operator<=>(const GuardedResource&) const = default;
};

GuardedResource Guarded(std::string quota_api, const quota::Evaluator& evaluator);

struct ConfigurationOptions {
  std::string name = "quota-controller-manager";
  std::variant<ServiceReference, AdmissionUrl> endpoint;  // how the API server reaches us
  std::string failure_policy = "Fail";                    // or "Ignore"
  std::string installation;                               // whose it is; "": not said
  json::Value owner;                                      // an ownerReference; null: none
  // Nothing in them is asked about, nor in the namespace of the Service: what the cluster needs to
  // start, and the daemon, can always be started again.
  std::vector<std::string> exempt_namespaces{"kube-system", "kube-public", "kube-node-lease"};
  std::chrono::seconds timeout{10};
  // All of them.
  [[nodiscard]] std::set<std::string, std::less<>> Exempt() const;
};

// What we ask for begins with "/validate/" and names the quota API: "/validate/core", below the
// URL's own path if it has one.
inline constexpr std::string_view kValidatePath = "/validate/";

// True for what can stand in a rule of ours: no wildcard, no subresource.
bool IsPlain(const api::GroupResource& resource);

// `ca_pem` "": the API server's own roots, or a bundle that somebody injects. A resource that is
// not plain is left out. REQUIRES: a resource comes once for a quota API.
json::Value DesiredConfiguration(const ConfigurationOptions& options,
                                 const std::vector<GuardedResource>& guarded,
                                 std::string_view ca_pem);

}  // namespace admission
