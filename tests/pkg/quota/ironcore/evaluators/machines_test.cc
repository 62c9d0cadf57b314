// Machines: their usage by class and state, and their scopes.

#include <string>

#include "tests/pkg/quota/ironcore/ironcore_testing.h"
#include "tests/pkg/quota/ironcore/sample_objects.h"

namespace quota::ironcore::machines_test {
namespace {

constexpr const char* kCount = "count/machines.compute.ironcore.dev";

std::string Machine(const std::string& of, const std::string& state = "") {
  std::string text =
      R"({"metadata":{"name":"m"},"spec":{"machineClassRef":{"name":")" + of + "\"}}";
  if (!state.empty()) text += R"(,"status":{"state":")" + state + "\"}";
  return text + "}";
}

std::string Class(const std::string& name, const std::string& capabilities) {
  return R"({"metadata":{"name":")" + name + R"("},"capabilities":)" + capabilities + "}";
}

struct Machines : Namespace {
  Machines() : Namespace("machines") {
    PutClass(sample::kSmall);
    PutClass(sample::kLarge);
  }
  [[nodiscard]] std::string Cpu(const std::string& expressions = "") const {
    return Used({"requests.cpu"}, expressions);
  }
};

TEST_CASE("machines: a machine uses the capabilities of its class", "[quota][ironcore]") {
  Machines machines;
  CHECK(machines.Put(sample::kWeb).empty());
  CHECK(machines.Used({kCount, "requests.cpu", "requests.memory", "requests.storage"}) ==
        "count/machines.compute.ironcore.dev=1,requests.cpu=2,requests.memory=4Gi,"
        "requests.storage=0");
  machines.Put(Machine("large"), 2);
  CHECK(machines.Used({kCount, "requests.cpu", "requests.memory"}) ==
        "count/machines.compute.ironcore.dev=2,requests.cpu=18,requests.memory=68Gi");
}

TEST_CASE("machines: only a terminated machine frees its usage, and still counts as an object",
          "[quota][ironcore]") {
  for (const char* state : {"", "Pending", "Running", "Shutdown", "Terminating", "Unheard"}) {
    INFO(state);
    Machines machines;
    machines.Put(Machine("small", state));
    CHECK(machines.Used({kCount, "requests.cpu"}) ==
          "count/machines.compute.ironcore.dev=1,requests.cpu=2");
  }
  Machines machines;
  machines.Put(Machine("small", "Terminated"));
  CHECK(machines.Used({kCount, "requests.cpu"}) ==
        "count/machines.compute.ironcore.dev=1,requests.cpu=0");
  machines.Put(Machine("small", "Running"));
  CHECK(machines.Cpu() == "requests.cpu=2");
  machines.Put(R"({"metadata":{"name":"m","deletionTimestamp":"2026-01-01T00:00:00Z"},
                   "spec":{"machineClassRef":{"name":"small"},"power":"Off"}})");
  CHECK(machines.Cpu() == "requests.cpu=2");
}

TEST_CASE("machines: scopes select classes with each operator", "[quota][ironcore]") {
  Machines machines;
  machines.Put(Machine("small"), 1);
  machines.Put(Machine("large"), 2);
  machines.Put(Machine("large", "Terminated"), 3);
  const auto used = [&](const std::string& rest) {
    return machines.Used({kCount, "requests.cpu"},
                         R"([{"scopeName":"MachineClass",)" + rest + "}]");
  };
  const std::string none = "count/machines.compute.ironcore.dev=0,requests.cpu=0";
  CHECK(machines.Used({kCount, "requests.cpu"}, sample::kOfLarge) ==
        "count/machines.compute.ironcore.dev=2,requests.cpu=16");
  CHECK(used(R"("operator":"In","values":["small","small"])") ==
        "count/machines.compute.ironcore.dev=1,requests.cpu=2");
  CHECK(used(R"("operator":"In")") == none);
  CHECK(used(R"("operator":"NotIn","values":["large"])") ==
        "count/machines.compute.ironcore.dev=1,requests.cpu=2");
  CHECK(used(R"("operator":"NotIn")") == "count/machines.compute.ironcore.dev=3,requests.cpu=18");
  CHECK(used(R"("operator":"Exists")") == "count/machines.compute.ironcore.dev=3,requests.cpu=18");
  CHECK(used(R"("operator":"DoesNotExist")") == none);
  CHECK(used(R"("operator":"in","values":["small"])") == none);
  CHECK(machines.Cpu(R"([{"scopeName":"VolumeClass","operator":"DoesNotExist"}])") ==
        "requests.cpu=0");
  CHECK(machines.Cpu(R"([{"scopeName":"MachineClas","operator":"Exists"}])") == "requests.cpu=0");
  CHECK(machines.Cpu(R"([{"operator":"Exists"}])") == "requests.cpu=0");
  CHECK(machines.Cpu("[]") == "requests.cpu=18");
}

TEST_CASE("machines: several expressions must all hold", "[quota][ironcore]") {
  Machines machines;
  machines.Put(Machine("small"), 1);
  machines.Put(Machine("large"), 2);
  CHECK(machines.Cpu(R"([{"scopeName":"MachineClass","operator":"In","values":["small","large"]},
                         {"scopeName":"MachineClass","operator":"NotIn","values":["large"]}])") ==
        "requests.cpu=2");
  CHECK(machines.Cpu(R"([{"scopeName":"MachineClass","operator":"Exists"},
                         {"scopeName":"VolumeClass","operator":"Exists"}])") == "requests.cpu=0");
}

TEST_CASE("machines: usage follows a class that appears, changes and is deleted",
          "[quota][ironcore]") {
  Machines machines;
  machines.Put(Machine("late"));
  CHECK(machines.Used({kCount}) == "count/machines.compute.ironcore.dev=1");
  CHECK(machines.Cpu() == "machine class \"late\" not found");
  CHECK(machines.Cpu(sample::kOfLarge) == "requests.cpu=0");  // other classes are known
  machines.PutClass(Class("late", R"({"cpu":"1","memory":"1Gi"})"));
  CHECK(machines.Cpu() == "requests.cpu=1");
  machines.PutClass(Class("late", R"({"cpu":3,"memory":"1Gi"})"));
  CHECK(machines.Cpu() == "requests.cpu=3");
  machines.RemoveClass("late");
  CHECK(machines.Cpu() == "machine class \"late\" not found");
  machines.Put(Machine("late", "Terminated"));
  CHECK(machines.Cpu() == "requests.cpu=0");
}

TEST_CASE("machines: several missing classes are reported in a fixed order", "[quota][ironcore]") {
  Machines machines;
  for (const auto& [name, uid] : {std::pair("c", 1U), {"a", 2U}, {"b", 3U}}) {
    machines.Put(Machine(name), uid);
  }
  machines.Put(Machine("a"), 4);
  CHECK(machines.Cpu() == "machine class \"a\" not found, and 2 more");
}

TEST_CASE("machines: an invalid capability makes only its own name unknown", "[quota][ironcore]") {
  Machines machines;
  machines.Put(Machine("odd"));
  const auto memory_of = [&](const std::string& capabilities) {
    machines.PutClass(Class("odd", capabilities));
    CHECK(machines.Used({kCount, "requests.cpu"}) ==
          "count/machines.compute.ironcore.dev=1,requests.cpu=500m");
    return machines.Used({"requests.memory"});
  };
  const std::string of = "machine class \"odd\": capabilities[memory]: ";
  CHECK(memory_of(R"({"cpu":"500m"})") == of + "is missing");
  CHECK(memory_of(R"({"cpu":0.5,"memory":null})") == of + "is missing");
  CHECK(memory_of(R"({"cpu":"500m","memory":"-1Gi"})") == of + "must not be negative");
  // As Kubernetes reads 8Ei.
  CHECK(memory_of(R"({"cpu":"500m","memory":"8Ei"})") == "requests.memory=9223372036854775807");
  CHECK(memory_of(R"({"cpu":"500m","memory":"1e30"})") == "requests.memory=1e30");
  CHECK(memory_of(R"({"cpu":"500m","memory":"much"})").starts_with(of));
  CHECK(memory_of(R"({"cpu":"500m","memory":[1]})") == of + "must be a quantity, not array");
  CHECK(memory_of(R"({"cpu":"500m","memory":"1.5"})") == "requests.memory=1500m");
  CHECK(memory_of(R"({"cpu":"500m","memory":"7Ei"})") == "requests.memory=7Ei");
  machines.PutClass(Class("odd", R"("none")"));
  CHECK(machines.Cpu() == "machine class \"odd\": capabilities[cpu]: is missing");
}

TEST_CASE("machines: sums beyond the largest quantity are exact", "[quota][ironcore]") {
  Machines machines;
  machines.PutClass(Class("huge", R"({"cpu":"1","memory":"7Ei"})"));
  for (std::uint64_t uid = 1; uid <= 1000; ++uid) machines.Put(Machine("huge"), uid);
  CHECK(machines.Used({"requests.memory"}) == "requests.memory=8070450532247928832k");
}

TEST_CASE("machines: a reference without a name is reported, and other machines count",
          "[quota][ironcore]") {
  for (const char* spec : {"{}", R"({"machineClassRef":{}})", R"({"machineClassRef":{"name":""}})",
                           R"({"machineClassRef":"small"})"}) {
    INFO(spec);
    Machines machines;
    machines.Put(sample::kWeb, 1);
    CHECK(machines.Put(std::string(R"({"metadata":{"name":"m"},"spec":)") + spec + "}", 2) ==
          "spec.machineClassRef.name: must name a machine class");
    CHECK(machines.Used({kCount, "requests.cpu"}) ==
          "count/machines.compute.ironcore.dev=2,requests.cpu=2");
    CHECK(machines.Cpu(R"([{"scopeName":"MachineClass","operator":"Exists"}])") ==
          "requests.cpu=2");
  }
}

TEST_CASE("machines: a thousand machines of three classes are three facts", "[quota][ironcore]") {
  Machines machines;
  for (std::uint64_t uid = 0; uid < 1000; ++uid) {
    machines.Put(Machine("c" + std::to_string(uid % 3)), uid);
  }
  CHECK(machines.ledger().distinct_facts() == 3);
  CHECK(machines.ledger().RefersToAny({.ns = "team-a"}, {"c2"}));
  CHECK_FALSE(machines.ledger().RefersToAny({.ns = "team-a"}, {"c3"}));
}

}  // namespace
}  // namespace quota::ironcore::machines_test
