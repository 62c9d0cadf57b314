#pragma once

// Internal to the quota admitter: reviews that wait for their decision, and how many of them may.
//
// Single-threaded.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pkg/admission/answers.h"
#include "pkg/admission/ask.h"
#include "pkg/admission/batch.h"
#include "pkg/admission/review.h"
#include "pkg/base/scheduler.h"

namespace admission {

// A review in progress.
struct Pending {
  Review review;
  base::TimePoint deadline{};
  std::unique_ptr<base::Alarm> alarm;  // woken when one of its waiters has an answer
};

// A review that waits for the quotas of one quota API.
struct Waiter {
  // True if one of its quotas may refuse the request.
  [[nodiscard]] bool MayBeRefused() const;
  // Only a quota in mode Deny refuses, whatever fails: without one, a refusal becomes an admission
  // that says what was wrong.
  [[nodiscard]] Answer Tempered(Answer plain) const;
  [[nodiscard]] bool IsAllowed() const { return answer && answer->kind == Answer::Kind::kAllowed; }
  // The answer if its deadline comes first.
  [[nodiscard]] Answer TimedOut() const;
  // Sets the tempered answer and wakes whoever waits for it. Nothing stays granted unless `plain`
  // allows the request and somebody waits. REQUIRES: there is an alarm.
  void Conclude(Answer plain);
  // Remembers that the request relies on this grant of `made`.
  void RelyOn(const ReservePlan& made, const Grant& grant);
  // Gives back what the request relies on.
  void WithdrawAll();

  // A reservation of one quota for the object.
  struct Granted {
    api::ObjectKey quota;
    quota::Uid uid;  // of the object
    std::uint64_t number = 0;
  };

  std::shared_ptr<const Pending> pending;
  std::unique_ptr<Ask> ask;
  std::string writer;   // of its quotas, unique among all quota APIs
  BatchPlan plan = {};  // of this request alone, when it began
  std::optional<Answer> answer;
  bool abandoned = false;  // nobody waits for the answer any more
  std::string trouble;     // why the last write failed, for a waiter that gives up
  // What the request relies on: its own grants, or earlier ones.
  std::vector<Granted> granted;
};

using Waiters = std::vector<std::shared_ptr<Waiter>>;

// The first refusal, else the first answer that does not allow; null if there is none.
const Answer* FirstAgainst(const Waiters& waiters);
// True if no further answer changes what the review is answered.
bool IsDecided(const Waiters& waiters);
// Takes the answers back that allow, and gives back what they rely on.
void DropGrants(const Waiters& waiters);
// Removes the requests that were answered or abandoned, and answers those whose quota API was
// closed: it has no quotas any more. Returns false if none is left.
bool KeepUnanswered(Waiters& batch);

// How many reviews wait, in all and in each namespace.
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
    ~Seat();
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
