// Two electors must never believe at the same time that they lead.

#include <catch2/catch.hpp>

#include "tests/pkg/leader/leader_simulation.h"

namespace simulation_test {

using leader::ElectorOptions;
using leader_simulation::Simulation;
using namespace std::chrono_literals;

namespace {

// Under a sanitizer each step is checked, which takes longer. Fewer schedules are enough there.
#ifdef QCM_SANITIZED
constexpr std::uint64_t kSchedules = 2'000;
#else
constexpr std::uint64_t kSchedules = 20'000;
#endif

}  // namespace

TEST_CASE("simulation: 20 000 schedules never have two leaders", "[leader]") {
  std::uint64_t transitions = 0;
  std::uint64_t restarts = 0;
  int idle_at_end = 0;
  for (std::uint64_t seed = 1; seed <= kSchedules; ++seed) {
    Simulation s(seed, 2 + static_cast<int>(seed % 4), {}, {});
    const int most = s.RunUntil(90s);
    if (most > 1) FAIL("seed " << seed << ": " << most << " lead at one time");
    transitions += s.transitions();
    restarts += s.restarts();
    // Without faults somebody leads, whatever happened before: 40 s for processes that are still
    // stopped, 18 s for the lease by the slowest clock, and two tries.
    s.StopFaults();
    const int later = s.RunUntil(90s + 40s + 18s + 12s);
    if (later > 1) FAIL("seed " << seed << ": " << later << " lead at one time");
    idle_at_end += s.Leaders() == 1 ? 0 : 1;
  }
  CHECK(idle_at_end == 0);
  CHECK(transitions > kSchedules);  // the lease did change hands
  CHECK(restarts > kSchedules);
}

TEST_CASE("simulation: it detects two leaders at once", "[leader]") {
  SECTION("who counts on more time than others wait") {
    ElectorOptions careless;
    careless.renew_deadline = 20s;
    int collisions = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      Simulation s(seed, 3, careless, {});
      collisions += s.RunUntil(90s) > 1 ? 1 : 0;
    }
    CHECK(collisions > 0);
  }
  SECTION("clocks that run further apart than promised") {
    int collisions = 0;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
      Simulation s(seed, 3, {}, {.slowest_clock = 0.5, .fastest_clock = 1.5});
      collisions += s.RunUntil(90s) > 1 ? 1 : 0;
    }
    CHECK(collisions > 0);
  }
}

}  // namespace simulation_test
