#pragma once

// A ValidatingWebhookConfiguration as the API server stores it: which resources it guards, whether
// it equals the desired one, and the patch that makes it so (k8s.io/api v0.36.3,
// admissionregistration/v1/types.go). No I/O; any thread.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/json/value.h"
#include "pkg/webhook/webhook_configuration.h"

namespace webhook {

// The resources that a stored configuration sends to us; sorted. A resource is guarded only if a
// rule names its CREATE. For an "all but" selector the excluded names are left out, and for a label
// everything that is excluded beside it. `not_exempt` as below.
std::vector<GuardedResource> GuardedBy(const json::Value& configuration,
                                       const json::Value& not_exempt = {});
// The same, but only for webhooks that equal one of `desired` in all but name, rules, selector and
// condition: others may not reach us. Here the excluded names are included. A label key is
// included if every namespace with this label is selected, except those of `exempt`. `not_exempt`
// is ConfigurationOptions::NotExempt(): a selector may have it.
std::vector<GuardedResource> GuardedAsDesired(const json::Value& live, const json::Value& desired,
                                              const std::set<std::string, std::less<>>& exempt = {},
                                              const json::Value& not_exempt = {});

// True if `live` equals `desired`. Ignored are: labels and annotations of others, the server's
// defaults, and the CA bundle if somebody injects it (cert-manager.io/inject-ca-from) or `desired`
// has none.
bool SameConfiguration(const json::Value& live, const json::Value& desired);
// True if the two differ in nothing but CA bundles.
bool DiffersInCaBundleOnly(const json::Value& live, const json::Value& desired);

// The CA bundles of its webhooks, PEM; "" for a webhook without one, or with an invalid one.
std::set<std::string> CaBundlesOf(const json::Value& configuration);

// True if it has no webhook.
bool AsksNobody(const json::Value& configuration);

// True if every webhook in it trusts exactly these certificates.
bool HasCaBundle(const json::Value& configuration, std::string_view ca_pem);

// The merge patch that makes `live` equal to `desired`, with the resourceVersion of `live`.
json::Value ConfigurationPatch(const json::Value& live, const json::Value& desired);

}  // namespace webhook
