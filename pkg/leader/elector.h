#pragma once

// Decides what one candidate does about a lease: read it, write it, wait, or give up. The protocol
// is client-go's (v0.36.3, tools/leaderelection/leaderelection.go), so client-go's candidates may
// compete for the same lease.
//
// Guarantee: it leads only while no other candidate that follows the protocol can hold the lease.
// Our lease begins when the last successful write was *sent*, which is never later than others can
// have seen it, and ends `renew_deadline` after that, before it ends for others. Times in the
// record are never compared with a clock: a record's age is the time since it was first seen here.
// So clocks may be set to any time, as long as no clock runs faster than another by more than
// lease_duration / renew_deadline. Lost leadership does not come back.
//
// No I/O, one thread. The caller asks Next(), performs the step, and reports the outcome with one
// On…() call.

#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "pkg/base/clock.h"

namespace leader {

// The part of a Lease's spec that leader election uses.
struct LeaseRecord {
  std::string holder;  // "": released, nobody holds it
  std::int64_t duration_seconds = 0;
  std::string acquire_time;  // metav1.MicroTime, kept as written
  std::string renew_time;
  std::int64_t transitions = 0;  // how often the holder changed
  bool operator==(const LeaseRecord&) const = default;
};

struct ElectorOptions {
  std::string identity;  // not "", and unique
  base::Duration lease_duration = std::chrono::seconds(15);
  base::Duration renew_deadline = std::chrono::seconds(10);
  base::Duration retry_period = std::chrono::seconds(2);
  std::uint64_t seed = std::random_device{}();  // for the jitter
};

// A candidate that does not lead waits 1 to 1 + kJitter retry periods between two tries.
inline constexpr double kJitter = 1.2;

struct Step {
  enum class Kind {
    kRead,    // read the lease; deadline `by`
    kCreate,  // create it with `record`; deadline `by`
    kUpdate,  // replace exactly the version read or written last by `record`
    kWait,    // call Next() again at `by`
    kLost,    // leadership is lost for good; why_lost() has the reason
  };
  Kind kind = Kind::kWait;
  base::TimePoint by{};
  LeaseRecord record;
};

class Elector {
 public:
  explicit Elector(ElectorOptions options);

  // `now` must never go back, and should advance while the machine is suspended. `wall` goes into
  // the record.
  Step Next(base::TimePoint now, base::WallTime wall);

  // Reports the outcome of a step. nullopt: there is no lease.
  void OnRead(base::TimePoint now, const std::optional<LeaseRecord>& stored);
  void OnWritten(base::TimePoint now, const LeaseRecord& stored);
  // The request was refused, or had no answer and may have taken effect.
  void OnFailed(base::TimePoint now);
  // Gives up leadership on purpose. Next() returns kLost from now on.
  void Resign();

  // True if leader-only work is allowed at this moment.
  [[nodiscard]] bool Leads(base::TimePoint now) const { return leads_ && now < valid_until_; }
  // When the lease that was held last ends without a renewal.
  [[nodiscard]] base::TimePoint valid_until() const { return valid_until_; }
  // The last known holder; "" if nobody.
  [[nodiscard]] const std::string& holder() const { return observed_.holder; }
  [[nodiscard]] const std::string& why_lost() const { return why_lost_; }
  [[nodiscard]] const ElectorOptions& options() const { return options_; }

 private:
  enum class Todo { kWait, kRead, kWrite };
  Step Write(base::TimePoint by, base::WallTime wall);
  void Observe(base::TimePoint now, const LeaseRecord& record);
  [[nodiscard]] bool IsOthers(base::TimePoint now) const;
  void Fail(base::TimePoint now);
  void Lose(std::string why);

  ElectorOptions options_;
  std::mt19937_64 random_;
  Todo todo_ = Todo::kWait;
  base::TimePoint next_try_{};  // at once
  bool quick_ = false;          // the current write was not preceded by a read
  bool exists_ = false;         // the lease existed when it was last read or written
  LeaseRecord observed_;
  base::TimePoint observed_at_{};
  base::TimePoint sent_{};  // when the current write was sent
  bool leads_ = false;
  base::TimePoint valid_until_{};
  std::string why_lost_;
};

// Returns the record that releases our lease `stored`: others may take it at once.
LeaseRecord Released(const LeaseRecord& stored, base::WallTime wall);

}  // namespace leader
