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

TEST_CASE("once log: of many quotas with a lasting problem ten tell of it again", "[quota]") {
  const fake::CapturedLog log;
  base::ManualClock clock;
  OnceLog log_once("core", clock);
  const auto meet_all = [&] {
    for (int i = 0; i < 100; ++i) log_once.Set("status of", "t/q" + std::to_string(i), "403");
  };
  meet_all();
  CHECK(log.With("403").size() == 100);
  for (int minute = 0; minute < 10; ++minute) {
    clock.Advance(1min);
    meet_all();
  }
  CHECK(log.With("403").size() == 120);
}

}  // namespace controllers::once_log_test
