// Defects of ironcore's own quota (v0.5.0) that this daemon does not have, and names and selectors
// that the ironcore API does not validate.

#include <catch2/catch.hpp>
#include <chrono>

#include "tests/controllers/quota/ironcore_fixture.h"

namespace ironcore_defects_test {

namespace {

using namespace std::chrono_literals;
using fixture::IroncoreFixture;
using fixture::kBuckets;
using fixture::kMachineCount;
using fixture::kMachines;
using fixture::kQuotas;
using fixture::kVolumes;
using fixture::MakeMachine;
using fixture::MakeQuota;
using fixture::WithScope;

const json::Object kCpu{{"requests.cpu", "50"}};
const json::Object kBoth{{"requests.cpu", "50"}, {kMachineCount, "9"}};

json::Value MakeVolume(const std::string& name, const json::Value& storage) {
  json::Value volume =
      json::Object{{"metadata", json::Object{{"name", name}, {"namespace", "team-a"}}}};
  volume.Make({"spec", "volumeClassRef", "name"}) = "fast";
  volume.Make({"spec", "resources", "storage"}) = storage;
  return volume;
}

struct Cloud : IroncoreFixture {
  Cloud() {
    PutClass("small", "2", "4Gi");
    PutClass("large", "16", "64Gi");
    cluster.Put(kMachines, MakeMachine("s", "small"));
    cluster.Put(kMachines, MakeMachine("l", "large"));
  }
};

}  // namespace

TEST_CASE("ironcore: a terminated machine frees its cpu, and a restarted one takes it again",
          "[controllers][ironcore]") {
  Cloud f;
  f.cluster.Put(kQuotas, MakeQuota("q", kBoth));
  f.RunFor(1s);
  CHECK(f.Used("q") == "count/machines.compute.ironcore.dev=2,requests.cpu=18");
  for (const char* state : {"Running", "Terminating", "Shutdown"}) {
    f.cluster.Put(kMachines, MakeMachine("l", "large", state));
    f.RunFor(1s);
    CHECK(f.Used("q") == "count/machines.compute.ironcore.dev=2,requests.cpu=18");
  }
  f.cluster.Put(kMachines, MakeMachine("l", "large", "Terminated"));
  f.scheduler.RunUntilIdle();
  CHECK(f.Used("q") == "count/machines.compute.ironcore.dev=2,requests.cpu=2");
  f.cluster.Put(kMachines, MakeMachine("l", "large", "Running"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "count/machines.compute.ironcore.dev=2,requests.cpu=18");
}

TEST_CASE("ironcore: buckets and volumes without a class do not disturb others",
          "[controllers][ironcore]") {
  Cloud f;
  const json::Value classless =
      json::Object{{"metadata", json::Object{{"name", "b"}, {"namespace", "team-a"}}}};
  f.cluster.Put(kBuckets, classless);
  f.cluster.Put(kVolumes, classless);
  f.cluster.Put(kQuotas, MakeQuota("q", {{"requests.iops", "9"},
                                         {"requests.storage", "1Ti"},
                                         {"count/buckets.storage.ironcore.dev", "9"}}));
  f.cluster.Put(kQuotas, WithScope(MakeQuota("in", {{"requests.storage", "1Ti"}}), "VolumeClass",
                                   "In", {"fast"}));
  f.RunFor(2s);
  CHECK(f.Used("q") == "count/buckets.storage.ironcore.dev=1,requests.iops=0,requests.storage=0");
  CHECK(f.Used("in") == "requests.storage=0");
  CHECK(f.events.said.empty());
}

TEST_CASE("ironcore: an edited selector takes effect at once", "[controllers][ironcore]") {
  Cloud f;
  f.cluster.Put(kQuotas, WithScope(MakeQuota("q", kCpu), "MachineClass", "In", {"small"}));
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.cpu=2");
  const auto edit = [&](const std::string& op, const std::vector<std::string>& values) {
    f.cluster.Put(kQuotas,
                  WithScope(*f.cluster.Find(kQuotas, "team-a", "q"), "MachineClass", op, values));
    f.RunFor(1s);
    return f.Used("q");
  };
  CHECK(edit("In", {"large"}) == "requests.cpu=16");
  CHECK(edit("NotIn", {"large"}) == "requests.cpu=2");
  CHECK(edit("Exists", {}) == "requests.cpu=18");
  CHECK(edit("Nonsense", {}) == "requests.cpu=0");
  CHECK(edit("DoesNotExist", {}) == "requests.cpu=0");
}

TEST_CASE("ironcore: charges for machines that were never stored expire",
          "[controllers][ironcore]") {
  Cloud f;
  f.cluster.Put(kQuotas, MakeQuota("q", kBoth));
  f.RunFor(1s);
  for (int i = 0; i < 5; ++i) {  // the name exists, so none of them is stored
    json::Value taken = MakeMachine("s", "small");
    taken.Make({"metadata", "uid"}) = "never-" + std::to_string(i);
    CHECK(f.Ask(taken).empty());
  }
  CHECK(f.Used("q") == "count/machines.compute.ironcore.dev=7,requests.cpu=28");
  f.RunFor(15s);
  CHECK(f.Used("q") == "count/machines.compute.ironcore.dev=2,requests.cpu=18");
}

TEST_CASE("ironcore: a recount keeps charges for machines that are not stored yet",
          "[controllers][ironcore]") {
  Cloud f;
  f.cluster.Put(kQuotas, MakeQuota("q", kBoth));
  f.RunFor(1s);
  CHECK(f.Ask(MakeMachine("new", "small")).empty());
  f.cluster.Delete(kMachines, "team-a", "l");  // causes a recount
  f.RunFor(1s);
  CHECK(f.Used("q") == "count/machines.compute.ironcore.dev=2,requests.cpu=4");
  f.cluster.Put(kMachines, MakeMachine("new", "small"));
  f.RunFor(15s);
  CHECK(f.Used("q") == "count/machines.compute.ironcore.dev=2,requests.cpu=4");
}

TEST_CASE("ironcore: a forged or deleted status is restored", "[controllers][ironcore]") {
  Cloud f;
  f.cluster.Put(kQuotas, MakeQuota("q", kCpu));
  f.RunFor(1s);
  f.WriteStatus("q", {{"requests.cpu", "50"}}, {{"requests.cpu", "1"}});
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.cpu=18");
  f.WriteStatus("q", {{"requests.cpu", "1k"}}, {{"requests.cpu", "900"}});
  f.RunFor(15s);
  CHECK(f.Used("q") == "requests.cpu=18");
  CHECK(f.Hard("q") == "requests.cpu=50");
  json::Value bare = MakeQuota("q", kCpu);
  bare.Make({"metadata", "uid"}) = *f.cluster.Find(kQuotas, "team-a", "q")->At({"metadata", "uid"});
  f.cluster.Put(kQuotas, bare);
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.cpu=18");
}

TEST_CASE("ironcore: usage follows volumes that grow, shrink and are deleted",
          "[controllers][ironcore]") {
  Cloud f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"requests.storage", "1Ti"}}));
  for (const auto& [name, size] : {std::pair("a", "50Gi"), {"b", "30Gi"}, {"a", "70Gi"}}) {
    f.cluster.Put(kVolumes, MakeVolume(name, size));
  }
  f.cluster.Put(kVolumes, MakeVolume("bad", "-1Gi"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.storage=100Gi");
  f.cluster.Put(kVolumes, MakeVolume("a", "10Gi"));
  f.cluster.Delete(kVolumes, "team-a", "b");
  f.RunFor(1s);
  CHECK(f.Used("q") == "requests.storage=10Gi");
}

TEST_CASE("ironcore: a name that is never counted is reported, and limits nothing",
          "[controllers][ironcore]") {
  Cloud f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"requests.cpu", "50"},
                                         {"limits.cpu", "1"},
                                         {"requests.disks", "1"},
                                         {"count/", "1"}}));
  f.RunFor(2s);
  CHECK(f.Used("q") == "requests.cpu=18");
  CHECK(f.events.Texts() ==
        std::vector<std::string>{
            "UnknownResourceName q: nothing is counted under count/, limits.cpu, requests.disks: "
            "such a limit has no effect"});
  CHECK(f.Ask(MakeMachine("new", "small")).empty());
}

TEST_CASE("ironcore: a selector that matches nothing is reported once for each mistake",
          "[controllers][ironcore]") {
  Cloud f;
  json::Value quota = WithScope(MakeQuota("q", kCpu), "MachineClass", "Exists");
  const auto expressions = [&](const json::Array& list) {
    json::Value changed = *f.cluster.Find(kQuotas, "team-a", "q");
    changed.Make({"spec", "scopeSelector", "matchExpressions"}) = list;
    f.cluster.Put(kQuotas, changed);
    f.RunFor(2s);
  };
  const auto exists = [](const char* scope) {
    return json::Object{{"scopeName", scope}, {"operator", "Exists"}};
  };
  f.cluster.Put(kQuotas, quota);
  f.RunFor(1s);
  CHECK(f.events.said.empty());
  const std::string none =
      "ScopeMatchesNothing q: no object counts for this quota, it limits nothing: ";
  expressions({exists("MachineClass"), exists("VolumeClass"), exists("MachineClass")});
  CHECK(f.Used("q") == "requests.cpu=0");
  CHECK(f.events.Texts().back() ==
        none + "no kind has all of the scopes MachineClass, VolumeClass");
  expressions({exists("MachineClas")});
  CHECK(f.events.Texts().back() == none + "there is no scope MachineClas");
  expressions({json::Object{{"scopeName", "MachineClass"}, {"operator", "Equals"}}});
  CHECK(f.events.Texts().back() ==
        none +
            "an expression of its scope selector names no scope, or an operator that there is not");
  expressions({json::Object{{"scopeName", "MachineClass"}, {"operator", "In"}}});
  CHECK(f.events.Texts().back() == none + "its scope selector has In MachineClass without a value");
  CHECK(f.events.said.size() == 4);
  f.cluster.Put(kMachines, MakeMachine("t", "small"));
  f.RunFor(1min);
  CHECK(f.events.said.size() == 4);
  expressions({exists("MachineClass")});
  CHECK(f.Used("q") == "requests.cpu=20");
  expressions({exists("MachineClas")});
  CHECK(f.events.said.size() == 5);
  f.cluster.Delete(kQuotas, "team-a", "q");
  f.RunFor(1s);
  CHECK(f.controller->conditions().size() == 0);
}

TEST_CASE("ironcore: any kind is counted by its name, as soon as it is served",
          "[controllers][ironcore]") {
  const api::GroupVersionResource networks{"networking.ironcore.dev", "v1alpha1", "networks"};
  Cloud f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"count/networks.networking.ironcore.dev", "9"},
                                         {"count/secrets", "9"},
                                         {"requests.cpu", "50"}}));
  f.RunFor(2s);
  CHECK(f.Used("q") == "count/secrets=0,requests.cpu=18");
  f.cluster.Serve(networks, "Network");
  f.cluster.Put(networks,
                json::Object{{"metadata", json::Object{{"name", "n"}, {"namespace", "team-a"}}}});
  f.RunFor(3s);
  CHECK(f.Used("q") == "count/networks.networking.ironcore.dev=1,count/secrets=0,requests.cpu=18");
}

}  // namespace ironcore_defects_test
