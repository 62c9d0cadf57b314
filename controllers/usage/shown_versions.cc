#include "controllers/usage/shown_versions.h"

#include <glog/logging.h>

#include "pkg/accounting/timing.h"
#include "pkg/api/resource_version.h"

namespace controllers {
namespace {

// Longer than an admission call that began before the change may take.
constexpr std::chrono::seconds kRecent{30};
// Longer than a reservation is held.
constexpr std::chrono::seconds kGone{60};
static_assert(kGone > accounting::HoldFor(accounting::kLongestWebhook));

}  // namespace

void RecentVersions::OnChanged(base::TimePoint now, const quota::Uid& uid,
                               std::string_view version) {
  CHECK(order_.empty() || order_.back().first <= now) << "a change before the last one";
  while (!order_.empty() && (order_.size() >= kMost || now - order_.front().first >= keep_)) {
    const auto [at, oldest] = order_.front();
    order_.pop_front();
    const auto found = latest_.find(oldest);
    if (found != latest_.end() && found->second.at == at) latest_.erase(found);
  }
  latest_.insert_or_assign(uid, Change{std::string(version), now});
  order_.emplace_back(now, uid);
  CHECK_LE(latest_.size(), order_.size()) << "a change that would never be forgotten";
}

void RecentVersions::Clear() {
  latest_.clear();
  order_.clear();
}

const RecentVersions::Change* RecentVersions::Find(base::TimePoint now,
                                                   const quota::Uid& uid) const {
  const auto found = latest_.find(uid);
  return found != latest_.end() && now - found->second.at < keep_ ? &found->second : nullptr;
}

bool RecentVersions::HasLater(base::TimePoint now, const quota::Uid& uid,
                              std::string_view version) const {
  const Change* const latest = Find(now, uid);
  return latest != nullptr && api::IsKnownOlder(version, latest->version);
}

ShownVersions::ShownVersions(const base::Clock& clock)
    : clock_(clock), changed_(kRecent), gone_(kGone) {}

// After a relist only its result counts, as after a start: what was shown before may come from the
// state before a restore of the server.
void ShownVersions::OnListBegins() {
  gone_.Clear();
  newest_.clear();
  list_began_ = clock_.Now();
}

void ShownVersions::OnListEnds() {
  CHECK(list_began_ != base::TimePoint{}) << "the end of a list that did not begin";
  listed_since_ = list_began_;
}

void ShownVersions::OnShown(std::string_view version) { api::RaiseVersion(newest_, version); }

void ShownVersions::OnChanged(const quota::Uid& uid, std::string_view version) {
  changed_.OnChanged(clock_.Now(), uid, version);
}

void ShownVersions::OnDeleted(const quota::Uid& uid, std::string_view version) {
  OnShown(version);
  gone_.OnChanged(clock_.Now(), uid, version);
}

}  // namespace controllers
