// Admission beside the built-in plugin: switched off it charges nothing, and both at once is a
// mistake that heals.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/crowd.h"

namespace e2e::admission_neighbours_test {
namespace {

constexpr int kPods = 20;

// One after the other, so that what is charged twice adds up.
void CreatePods(Admission& a) {
  for (int i = 0; i < kPods; ++i) a.scenario().Create("pods", Pod("p" + std::to_string(i)));
}

}  // namespace

TEST_CASE("admission: with the built-in plugin on and core not enforced nothing is charged twice",
          "[e2e][admission][neighbours][real-only]") {
  Admission a({.server = {.quota_plugin = true}, .enforce = false});
  a.Limit("q", {{"pods", "100"}});
  const HighestUsed used(a.scenario(), "q", "pods");
  CreatePods(a);
  a.scenario().WaitUsed("q", {{"pods", std::to_string(kPods)}});
  CHECK(used.highest() <= kPods);
  CHECK(used.highest() > 0);
}

TEST_CASE("admission: with the built-in plugin on by mistake the truth is back within 15 s",
          "[e2e][admission][neighbours][real-only]") {
  Admission a({.server = {.quota_plugin = true}});
  a.Limit("q", {{"pods", "100"}});
  const HighestUsed used(a.scenario(), "q", "pods");
  CreatePods(a);
  a.scenario().WaitUsed("q", {{"pods", std::to_string(kPods)}}, Stretched(15s));
  CHECK(used.highest() > kPods);  // both charged indeed
}

}  // namespace e2e::admission_neighbours_test
