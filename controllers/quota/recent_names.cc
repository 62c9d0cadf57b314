#include "controllers/quota/recent_names.h"

#include "pkg/quota/hash.h"

namespace controllers {
namespace {

std::uint64_t HashOf(std::string_view ns, std::string_view name) {
  return quota::HashText(name, quota::HashText(ns));
}

}  // namespace

void RecentNames::OnAdded(base::TimePoint now, std::string_view ns, std::string_view name,
                          const quota::Uid& uid) {
  while (!order_.empty() && (order_.size() >= kMost || now - order_.front().first >= keep_)) {
    const auto [at, hash] = order_.front();
    order_.pop_front();
    const auto found = latest_.find(hash);
    if (found != latest_.end() && found->second.at == at) latest_.erase(found);
  }
  const std::uint64_t hash = HashOf(ns, name);
  latest_[hash] = {.uid = uid, .at = now};
  order_.emplace_back(now, hash);
}

void RecentNames::OnRemoved(std::string_view ns, std::string_view name, const quota::Uid& uid) {
  const auto found = latest_.find(HashOf(ns, name));
  if (found != latest_.end() && found->second.uid == uid) latest_.erase(found);
}

bool RecentNames::HasOther(base::TimePoint now, std::string_view ns, std::string_view name,
                           const quota::Uid& uid) const {
  const auto found = latest_.find(HashOf(ns, name));
  return found != latest_.end() && found->second.uid != uid && now - found->second.at < keep_;
}

}  // namespace controllers
