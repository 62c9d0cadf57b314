#pragma once

// Values that are forgotten `keep` after they were put, or as soon as there are `most` newer ones.
// No I/O, one thread.

#include <cstddef>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>

#include "pkg/base/clock.h"

namespace controllers {

template <typename Key, typename Value, typename Hash = std::hash<Key>>
class RecentMap {
 public:
  RecentMap(base::Duration keep, std::size_t most) : keep_(keep), most_(most) {}

  void Put(base::TimePoint now, const Key& key, Value value) {
    ForgetOld(now);
    latest_.insert_or_assign(key, Timed{std::move(value), now});
    order_.emplace_back(now, key);
  }
  // Returns null for a value that is forgotten. Valid until the next change.
  [[nodiscard]] const Value* Find(base::TimePoint now, const Key& key) const {
    const auto found = latest_.find(key);
    return found != latest_.end() && now - found->second.at < keep_ ? &found->second.value
                                                                    : nullptr;
  }
  [[nodiscard]] std::size_t size() const { return latest_.size(); }

 private:
  struct Timed {
    Value value;
    base::TimePoint at;
  };

  void ForgetOld(base::TimePoint now) {
    while (!order_.empty() && (order_.size() >= most_ || now - order_.front().first >= keep_)) {
      const auto [at, key] = std::move(order_.front());
      order_.pop_front();
      const auto found = latest_.find(key);
      if (found != latest_.end() && found->second.at == at) latest_.erase(found);
    }
  }

  base::Duration keep_;
  std::size_t most_;
  std::unordered_map<Key, Timed, Hash> latest_;
  // In the order of Put(). An element is ignored if its key was put again later.
  std::deque<std::pair<base::TimePoint, Key>> order_;
};

}  // namespace controllers
