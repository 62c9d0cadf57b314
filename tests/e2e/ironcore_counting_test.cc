// The objects and amounts that ironcore's quotas count, with any way of enforcement: an operator's
// manifests, the states of machines, sizes, other kinds, and scopes over classes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>

#include "pkg/config/yaml.h"
#include "tests/e2e/harness/cloud.h"
#include "tests/e2e/harness/custom_kind.h"
#include "tests/source_dir.h"

namespace e2e::ironcore_counting_test {
namespace {

// "MachineClass" → "machineclasses"
std::string ResourceOf(const std::string& kind) {
  std::string resource;
  for (const char letter : kind)
    resource += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return resource + (kind.ends_with("Class") ? "es" : "s");
}

// Creates everything in tests/e2e/ironcore/samples.yaml.
void MakeSamples(Cloud& cloud) {
  const auto documents =
      config::ParseYamlDocuments(ReadFile(tests::SourcePath("/tests/e2e/ironcore/samples.yaml")));
  REQUIRE(documents.has_value());
  for (const json::Value& document : *documents) {
    cloud.Make(ResourceOf(std::string(document.StringAt({"kind"}))), document);
  }
}

const std::string kMachines = "count/machines.compute.ironcore.dev";
const std::string kVolumes = "count/volumes.storage.ironcore.dev";
const std::string kBuckets = "count/buckets.storage.ironcore.dev";

}  // namespace

TEST_CASE("ironcore: an operator's manifests are counted as written", "[e2e][ironcore]") {
  Cloud c({.enforce = ""});
  MakeSamples(c);
  c.WaitUsed("team-a-total",
             {{"requests.cpu", "2"}, {"requests.memory", "4Gi"}, {"requests.storage", "50Gi"}},
             Stretched(30s));
  c.WaitUsed("team-a-objects", {{kMachines, "1"}, {kVolumes, "1"}});
  c.WaitUsed("team-a-large-machines", {{kMachines, "0"}, {"requests.cpu", "0"}});
  c.WaitUsed("team-a-not-fast", {{"requests.storage", "0"}});
  // A limit that is a plain number is in the status as written, or in canonical form.
  const json::Value shown = c.GetQuota("team-a-objects");
  CHECK(ToQuantities(shown.At({"status", "hard"})) ==
        Quantities{{kMachines, "5"}, {kVolumes, "12"}});

  c.MakeMachine("db-1", "large");
  c.Make("volumes", Volume("bare", "", ""));
  c.WaitUsed("team-a-total",
             {{"requests.cpu", "18"}, {"requests.memory", "68Gi"}, {"requests.storage", "50Gi"}});
  c.WaitUsed("team-a-objects", {{kMachines, "2"}, {kVolumes, "2"}});
  c.WaitUsed("team-a-large-machines", {{kMachines, "1"}, {"requests.cpu", "16"}});
  c.WaitUsed("team-a-not-fast", {{"requests.storage", "0"}});
  for (const char* machine : {"db-1", "web-1"}) c.Delete("machines", machine);
  c.Delete("volumes", "data-1");
  c.WaitUsed("team-a-total",
             {{"requests.cpu", "0"}, {"requests.memory", "0"}, {"requests.storage", "0"}});
}

TEST_CASE("ironcore: a machine uses the capabilities of its class until it is terminated",
          "[e2e][ironcore]") {
  Cloud c({.enforce = ""});
  c.MakeClass("small", "2", "4Gi");
  c.Limit("q", {{"requests.cpu", "20"}, {"requests.memory", "80Gi"}, {kMachines, "9"}});
  json::Value off = Machine("off", "small");
  off.Make({"spec", "power"}) = "Off";
  c.Make("machines", off);
  for (const char* state : {"Pending", "Running", "Shutdown", "Terminating", "Terminated"}) {
    std::string name = state;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    c.MakeMachine(name, "small");
    c.SetState("machines", name, state);
  }
  // Six machines exist; five of them run or can run again.
  const Quantities five = {{"requests.cpu", "10"}, {"requests.memory", "20Gi"}, {kMachines, "6"}};
  c.WaitUsed("q", five);
  // An object that is being deleted is held by its provider until it is gone.
  CHECK(c.Patch("machines", "running", R"({"metadata":{"finalizers":["e2e.test/held"]}})").ok());
  c.Delete("machines", "running");
  CHECK(c.GetQuota("q").At({"status", "used"}) != nullptr);
  c.StaysUsed("q", five, 500ms);
  CHECK(c.Patch("machines", "running", R"({"metadata":{"finalizers":null}})").ok());
  c.WaitUsed("q", {{"requests.cpu", "8"}, {"requests.memory", "16Gi"}, {kMachines, "5"}});

  c.SetState("machines", "shutdown", "Terminated");
  c.WaitUsed("q", {{"requests.cpu", "6"}, {"requests.memory", "12Gi"}, {kMachines, "5"}});
  // Reports of a poollet are not subject to admission: usage rises again.
  c.SetState("machines", "terminated", "Running");
  c.WaitUsed("q", {{"requests.cpu", "8"}, {"requests.memory", "16Gi"}, {kMachines, "5"}});
  for (const char* name : {"off", "pending", "shutdown", "terminating", "terminated"}) {
    c.Delete("machines", name);
  }
  c.WaitUsed("q", {{"requests.cpu", "0"}, {"requests.memory", "0"}, {kMachines, "0"}});
}

TEST_CASE("ironcore: a volume uses its requested size in every state", "[e2e][ironcore]") {
  Cloud c({.enforce = ""});
  c.Make("volumeclasses", VolumeClass("fast"));
  c.Limit("q", {{"requests.storage", "1Ti"}, {kVolumes, "9"}});
  c.Make("volumes", Volume("v", "fast", "10Gi"));
  c.Make("volumes", Volume("bare", "", ""));
  c.WaitUsed("q", {{"requests.storage", "10Gi"}, {kVolumes, "2"}});
  for (const char* state : {"Pending", "Available", "Error"}) {
    c.SetState("volumes", "v", state);
    c.StaysUsed("q", {{"requests.storage", "10Gi"}, {kVolumes, "2"}}, 200ms);
  }
  const auto resize = [&](const std::string& size) {
    return c.Patch("volumes", "v", R"({"spec":{"resources":{"storage":")" + size + "\"}}}").ok();
  };
  CHECK(resize("25Gi"));
  c.WaitUsed("q", {{"requests.storage", "25Gi"}, {kVolumes, "2"}});
  CHECK(resize("5Gi"));
  c.WaitUsed("q", {{"requests.storage", "5Gi"}, {kVolumes, "2"}});
  // The status may differ from the request; local disks of a machine are not volumes.
  CHECK(c.Patch("volumes", "v/status", R"({"status":{"resources":{"storage":"50Gi"}}})").ok());
  c.MakeClass("small", "2", "4Gi");
  json::Value machine = Machine("m", "small");
  machine.Make({"spec", "volumes"}) = Json(R"([
      {"name":"root","device":"oda","localDisk":{"sizeLimit":"20Gi"}},
      {"name":"data","device":"odb","ephemeral":{"volumeTemplate":{"spec":{
          "volumeClassRef":{"name":"fast"},"resources":{"storage":"30Gi"}}}}}])");
  c.Make("machines", machine);
  c.StaysUsed("q", {{"requests.storage", "5Gi"}, {kVolumes, "2"}}, 300ms);
  c.Make("volumes", Volume("m-data", "fast", "30Gi"));  // as ironcore's controller creates it
  c.WaitUsed("q", {{"requests.storage", "35Gi"}, {kVolumes, "3"}});
}

TEST_CASE("ironcore: buckets use the capabilities of their class, and nothing without a class",
          "[e2e][ironcore]") {
  Cloud c({.enforce = ""});
  c.Make("bucketclasses", BucketClass("gold", {{"tps", "100Mi"}, {"iops", "500"}}));
  c.Make("volumeclasses", VolumeClass("fast"));
  c.Limit("q", {{"requests.tps", "1Gi"}, {"requests.iops", "5k"}, {kBuckets, "9"}});
  c.Make("buckets", Bucket("a", "gold"));
  c.Make("buckets", Bucket("b", "gold"));
  c.Make("buckets", Bucket("bare", ""));
  c.Make("volumes", Volume("v", "fast", "10Gi"));  // its class also has tps and iops
  c.WaitUsed("q", {{"requests.tps", "200Mi"}, {"requests.iops", "1k"}, {kBuckets, "3"}});
  c.Delete("buckets", "a");
  c.WaitUsed("q", {{"requests.tps", "100Mi"}, {"requests.iops", "500"}, {kBuckets, "2"}});
}

TEST_CASE("ironcore: objects of any kind are counted by name, even if the kind appears later",
          "[e2e][ironcore]") {
  Cloud c({.enforce = ""});
  CustomKind networks("networks");
  networks.kind = "Network";
  const CustomKind unknown("nothings");
  Scenario& s = c.scenario();
  const std::string maps = "count/configmaps";
  c.WriteQuota("q", {{maps, "99"}, {networks.CountName(), "9"}, {unknown.CountName(), "9"}});
  s.Create("configmaps", ConfigMap("one"));
  const auto shown = [&](const std::string& name) {
    const auto used = c.Used("q");
    const auto found = used.find(name);
    return found == used.end() ? "absent" : found->second;
  };
  const std::string before =
      std::to_string(s.api().Get(s.Path("configmaps")).At({"items"})->AsArray()->size());
  Eventually("config maps are counted",
             [&]() -> std::string { return shown(maps) == before ? "" : shown(maps); });
  CHECK(shown(networks.CountName()) == "absent");
  s.api().Create(PathOf("customresourcedefinitions"), networks.Definition());
  for (const char* name : {"a", "b"}) CreateCustom(s, networks, name);
  Eventually("networks are counted", [&]() -> std::string {
    return shown(networks.CountName()) == "2" ? "" : shown(networks.CountName());
  });
  CHECK(shown(unknown.CountName()) == "absent");
  s.api().Delete(networks.Path(s.ns(), "a"));
  Eventually("one object is deleted", [&]() -> std::string {
    return shown(networks.CountName()) == "1" ? "" : shown(networks.CountName());
  });
  // A core quota beside it counts the same, and neither controller writes the other's status.
  s.Create("resourcequotas", Quota("q", {{kMachines, "5"}}));
  c.MakeMachine("m", "none-such");
  s.WaitUsed("q", {{kMachines, "1"}});
  s.api().Delete(PathOf("customresourcedefinitions", "", networks.Crd()));
}

}  // namespace e2e::ironcore_counting_test
