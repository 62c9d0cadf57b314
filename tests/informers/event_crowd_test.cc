#include "informers/event_crowd.h"

#include <catch2/catch.hpp>

namespace informers::event_crowd_test {
namespace {

using std::chrono::milliseconds;

struct Reads {
  base::TimePoint now = base::TimePoint() + std::chrono::hours(1);
  EventCrowd crowd;

  // A read `apart` after the last one, and the pause that follows it.
  base::Duration Next(milliseconds apart, std::uint64_t events = 1, std::size_t bytes = 4000) {
    now += apart + last;
    last = crowd.PauseAfter(now, events, bytes);
    return last;
  }
  base::Duration last{};
};

TEST_CASE("event crowd: occasional events are read without delay", "[informers]") {
  Reads reads;
  for (int i = 0; i < 1000; ++i) CHECK(reads.Next(milliseconds(5)) == base::Duration::zero());
}

TEST_CASE("event crowd: a few events at once are read without delay", "[informers]") {
  Reads reads;
  for (int burst = 0; burst < 100; ++burst) {
    for (int i = 0; i < 10; ++i) CHECK(reads.Next(milliseconds(0)) == base::Duration::zero());
    CHECK(reads.Next(milliseconds(100)) == base::Duration::zero());
  }
}

TEST_CASE("event crowd: a lasting stream of events is read in batches", "[informers]") {
  Reads reads;
  int free = 0;
  while (reads.Next(milliseconds(1)) == base::Duration::zero()) ++free;
  CHECK(free == 16);  // the first read has no predecessor
  for (int i = 0; i < 100; ++i) CHECK(reads.Next(milliseconds(0), 4) == EventCrowd::kPause);

  SECTION("until a pause brought nothing together") {
    CHECK(reads.Next(milliseconds(0), 1) == base::Duration::zero());
    CHECK(reads.Next(milliseconds(0), 1) == base::Duration::zero());
  }
  SECTION("but what waits already is not left to wait") {
    CHECK(reads.Next(milliseconds(0), 64) == base::Duration::zero());
    CHECK(reads.Next(milliseconds(0), 2) == EventCrowd::kPause);
  }
  SECTION("nor where few events are many bytes, as a read takes so many at most") {
    CHECK(reads.Next(milliseconds(0), 12, std::size_t{64} << 10) == base::Duration::zero());
    CHECK(reads.Next(milliseconds(0), 2) == EventCrowd::kPause);
  }
}

}  // namespace
}  // namespace informers::event_crowd_test
