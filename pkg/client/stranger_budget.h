#pragma once

// Decides which requests with an unknown token may cost the API server a review. Strangers can send
// any number of tokens, so all of them together get a few reviews a second. Half of the burst is
// only for addresses that have been quiet, so that strangers who ask all the time do not lock out
// somebody who asks for the first time, for example a scraper whose token was renewed.
//
// Bounded: a number, and a time for each of a few addresses. No I/O, one thread.

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include "pkg/base/clock.h"
#include "pkg/base/token_bucket.h"

namespace client {

class StrangerBudget {
 public:
  static constexpr double kPerSecond = 5;
  static constexpr double kBurst = 40;
  static constexpr double kForQuiet = 20;  // of the burst
  static constexpr std::chrono::seconds kQuiet{10};
  static constexpr std::size_t kAddresses = 256;

  // True if a review may be sent for this address (without a port; "" if it is unknown).
  bool Take(base::TimePoint now, const std::string& address) {
    const double needed = IsQuiet(now, address) ? 1 : kForQuiet + 1;
    Note(now, address);
    return left_.Take(now, needed);
  }

 private:
  [[nodiscard]] bool IsQuiet(base::TimePoint now, const std::string& address) const {
    const auto asked = asked_.find(address);
    return asked == asked_.end() || now - asked->second >= kQuiet;
  }
  void Note(base::TimePoint now, const std::string& address) {
    if (asked_.size() >= kAddresses && !asked_.contains(address)) {
      std::erase_if(asked_, [&](const auto& entry) { return now - entry.second >= kQuiet; });
    }
    // With so many that are not quiet, one more is not told from them.
    if (asked_.size() < kAddresses || asked_.contains(address)) asked_[address] = now;
  }

  base::TokenBucket left_{{.per_second = kPerSecond, .burst = kBurst}};
  std::map<std::string, base::TimePoint> asked_;  // by address, last
};

}  // namespace client
