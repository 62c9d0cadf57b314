// The simulation finds each planted fault, and no violation without one.

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "pkg/base/task_group.h"
#include "tests/simulation/quiet_log.h"
#include "tests/simulation/shrink.h"
#include "tests/simulation/world.h"
#include "tests/source_dir.h"

namespace simulation_test {

using simulation::Api;
using simulation::Draw;
using simulation::DrawIroncore;
using simulation::DrawOdd;
using simulation::DrawOf;
using simulation::ParseSchedule;
using simulation::Run;
using simulation::Schedule;

namespace {

// Every build runs this number of schedules. The program does the long runs. A sanitizer checks
// each step and takes ten times as long, so it runs fewer schedules.
#ifdef QCM_SANITIZED
constexpr std::uint64_t kClean = 50;
constexpr std::uint64_t kCleanTrees = 30;
constexpr std::uint64_t kCleanOdd = 24;
#else
constexpr std::uint64_t kClean = 350;
constexpr std::uint64_t kCleanTrees = 200;
constexpr std::uint64_t kCleanOdd = 150;
#endif
constexpr std::uint64_t kUntilFound = 200;

struct Found {
  Schedule schedule;
  std::string violation;
};

std::optional<Found> Find(const simulation::PlantedName& planted) {
  for (std::uint64_t seed = 1; seed <= kUntilFound; ++seed) {
    Schedule schedule = planted.odd ? DrawOdd(planted.api, seed) : DrawOf(planted.api, seed);
    schedule.planted = planted.name;
    auto violation = Run(schedule);
    const bool found = violation && violation->find(planted.broken) != std::string::npos;
    if (found) return Found{std::move(schedule), std::move(*violation)};
  }
  return std::nullopt;
}

std::string TextOf(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("simulation: no violation is found in the product", "[simulation]") {
  simulation::QuietLog();
  const bool silent = GENERATE(false, true);
  for (std::uint64_t seed = 1; seed <= kClean; ++seed) {
    for (const Schedule& schedule : {Draw(seed, silent), DrawIroncore(seed, silent)}) {
      const auto violation = Run(schedule);
      INFO("seed " << seed << " api " << NameOf(schedule.api) << " silent " << silent);
      CHECK(violation.value_or("") == "");
    }
  }
}

TEST_CASE("simulation: nothing is found in trees of quotas over many namespaces", "[simulation]") {
  simulation::QuietLog();
  const Api api = GENERATE(Api::kCluster, Api::kJoint);
  for (std::uint64_t seed = 1; seed <= kCleanTrees; ++seed) {
    const auto violation = Run(DrawOf(api, seed));
    INFO("seed " << seed << " api " << NameOf(api));
    CHECK(violation.value_or("") == "");
  }
}

TEST_CASE("simulation: nothing that others write is found to end a quota", "[simulation]") {
  simulation::QuietLog();
  const Api api = GENERATE(Api::kCore, Api::kIroncore, Api::kCluster, Api::kJoint);
  for (std::uint64_t seed = 1; seed <= kCleanOdd; ++seed) {
    const auto violation = Run(DrawOdd(api, seed));
    INFO("seed " << seed << " api " << NameOf(api));
    CHECK(violation.value_or("") == "");
  }
}

// Not under sanitizers: what is planted is in this folder, and they judge the product.
#ifndef QCM_SANITIZED
TEST_CASE("simulation: each planted fault is found by the invariant that it breaks",
          "[simulation]") {
  simulation::QuietLog();
  for (const simulation::PlantedName& planted : simulation::AllPlanted()) {
    INFO(planted.name);
    CHECK(Find(planted).has_value());
  }
}
#endif

TEST_CASE("simulation: a failing schedule is shortened, and its text can be replayed",
          "[simulation]") {
  simulation::QuietLog();
  const Api api = GENERATE(Api::kCore, Api::kIroncore);
  const char* const planted = api == Api::kIroncore ? "class-frozen" : "no-expiry";
  const auto found = Find({.name = planted, .broken = "is not the truth", .api = api});
  REQUIRE(found.has_value());
  const simulation::Shrunk shrunk = simulation::Shrink(found->schedule, found->violation);
  CHECK(shrunk.schedule.actions.size() <= 6);
  const auto read = ParseSchedule(simulation::ToText(shrunk.schedule));
  REQUIRE(read.has_value());
  CHECK(Run(*read).value_or("") == shrunk.violation);
}

TEST_CASE("simulation: a pause within a pause does not let half of the process go on",
          "[simulation]") {
  base::asio::io_context io;
  base::ManualScheduler truth(io);
  simulation::ReplicaClock clock(truth, {}, 1);
  base::TaskGroup group(io.get_executor());
  bool ran = false;
  clock.PauseFor(std::chrono::seconds(20));
  group.Spawn("waits", [&]() -> base::Task<void> {
    co_await clock.WhilePaused();
    ran = true;
  });
  truth.RunFor(std::chrono::seconds(1));
  clock.PauseFor(std::chrono::seconds(2));
  truth.RunFor(std::chrono::seconds(5));
  CHECK(clock.paused());
  CHECK_FALSE(ran);
  truth.RunFor(std::chrono::seconds(15));
  CHECK_FALSE(clock.paused());
  CHECK(ran);
}

// Each of these schedules failed once. `simulation --trace FILE` prints its trace.
TEST_CASE("simulation: schedules that failed before do not fail again", "[simulation]") {
  simulation::QuietLog();
  const std::filesystem::path folder = tests::SourcePath("/tests/simulation/found");
  std::size_t traces = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    INFO(file.path());
    const auto schedule = ParseSchedule(TextOf(file.path()));
    REQUIRE(schedule.has_value());
    CHECK(Run(*schedule).value_or("") == "");
    ++traces;
  }
  CHECK(traces >= 78);
}

}  // namespace simulation_test
