#include "pkg/leader/elector.h"

#include <catch2/catch.hpp>
#include <limits>

namespace elector_test {

using leader::Elector;
using leader::ElectorOptions;
using leader::LeaseRecord;
using leader::Step;
using Kind = leader::Step::Kind;
using namespace std::chrono_literals;

namespace {

const base::WallTime kWall{std::chrono::seconds(1'767'323'045)};  // 2026-01-02T03:04:05Z

ElectorOptions Named(const std::string& identity) {
  ElectorOptions options;
  options.identity = identity;
  options.seed = 1;
  return options;
}

LeaseRecord HeldBy(const std::string& holder, std::int64_t renewal = 0) {
  return {.holder = holder,
          .duration_seconds = 15,
          .acquire_time = "2026-01-01T00:00:00.000000Z",
          .renew_time = "2026-01-01T00:00:00.00000" + std::to_string(renewal) + "Z",
          .transitions = 4};
}

// One candidate and its clock.
struct Candidate {
  explicit Candidate(const ElectorOptions& options = Named("me")) : elector(options) {}

  Step Next() { return elector.Next(clock.Now(), kWall); }
  Step Expect(Kind kind) {
    Step step = Next();
    REQUIRE(step.kind == kind);
    return step;
  }
  void WaitOut() {
    const Step step = Expect(Kind::kWait);
    clock.Set(step.by);
  }
  void Reads(const std::optional<LeaseRecord>& stored) {
    Expect(Kind::kRead);
    elector.OnRead(clock.Now(), stored);
  }
  void Writes(Kind kind) {
    const Step step = Expect(kind);
    elector.OnWritten(clock.Now(), step.record);
  }
  void Acquire() {
    Reads(std::nullopt);
    Writes(Kind::kCreate);
    REQUIRE(Leads());
  }
  [[nodiscard]] bool Leads() const { return elector.Leads(clock.Now()); }

  base::ManualClock clock;
  Elector elector;
};

}  // namespace

TEST_CASE("elector: a lease that does not exist is created at once", "[leader]") {
  Candidate c;
  c.Reads(std::nullopt);
  const Step step = c.Expect(Kind::kCreate);
  CHECK(step.record.holder == "me");
  CHECK(step.record.duration_seconds == 15);
  CHECK(step.record.acquire_time == "2026-01-02T03:04:05.000000Z");
  CHECK(step.record.renew_time == "2026-01-02T03:04:05.000000Z");
  CHECK(step.record.transitions == 0);
  CHECK_FALSE(c.Leads());
  c.elector.OnWritten(c.clock.Now(), step.record);
  CHECK(c.Leads());
}

TEST_CASE("elector: a released lease is taken at once", "[leader]") {
  Candidate c;
  c.Reads(leader::Released(HeldBy("other"), kWall));
  const Step step = c.Expect(Kind::kUpdate);
  CHECK(step.record.holder == "me");
  CHECK(step.record.transitions == 5);
}

TEST_CASE("elector: transitions stay within what API servers store", "[leader]") {
  constexpr std::int64_t kMost = 2'147'483'647;
  for (const std::int64_t stored : {kMost - 1, kMost, std::numeric_limits<std::int64_t>::max()}) {
    Candidate c;
    LeaseRecord record = leader::Released(HeldBy("other"), kWall);
    record.transitions = stored;
    c.Reads(record);
    CHECK(c.Expect(Kind::kUpdate).record.transitions == kMost);
  }
}

TEST_CASE("elector: a released record is free, short, and keeps the transitions", "[leader]") {
  const LeaseRecord released = leader::Released(HeldBy("me"), kWall);
  CHECK(released.holder.empty());
  CHECK(released.duration_seconds == 1);
  CHECK(released.renew_time == "2026-01-02T03:04:05.000000Z");
  CHECK(released.acquire_time == released.renew_time);
  CHECK(released.transitions == 4);
}

TEST_CASE("elector: another holder's lease is respected for its duration since it was first seen",
          "[leader]") {
  Candidate c;
  const base::TimePoint began = c.clock.Now();
  int reads = 0;
  while (c.clock.Now() < began + 15s) {
    c.Reads(HeldBy("other"));
    ++reads;
    if (c.clock.Now() < began + 15s) c.WaitOut();
  }
  // Every wait was 1 to 2.2 retry periods.
  CHECK(reads >= 4);
  CHECK(reads <= 9);
  CHECK(c.clock.Now() - began <= 15s + 4400ms);
  c.Reads(HeldBy("other"));
  const Step step = c.Expect(Kind::kUpdate);
  CHECK(step.record.transitions == 5);
  CHECK(step.record.acquire_time == "2026-01-02T03:04:05.000000Z");
}

TEST_CASE("elector: a renewed lease is never taken", "[leader]") {
  Candidate c;
  for (int i = 0; i < 200; ++i) {
    c.Reads(HeldBy("other", i % 7));
    c.WaitOut();
  }
  CHECK_FALSE(c.Leads());
}

TEST_CASE("elector: the holder's duration counts", "[leader]") {
  Candidate c;
  LeaseRecord record = HeldBy("other");
  record.duration_seconds = 60;
  c.Reads(record);
  const base::TimePoint seen = c.clock.Now();
  while (c.clock.Now() < seen + 60s) {
    c.WaitOut();
    c.Reads(record);
  }
  c.Expect(Kind::kUpdate);
}

TEST_CASE("elector: an extremely long duration is respected", "[leader]") {
  Candidate c;
  LeaseRecord record = HeldBy("other");
  record.duration_seconds = std::numeric_limits<std::int64_t>::max();
  c.Reads(record);
  for (int i = 0; i < 30; ++i) {
    c.WaitOut();
    c.Reads(record);
  }
  c.Expect(Kind::kWait);
}

TEST_CASE("elector: a record without a duration lasts as long as ours", "[leader]") {
  Candidate c;
  LeaseRecord record = HeldBy("other");
  record.duration_seconds = 0;
  c.Reads(record);
  c.WaitOut();
  c.Reads(record);
  c.Expect(Kind::kWait);
}

TEST_CASE("elector: a deleted lease still belongs to the holder that was seen", "[leader]") {
  Candidate c;
  c.Reads(HeldBy("other"));
  const base::TimePoint seen = c.clock.Now();
  while (c.clock.Now() < seen + 15s) {
    c.WaitOut();
    c.Reads(std::nullopt);
  }
  c.Expect(Kind::kCreate);
}

TEST_CASE("elector: a lease with our own identity is continued", "[leader]") {
  Candidate c;
  c.Reads(HeldBy("me"));
  const Step step = c.Expect(Kind::kUpdate);
  CHECK(step.record.transitions == 4);
  CHECK(step.record.acquire_time == "2026-01-01T00:00:00.000000Z");
  CHECK(step.record.renew_time == "2026-01-02T03:04:05.000000Z");
}

TEST_CASE("elector: the leader renews every retry period, without reading", "[leader]") {
  Candidate c;
  c.Acquire();
  for (int i = 0; i < 20; ++i) {
    const base::TimePoint before = c.clock.Now();
    c.WaitOut();
    CHECK(c.clock.Now() - before == 2s);
    c.Writes(Kind::kUpdate);
    CHECK(c.Leads());
  }
}

TEST_CASE("elector: the lease begins when the renewal is sent", "[leader]") {
  Candidate c;
  c.Acquire();
  c.WaitOut();
  const Step renewal = c.Expect(Kind::kUpdate);
  const base::TimePoint sent = c.clock.Now();
  CHECK(renewal.by == sent + 5s);
  c.clock.Advance(4s);
  c.elector.OnWritten(c.clock.Now(), renewal.record);
  c.clock.Set(sent + 10s - 1ns);
  CHECK(c.Leads());
  c.clock.Set(sent + 10s);
  CHECK_FALSE(c.Leads());
  c.Expect(Kind::kLost);
  CHECK(c.elector.why_lost() == "it was not renewed for 10s");
}

TEST_CASE("elector: failed renewals are repeated until the deadline, then never", "[leader]") {
  Candidate c;
  c.Acquire();
  const base::TimePoint acquired = c.clock.Now();
  int writes = 0;
  for (Step step = c.Next(); step.kind != Kind::kLost; step = c.Next()) {
    CHECK(step.by <= acquired + 10s);  // no wait exceeds it
    if (step.kind == Kind::kWait) {
      c.clock.Set(step.by);
      continue;
    }
    writes += step.kind == Kind::kUpdate ? 1 : 0;
    c.elector.OnFailed(c.clock.Now());
  }
  CHECK(c.clock.Now() == acquired + 10s);
  CHECK(writes == 4);
  CHECK_FALSE(c.Leads());
  c.clock.Advance(1h);
  c.Expect(Kind::kLost);
}

TEST_CASE("elector: a conflict causes a read, and the lease goes on if it is still ours",
          "[leader]") {
  Candidate c;
  c.Acquire();
  c.WaitOut();
  c.Expect(Kind::kUpdate);
  c.elector.OnFailed(c.clock.Now());
  c.Reads(HeldBy("me"));
  c.Writes(Kind::kUpdate);
  CHECK(c.Leads());
}

TEST_CASE("elector: a leader that sees another holder stops at once", "[leader]") {
  Candidate c;
  c.Acquire();
  c.WaitOut();
  c.Expect(Kind::kUpdate);
  c.elector.OnFailed(c.clock.Now());
  c.Reads(HeldBy("other"));
  CHECK_FALSE(c.Leads());
  c.Expect(Kind::kLost);
  CHECK(c.elector.why_lost() == "it is held by other");
}

TEST_CASE("elector: a leader whose lease was deleted creates it again", "[leader]") {
  Candidate c;
  c.Acquire();
  c.WaitOut();
  c.Expect(Kind::kUpdate);
  c.elector.OnFailed(c.clock.Now());
  c.Reads(std::nullopt);
  c.Writes(Kind::kCreate);
  CHECK(c.Leads());
}

TEST_CASE("elector: an acquisition with a late answer does not lead", "[leader]") {
  Candidate c;
  c.Reads(std::nullopt);
  const Step step = c.Expect(Kind::kCreate);
  c.clock.Advance(10s);
  c.elector.OnWritten(c.clock.Now(), step.record);
  CHECK_FALSE(c.Leads());
  c.WaitOut();
  c.Reads(step.record);  // the write was done, so the lease is ours
  c.Writes(Kind::kUpdate);
  CHECK(c.Leads());
}

TEST_CASE("elector: after resigning it does not lead and sends nothing", "[leader]") {
  Candidate c;
  c.Acquire();
  c.elector.Resign();
  CHECK_FALSE(c.Leads());
  c.Expect(Kind::kLost);
}

TEST_CASE("elector: the record has whole seconds, never less than the lease", "[leader]") {
  ElectorOptions options = Named("me");
  options.lease_duration = 2500ms;
  options.renew_deadline = 2s;
  Candidate c(options);
  c.Reads(std::nullopt);
  CHECK(c.Expect(Kind::kCreate).record.duration_seconds == 3);
}

}  // namespace elector_test
