#include "controllers/quota/cluster/cluster_reach.h"

#include <algorithm>
#include <utility>

#include "pkg/accounting/timing.h"

namespace controllers {
namespace {

// Each namespace is matched with all quotas.
constexpr int kMatchedAStep = 32;

}  // namespace

ClusterReach::ClusterReach(const TrackingContext& context, const StallDetector& stalls, Hooks hooks)
    : context_(context),
      stalls_(stalls),
      hooks_(std::move(hooks)),
      tasks_(context_.executor),
      wake_(context_.scheduler->NewAlarm()),
      started_(context_.scheduler->Now()),
      watch_(context_,
             {.on_namespace = [this](const std::string& ns,
                                     Labels labels) { OnNamespace(ns, std::move(labels)); },
              .on_state = [this] { hooks_.on_state(); }}) {}

base::Task<void> ClusterReach::Run() {
  co_await base::DeferCancellation();
  tasks_.Spawn("namespaces", [this] { return watch_.Run(); });
  while (!co_await base::Stopping()) {
    if (!quotas_synced_ || waiting_.empty()) {
      co_await wake_->WaitUntil(base::TimePoint::max());
      continue;
    }
    for (int i = 0; i < kMatchedAStep && !waiting_.empty(); ++i) {
      auto next = waiting_.extract(waiting_.begin());
      Take(next.key(), std::move(next.mapped()));
    }
    // After the last namespace, the names of ClusterQuotas are known.
    if (synced()) hooks_.on_state();
    co_await base::NextTurn();
  }
  tasks_.Cancel();
  co_await tasks_.Join();
}

void ClusterReach::OnQuota(const quota::Quota* before, const quota::Quota* after) {
  if (after != nullptr) Limit(before, *after);
  Tell(after != nullptr ? tree_.PutQuota(*after) : tree_.RemoveQuota(before->key.name));
  if (after == nullptr) places_.Remove(before->key.name);
}

void ClusterReach::Limit(const quota::Quota* before, const quota::Quota& after) {
  if (!hooks_.limited_by) return;
  const auto selector = [](const quota::Quota& quota) {
    return quota.cluster ? quota.cluster->selector : std::nullopt;
  };
  if (before != nullptr && before->hard == after.hard && selector(*before) == selector(after)) {
    return;
  }
  const auto selected = selector(after);
  places_.Put(after.key.name, hooks_.limited_by(after.hard),
              selected ? quota::PlacesOf(*selected) : std::vector<quota::Place>());
}

void ClusterReach::SetPromised(const std::string& quota, quota::ResourceList promised) {
  const std::string_view parent = tree_.SetPromised(quota, std::move(promised));
  if (!parent.empty()) hooks_.on_promises(std::string(parent));
}

void ClusterReach::OnQuotasSynced() {
  quotas_synced_ = true;
  wake_->Wake();
}

void ClusterReach::OnNamespace(const std::string& ns, Labels labels) {
  if (synced()) return Take(ns, std::move(labels));
  waiting_.insert_or_assign(ns, std::move(labels));
  wake_->Wake();
}

void ClusterReach::Take(const std::string& ns, Labels labels) {
  Tell(labels ? tree_.PutNamespace(ns, *std::move(labels)) : tree_.RemoveNamespace(ns));
}

void ClusterReach::Tell(const quota::QuotaTree::Change& change) {
  for (const std::string& ns : change.namespaces) {
    std::vector<std::string> groups;
    for (const auto& reaching : tree_.QuotasOf(ns)) groups.push_back(reaching.name);
    std::ranges::sort(groups);
    hooks_.set_groups(ns, std::move(groups));
  }
  if (hooks_.limited_by) {
    std::map<std::string, std::string> parents;
    for (const std::string& name : change.quotas) {
      const quota::Lineage::Member* const place = tree_.Place(name);
      parents[name] = place != nullptr && place->up != nullptr ? place->up->name : "";
    }
    places_.Move(parents);
  }
  // For example, a namespace moves to another team, and then a quota changes its selector. If the
  // watch shows the second change first, no quota reaches the namespace for a moment.
  const base::TimePoint now = context_.scheduler->Now();
  std::erase_if(losing_, [&](const auto& one) { return one.second <= now; });
  for (const std::string& name : change.losing) losing_[name] = now + accounting::kLosesNamespace;
  for (const std::string& name : change.quotas) hooks_.on_moved({"", name});
  for (const std::string& name : change.parents) hooks_.on_promises(name);
}

base::TimePoint ClusterReach::BehindUntil(std::string_view quota) const {
  const auto losing = losing_.find(quota);
  return std::max(watch_.BehindUntil(),
                  losing == losing_.end() ? base::TimePoint() : losing->second);
}

std::vector<api::ObjectKey> ClusterReach::QuotasOf(std::string_view ns) const {
  std::vector<api::ObjectKey> keys;
  for (const auto& reaching : tree_.QuotasOf(ns)) keys.push_back({"", reaching.name});
  return keys;
}

bool ClusterReach::Known(std::string_view ns) const {
  return synced() && watch_.Current(stalls_) && tree_.KnowsNamespace(ns);
}

bool ClusterReach::synced() const { return quotas_synced_ && watch_.synced() && waiting_.empty(); }

std::optional<Obstacle> ClusterReach::Incomplete(base::Duration patience) const {
  if (synced()) return std::nullopt;
  Obstacle obstacle{.resource = kNamespaces.WithoutVersion().ToString()};
  if (trouble()) {
    obstacle.kind = Obstacle::Kind::kRefused;
    obstacle.why = trouble()->message;
  } else if (context_.scheduler->Now() - started_ > patience) {
    obstacle.kind = Obstacle::Kind::kSilent;
    obstacle.why = "the namespaces are not listed yet";
  }
  return obstacle;
}

}  // namespace controllers
