#pragma once

// The resourceVersions at which the watch showed objects change lately. A write that starts from an
// older one cannot be stored: the API server compares versions when it stores (optimistic
// concurrency), and asks admission anew about the version that it reads then.
//
// Where versions cannot be ordered (pkg/api/resource_version.h) nothing is claimed. They are kept
// for `keep` only, far less than it takes to put an older state of the store back, and no more than
// kMost of them: for what is forgotten nothing is claimed either. No I/O, one thread.

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
  // True if the object is among them.
  [[nodiscard]] bool Has(base::TimePoint now, const quota::Uid& uid) const;
  [[nodiscard]] std::size_t size() const { return latest_.size(); }

 private:
  struct Seen {
    std::string version;
    base::TimePoint at;
  };
  void ForgetOld(base::TimePoint now);

  base::Duration keep_;
  std::unordered_map<quota::Uid, Seen, quota::UidHash> latest_;
  // In the order of the changes; a place whose object changed again since is skipped.
  std::deque<std::pair<base::TimePoint, quota::Uid>> order_;
};

}  // namespace controllers
