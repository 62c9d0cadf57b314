#pragma once

// The names of objects that the watch has shown as new a short time ago. A creation under such a
// name is often a repeated one: its client has not seen the object yet. Names are kept as hashes,
// for `keep` and at most kMost of them. So "no" means nothing, and "yes" must be checked. No I/O,
// one thread.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "controllers/usage/recent_map.h"
#include "pkg/base/clock.h"
#include "pkg/quota/uid.h"

namespace controllers {

class RecentNames {
 public:
  static constexpr std::size_t kMost = 4'096;

  explicit RecentNames(base::Duration keep) : uids_(keep, kMost) {}

  void OnAdded(base::TimePoint now, std::string_view ns, std::string_view name,
               const quota::Uid& uid);
  void OnRemoved(std::string_view ns, std::string_view name, const quota::Uid& uid);
  // True if an object with another uid was added under this name recently, and was not removed.
  [[nodiscard]] bool HasOther(base::TimePoint now, std::string_view ns, std::string_view name,
                              const quota::Uid& uid) const;
  [[nodiscard]] std::size_t size() const { return uids_.size(); }

 private:
  RecentMap<std::uint64_t, quota::Uid> uids_;  // by the hash of namespace and name
};

}  // namespace controllers
