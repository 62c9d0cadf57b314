#include "informers/reflector_fsm.h"

#include <catch2/catch.hpp>

namespace reflector_fsm_test {

using namespace std::chrono_literals;
using base::Error;
using base::ErrorCode;
using informers::ReflectorFsm;
using informers::Step;
using informers::WatchEnd;
using Act = Step::Act;
using Phase = WatchEnd::Phase;

namespace {

struct Fixture {
  base::ManualClock clock;
  ReflectorFsm fsm{base::BackoffOptions{}, 1};

  Fixture() { fsm.Listed("10"); }
  Step Ended(Phase phase, std::optional<Error> error, base::Duration lasted = 1min) {
    return fsm.WatchEnded(clock.Now(),
                          {.phase = phase, .error = std::move(error), .lasted = lasted});
  }
  Step Opening(ErrorCode code) { return Ended(Phase::kOpening, Error{.code = code}); }
};

}  // namespace

TEST_CASE("reflector fsm: a watch from its version follows a list at once", "[informers]") {
  ReflectorFsm fsm({});
  const Step step = fsm.Listed("10");
  CHECK(step.act == Act::kWatch);
  CHECK(step.wait == 0s);
  CHECK_FALSE(step.trouble);
  CHECK(fsm.version() == "10");
}

TEST_CASE("reflector fsm: the end of a watch decides the next step", "[informers]") {
  struct Case {
    const char* name;
    Phase phase;
    std::optional<ErrorCode> code;
    bool waits;
    Act act;
    int http_status = 0;
  };
  const auto row = GENERATE(values<Case>({
      {"the server's own deadline", Phase::kReading, std::nullopt, false, Act::kWatch},
      {"a lost connection", Phase::kReading, ErrorCode::kUnavailable, false, Act::kWatch},
      {"silence", Phase::kReading, ErrorCode::kTimeout, false, Act::kWatch},
      {"unreadable bytes", Phase::kReading, ErrorCode::kMalformed, true, Act::kList},
      {"an event above the bound", Phase::kReading, ErrorCode::kTooLarge, true, Act::kList},
      {"nobody listens", Phase::kOpening, ErrorCode::kUnavailable, true, Act::kWatch},
      {"no answer in time", Phase::kOpening, ErrorCode::kTimeout, true, Act::kWatch},
      {"an untrusted server", Phase::kOpening, ErrorCode::kTls, true, Act::kWatch},
      {"401", Phase::kOpening, ErrorCode::kUnauthorized, true, Act::kWatch},
      {"403", Phase::kOpening, ErrorCode::kForbidden, true, Act::kWatch},
      {"429", Phase::kOpening, ErrorCode::kTooManyRequests, true, Act::kWatch},
      {"404: the collection is gone, and with it the place", Phase::kOpening, ErrorCode::kNotFound,
       true, Act::kList},
      {"422: this version will never do", Phase::kOpening, ErrorCode::kInvalid, true, Act::kList,
       422},
      {"400", Phase::kOpening, ErrorCode::kInvalid, true, Act::kList, 400},
      {"405", Phase::kOpening, ErrorCode::kInvalid, true, Act::kList, 405},
      {"406", Phase::kOpening, ErrorCode::kInvalid, true, Act::kList, 406},
      {"ERROR 400", Phase::kEvent, ErrorCode::kInvalid, true, Act::kList, 400},
      {"a proxy leads elsewhere", Phase::kOpening, ErrorCode::kInvalid, true, Act::kWatch, 302},
      {"a proxy knows nobody", Phase::kOpening, ErrorCode::kInvalid, true, Act::kWatch, 407},
      {"a proxy did not get the request", Phase::kOpening, ErrorCode::kInvalid, true, Act::kWatch,
       408},
      {"a proxy of another server", Phase::kOpening, ErrorCode::kInvalid, true, Act::kWatch, 421},
      {"a proxy forbids the page", Phase::kOpening, ErrorCode::kInvalid, true, Act::kWatch, 451},
      {"HTTP 410", Phase::kOpening, ErrorCode::kExpired, true, Act::kList},
      {"ERROR 410", Phase::kEvent, ErrorCode::kExpired, true, Act::kList},
      {"ERROR 429", Phase::kEvent, ErrorCode::kTooManyRequests, true, Act::kWatch},
      {"ERROR 500", Phase::kEvent, ErrorCode::kUnavailable, true, Act::kWatch},
      {"ERROR 504", Phase::kEvent, ErrorCode::kTimeout, true, Act::kWatch},
  }));
  INFO(row.name);
  Fixture f;
  std::optional<Error> error;
  if (row.code) {
    error = Error{.code = *row.code, .message = "m", .http_status = row.http_status};
  }
  const Step step = f.Ended(row.phase, error);
  CHECK(step.act == row.act);
  CHECK((step.wait > 0s) == row.waits);
  CHECK(step.trouble.has_value() == (row.waits && row.code != ErrorCode::kExpired));
  CHECK(f.fsm.version() == (row.act == Act::kWatch ? "10" : ""));
}

TEST_CASE("reflector fsm: delays double up to the cap, and reset after two quiet minutes",
          "[informers]") {
  Fixture f;
  base::Duration longest{};
  for (const auto least : {800ms, 1600ms, 3200ms, 6400ms, 12800ms, 25600ms, 30000ms, 30000ms}) {
    const base::Duration wait = f.Opening(ErrorCode::kUnavailable).wait;
    CHECK(wait >= least);
    CHECK(wait < 2 * least);
    longest = std::max(longest, wait);
    f.clock.Advance(wait);
  }
  CHECK(longest < 60s);
  f.clock.Advance(3min);
  CHECK(f.Opening(ErrorCode::kUnavailable).wait < 1600ms);
}

TEST_CASE("reflector fsm: delays reset after a healthy watch", "[informers]") {
  Fixture f;
  for (int i = 0; i < 4; ++i) f.Opening(ErrorCode::kUnavailable);
  SECTION("it broke, and cannot be opened again") {
    CHECK(f.Ended(Phase::kReading, Error{.code = ErrorCode::kUnavailable}, 5s).wait == 0s);
    CHECK(f.Opening(ErrorCode::kUnavailable).wait < 1600ms);
  }
  SECTION("its place in history is gone") {
    CHECK(f.Ended(Phase::kEvent, Error{.code = ErrorCode::kExpired}, 5s).wait < 1600ms);
  }
  SECTION("not one that broke sooner") {
    CHECK(f.Ended(Phase::kReading, Error{.code = ErrorCode::kUnavailable}, 4999ms).wait == 0s);
    CHECK(f.Opening(ErrorCode::kUnavailable).wait >= 12'800ms);
  }
  SECTION("nor one that the server ended for a reason of its own") {
    CHECK(f.Ended(Phase::kEvent, Error{.code = ErrorCode::kUnavailable}, 1h).wait >= 12'800ms);
  }
  SECTION("nor one that was hard to open") {
    CHECK(f.Ended(Phase::kOpening, Error{.code = ErrorCode::kExpired}, 5s).wait >= 12'800ms);
  }
}

TEST_CASE("reflector fsm: a Retry-After is the least wait", "[informers]") {
  Fixture f;
  const Step step =
      f.Ended(Phase::kOpening, Error{.code = ErrorCode::kTooManyRequests, .retry_after = 7s});
  CHECK(step.wait == 7s);
}

TEST_CASE(
    "reflector fsm: a watch that ends at once without an event is retried later from the same "
    "version",
    "[informers]") {
  Fixture f;
  for (int i = 1; i <= 3; ++i) {
    const Step step = f.Ended(Phase::kReading, std::nullopt, 10ms);
    CHECK(step.act == Act::kWatch);
    CHECK(step.wait > 0s);
    CHECK(step.trouble.has_value() == (i == 3));  // a restart causes one or two
  }
  CHECK_FALSE(f.fsm.OpeningHeals());
  CHECK(f.fsm.version() == "10");
}

TEST_CASE("reflector fsm: a short watch with only a bookmark is a failure, with an event it is not",
          "[informers]") {
  Fixture f;
  f.fsm.Applied("11", false);
  CHECK(f.Ended(Phase::kReading, std::nullopt, 10ms).wait == 0s);
  f.fsm.Applied("12", true);
  CHECK(f.Ended(Phase::kReading, std::nullopt, 10ms).wait > 0s);
  CHECK(f.fsm.version() == "12");
}

TEST_CASE("reflector fsm: the same event repeated is not progress", "[informers]") {
  Fixture f;
  f.fsm.Applied("10", false);
  CHECK(f.Ended(Phase::kReading, std::nullopt, 10ms).wait > 0s);
}

TEST_CASE("reflector fsm: an object without a version does not change our version", "[informers]") {
  Fixture f;
  f.fsm.Applied("", false);
  CHECK(f.fsm.version() == "10");
}

TEST_CASE("reflector fsm: a server that stays behind our version causes a list", "[informers]") {
  Fixture f;
  const Error behind{.code = ErrorCode::kTimeout, .too_large_resource_version = true};
  CHECK(f.Ended(Phase::kOpening, behind).act == Act::kWatch);
  CHECK(f.Ended(Phase::kOpening, behind).act == Act::kWatch);
  CHECK(f.Ended(Phase::kOpening, behind).act == Act::kList);
}

TEST_CASE("reflector fsm: a failed list is tried again, later", "[informers]") {
  ReflectorFsm fsm({});
  base::ManualClock clock;
  const Step step = fsm.ListFailed(clock.Now(), Error{.code = ErrorCode::kForbidden});
  CHECK(step.act == Act::kList);
  CHECK(step.wait > 0s);
  CHECK(step.trouble->code == ErrorCode::kForbidden);
}

}  // namespace reflector_fsm_test
