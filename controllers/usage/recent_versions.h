#pragma once

// The resourceVersions of recent changes that the watch has shown. A write that starts from an
// older version cannot be stored: the API server compares versions when it stores (optimistic
// concurrency), and calls admission again for the version that it reads then.
//
// It makes no claim about versions that cannot be ordered (pkg/api/resource_version.h), or about
// forgotten changes. Changes are kept only for `keep`, which is much shorter than a restore of etcd
// takes, and at most kMost of them. No I/O, one thread.

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "pkg/base/clock.h"
#include "pkg/quota/uid.h"

namespace controllers {

class RecentVersions {
 public:
  static constexpr std::size_t kMost = 16'384;

  explicit RecentVersions(base::Duration keep) : keep_(keep) {}

  void OnChanged(base::TimePoint now, const quota::Uid& uid, std::string_view version);
  // True if the object is known to have been stored in a later version than this.
  [[nodiscard]] bool HasLater(base::TimePoint now, const quota::Uid& uid,
                              std::string_view version) const;
  // True if the object changed recently.
  [[nodiscard]] bool Has(base::TimePoint now, const quota::Uid& uid) const {
    return Find(now, uid) != nullptr;
  }
  [[nodiscard]] std::size_t size() const { return latest_.size(); }

 private:
  struct Change {
    std::string version;
    base::TimePoint at;
  };
  // Null if it is forgotten.
  [[nodiscard]] const Change* Find(base::TimePoint now, const quota::Uid& uid) const;

  base::Duration keep_;
  std::unordered_map<quota::Uid, Change, quota::UidHash> latest_;
  // In the order of the changes. An element is ignored if its object has changed again later.
  std::deque<std::pair<base::TimePoint, quota::Uid>> order_;
};

}  // namespace controllers
