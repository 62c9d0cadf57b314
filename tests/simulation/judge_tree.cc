// Trees of ClusterQuotas: excuses for changed labels and specs, and the check of guarantees.

#include <algorithm>

#include "tests/simulation/judge.h"
#include "tests/simulation/tree.h"

namespace simulation {
namespace {

using std::chrono_literals::operator""s;

// From the facts that decided a request to the store of its object.
constexpr base::Duration kDecided = 20s;

void TakeSmaller(Amounts& least, const Amounts& other) {
  for (auto& [name, amount] : least) amount = std::min(amount, Get(other, name));
}

void TakeLarger(Amounts& most, const Amounts& other) {
  for (const auto& [name, amount] : other) most[name] = std::max(Get(most, name), amount);
}

}  // namespace

// New namespaces change the usage of a quota without an admission. A replica that has not seen the
// change still admits by the earlier tree. A quota that gains no namespace needs no excuse.
void Judge::OnReach(const StoredQuota& quota, bool gained) {
  Narrate("quota " + quota.name + " reaches " + std::to_string(quota.reach.size()) +
          " namespaces, uses " + ToText(server_->TrueUse(quota)));
  if (gained) Excuse(quota);
}

void Judge::OnTree() {
  Touch();
  tree_calm_since_ = timeline_.Now();
  if (tree_shown_) tree_unseen_since_ = timeline_.Now();
  tree_shown_ = false;
  NoteWays();
  NotePromises();
}

void Judge::NoteWays() {
  for (const auto& [name, ns] : server_->namespaces()) {
    std::set<std::pair<std::string, std::string>> quotas;
    for (const auto& [key, quota] : server_->quotas()) {
      if (!quota.reach.contains(name)) continue;
      const StoredQuota* const above = Above(quota, server_->quotas());
      quotas.emplace(quota.uid, above != nullptr ? above->uid : "");
    }
    Way& way = ways_[name];
    if (way.quotas == quotas) continue;
    way = {.quotas = std::move(quotas), .since = timeline_.Now()};
  }
}

void Judge::OnTreeShown(bool shown) {
  if (shown == tree_shown_) return;
  tree_shown_ = shown;
  tree_calm_since_ = timeline_.Now();
  if (!shown) tree_unseen_since_ = timeline_.Now();
  for (auto& [ns, way] : ways_) {
    if (shown && way.since >= tree_unseen_since_) way.since = timeline_.Now();
  }
  Narrate(shown ? "all have seen namespaces and quotas"
                : "somebody has not seen all namespaces and quotas");
  NotePromises();
  EndExcuses();
}

// All replicas have known the present tree since then.
bool Judge::IsTreeCalm(const StoredQuota& quota, base::TimePoint since) const {
  if (!quota.tree || tree_calm_since_ == base::TimePoint{}) return true;
  return tree_shown_ && tree_calm_since_ <= since;
}

// A replica may still know an earlier use of the quota, and an earlier guarantee until all have
// seen the spec. So a promise is a range. After a change of the parent no earlier promise is
// certain.
void Judge::NotePromises() {
  for (const auto& [key, quota] : server_->quotas()) {
    if (!quota.tree) continue;
    Limits& limits = limits_[quota.uid];
    Promise promise{.since = timeline_.Now(), .least = {}, .most = {}};
    const StoredQuota* const parent = Above(quota, server_->quotas());
    const std::string parent_uid = parent != nullptr ? parent->uid : "";
    if (limits.parent != parent_uid) {
      limits.promises.clear();
      limits.guaranteed.clear();
    }
    limits.parent = parent_uid;
    if (tree_shown_) limits.guaranteed = quota.tree->guaranteed;
    const Amounts truth = server_->TrueUse(quota);
    for (const auto& [name, amount] : quota.tree->guaranteed) {
      const std::int64_t used = Get(quota.status_used.value_or(Amounts()), name);
      const std::int64_t stored = Get(truth, name);
      promise.most[name] = std::max<std::int64_t>(0, amount - std::min(used, stored));
    }
    for (const auto& [name, amount] : GuaranteedTo(quota)) {
      const std::int64_t known = std::min(amount, Get(limits.guaranteed, name));
      const std::int64_t used = std::max(Get(*quota.status_used, name), Get(truth, name));
      promise.least[name] = std::max<std::int64_t>(0, known - used);
    }
    auto& promises = limits.promises;
    const bool same = !promises.empty() && promises.back().least == promise.least &&
                      promises.back().most == promise.most;
    if (!same) promises.push_back(std::move(promise));
  }
}

// The least promise during all of the recent time.
Amounts Judge::LeastPromised(const StoredQuota& quota) const {
  const auto limits = limits_.find(quota.uid);
  if (limits == limits_.end() || limits->second.promises.empty()) return {};
  const auto& promises = limits->second.promises;
  const base::TimePoint since = timeline_.Now() - kDecided - more_;
  if (promises.front().since > since) return {};
  Amounts least = promises.back().least;
  for (std::size_t i = 0; i + 1 < promises.size(); ++i) {
    if (promises[i + 1].since >= since) TakeSmaller(least, promises[i].least);
  }
  return least;
}

Amounts Judge::MostPromised(const StoredQuota& quota, base::TimePoint since) const {
  Amounts most;
  const auto limits = limits_.find(quota.uid);
  if (limits == limits_.end()) return most;
  const auto& promises = limits->second.promises;
  for (std::size_t i = 0; i < promises.size(); ++i) {
    const bool over = i + 1 < promises.size() && promises[i + 1].since < since;
    if (!over) TakeLarger(most, promises[i].most);
  }
  return most;
}

std::int64_t Judge::MostHeldBack(const StoredQuota& quota, const std::string& name,
                                 base::TimePoint since) const {
  std::int64_t held = 0;
  if (!quota.tree) return held;
  for (const StoredQuota* child : Below(quota, server_->quotas())) {
    held += Get(MostPromised(*child, since), name);
  }
  return held;
}

// The amount that was promised to the siblings all the time must still be free. The check skips
// what a child takes of its own guarantee, and what it took before it lost the namespace.
void Judge::CheckGuarantees(const Thing* before, const Thing& after) {
  const base::TimePoint since = timeline_.Now() - kDecided - more_;
  const auto way = ways_.find(after.ns);
  if (way == ways_.end() || way->second.since > since) return;
  for (const auto& [key, quota] : server_->quotas()) {
    const Limits& limits = limits_[quota.uid];
    if (!quota.tree || !Matches(quota, after) || IsExcused(limits)) continue;
    const Amounts old = before != nullptr ? server_->CountedBy(quota, *before) : Amounts();
    const Amounts truth = server_->TrueUse(quota);
    for (const auto& [name, amount] : server_->CountedBy(quota, after)) {
      const auto limit = HighestLimit(limits, name);
      if (amount <= Get(old, name) || !limit || !truth.contains(name)) continue;
      std::int64_t promised = 0;
      std::int64_t guaranteed = 0;
      bool own = false;
      for (const StoredQuota* child : Below(quota, server_->quotas())) {
        guaranteed = Sum(guaranteed, Get(child->tree->guaranteed, name));
        const bool on_the_way = Matches(*child, after);
        own = own || (on_the_way && Get(MostPromised(*child, since), name) > 0);
        if (!on_the_way) promised += Get(LeastPromised(*child), name);
      }
      // More is guaranteed than there is: nobody says whose guarantee is not kept.
      if (own || promised == 0 || guaranteed > *limit) continue;
      if (Sum(truth.at(name), promised) <= *limit) continue;
      Violation("what is guaranteed to others is taken: quota " + quota.name + " " + name + " " +
                std::to_string(truth.at(name)) + " and guaranteed " + std::to_string(promised) +
                " of " + std::to_string(*limit) + ", by " + after.name);
    }
  }
}

// Parses "exceeded quota: NAME, …" and "exceeded cluster quota: NAME (above OTHER), …".
const StoredQuota* Judge::RefusedBy(const Thing& after, const std::string& message) const {
  const std::size_t begin = message.find(": ");
  if (begin == std::string::npos) return nullptr;
  const std::string name =
      message.substr(begin + 2, message.find_first_of(", ", begin + 2) - begin - 2);
  const bool in_tree = message.starts_with("exceeded cluster quota");
  return server_->FindQuota({in_tree ? "" : after.ns, name});
}

void Judge::CheckPlaces() {
  for (const auto& stored : server_->quotas()) {
    const StoredQuota& quota = stored.second;
    if (!quota.tree) continue;
    const auto says = [&](const char* member) {
      const json::Value* value = quota.further.Find(member);
      return value != nullptr ? value->AsInt64().value_or(-1) : -1;
    };
    const auto expect = [&](const char* member, std::size_t wanted) {
      if (says(member) == static_cast<std::int64_t>(wanted)) return;
      Violation("status." + std::string(member) + " of " + quota.name + " is " +
                std::to_string(says(member)) + " instead of " + std::to_string(wanted));
    };
    expect("namespaces", quota.reach.size());
    expect("children", Below(quota, server_->quotas()).size());
    expect("observedGeneration", quota.generation);
  }
}

}  // namespace simulation
