#include "pkg/client/reachability.h"

#include <catch2/catch.hpp>

namespace client::reachability_test {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;

struct Fixture {
  base::ManualClock clock;
  Reachability reach{clock};

  void Fail(ErrorCode code = ErrorCode::kUnavailable) {
    reach.OnError({.code = code, .message = "GET /x: lost"});
  }
  void Answer(int status) {
    reach.OnError({.code = status == 401 ? ErrorCode::kUnauthorized : ErrorCode::kUnavailable,
                   .message = "GET /x: refused",
                   .http_status = status});
  }
  // Every five seconds, from now to the end of `time`.
  template <typename F>
  void Repeat(base::Duration time, F request) {
    request();
    for (base::Duration passed{}; passed < time; passed += 5s) {
      clock.Advance(5s);
      request();
    }
  }
};

}  // namespace

TEST_CASE("reachability: requests that fail for a minute are trouble", "[client]") {
  Fixture f;
  f.clock.Advance(1h);
  const base::WallTime began = f.clock.WallNow();
  f.Repeat(55s, [&] { f.Fail(); });
  CHECK_FALSE(f.reach.Unanswered());
  f.clock.Advance(5s);
  f.Fail(ErrorCode::kTls);
  const auto trouble = f.reach.Unanswered();
  REQUIRE(trouble);
  CHECK(trouble->since == began);
  CHECK(trouble->last.code == ErrorCode::kTls);
  CHECK_FALSE(f.reach.Refused());
}

TEST_CASE("reachability: the first answer ends the trouble, whatever it says", "[client]") {
  Fixture f;
  f.Repeat(2min, [&] { f.Fail(); });
  REQUIRE(f.reach.Unanswered());
  SECTION("a success") { f.reach.OnAnswer(); }
  SECTION("a refusal") { f.Answer(GENERATE(403, 404, 429, 500, 503)); }
  SECTION("a part of a watch") { f.reach.OnBytes(); }
  CHECK_FALSE(f.reach.Unanswered());
  f.Repeat(55s, [&] { f.Fail(); });
  CHECK_FALSE(f.reach.Unanswered());
}

TEST_CASE("reachability: nothing follows from time in which nothing is asked", "[client]") {
  Fixture f;
  f.clock.Advance(1h);
  CHECK_FALSE(f.reach.Unanswered());
  f.Fail();
  f.clock.Advance(1h);
  CHECK_FALSE(f.reach.Unanswered());
  SECTION("nor from what was cancelled") {
    f.Fail(ErrorCode::kCancelled);
    CHECK_FALSE(f.reach.Unanswered());
  }
}

TEST_CASE("reachability: a 401 is no answer", "[client]") {
  Fixture f;
  f.Repeat(1min, [&] { f.Answer(401); });
  REQUIRE(f.reach.Unanswered());
  CHECK(f.reach.Unanswered()->last.http_status == 401);
}

TEST_CASE("reachability: credentials have ended when every answer of a minute is a 401",
          "[client]") {
  Fixture f;
  const base::WallTime began = f.clock.WallNow();
  f.Repeat(55s, [&] { f.Answer(401); });
  CHECK_FALSE(f.reach.Refused());
  f.clock.Advance(5s);
  SECTION("then they have") {
    f.Answer(401);
    REQUIRE(f.reach.Refused());
    CHECK(f.reach.Refused()->since == began);
  }
  SECTION("also if a request had no answer at all") {
    f.Fail();
    CHECK_FALSE(f.reach.Refused());
    f.Answer(401);
    CHECK(f.reach.Refused());
  }
  SECTION("also if a watch that was opened before goes on") {
    f.reach.OnBytes();
    f.Answer(401);
    CHECK(f.reach.Refused());
    CHECK_FALSE(f.reach.Unanswered());
  }
  SECTION("not after another answer") {
    if (GENERATE(true, false)) {
      f.reach.OnAnswer();
    } else {
      f.Answer(403);
    }
    f.Answer(401);
    CHECK_FALSE(f.reach.Refused());
  }
}

TEST_CASE("reachability: a 401 before an outage and one after it are two", "[client]") {
  Fixture f;
  f.Answer(401);
  f.clock.Advance(1s);
  f.Repeat(10min, [&] { f.Fail(); });
  f.Answer(401);
  CHECK_FALSE(f.reach.Refused());
  CHECK(f.reach.Unanswered());
}

TEST_CASE("reachability: it is known when a request was last answered", "[client]") {
  Fixture f;
  const base::TimePoint made = f.clock.Now();
  f.clock.Advance(1s);
  CHECK(f.reach.last_answer() == made);
  SECTION("with what was asked for") { f.reach.OnAnswer(); }
  SECTION("with a refusal") { f.Answer(404); }
  CHECK(f.reach.last_answer() == f.clock.Now());
  f.clock.Advance(1s);
  f.reach.OnBytes();
  f.Answer(401);
  f.Fail();
  f.Fail(ErrorCode::kCancelled);
  CHECK(f.reach.last_answer() == made + 1s);
}

}  // namespace client::reachability_test
