#pragma once

// A ValidatingWebhookConfiguration as the API server has it: what it guards, whether it says what
// is wanted, and how it is made to (k8s.io/api v0.36.3, admissionregistration/v1/types.go). No I/O;
// any thread.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/admission/webhook_configuration.h"
#include "pkg/json/value.h"

namespace admission {

// What a stored configuration lets through to us; sorted. A resource whose CREATE it does not name
// is not guarded. Which namespaces all others are beside is not told.
std::vector<GuardedResource> GuardedBy(const json::Value& configuration);
// The same, of those webhooks only that agree with some of `desired` in everything but what they
// are asked about: the others may reach nobody. Here it is told.
std::vector<GuardedResource> GuardedAsDesired(const json::Value& live, const json::Value& desired);

// True if `live` says what `desired` does. Labels and annotations of others, what the server
// defaults, and a CA bundle that is not ours to say do not count: one that somebody injects
// (cert-manager.io/inject-ca-from), and any where `desired` has none.
bool SameConfiguration(const json::Value& live, const json::Value& desired);
// True if the two differ in nothing but CA bundles.
bool DiffersInCaBundleOnly(const json::Value& live, const json::Value& desired);

// The bundles by which its webhooks are trusted, PEM; "" for one that has none, or none that can be
// read.
std::set<std::string> CaBundlesOf(const json::Value& configuration);

// True if it has no webhook.
bool AsksNobody(const json::Value& configuration);

// True if every webhook in it trusts exactly these certificates.
bool HasCaBundle(const json::Value& configuration, std::string_view ca_pem);

// The merge patch that makes `live` say what `desired` does, guarded by its resourceVersion.
json::Value ConfigurationPatch(const json::Value& live, const json::Value& desired);

}  // namespace admission
