#include "pkg/base/log_limit.h"

#include <catch2/catch.hpp>

namespace log_limit_test {

using namespace std::chrono_literals;

namespace {

// "" for a line with nothing to add, "-" for none.
std::string Take(base::LogLimit& limit, const std::string& subject, const base::Clock& clock) {
  return limit.Take(subject, clock.Now()).value_or("-");
}

}  // namespace

TEST_CASE("log limit: twenty lines in five minutes, and the next one tells how many were omitted",
          "[base]") {
  base::ManualClock clock;
  base::LogLimit limit;
  for (int i = 0; i < 19; ++i) CHECK(Take(limit, std::to_string(i), clock).empty());
  CHECK(Take(limit, "19", clock) == " further=omitted");
  for (int i = 20; i < 5000; ++i) CHECK(Take(limit, std::to_string(i), clock) == "-");
  clock.Advance(299s);
  CHECK(Take(limit, "5000", clock) == "-");
  clock.Advance(1s);
  CHECK(Take(limit, "5001", clock) == " omitted=4981");
  CHECK(Take(limit, "5002", clock).empty());
}

TEST_CASE("log limit: a subject has five lines, and others have theirs", "[base]") {
  base::ManualClock clock;
  base::LogLimit limit;
  for (int i = 0; i < 4; ++i) CHECK(Take(limit, "loud", clock).empty());
  CHECK(Take(limit, "loud", clock) == " further=omitted");
  for (int i = 0; i < 1000; ++i) CHECK(Take(limit, "loud", clock) == "-");
  CHECK(Take(limit, "quiet", clock) == " omitted=1000");
  CHECK(Take(limit, "quiet", clock).empty());
}

TEST_CASE("log limit: lines that repeat others leave room for what is new", "[base]") {
  base::ManualClock clock;
  base::LogLimit limit;
  for (int i = 0; i < 100; ++i) (void)limit.Take(std::to_string(i), clock.Now(), 10);
  CHECK(Take(limit, "new", clock) == " omitted=90");
}

}  // namespace log_limit_test
