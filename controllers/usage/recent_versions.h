#pragma once

// The resourceVersions of recent changes that the watch has shown. A write that starts from an
// older version cannot be stored: the API server compares versions when it stores (optimistic
// concurrency), and calls admission again for the version that it reads then.
//
// It makes no claim about versions that cannot be ordered (pkg/api/resource_version.h), or about
// forgotten changes. Changes are kept only for `keep`, which is much shorter than a restore of etcd
// takes, and at most kMost of them. No I/O, one thread.

#include <cstddef>
#include <string>
#include <string_view>

#include "controllers/usage/recent_map.h"
#include "pkg/base/clock.h"
#include "pkg/quota/uid.h"

namespace controllers {

class RecentVersions {
 public:
  static constexpr std::size_t kMost = 16'384;

  explicit RecentVersions(base::Duration keep) : latest_(keep, kMost) {}

  void OnChanged(base::TimePoint now, const quota::Uid& uid, std::string_view version);
  // True if the object is known to have been stored in a later version than this.
  [[nodiscard]] bool HasLater(base::TimePoint now, const quota::Uid& uid,
                              std::string_view version) const;
  // True if the object changed recently.
  [[nodiscard]] bool Has(base::TimePoint now, const quota::Uid& uid) const;
  [[nodiscard]] std::size_t size() const { return latest_.size(); }

 private:
  RecentMap<quota::Uid, std::string, quota::UidHash> latest_;
};

}  // namespace controllers
