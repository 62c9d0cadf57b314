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

// What a write stores, and what is true after it. A draft that is not begun can be dropped.
struct Draft {
  quota::Quota quota;  // decided from this version, which guards the write
  quota::QuotaStatus status;
  accounting::ReservationList list;
  json::Object further = {};  // other fields of status, as in quota::StatusPatch()
  // What it reserves; nullopt: nothing.
  std::optional<OwnReservations::Reserved> reserved = {};
  std::size_t taken_back = 0;  // as OwnReservations::TakeBack() returned
  bool recounts = false;       // its `used` is a new count
  // Set while it is written:
  base::TimePoint began{};
  std::string text = {};    // of the list; "": it stores no list
  std::string answer = {};  // the version that the answer has; "": there is none yet
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

  const Draft* operator->() const { return draft_.get(); }
  // The answer has this version of the quota. Call it before the quota is given to the store.
  void OnAnswer(std::string version);
  // The account is gone: nobody needs the outcome.
  void Forget() { draft_.reset(); }

 private:
  friend struct Account;
  explicit PendingWrite(std::unique_ptr<Draft> draft) : draft_(std::move(draft)) {}

  std::unique_ptr<Draft> draft_;  // null: it has ended
};

}  // namespace controllers
