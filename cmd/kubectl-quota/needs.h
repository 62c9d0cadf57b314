#pragma once

// What a check of manifests needs to know besides their quotas; the same with a cluster and without
// one. Single-threaded.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cmd/kubectl-quota/books.h"
#include "cmd/kubectl-quota/objects.h"
#include "pkg/inspect/check_view.h"
#include "pkg/inspect/fit.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/workload.h"

namespace kubectl_quota {

std::set<std::string> LimitedNames(const std::vector<quota::Quota>& quotas);

// Returns the ResourceClaimTemplates of the manifests; nullopt if the quotas limit nothing that is
// created from them.
std::optional<inspect::ClaimTemplates> TemplatesIn(const std::vector<inspect::Manifest>& manifests,
                                                   const quota::QuotaApi& api,
                                                   const std::vector<quota::Quota>& quotas);

// Returns the kinds whose usage classes tell, with those of the files, for Counters::SetClasses().
// The cluster may have others.
std::vector<Source> SourcesWith(const std::vector<json::Value>& usage_classes,
                                const std::vector<inspect::Manifest>& manifests, const ApiBook& of);
// Adds classes to those that were read. They replace those of the same name.
void AddClasses(const std::vector<json::Value>& usage_classes, std::vector<Source>& sources);

// Notes the objects of which there are several manifests.
void NoteRepeated(const std::vector<inspect::Manifest>& manifests, std::vector<std::string>& notes);
// Adds what one manifest tells for others: inspect::AddLabelled().
void AddLabelled(const std::vector<inspect::Manifest>& manifests,
                 inspect::Surroundings& surroundings);
// The name under which EndpointSlices count.
inline constexpr const char* kSlicesName = "count/endpointslices.discovery.k8s.io";
// Returns the EndpointSlices that mirror Endpoints of the manifests, if there is nothing else.
inspect::Expansion MirrorsIn(const std::vector<inspect::Manifest>& manifests);
// Notes the Secret in which Helm stores a release, if a quota limits Secrets.
void NoteRelease(const std::vector<inspect::Manifest>& manifests, const inspect::FitBook& book,
                 std::vector<std::string>& notes);
// Charges the needs of one namespace to the ClusterQuotas, for the check of the next namespace.
// `quotas` is a Forest or a ClusterLimits.
void Charge(const inspect::FitBook& book, auto& quotas) {
  const std::vector<quota::ResourceList> asked = book.Asked();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const quota::Quota& quota = book.quotas()[i];
    // What goes in one namespace is not there for the next one.
    if (quota.cluster) quotas.Charge(quota.key.name, quota::Excess(asked[i], {}));
  }
}

}  // namespace kubectl_quota
