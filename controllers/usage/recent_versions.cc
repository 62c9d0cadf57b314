#include "controllers/usage/recent_versions.h"

#include "pkg/api/resource_version.h"

namespace controllers {

void RecentVersions::OnChanged(base::TimePoint now, const quota::Uid& uid,
                               std::string_view version) {
  latest_.Put(now, uid, std::string(version));
}

bool RecentVersions::HasLater(base::TimePoint now, const quota::Uid& uid,
                              std::string_view version) const {
  const std::string* const latest = latest_.Find(now, uid);
  return latest != nullptr && api::IsKnownOlder(version, *latest);
}

bool RecentVersions::Has(base::TimePoint now, const quota::Uid& uid) const {
  return latest_.Find(now, uid) != nullptr;
}

}  // namespace controllers
