#pragma once

// Decides, for one candidate, what to do about a lease: read it, write it, wait, or give up. The
// protocol is client-go's (v0.36.3, tools/leaderelection/leaderelection.go), so both kinds of
// candidates may compete.
//
// Promises: it leads only while no other candidate that keeps the protocol can hold the lease. Its
// lease counts from when the last successful write was *sent*, which is never later than when
// others can have seen it, and it ends `renew_deadline` after that, before the lease does for
// others. Times in the record are never compared with a clock: a record is as old as the time since
// it was first seen here. So clocks may differ at will, as long as no clock runs faster than
// another by more than lease_duration / renew_deadline. Leadership that was lost does not come
// back.
//
// No I/O, one thread. Whoever drives it asks Next(), does that, and reports it by one On…() call.

#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "pkg/base/clock.h"

namespace leader {

// A Lease's spec, as far as leaders are concerned.
struct LeaseRecord {
  std::string holder;  // "": nobody, it was released
  std::int64_t duration_seconds = 0;
  std::string acquire_time;  // metav1.MicroTime, kept as it was written
  std::string renew_time;
  std::int64_t transitions = 0;  // how often the holder changed
  bool operator==(const LeaseRecord&) const = default;
};

struct ElectorOptions {
  std::string identity;  // not "", and nobody else's
  base::Duration lease_duration = std::chrono::seconds(15);
  base::Duration renew_deadline = std::chrono::seconds(10);
  base::Duration retry_period = std::chrono::seconds(2);
  std::uint64_t seed = std::random_device{}();  // of the jitter
};

// A candidate that may lead again waits up to 1 + kJitter retry periods.
inline constexpr double kJitter = 1.2;

struct Step {
  enum class Kind {
    kRead,    // read the lease, with an answer by `by`
    kCreate,  // create it with `record`, answer by `by`
    kUpdate,  // replace what was read or written last, and nothing newer, by `record`
    kWait,    // ask again at `by`
    kLost,    // nothing is left to do; why_lost() says why
  };
  Kind kind = Kind::kWait;
  base::TimePoint by{};
  LeaseRecord record;
};

class Elector {
 public:
  explicit Elector(ElectorOptions options);

  // `now` must not go back; it should go on while the machine sleeps. `wall` goes into the record.
  Step Next(base::TimePoint now, base::WallTime wall);

  // What came of the step. nullopt: there is no lease.
  void OnRead(base::TimePoint now, const std::optional<LeaseRecord>& stored);
  void OnWritten(base::TimePoint now, const LeaseRecord& stored);
  // Refused, or without an answer: then it may have been done.
  void OnFailed(base::TimePoint now);
  // From now on it does not lead, on purpose. Next() is kLost from here on.
  void Resign();

  // Whether leader's work may be done at this moment.
  [[nodiscard]] bool Leads(base::TimePoint now) const { return leads_ && now < valid_until_; }
  // Of the last lease that was held; when it ends unless it is renewed.
  [[nodiscard]] base::TimePoint valid_until() const { return valid_until_; }
  // Who holds the lease as far as is known; "" if nobody.
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
  bool quick_ = false;          // the write is one without reading first
  bool exists_ = false;         // the lease, when it was last read or written
  LeaseRecord observed_;
  base::TimePoint observed_at_{};
  base::TimePoint sent_{};  // the write under way
  bool leads_ = false;
  base::TimePoint valid_until_{};
  std::string why_lost_;
};

// The record of a lease that `stored` shows to be ours and that is given back: free at once.
LeaseRecord Released(const LeaseRecord& stored, base::WallTime wall);

}  // namespace leader
