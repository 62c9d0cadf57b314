#include "controllers/usage/recent_names.h"

#include "pkg/quota/hash.h"

namespace controllers {
namespace {

std::uint64_t HashOf(std::string_view ns, std::string_view name) {
  return quota::HashText(name, quota::HashText(ns));
}

}  // namespace

void RecentNames::OnAdded(base::TimePoint now, std::string_view ns, std::string_view name,
                          const quota::Uid& uid) {
  uids_.Put(now, HashOf(ns, name), uid);
}

void RecentNames::OnRemoved(std::string_view ns, std::string_view name, const quota::Uid& uid) {
  uids_.Erase(HashOf(ns, name), uid);
}

bool RecentNames::HasOther(base::TimePoint now, std::string_view ns, std::string_view name,
                           const quota::Uid& uid) const {
  const quota::Uid* const found = uids_.Find(now, HashOf(ns, name));
  return found != nullptr && *found != uid;
}

}  // namespace controllers
