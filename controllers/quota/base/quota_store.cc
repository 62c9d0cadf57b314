#include "controllers/quota/base/quota_store.h"

#include <glog/logging.h>

#include <set>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/api/resource_version.h"
#include "pkg/json/value.h"

namespace controllers {

QuotaStore::QuotaStore(std::string api_name, QuotaListener& listener, const base::Clock& clock,
                       quota::QuotaForm form)
    : api_name_(std::move(api_name)), listener_(listener), clock_(clock), form_(form) {}

void QuotaStore::BeginList() {
  listing_ = true;
  listed_.clear();
  swept_ = {};
  swept_all_ = false;
  applied_.clear();
  ahead_.clear();
  forgotten_.clear();
  list_version_.clear();
}

void QuotaStore::Upsert(const json::Value& object) {
  const api::ObjectKey key = api::KeyOf(object);
  if (listing_) listed_.insert(key);
  if (forgotten_.contains(std::string(api::Uid(object)))) return;
  // A list is true even if it is older, because the server may have been restored. But a quota that
  // was written or read live since the list was requested may be newer than the list.
  const bool true_if_older = listing_ && !applied_.contains(key);
  in_order_ = !listing_;
  Take(key, object, true_if_older);
  in_order_ = false;
  const quota::Quota* held = Find(key);
  if (held != nullptr && held->resource_version == api::ResourceVersion(object)) ahead_.erase(key);
}

void QuotaStore::Take(const api::ObjectKey& key, const json::Value& object, bool true_if_older) {
  base::Result<quota::Quota> quota = quota::ParseQuota(object, form_);
  if (!quota) {
    NoteBroken(key, quota.error().message);
    return Drop(key);
  }
  NoteBroken(key, quota->unreadable.why);
  Put(std::move(*quota), true_if_older);
}

void QuotaStore::Remove(const json::Value& object) {
  const api::ObjectKey key = api::KeyOf(object);
  const std::string uid(api::Uid(object));
  forgotten_.erase(uid);
  const quota::Quota* held = Find(key);
  // The event may be about an earlier object of the same name, which the store has replaced.
  const bool replaced = held != nullptr && held->uid != uid;
  if (!replaced) Drop(key);
  broken_.erase(key);
}

bool QuotaStore::SweepSome() {
  constexpr std::size_t kSweptAStep = 256;
  if (!swept_all_) {
    std::vector<api::ObjectKey> gone;
    swept_all_ = !VisitSome(swept_, kSweptAStep, [&](const quota::Quota& quota) {
      if (IsGone(quota)) gone.push_back(quota.key);
    });
    for (const api::ObjectKey& key : gone) Drop(key);
    if (!swept_all_) return true;
    std::erase_if(broken_, [this](const auto& entry) { return !listed_.contains(entry.first); });
  }
  for (std::size_t i = 0; i < kSweptAStep && !listed_.empty(); ++i) {
    listed_.erase(listed_.begin());
  }
  return !listed_.empty();
}

// A quota that was created after the list was made may have been read live before the list arrived.
bool QuotaStore::IsGone(const quota::Quota& quota) const {
  if (listed_.contains(quota.key)) return false;
  const bool newer = api::IsKnownOlder(list_version_, quota.resource_version);
  return !(newer && applied_.contains(quota.key));
}

void QuotaStore::EndList() {
  while (SweepSome()) continue;
  applied_.clear();
  listing_ = false;
  if (!std::exchange(synced_, true)) listener_.OnQuotasSynced();
}

// Takes answers only for quotas that the store has: a late answer must not bring back a quota that
// the watch has removed.
void QuotaStore::Apply(quota::Quota quota, bool true_if_older) {
  const quota::Quota* held = Find(quota.key);
  if (held == nullptr || held->uid != quota.uid) return;
  if (listing_) applied_.insert(quota.key);
  Put(std::move(quota), true_if_older);
}

void QuotaStore::Replace(const std::string& ns, const json::Array& quotas, bool true_if_older) {
  std::set<api::ObjectKey> stored;
  for (const json::Value& object : quotas) {
    const api::ObjectKey key = api::KeyOf(object);
    stored.insert(key);
    if (listing_) applied_.insert(key);
    forgotten_.erase(std::string(api::Uid(object)));
    Take(key, object, true_if_older);
  }
  for (const api::ObjectKey& key : InNamespace(ns)) {
    if (!stored.contains(key)) Forget(key, std::string(Find(key)->uid));
  }
}

void QuotaStore::Forget(const api::ObjectKey& key, std::string_view uid) {
  const quota::Quota* held = Find(key);
  if (held == nullptr || held->uid != uid) return;
  // Beyond the bound, a lagging watch may show such quotas once more. The next write then gets a
  // 404, and forgets them again.
  if (forgotten_.size() >= kMostForgotten) forgotten_.clear();
  forgotten_.insert(held->uid);
  Drop(key);
}

// If the watch has shown this version, Upsert() removes the key from `ahead_` again.
void QuotaStore::Put(quota::Quota quota, bool true_if_older) {
  const auto found = quotas_.find(quota.key);
  if (found == quotas_.end()) {
    ahead_.insert(quota.key);
    const auto added = quotas_.emplace(quota.key, std::move(quota)).first;
    return listener_.OnQuota(nullptr, &added->second);
  }
  const bool same_object = found->second.uid == quota.uid;
  const bool older = api::IsKnownOlder(quota.resource_version, found->second.resource_version);
  // A watch that resumes may still show an earlier object of the same name.
  if (older && !true_if_older) return;
  if (same_object && quota.resource_version == found->second.resource_version) return;
  ahead_.insert(quota.key);
  const quota::Quota before = std::exchange(found->second, std::move(quota));
  if (same_object) return listener_.OnQuota(&before, &found->second);
  // The quota was deleted and created again under the same name, and no event showed it.
  listener_.OnQuota(&before, nullptr);
  listener_.OnQuota(nullptr, &found->second);
}

void QuotaStore::Drop(const api::ObjectKey& key) {
  auto node = quotas_.extract(key);
  if (node.empty()) return;
  ahead_.erase(key);
  listener_.OnQuota(&node.mapped(), nullptr);
}

void QuotaStore::NoteBroken(const api::ObjectKey& key, const std::string& why) {
  if (why.empty()) {
    broken_.erase(key);
  } else if (std::exchange(broken_[key], why) != why) {
    const std::string quota = key.ToString();
    const auto more = lines_.Take(quota, clock_.Now());
    if (!more) return;
    LOG(WARNING) << "a part of a quota cannot be read quota_api=" << api_name_ << " quota=" << quota
                 << *more << " error=" << json::Quote(why);
  }
}

const quota::Quota* QuotaStore::Find(const api::ObjectKey& key) const {
  const auto found = quotas_.find(key);
  return found == quotas_.end() ? nullptr : &found->second;
}

std::vector<api::ObjectKey> QuotaStore::InNamespace(std::string_view ns) const {
  std::vector<api::ObjectKey> keys;
  // Names are not empty, so an empty name comes before the first quota of the namespace.
  auto next = quotas_.lower_bound({std::string(ns), ""});
  for (; next != quotas_.end() && next->first.ns == ns; ++next) keys.push_back(next->first);
  return keys;
}

bool QuotaStore::VisitSome(Place& place, std::size_t most,
                           const std::function<void(const quota::Quota&)>& visit) const {
  auto next = quotas_.upper_bound(place);
  const Place* last = nullptr;
  for (std::size_t visited = 0; visited < most; ++visited) {
    if (next == quotas_.end()) return false;
    last = &next->first;
    visit(next->second);
    ++next;
  }
  if (last != nullptr) place = *last;
  return true;
}

}  // namespace controllers
