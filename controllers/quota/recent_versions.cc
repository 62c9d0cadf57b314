#include "controllers/quota/recent_versions.h"

#include <charconv>
#include <optional>

namespace controllers {
namespace {

std::optional<std::uint64_t> NumberOf(std::string_view version) {
  std::uint64_t number = 0;
  const char* const end = version.data() + version.size();
  const auto [rest, error] = std::from_chars(version.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

}  // namespace

void RecentVersions::OnChanged(base::TimePoint now, const quota::Uid& uid,
                               std::string_view version) {
  ForgetOld(now);
  const auto number = NumberOf(version);
  if (!number) return;
  latest_[uid] = {.version = *number, .at = now};
  order_.emplace_back(now, uid);
}

bool RecentVersions::HasLater(base::TimePoint now, const quota::Uid& uid,
                              std::string_view version) const {
  const auto found = latest_.find(uid);
  if (found == latest_.end() || now - found->second.at >= keep_) return false;
  const auto number = NumberOf(version);
  return number && *number < found->second.version;
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
