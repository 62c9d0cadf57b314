#pragma once

// A write of the status of one quota, from its draft until its outcome is known. One thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "controllers/quota/own_reservations.h"
#include "pkg/json/value.h"
#include "pkg/quota/quota.h"

namespace controllers {

// What a write stores, and what is true after it. A draft that is not written can be dropped.
struct Draft {
  quota::Quota quota;  // decided from this version, which guards the write
  quota::QuotaStatus status;
  accounting::ReservationList list;
  json::Object further = {};  // other fields of status, as in quota::StatusPatch()
  // What it reserves; nullopt: nothing.
  std::optional<OwnReservations::Reserved> reserved = {};
  std::size_t taken_back = 0;  // as OwnReservations::TakeBack() returned
  bool recounts = false;       // its `used` is a new count
};

// The write of a draft that has no outcome yet. Account::Begin() makes it. It ends in exactly one
// of Account::Commit(), Account::Abort() and, if the account is gone, Forget().
class PendingWrite {
 public:
  // What is known of a write that no answer confirmed.
  enum class Outcome : std::uint8_t { kNotMade, kUnknown };

  PendingWrite(PendingWrite&&) = default;
  PendingWrite(const PendingWrite&) = delete;
  PendingWrite& operator=(const PendingWrite&) = delete;
  ~PendingWrite();

  const Draft* operator->() const { return &state_->draft; }
  // The text of its list of reservations; "": it stores no list.
  [[nodiscard]] const std::string& text() const { return state_->text; }
  // The answer has this version of the quota. Call it before anybody is told of the version.
  void OnAnswer(std::string version) { state_->answer = std::move(version); }
  // The account is gone: nobody needs the outcome.
  void Forget() { state_.reset(); }

 private:
  friend struct Account;
  struct State {
    Draft draft;
    std::string text;
    base::TimePoint began;
    std::string answer = {};  // the version in the answer; "": no answer yet
  };
  explicit PendingWrite(std::unique_ptr<State> state) : state_(std::move(state)) {}

  std::unique_ptr<State> state_;  // null: it has ended
};

}  // namespace controllers
