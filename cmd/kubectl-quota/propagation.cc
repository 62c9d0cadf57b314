#include "cmd/kubectl-quota/propagation.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/quota/count_name.h"

namespace kubectl_quota {
namespace {

using json::Value;

const api::GroupVersionResource kBindings{"work.karmada.io", "v1alpha2", "resourcebindings"};

bool CountsBindings(const quota::QuotaApi& api) {
  return std::ranges::any_of(api.evaluators, [](const quota::Evaluator& evaluator) {
    return evaluator.resource == kBindings.WithoutVersion();
  });
}

bool CountsObjects(const quota::Quota& quota) {
  return std::ranges::any_of(inspect::LimitsOf(quota), [](const auto& limit) {
    return limit.first == "secrets" || quota::ParseCountName(limit.first).has_value();
  });
}

// Adds the objects of a kind in the cluster, behind those of the files, which replace them.
base::Task<base::Result<void>> AddStored(Cluster& cluster, std::string ns, std::string group,
                                         std::string kind, std::vector<Value>& objects) {
  const client::Discovered* kinds = co_await cluster.Kinds();
  const std::string plural = GuessedResource(kind);
  const client::ApiResource* resource = FindResource(*kinds, {group, plural});
  if (resource == nullptr) co_return base::Result<void>();
  std::vector<Value> stored;
  auto listed = co_await cluster.List(
      Listing(resource->gvr, std::move(ns), "spec webhooks"),
      [&](const Value& object) { stored.push_back(object); }, [&] { stored.clear(); });
  if (!listed && listed.error().Is(base::ErrorCode::kForbidden)) {
    cluster.terminal().Doubt("bindings are foreseen without " + plural +
                             " of the cluster: " + ErrorText(listed.error()));
    co_return base::Result<void>();
  }
  if (!listed) co_return listed;
  // The list leaves out the kind of its items.
  for (Value& object : stored) {
    object.Make({"apiVersion"}) = resource->gvr.GroupVersion();
    object.Make({"kind"}) = kind;
  }
  Replace(objects, stored);
  objects = std::move(stored);
  co_return base::Result<void>();
}

}  // namespace

std::optional<inspect::Propagation> PropagationIn(const std::vector<inspect::Manifest>& manifests,
                                                  const ClusterPolicies& policies,
                                                  const Books& books) {
  std::optional<inspect::Propagation> propagation;
  for (const auto& of : books.all()) {
    if (of->book.quotas().empty() || !CountsBindings(of->api)) continue;
    if (!propagation) propagation.emplace();
    for (const quota::Quota& quota : of->book.quotas()) {
      propagation->by_class = propagation->by_class || !quota.selector.empty();
      propagation->counts_objects = propagation->counts_objects || CountsObjects(quota);
    }
  }
  if (!propagation) return propagation;
  propagation->policies = OfKind(manifests, inspect::kPropagation);
  propagation->cluster_policies = policies.propagations;
  propagation->interpreters = policies.interpreters;
  std::ranges::copy(policies.interpreter_webhooks, std::back_inserter(propagation->interpreters));
  for (const Value& binding : OfKind(manifests, inspect::kBinding)) {
    propagation->given.emplace(api::Name(binding));
  }
  return propagation;
}

base::Task<base::Result<void>> ReadPropagation(Cluster& cluster, std::string ns,
                                               inspect::Propagation& propagation) {
  struct Collection {
    const inspect::WorkloadKind& kind;
    std::string ns;
    std::vector<Value>& objects;
  };
  const std::vector<Collection> collections{
      {inspect::kPropagation, ns, propagation.policies},
      {inspect::kClusterPropagation, "", propagation.cluster_policies},
      {inspect::kInterpreter, "", propagation.interpreters},
      {inspect::kInterpreterWebhook, "", propagation.interpreters}};
  for (const Collection& of : collections) {
    auto added = co_await AddStored(cluster, of.ns, std::string(of.kind.group),
                                    std::string(of.kind.kind), of.objects);
    if (!added) co_return added;
  }
  co_return base::Result<void>();
}

base::Task<base::Result<Value>> StoredBinding(Cluster& cluster, std::string ns, std::string name) {
  auto stored = co_await cluster.Get(kBindings.Path(ns, name));
  if (stored || stored.error().Is(base::ErrorCode::kNotFound)) {
    co_return stored ? std::move(*stored) : Value();
  }
  if (!stored.error().Is(base::ErrorCode::kForbidden)) co_return stored.error();
  cluster.terminal().Warn("binding " + name + " is counted as new: " + ErrorText(stored.error()));
  co_return Value();
}

}  // namespace kubectl_quota
