#pragma once

// Internal to the quota admitter: how many reviews wait, in all and in each namespace.
//
// Single-threaded.

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "pkg/admission/review.h"

namespace admission {

class WaitingLimit {
 public:
  WaitingLimit(std::size_t max, std::size_t max_in_namespace)
      : max_(max), max_in_namespace_(max_in_namespace) {}

  // A review counts as waiting while it has a seat, also if there is no room for it. The limit must
  // outlive the seat.
  class Seat {
   public:
    Seat(WaitingLimit& limit, const std::string& ns)
        : limit_(limit), entry_(limit.waiting_in_.try_emplace(ns).first) {
      ++limit_.waiting_;
      ++entry_->second;
    }
    ~Seat() {
      --limit_.waiting_;
      if (--entry_->second == 0) limit_.waiting_in_.erase(entry_);
    }
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;

    // The answer to a review that has just got its seat. nullopt: there is room.
    [[nodiscard]] std::optional<Answer> Busy() const {
      const bool all = limit_.waiting_ > limit_.max_;
      if (!all && entry_->second <= limit_.max_in_namespace_) return std::nullopt;
      return Answer{.kind = Answer::Kind::kBusy,
                    .code = 429,
                    .reason = "TooManyRequests",
                    .message = "too many requests " +
                               (all ? "" : "of namespace " + entry_->first + " ") +
                               "wait for quota decisions"};
    }

   private:
    WaitingLimit& limit_;
    const std::map<std::string, std::size_t>::iterator entry_;  // of its namespace
  };

 private:
  const std::size_t max_;
  const std::size_t max_in_namespace_;
  std::size_t waiting_ = 0;
  std::map<std::string, std::size_t> waiting_in_;  // by namespace; never 0
};

}  // namespace admission
