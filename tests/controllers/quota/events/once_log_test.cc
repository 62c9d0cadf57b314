#include "controllers/quota/events/once_log.h"

#include <catch2/catch.hpp>

#include "tests/fake/captured_log.h"

namespace controllers::once_log_test {

using namespace std::chrono_literals;

TEST_CASE("once log: a problem is logged when it begins, changes, and every five minutes",
          "[quota]") {
  const fake::CapturedLog log;
  base::ManualClock clock;
  OnceLog log_once("core", clock);
  const auto said = [&] { return log.With("status of t/q fails").size(); };
  const auto meet = [&](const std::string& message) { log_once.Set("status of", "t/q", message); };
  meet("403");
  meet("403");
  CHECK(said() == 1);
  meet("503");
  CHECK(said() == 2);
  clock.Advance(299s);
  meet("503");
  CHECK(said() == 2);
  clock.Advance(1s);
  meet("503");
  meet("503");
  CHECK(said() == 3);
  log_once.Set("status of", "t/q", "");
  meet("503");
  CHECK(said() == 4);
}

TEST_CASE("once log: of many quotas that fail at once twenty are logged, then ten of them again",
          "[quota]") {
  const fake::CapturedLog log;
  base::ManualClock clock;
  OnceLog log_once("core", clock);
  const auto meet_all = [&] {
    for (int i = 0; i < 5000; ++i) log_once.Set("status of", "t/q" + std::to_string(i), "403");
  };
  meet_all();
  REQUIRE(log.With("403").size() == 20);
  CHECK(log.With("further=omitted").size() == 1);
  CHECK(log.With("403").back().find(" further=omitted ") != std::string::npos);
  for (int minute = 0; minute < 10; ++minute) {
    clock.Advance(1min);
    meet_all();
  }
  REQUIRE(log.With("403").size() == 40);
  CHECK(log.With("403")[20].find(" omitted=4980 ") != std::string::npos);
  CHECK(log.With("403")[30].find(" omitted=4990 ") != std::string::npos);
  // What is new has lines of its own.
  log_once.Set("count of", "t/other", "too large");
  CHECK(log.With("too large").size() == 1);
}

TEST_CASE("once log: a subject whose message is always another has five lines in five minutes",
          "[quota]") {
  const fake::CapturedLog log;
  base::ManualClock clock;
  OnceLog log_once("core", clock);
  const bool solved_between = GENERATE(false, true);
  for (int i = 0; i < 60'000; ++i) {
    // Whoever tells users of it by the result is told of each.
    CHECK(log_once.Set("count of", "t/q", "object " + std::to_string(i)));
    if (solved_between) log_once.Set("count of", "t/q", "");
    clock.Advance(10ms);
  }
  REQUIRE(log.With("").size() == 10);
  CHECK(log.With("")[4].find(" further=omitted ") != std::string::npos);
  CHECK(log.With("")[5].find(" omitted=29995 ") != std::string::npos);
  log_once.Set("count of", "t/other", "503");
  CHECK(log.With("t/other").size() == 1);
}

TEST_CASE("once log: a message stays inside of its value", "[quota]") {
  const fake::CapturedLog log;
  base::ManualClock clock;
  OnceLog log_once("core", clock);
  log_once.Set("count of", "t/q", R"(spec.size: "1" quota_api="core)");
  CHECK(log.With(R"(error="spec.size: \"1\" quota_api=\"core")").size() == 1);
}

}  // namespace controllers::once_log_test
