#include "controllers/quota/cluster_reach.h"

#include <algorithm>
#include <utility>

#include "pkg/accounting/timing.h"
#include "pkg/api/resource_version.h"

namespace controllers {
namespace {

// Each namespace is matched with all quotas.
constexpr int kMatchedAStep = 32;

}  // namespace

ClusterReach::ClusterReach(const TrackingContext& context, Hooks hooks)
    : context_(context),
      hooks_(std::move(hooks)),
      watch_(context_,
             {.on_namespace = [this](const std::string& ns,
                                     Labels labels) { OnNamespace(ns, std::move(labels)); },
              .on_state = [this] { hooks_.on_state(); }}) {}

void ClusterReach::OnQuota(const quota::Quota* before, const quota::Quota* after) {
  Tell(after != nullptr ? tree_.PutQuota(*after) : tree_.RemoveQuota(before->key.name));
}

void ClusterReach::OnQuotasSynced() {
  quotas_synced_ = true;
  watch_.Wake();
}

void ClusterReach::OnNamespace(const std::string& ns, Labels labels) {
  const bool at_once = synced();
  if (at_once) return Take(ns, labels);
  waiting_.insert_or_assign(ns, std::move(labels));
  watch_.Wake();
}

void ClusterReach::Take(const std::string& ns, const Labels& labels) {
  Tell(labels ? tree_.PutNamespace(ns, &*labels) : tree_.RemoveNamespace(ns));
}

void ClusterReach::Tell(const quota::QuotaTree::Change& change) {
  for (const std::string& ns : change.namespaces) {
    std::vector<std::string> groups;
    for (const auto& reaching : tree_.QuotasOf(ns)) groups.push_back(reaching.name);
    std::ranges::sort(groups);
    hooks_.set_groups(ns, std::move(groups));
  }
  NoteLosing(change.losing);
  for (const std::string& name : change.quotas) hooks_.on_moved({"", name});
}

// For example, a namespace moves to another team, and then a quota changes its selector. If the
// watch shows the second change first, no quota reaches the namespace for a moment.
void ClusterReach::NoteLosing(const std::vector<std::string>& quotas) {
  if (quotas.empty()) return;
  const base::TimePoint now = context_.scheduler->Now();
  std::erase_if(losing_, [&](const auto& one) { return one.second <= now; });
  for (const std::string& name : quotas) losing_[name] = now + accounting::kLosesNamespace;
}

base::TimePoint ClusterReach::BehindUntil(std::string_view quota) const {
  const auto losing = losing_.find(quota);
  const base::TimePoint behind_until = watch_.behind_until();
  return losing == losing_.end() ? behind_until : std::max(behind_until, losing->second);
}

bool ClusterReach::TakeSome() {
  if (!quotas_synced_ || waiting_.empty()) return false;
  for (int i = 0; i < kMatchedAStep && !waiting_.empty(); ++i) {
    auto next = waiting_.extract(waiting_.begin());
    Take(next.key(), next.mapped());
  }
  // After the last namespace, the names of ClusterQuotas are known.
  if (synced()) hooks_.on_state();
  return true;
}

std::vector<api::ObjectKey> ClusterReach::QuotasOf(std::string_view ns) const {
  std::vector<api::ObjectKey> keys;
  for (const auto& reaching : tree_.QuotasOf(ns)) keys.push_back({"", reaching.name});
  return keys;
}

bool ClusterReach::Known(std::string_view ns) const {
  return synced() && !trouble() && tree_.KnowsNamespace(ns);
}

bool ClusterReach::synced() const { return quotas_synced_ && watch_.synced() && waiting_.empty(); }

std::optional<Obstacle> ClusterReach::Incomplete(base::Duration patience) const {
  if (synced()) return std::nullopt;
  Obstacle obstacle{.resource = resource().WithoutVersion().ToString()};
  const auto& trouble = watch_.state().trouble;
  if (trouble) {
    obstacle.kind = Obstacle::Kind::kRefused;
    obstacle.why = trouble->message;
  } else if (context_.scheduler->Now() - watch_.started() > patience) {
    obstacle.kind = Obstacle::Kind::kSilent;
    obstacle.why = "the namespaces are not listed yet";
  }
  return obstacle;
}

bool ClusterReach::Reaches(std::string_view version) const {
  return api::ReachesVersion(watch_.newest(), version) ||
         api::ReachesVersion(watch_.state().resource_version, version);
}

}  // namespace controllers
