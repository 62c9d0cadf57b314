// Machine classes that are created late, changed, deleted, or invalid: the usage that changes, the
// usage that stays, and the events.

#include <catch2/catch.hpp>
#include <chrono>

#include "tests/controllers/quota/ironcore_fixture.h"

namespace ironcore_classes_test {

namespace {

using namespace std::chrono_literals;
using fixture::IroncoreFixture;
using fixture::kMachineClasses;
using fixture::kMachineCount;
using fixture::kMachines;
using fixture::kQuotas;
using fixture::MakeClass;
using fixture::MakeMachine;
using fixture::MakeQuota;
using fixture::WithScope;

const json::Object kCpu{{"requests.cpu", "50"}};

std::size_t ListsOf(IroncoreFixture& f, const std::function<void()>& act) {
  const std::size_t before = f.cluster.lists;
  act();
  return f.cluster.lists - before;
}

}  // namespace

TEST_CASE(
    "ironcore classes: a changed class changes each quota concerned, without reading machines",
    "[controllers][ironcore]") {
  IroncoreFixture f;
  f.PutClass("small", "2", "4Gi");
  f.PutClass("large", "16", "64Gi");
  for (const char* ns : {"team-a", "team-b", "team-c"}) {
    f.cluster.Put(kQuotas, MakeQuota("q", {{"requests.cpu", "50"}, {kMachineCount, "9"}}, ns));
  }
  f.cluster.Put(kMachines, MakeMachine("one", "small"));
  f.cluster.Put(kMachines, MakeMachine("two", "small"));
  f.cluster.Put(kMachines, MakeMachine("one", "small", "", "team-b"));
  f.cluster.Put(kMachines, MakeMachine("one", "large", "", "team-c"));
  f.RunFor(2s);
  const std::string two = "count/machines.compute.ironcore.dev=2,requests.cpu=";
  const std::string one = "count/machines.compute.ironcore.dev=1,requests.cpu=";
  CHECK(f.Used("q") == two + "4");
  CHECK(f.Used("q", "team-b") == one + "2");
  f.cluster.writes.clear();
  CHECK(ListsOf(f, [&] {
          f.PutClass("small", "3", "4Gi");
          f.RunFor(1s);
        }) == 0);
  CHECK(f.Used("q") == two + "6");
  CHECK(f.Used("q", "team-b") == one + "3");
  CHECK(f.Used("q", "team-c") == one + "16");
  CHECK(f.cluster.writes.size() == 2);  // only to the quotas that the class concerns
}

TEST_CASE("ironcore classes: a missing class makes only the names that it would state unknown",
          "[controllers][ironcore]") {
  IroncoreFixture f;
  f.PutClass("small", "2", "4Gi");
  f.cluster.Put(kMachines, MakeMachine("ok", "small"));
  f.cluster.Put(kMachines, MakeMachine("orphan", "gone"));
  f.cluster.Put(kQuotas, MakeQuota("total", {{"requests.cpu", "50"},
                                             {kMachineCount, "9"},
                                             {"requests.storage", "1Ti"}}));
  f.cluster.Put(kQuotas, WithScope(MakeQuota("small", kCpu), "MachineClass", "In", {"small"}));
  f.cluster.Put(kQuotas, WithScope(MakeQuota("not-gone", kCpu), "MachineClass", "NotIn", {"gone"}));
  f.cluster.Put(kQuotas, MakeQuota("elsewhere", kCpu, "team-b"));
  f.RunFor(15s);
  // It was never known, so it is absent: neither zero nor the usage of the others.
  CHECK(f.Used("total") == "count/machines.compute.ironcore.dev=2,requests.storage=0");
  CHECK(f.Hard("total") ==
        "count/machines.compute.ironcore.dev=9,requests.cpu=50,requests.storage=1Ti");
  CHECK(f.Used("small") == "requests.cpu=2");
  CHECK(f.Used("not-gone") == "requests.cpu=2");
  CHECK(f.Used("elsewhere", "team-b") == "requests.cpu=0");
  CHECK(f.events.Texts() ==
        std::vector<std::string>{
            "ClassNotFound total: requests.cpu is not known, status.used keeps what was last "
            "known: machine class \"gone\" not found"});
  CHECK(f.controller->conditions().Count() ==
        controllers::QuotaConditions::Standings{
            {{"machineclasses.compute.ironcore.dev", "class-missing"}, 1}});

  f.PutClass("gone", "4", "8Gi");
  f.RunFor(1s);
  CHECK(f.Used("total") ==
        "count/machines.compute.ironcore.dev=2,requests.cpu=6,requests.storage=0");
  CHECK(f.events.Texts().back() == "QuotaHealed total: requests.cpu is counted again");
  CHECK(f.controller->conditions().Count().empty());
}

TEST_CASE("ironcore classes: only names of a deleted class keep their last value",
          "[controllers][ironcore]") {
  IroncoreFixture f;
  f.PutClass("small", "2", "4Gi");
  f.PutClass("large", "16", "64Gi");
  f.cluster.Put(kMachines, MakeMachine("s", "small"));
  f.cluster.Put(kMachines, MakeMachine("l", "large"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"requests.cpu", "50"}, {kMachineCount, "9"}}));
  f.cluster.Put(kQuotas, WithScope(MakeQuota("small", kCpu), "MachineClass", "In", {"small"}));
  f.RunFor(1s);
  CHECK(f.Used("q") == "count/machines.compute.ironcore.dev=2,requests.cpu=18");
  f.cluster.Delete(kMachineClasses, "", "large");
  f.RunFor(2s);
  CHECK(f.events.said.empty());  // the class may be created again soon
  f.cluster.Put(kMachines, MakeMachine("s2", "small"));
  f.RunFor(8s);
  CHECK(f.Used("q") == "count/machines.compute.ironcore.dev=3,requests.cpu=18");
  CHECK(f.Used("small") == "requests.cpu=4");
  REQUIRE(f.events.said.size() == 1);
  CHECK(f.events.said[0].reason == "ClassNotFound");
  // The machine is deleted: all usage is known.
  f.cluster.Delete(kMachines, "team-a", "l");
  f.RunFor(1s);
  CHECK(f.Used("q") == "count/machines.compute.ironcore.dev=2,requests.cpu=4");
  CHECK(f.events.said.back().reason == "QuotaHealed");
}

TEST_CASE("ironcore classes: a class that is replaced under its name causes no event",
          "[controllers][ironcore]") {
  IroncoreFixture f;
  f.PutClass("small", "2", "4Gi");
  f.cluster.Put(kMachines, MakeMachine("s", "small"));
  f.cluster.Put(kQuotas, MakeQuota("q", kCpu));
  f.RunFor(1s);
  f.cluster.Delete(kMachineClasses, "", "small");
  f.RunFor(2s);
  f.PutClass("small", "4", "8Gi");
  f.RunFor(30s);
  CHECK(f.Used("q") == "requests.cpu=4");
  CHECK(f.events.said.empty());
}

TEST_CASE("ironcore classes: an invalid capability makes only its own name unknown",
          "[controllers][ironcore]") {
  IroncoreFixture f;
  f.PutClass("odd", "2", "4Gi");
  f.cluster.Put(kMachines, MakeMachine("m", "odd"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"requests.cpu", "50"}, {"requests.memory", "1Ti"}}));
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.cpu=2,requests.memory=4Gi");
  f.PutClass("odd", "3", "-4Gi");
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.cpu=3,requests.memory=4Gi");
  CHECK(f.events.Texts() ==
        std::vector<std::string>{
            "QuotaStale q: requests.memory is stale, status.used keeps what was last known: "
            "machine class \"odd\": capabilities[memory]: must not be negative"});
  f.cluster.Put(kMachineClasses, MakeClass("odd", {{"memory", "1Gi"}}));
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.cpu=3,requests.memory=1Gi");
  f.PutClass("odd", "500m", "much");
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.cpu=500m,requests.memory=1Gi");
  f.PutClass("odd", "500m", "1e40");
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.cpu=500m,requests.memory=1e30");
}

TEST_CASE("ironcore classes: repeated calls are charged once, for the known names",
          "[controllers][ironcore]") {
  IroncoreFixture f;
  f.cluster.Put(kMachineClasses, MakeClass("odd", {{"cpu", "1"}}));
  f.PutClass("large", "4", "1Gi");
  f.cluster.Put(kMachines, MakeMachine("m", "odd"));
  f.cluster.Put(kQuotas, MakeQuota("q", kCpu));
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.cpu=1");
  for (int call = 0; call < 3; ++call) {
    CHECK(f.Ask(MakeMachine("m", "large"), MakeMachine("m", "odd")).empty());
    CHECK(f.Used("q") == "requests.cpu=4");
  }
}

TEST_CASE("ironcore classes: their names are unknown until the server serves classes",
          "[controllers][ironcore]") {
  IroncoreFixture f(false);
  f.cluster.Put(kMachines, MakeMachine("m", "small"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"requests.cpu", "50"}, {kMachineCount, "9"}}));
  f.cluster.Put(kQuotas, MakeQuota("empty", kCpu, "team-b"));
  f.RunFor(20s);
  CHECK(f.Used("q") == "count/machines.compute.ironcore.dev=1");
  CHECK(f.Used("empty", "team-b") == "requests.cpu=0");
  f.cluster.Serve(kMachineClasses, "MachineClass", false);
  f.PutClass("small", "2", "4Gi");
  f.RunFor(3s);
  CHECK(f.Used("q") == "count/machines.compute.ironcore.dev=1,requests.cpu=2");
}

TEST_CASE("ironcore classes: the last known classes count while they cannot be listed",
          "[controllers][ironcore]") {
  IroncoreFixture f;
  f.PutClass("small", "2", "4Gi");
  f.cluster.Put(kQuotas, MakeQuota("q", {{"requests.cpu", "50"}, {"requests.storage", "1Ti"}}));
  f.RunFor(1s);
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("machineclasses") == std::string::npos) return std::nullopt;
    return base::Error{
        .code = base::ErrorCode::kUnavailable, .message = "broken", .http_status = 503};
  };
  f.cluster.CutWatches(kMachineClasses, true);
  f.cluster.Put(kMachines, MakeMachine("m", "small"));
  f.RunFor(5s);
  CHECK(f.Used("q") == "requests.cpu=2,requests.storage=0");
}

TEST_CASE("ironcore classes: a quota without names of classes is not affected",
          "[controllers][ironcore]") {
  IroncoreFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{kMachineCount, "9"}}));
  f.cluster.Put(kMachines, MakeMachine("m", "gone"));
  f.RunFor(30s);
  CHECK(f.Used("q") == "count/machines.compute.ironcore.dev=1");
  CHECK(f.events.said.empty());
}

TEST_CASE("ironcore classes: admission reads a class that the watch has not shown",
          "[controllers][ironcore]") {
  IroncoreFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"requests.cpu", "5"}, {"requests.memory", "1Ti"}}));
  f.RunFor(1s);
  f.cluster.Hold(kMachineClasses);
  f.PutClass("young", "4", "1Gi");
  CHECK(f.Ask(MakeMachine("m", "young")).empty());
  CHECK(f.Used("q") == "requests.cpu=4,requests.memory=1Gi");
  CHECK(f.Ask(MakeMachine("n", "young")) ==
        "exceeded quota: q, requested: requests.cpu=4, used: requests.cpu=4, limited: "
        "requests.cpu=5");
  f.cluster.Put(kMachines, MakeMachine("m", "young"));
  f.RunFor(1s);
  CHECK(f.Reserved() == 1);
  f.cluster.Release(kMachineClasses);
  f.RunFor(2s);
  CHECK(f.Reserved() == 0);
  CHECK(f.Used("q") == "requests.cpu=4,requests.memory=1Gi");
}

TEST_CASE("ironcore classes: a missing class is seldom read live", "[controllers][ironcore]") {
  IroncoreFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", kCpu));
  f.RunFor(1s);
  std::size_t reads = 0;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (!request.query.empty() && request.query[0].second == "metadata.name=gone") ++reads;
    return std::nullopt;
  };
  const std::string refusal = "failed quota: q: machine class \"gone\" not found";
  for (int i = 0; i < 10; ++i) CHECK(f.Ask(MakeMachine("m", "gone")) == refusal);  // in one second
  CHECK(reads >= 3);
  CHECK(reads <= 5);
  // An invalid object name is not put into a path.
  for (const char* name : {"../machines", "a/b", "a?b", "..", "A", "a%2fb", ""}) {
    f.RunFor(1s);
    CHECK_FALSE(f.Ask(MakeMachine("m", name)).empty());
  }
  CHECK(reads <= 5);
}

}  // namespace ironcore_classes_test
