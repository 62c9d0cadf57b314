// The simulation finds what is built in, and finds nothing otherwise.

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "pkg/base/task_group.h"
#include "tests/simulation/quiet_log.h"
#include "tests/simulation/shrink.h"
#include "tests/simulation/world.h"

using simulation::Draw;
using simulation::DrawIroncore;
using simulation::ParseSchedule;
using simulation::Run;
using simulation::Schedule;

namespace {

// A long run is the program's matter; this is what every build runs, sanitized ones too.
constexpr std::uint64_t kClean = 200;
constexpr std::uint64_t kUntilFound = 200;

struct Found {
  Schedule schedule;
  std::string violation;
};

std::optional<Found> Find(const simulation::PlantedName& planted) {
  for (std::uint64_t seed = 1; seed <= kUntilFound; ++seed) {
    Schedule schedule = planted.ironcore ? DrawIroncore(seed) : Draw(seed);
    schedule.planted = planted.name;
    auto violation = Run(schedule);
    const bool found = violation && violation->find(planted.broken) != std::string::npos;
    if (found) return Found{std::move(schedule), std::move(*violation)};
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("simulation: nothing is found in what is shipped", "[simulation]") {
  simulation::QuietLog();
  for (std::uint64_t seed = 1; seed <= kClean; ++seed) {
    const auto violation = Run(Draw(seed));
    INFO("seed " << seed);
    CHECK(violation.value_or("") == "");
  }
}

TEST_CASE("simulation: nothing is found while classes of machines come, change, and go",
          "[simulation]") {
  simulation::QuietLog();
  for (std::uint64_t seed = 1; seed <= kClean; ++seed) {
    const auto violation = Run(DrawIroncore(seed));
    INFO("ironcore seed " << seed);
    CHECK(violation.value_or("") == "");
  }
}

TEST_CASE("simulation: each planted fault is found by the invariant that it breaks",
          "[simulation]") {
  simulation::QuietLog();
  for (const simulation::PlantedName& planted : simulation::AllPlanted()) {
    INFO(planted.name);
    CHECK(Find(planted).has_value());
  }
}

TEST_CASE("simulation: what is found is shortened, and its text replays alone", "[simulation]") {
  simulation::QuietLog();
  const bool ironcore = GENERATE(false, true);
  const char* const planted = ironcore ? "class-frozen" : "no-expiry";
  const auto found = Find({.name = planted, .broken = "is not the truth", .ironcore = ironcore});
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

// Each of these failed once.
TEST_CASE("simulation: what was found before is not found again", "[simulation]") {
  simulation::QuietLog();
  const char* const trace = GENERATE(
      // Two replicas charge the same amount at once: one's write is not taken for the other's.
      "replicas=2 seed=31\n"
      "+66 secret name=0 ns=1 to=75\n"
      "+742 quota ns=0 quota=0 secrets=3 storage=7\n"
      "+315 quota ns=1 quota=0 secrets=2 storage=21\n"
      "+2885 secret calls=4 name=1 ns=1 to=271\n",
      // Charges that end while objects cannot be seen do not lower `used`.
      "replicas=1 seed=903\n"
      "+0 quota ns=0 quota=0 storage=4\n"
      "+8906 claim name=0 ns=0 size=1 to=39\n"
      "+0 block ms=14301 replica=0 resource=1\n"
      "+14488 claim name=0 ns=0 size=5 to=244\n",
      // A quota made while one replica cannot watch quotas is enforced by it.
      "replicas=3 seed=2718\n"
      "+0 quota ns=0 quota=1 secrets=1 storage=10\n"
      "+0 claim name=2 ns=0 size=1 to=540\n"
      "+7 delete-quota ns=0 quota=1\n"
      "+1535 block ms=17473 replica=1 resource=0\n"
      "+0 quota claims=4 ns=0 quota=1 storage=13\n"
      "+0 claim name=1 ns=0 size=2 to=488\n"
      "+19026 claim name=5 ns=0 size=1 to=475\n"
      "+0 claim name=0 ns=0 size=6 to=262\n"
      "+0 claim name=3 ns=0 size=3 to=736\n",
      // So it is while the watch of quotas has no answer.
      "replicas=3 seed=5853\n"
      "+0 quota ns=0 quota=1 storage=7\n"
      "+0 hang count=2 replica=1 writes=0\n"
      "+21841 claim name=0 ns=0 size=1 to=379\n",
      // A process that is stopped twice at once goes on as a whole.
      "replicas=1 seed=207036\n"
      "+6888 quota ns=0 quota=1 storage=20\n"
      "+5831 pause ms=20334 replica=0\n"
      "+0 expire replica=0 resource=1\n"
      "+0 pause ms=2563 replica=0\n"
      "+0 claim name=1 ns=0 size=4 to=585\n",
      // Nor is a list believed that was asked for before the process was stopped.
      "replicas=2 seed=12082\n"
      "+0 quota ns=0 quota=0 secrets=1\n"
      "+3 pause ms=22226 replica=1\n"
      "+5030 recount ns=0 quota=0\n"
      "+12618 secret name=0 ns=0 to=898\n"
      "+0 secret name=3 ns=0 to=935\n",
      // Nor a watch that was opened after a gap, before it has shown what happened in it.
      "replicas=2 seed=18880\n"
      "+0 block ms=18409 replica=1 resource=0\n"
      "+2307 quota claims=3 ns=0 quota=1\n"
      "+466 expire replica=1 resource=0\n"
      "+16254 claim name=0 ns=0 size=3 to=443\n",
      // A count that is not whole is made again, though it becomes whole during the write.
      "replicas=1 seed=101339\n"
      "+0 quota ns=0 quota=1 secrets=1 storage=20\n"
      "+110 secret name=2 ns=0 store=-1 to=623\n"
      "+2586 kill down=1572 replica=0\n"
      "+4922 claim name=1 ns=0 size=7 to=298\n"
      "+228 delete name=1 ns=0 secret=0\n"
      "+0 drop replica=0 writes=1\n"
      "+0 block ms=7603 replica=0 resource=1\n"
      "+0 slow ms=454 replica=0 writes=1\n",
      // A recount that found a charge about to be written happens though it was not.
      "replicas=1 seed=3320\n"
      "+0 quota ns=0 quota=0 storage=19\n"
      "+0 claim name=3 ns=0 size=8 to=853\n"
      "+0 claim name=1 ns=0 size=4 to=45\n"
      "+20739 pause ms=2143 replica=0\n"
      "+1475 quota ns=0 quota=0 storage=9\n"
      "+0 claim name=1 ns=0 size=8 to=860\n"
      "+638 slow ms=800 replica=0 writes=0\n"
      "+151 delete name=1 ns=0 secret=0\n",
      // Nor is a watch believed that broke while the process was stopped.
      "replicas=1 seed=36607\n"
      "+5487 pause ms=21151 replica=0\n"
      "+0 cut replica=0 resource=0\n"
      "+4303 quota ns=0 quota=0 storage=3\n"
      "+0 recount ns=0 quota=0\n"
      "+11763 claim name=3 ns=0 size=4 to=986\n",
      // Charges outlive a lost place in history, and a list that is not answered.
      "replicas=1 seed=948\n"
      "+0 quota ns=0 quota=1 storage=8\n"
      "+2980 block ms=17233 replica=0 resource=1\n"
      "+0 claim name=4 ns=0 size=4 to=657\n"
      "+0 expire replica=0 resource=1\n",
      "replicas=1 seed=1026\n"
      "+0 quota ns=0 quota=1 storage=13\n"
      "+0 quota ns=1 quota=0 storage=8\n"
      "+2643 hang replica=0 writes=0\n"
      "+0 expire replica=0 resource=1\n"
      "+0 claim name=1 ns=0 size=1 to=936\n"
      "+0 claim name=1 ns=1 size=3 to=464\n",
      // A process that starts holds what the one before it charged, name by name.
      "replicas=1 seed=4697\n"
      "+0 quota ns=0 quota=1 storage=5\n"
      "+18066 claim name=2 ns=0 size=3 store=1080 to=768\n"
      "+388 stop down=188 replica=0\n",
      "replicas=1 seed=6567\n"
      "+0 quota ns=0 quota=0 secrets=2 storage=9\n"
      "+21760 claim name=3 ns=0 size=1 store=2263 to=542\n"
      "+5 stop down=1151 replica=0\n",
      // A growth above a version that the watch has not shown yet is held.
      "replicas=1 seed=1476\n"
      "+0 quota ns=1 quota=0 storage=9\n"
      "+20109 claim name=1 ns=1 size=4 to=380\n"
      "+332 delete name=1 ns=1 secret=0\n"
      "+561 claim name=0 ns=1 size=6 to=547\n"
      "+205 claim name=0 ns=1 size=4 store=3 to=115\n"
      "+1 claim name=0 ns=1 size=5 to=22\n",
      // Growth that was asked for and never stored pays for one that is, and not for two.
      "replicas=2 seed=100438\n"
      "+0 quota gold=1 ns=1 quota=1 storage=9\n"
      "+0 quota ns=1 quota=0 storage=14\n"
      "+0 claim name=1 ns=1 size=5 to=403\n"
      "+11590 claim calls=2 gold=1 name=1 ns=1 size=6 to=929\n"
      "+91 claim name=1 ns=1 size=2 to=275\n"
      "+7130 claim name=1 ns=1 size=3 to=817\n"
      "+2866 claim name=1 ns=1 size=8 to=321\n",
      "replicas=2 seed=34293\n"
      "+0 quota ns=0 quota=0 storage=19\n"
      "+12652 claim name=2 ns=0 size=6 to=956\n"
      "+221 claim name=2 ns=0 size=2 store=121 to=686\n"
      "+0 claim name=2 ns=0 size=4 store=1474 to=930\n"
      "+495 claim name=2 ns=0 size=8 store=1650 to=866\n"
      "+0 claim name=2 ns=0 size=6 to=600\n",
      // A charge that only a list shows, after our own write and with it, is held.
      "replicas=2 seed=41954\n"
      "+0 quota ns=1 quota=0 storage=13\n"
      "+0 claim name=1 ns=1 size=6 to=40\n"
      "+16830 slow ms=536 replica=0 writes=1\n"
      "+0 slow ms=1014 replica=1 writes=1\n"
      "+0 claim late=459 name=0 ns=1 size=5 to=515\n"
      "+0 expire replica=0 resource=0\n"
      "+243 delete name=1 ns=1 secret=0\n",
      // An update that is asked about after its object was deleted is not charged.
      "replicas=2 seed=58238\n"
      "+0 quota claims=2 gold=1 ns=1 quota=0\n"
      "+0 claim name=2 ns=1 size=1 to=491\n"
      "+15556 claim gold=1 late=963 name=2 ns=1 size=5 to=211\n"
      "+0 claim gold=1 name=2 ns=1 size=1 store=1174 to=213\n"
      "+265 delete name=2 ns=1 secret=0\n",
      // What grew, shrank and grows again is charged again, where others took the first growth
      // back: whether it was stored or not.
      "replicas=2 seed=143460\n"
      "+0 quota ns=1 quota=0 storage=14\n"
      "+23117 block ms=16156 replica=1 resource=1\n"
      "+0 claim name=2 ns=1 size=6 to=797\n"
      "+2819 claim name=2 ns=1 size=4 to=127\n"
      "+666 claim name=2 ns=1 size=8 to=517\n",
      "replicas=2 seed=135281\n"
      "+0 quota ns=0 quota=1 storage=15\n"
      "+3638 claim name=0 ns=0 size=5 to=67\n"
      "+11819 claim name=0 ns=0 size=4 store=44 to=809\n"
      "+0 claim name=0 ns=0 size=7 store=-1 to=548\n"
      "+298 claim name=0 ns=0 size=5 to=220\n"
      "+214 claim name=0 ns=0 size=8 to=804\n",
      // After watches that ended at once, one that lasts is believed, though nothing happens.
      "replicas=1 seed=159087\n"
      "+0 quota claims=1 ns=0 quota=0\n"
      "+404 cut replica=0 resource=1\n"
      "+1473 claim name=1 ns=0 size=5 store=-1 to=589\n"
      "+0 cut replica=0 resource=1\n"
      "+856 block ms=382 replica=0 resource=1\n"
      "+3967 cut replica=0 resource=1\n",
      // What one replica was asked for, first to be stored and then to grow, another may charge
      // too.
      "replicas=2 seed=66331\n"
      "+0 quota ns=0 quota=0 storage=20\n"
      "+26994 claim calls=4 name=5 ns=0 size=2 to=458\n"
      "+114 claim calls=3 name=5 ns=0 size=4 to=160\n",
      // A quota that comes while another one is written has the class looked for, too.
      "replicas=1 seed=16389 api=ironcore\n"
      "+0 class class=0 cpu=4 memory=2\n"
      "+0 quota machines=3 ns=1 quota=0\n"
      "+335 drop replica=1 writes=1\n"
      "+319 quota cpu=4 memory=7 ns=1 quota=1\n"
      "+0 machine class=0 name=0 ns=1 to=49\n",
      // That there is no class is believed from when it was asked, not from when it was answered.
      "replicas=1 seed=53201 api=ironcore\n"
      "+0 quota cpu=14 ns=0 quota=0\n"
      "+154 machine class=1 name=2 ns=0 to=460\n"
      "+0 machine class=2 name=0 ns=0 to=931\n"
      "+0 machine class=2 name=3 ns=0 to=794\n"
      "+337 machine class=0 name=3 ns=0 to=564\n"
      "+16 pause ms=18637 replica=0\n"
      "+0 expire replica=0 resource=2\n"
      "+1156 class class=0 cpu=0 memory=7\n"
      "+2195 machine class=0 name=0 ns=0 to=289\n",
      // What a class does say counts, though it does not say all: for repeated calls, and for what
      // another replica charged.
      "replicas=1 seed=37892 api=ironcore\n"
      "+0 class class=0 cpu=4 memory=1\n"
      "+0 class class=2 cpu=1\n"
      "+0 quota cpu=4 ns=0 quota=1\n"
      "+0 machine class=2 name=1 ns=0 to=343\n"
      "+28408 quota cpu=17 ns=0 quota=1\n"
      "+0 machine calls=4 class=0 name=1 ns=0 to=500\n",
      "replicas=2 seed=38900 api=ironcore\n"
      "+0 class class=0 cpu=5 memory=1\n"
      "+0 class class=1 cpu=5 memory=7\n"
      "+0 class class=2 cpu=4\n"
      "+0 quota cpu=20 ns=1 quota=0\n"
      "+0 machine class=2 name=1 ns=1 to=170\n"
      "+18839 machine class=0 name=1 ns=1 store=30 to=266\n"
      "+0 machine class=1 name=0 ns=1 store=32 to=118\n",
      // A list that failed often before is tried again late.
      "replicas=1 seed=16393\n"
      "+0 quota ns=1 quota=1 storage=7\n"
      "+0 claim name=4 ns=1 size=1 to=85\n"
      "+379 kill down=428 replica=0\n"
      "+441 block ms=15278 replica=0 resource=1\n"
      "+7845 delete name=4 ns=1 secret=0\n"
      "+5442 pause ms=10351 replica=0\n"
      "+0 fail count=2 replica=0 writes=0\n");
  const auto schedule = ParseSchedule(trace);
  REQUIRE(schedule.has_value());
  CHECK(Run(*schedule).value_or("") == "");
}
