#include "controllers/usage/recent_versions.h"

#include "pkg/api/resource_version.h"

namespace controllers {

void RecentVersions::OnChanged(base::TimePoint now, const quota::Uid& uid,
                               std::string_view version) {
  while (!order_.empty() && (order_.size() >= kMost || now - order_.front().first >= keep_)) {
    const auto [at, oldest] = order_.front();
    order_.pop_front();
    const auto found = latest_.find(oldest);
    if (found != latest_.end() && found->second.at == at) latest_.erase(found);
  }
  latest_.insert_or_assign(uid, Change{std::string(version), now});
  order_.emplace_back(now, uid);
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

}  // namespace controllers
