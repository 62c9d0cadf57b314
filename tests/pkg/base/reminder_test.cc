#include "pkg/base/reminder.h"

#include <catch2/catch.hpp>

#include <string>

namespace reminder_test {

using namespace std::chrono_literals;

TEST_CASE("reminder: a problem is logged when it begins, changes, and every five minutes",
          "[base]") {
  base::ManualClock clock;
  base::Reminder reminder;
  int logged = 0;
  for (int i = 0; i < 15 * 60; ++i) {
    if (reminder.Meet("403", clock.Now())) ++logged;
    clock.Advance(1s);
  }
  CHECK(logged == 3);
  CHECK(reminder.Meet("503", clock.Now()));
  CHECK_FALSE(reminder.Meet("503", clock.Now()));
}

TEST_CASE("reminder: problems that alternate are each logged every five minutes", "[base]") {
  base::ManualClock clock;
  base::Reminder reminder;
  int logged = 0;
  for (int i = 0; i < 15 * 60; ++i) {
    if (reminder.Meet(i % 2 == 0 ? "403" : "503", clock.Now())) ++logged;
    clock.Advance(1s);
  }
  CHECK(logged == 6);
}

TEST_CASE("reminder: problems whose text is always another are eight lines in five minutes",
          "[base]") {
  base::ManualClock clock;
  base::Reminder reminder;
  int logged = 0;
  for (int i = 0; i < 15 * 60; ++i) {
    if (reminder.Meet("port " + std::to_string(i), clock.Now())) ++logged;
    clock.Advance(1s);
  }
  CHECK(logged == 3 * 8);
}

TEST_CASE("reminder: a problem that comes back is new", "[base]") {
  base::ManualClock clock;
  base::Reminder reminder;
  CHECK_FALSE(reminder.Solve());
  CHECK(reminder.Meet("403", clock.Now()));
  CHECK(reminder.Solve());
  CHECK_FALSE(reminder.Solve());
  CHECK(reminder.Meet("403", clock.Now()));
}

TEST_CASE(
    "reminder: a problem that comes and goes is eight lines in five minutes, and so is its end",
    "[base]") {
  base::ManualClock clock;
  base::Reminder reminder;
  int began = 0;
  int ended = 0;
  for (int i = 0; i < 15 * 60; ++i) {
    if (reminder.Meet("403", clock.Now())) ++began;
    if (reminder.Solve()) ++ended;
    CHECK(began == ended);
    clock.Advance(1s);
  }
  CHECK(began == 3 * 8);
}

}  // namespace reminder_test
