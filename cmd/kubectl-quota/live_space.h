#pragma once

// One namespace of the cluster for `check`, with its quotas and everything that affects admission.
// Single-threaded.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cmd/kubectl-quota/books.h"
#include "cmd/kubectl-quota/cluster_limits.h"
#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/policies.h"
#include "cmd/kubectl-quota/surroundings.h"
#include "pkg/inspect/check_view.h"
#include "pkg/inspect/manifest.h"

namespace kubectl_quota {

class LiveSpace {
 public:
  // `session` must outlive it.
  LiveSpace(Session& session, std::string ns)
      : session_(session), cluster_(session.cluster), ns_(std::move(ns)) {}

  // Call first. `manifests` are all that will be added, and `limits` have been read.
  // `policies` are used instead of the cluster's classes of the same names.
  base::Task<base::Result<void>> Read(const std::vector<inspect::Manifest>& manifests,
                                      const ClusterPolicies& policies, ClusterLimits& limits);
  // Adds the needs of one manifest; with --dry-run=server, also the server's answer to it.
  base::Task<base::Result<void>> Add(json::Value object, inspect::Checked& checked);
  // Adds the result to `checked`, and charges it to `limits`. Call last.
  base::Task<base::Result<void>> Close(ClusterLimits& limits, inspect::Checked& checked);

 private:
  // Finds out whether the namespace exists, and whether objects can be created in it.
  base::Task<base::Result<void>> ReadNamespace(bool in_files);
  // Reads the quotas of every API, with those of the manifests applied.
  base::Task<base::Result<void>> OpenBooks(const std::vector<inspect::Manifest>& manifests,
                                           const ClusterPolicies& policies, ClusterLimits& limits);
  // Applies the API's quotas of the manifests over those of the namespace.
  base::Task<base::Result<void>> ApplyQuotas(const ServedQuotaApi& of,
                                             const std::vector<inspect::Manifest>& manifests,
                                             std::vector<quota::Quota>& quotas);
  // Counts what the namespace uses under names that have no count yet.
  base::Task<base::Result<void>> CountRest(const quota::QuotaApi& api, quota::Quota& quota);
  // Prepares the evaluators, with the classes of the cluster and the files.
  base::Task<void> ReadClasses(const ClusterPolicies& policies);
  // Returns kubectl's refusal of a kind that is neither served nor defined in the files; "" if the
  // object has none.
  base::Task<std::string> NoMatch(json::Value object);
  // Returns the stored object of this name; null if there is none, or with --replace.
  base::Task<base::Result<json::Value>> Stored(const json::Value& object);
  // Reads what pods refer to and no manifest has: the PodGroup of the object's, and the
  // ResourceClaimTemplates of both.
  base::Task<base::Result<void>> ReadReferred(const json::Value& object, const json::Value& stored);
  // Adds the pods that an autoscaler of the manifests adds to a stored workload.
  base::Task<base::Result<void>> AddScaling(const json::Value& autoscaler,
                                            inspect::Checked& checked);
  // `no_match` is that of the object. Errors: of the connection. A refusal is not an error.
  base::Task<base::Result<inspect::ServerAnswer>> AskServer(const json::Value& object,
                                                            const inspect::Expansion& expansion,
                                                            const std::string& no_match);
  Session& session_;
  Cluster& cluster_;
  std::string ns_;
  std::string unseen_;   // why it cannot be seen whether the namespace exists
  bool absent_ = false;  // the namespace does not exist, and may be in the files
  inspect::Surroundings surroundings_;
  Unread unread_;
  std::unique_ptr<LimitRangeOrder> limit_ranges_;
  std::set<inspect::ObjectName> in_files_;
  std::vector<json::Value> definitions_;  // of the files
  std::vector<std::string> notes_;        // on all manifests together
  std::vector<ServedQuotaApi> apis_ = KnownQuotaApis();
  Books books_;
};

}  // namespace kubectl_quota
