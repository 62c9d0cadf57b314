#pragma once

// How far the watch of one collection has come: the newest version that it has shown, which objects
// it has shown to have changed or to be deleted, and when the last complete list began.
//
// No I/O; one thread. The clock must outlive it.

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "pkg/base/clock.h"
#include "pkg/quota/uid.h"

namespace controllers {

// The resourceVersions of recent changes. It makes no claim about versions that cannot be ordered
// (pkg/api/resource_version.h), or about forgotten changes. Changes are kept only for `keep`, which
// is much shorter than a restore of etcd takes, and at most kMost of them.
class RecentVersions {
 public:
  static constexpr std::size_t kMost = 16'384;

  explicit RecentVersions(base::Duration keep) : keep_(keep) {}

  // REQUIRES: `now` is not before that of an earlier change.
  void OnChanged(base::TimePoint now, const quota::Uid& uid, std::string_view version);
  void Clear();
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

class ShownVersions {
 public:
  explicit ShownVersions(const base::Clock& clock);

  // The server was restored to an earlier state: what was shown before says nothing of what it has.
  void OnRelist() { changed_.Clear(); }
  void OnListBegins();
  void OnListEnds();
  // An object of this version was shown, or its deletion.
  void OnShown(std::string_view version);
  // The facts of the object have changed.
  void OnChanged(const quota::Uid& uid, std::string_view version);
  void OnDeleted(const quota::Uid& uid, std::string_view version);

  // The newest version of an object that was shown since the last list began; "" if none. The watch
  // covers all namespaces, so each namespace is shown as far.
  [[nodiscard]] const std::string& newest() const { return newest_; }
  // True if an event has shown recently that the object was deleted, after the last list began.
  [[nodiscard]] bool IsGone(const quota::Uid& uid) const { return gone_.Has(clock_.Now(), uid); }
  // True if the object is known to have changed since it had this resourceVersion. A write that
  // starts from it cannot be stored: the API server compares versions when it stores (optimistic
  // concurrency), and calls admission again for the version that it reads then.
  [[nodiscard]] bool HasLater(const quota::Uid& uid, std::string_view version) const {
    return changed_.HasLater(clock_.Now(), uid, version);
  }
  // When the last complete list began. Everything that was stored before was shown.
  [[nodiscard]] base::TimePoint listed_since() const { return listed_since_; }

 private:
  const base::Clock& clock_;
  RecentVersions changed_;
  RecentVersions gone_;
  std::string newest_;
  base::TimePoint list_began_{};    // of the last list, complete or not
  base::TimePoint listed_since_{};  // of the last complete list
};

}  // namespace controllers
