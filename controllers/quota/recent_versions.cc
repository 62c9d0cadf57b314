#include "controllers/quota/recent_versions.h"

#include "pkg/api/resource_version.h"

namespace controllers {

void RecentVersions::OnChanged(base::TimePoint now, const quota::Uid& uid,
                               std::string_view version) {
  ForgetOld(now);
  latest_[uid] = {.version = std::string(version), .at = now};
  order_.emplace_back(now, uid);
}

bool RecentVersions::HasLater(base::TimePoint now, const quota::Uid& uid,
                              std::string_view version) const {
  return Has(now, uid) && api::IsKnownOlder(version, latest_.at(uid).version);
}

bool RecentVersions::Has(base::TimePoint now, const quota::Uid& uid) const {
  const auto found = latest_.find(uid);
  return found != latest_.end() && now - found->second.at < keep_;
}

void RecentVersions::ForgetOld(base::TimePoint now) {
  while (!order_.empty() && (order_.size() >= kMost || now - order_.front().first >= keep_)) {
    const auto [at, uid] = order_.front();
    order_.pop_front();
    const auto found = latest_.find(uid);
    if (found != latest_.end() && found->second.at == at) latest_.erase(found);
  }
}

}  // namespace controllers
