// A ClusterQuota over the virtual machines of two tenants, whose memory is in their instance type.
#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "pkg/config/yaml.h"
#include "pkg/quota/usage/defined_evaluator.h"
#include "tests/controllers/quota/cluster_charging_fixture.h"

namespace cluster_classes_test {
namespace {

using namespace fixture;
using namespace std::chrono_literals;
using Kind = admission::Answer::Kind;

const api::GroupVersionResource kMachines{"example.com", "v1", "machines"};
const api::GroupVersionResource kTypes{"example.com", "v1", "types"};
constexpr const char* kMemory = "example.com/memory";
constexpr const char* kDisk = "example.com/disk";
constexpr const char* kCount = "count/machines.example.com";

constexpr const char* kDefinition =
    "metadata: {name: machines.example.com}\n"
    "spec:\n"
    "  resource: {group: example.com, resource: machines}\n"
    "  usage:\n"
    "  - {name: example.com/disk, path: .spec.disk, default: 0}\n"
    "  - name: example.com/memory\n"
    "    class: {path: .spec.type, resource: {group: example.com, resource: types},\n"
    "            field: .spec.memory, displayName: instance type}\n";

json::Value Machine(const std::string& ns, const std::string& name, const std::string& type) {
  return json::Object{
      {"metadata", json::Object{{"name", name}, {"namespace", ns}, {"uid", "uid-of-" + ns + name}}},
      {"spec", json::Object{{"type", type}, {"disk", "1Gi"}}}};
}

// The tenants a and b of team x have machines, one of them of a type that is deleted.
struct Machines : Clustered {
  Machines() {
    cluster.Serve(kMachines, "Machine");
    cluster.Serve(kTypes, "Type", false);
    controller2->ChangeEvaluator(kMachines.WithoutVersion(), [&] {
      const auto object = config::ParseYaml(kDefinition);
      const auto definition = quota::usage::ParseUsageDefinition(*object);
      quotas.evaluators.Put(quota::usage::EvaluatorOf(*definition));
    });
    for (const char* const ns : {"a", "b"}) PutNamespace(ns, "x");
    PutType("small", "4Gi");
    PutType("old", "8Gi");
    for (const char* const name : {"0", "1", "2"})
      cluster.Put(kMachines, Machine("a", name, "small"));
    cluster.Put(kMachines, Machine("b", "0", "old"));
    Put(ClusterQuota("c", "x", {{kMemory, "30Gi"}, {kDisk, "10Gi"}, {kCount, "9"}}));
    RunFor(5s);
    REQUIRE(Used() == "20Gi 4Gi 4");
    cluster.Delete(kTypes, "", "old");
    RunFor(10s);
  }
  ~Machines() { cluster.ForgetFunctions(); }

  void PutType(const std::string& name, const std::string& memory) {
    cluster.Put(kTypes, json::Object{{"metadata", json::Object{{"name", name}}},
                                     {"spec", json::Object{{"memory", memory}}}});
  }
  [[nodiscard]] std::string Used(const std::string& quota = "c") const {
    return UsedOf(quota, kMemory) + " " + UsedOf(quota, kDisk) + " " + UsedOf(quota, kCount);
  }
  // Reviews a creation, or an update of `stored`. "" if it is admitted, else why not.
  std::string Admit(const json::Value& machine, const json::Value& stored = {}) {
    const std::string ns(machine.StringAt({"metadata", "namespace"}));
    admission::Review review{.uid = "call",
                             .resource = kMachines,
                             .ns = ns,
                             .name = std::string(machine.StringAt({"metadata", "name"})),
                             .object = machine};
    if (!stored.IsNull()) {
      review.operation = admission::Operation::kUpdate;
      review.old_object = stored;
      review.old_object.Make({"metadata", "resourceVersion"}) = "1000000";
    }
    auto& answer = answers.emplace_back();
    calls.Spawn("call", [this, &answer, review = std::move(review)]() -> base::Task<void> {
      co_await base::DeferCancellation();
      admission::Answer given = co_await admitter->Admit(review, scheduler.Now() + 5s);
      answer = std::move(given);
    });
    RunFor(100ms);
    if (!answer) return "no answer yet";
    return answer->kind == Kind::kAllowed ? "" : answer->message;
  }
};

TEST_CASE("cluster classes: an object without its class leaves all others counted",
          "[controllers]") {
  Machines f;
  CHECK(f.Used() == "12Gi 4Gi 4");
  CHECK(f.events.Texts() ==
        std::vector<std::string>{"ClassNotFound c: example.com/memory is counted only as far as "
                                 "objects can be read: instance type \"old\" not found"});
  f.cluster.Delete(kMachines, "a", "0");
  f.RunFor(5s);
  CHECK(f.Used() == "8Gi 3Gi 3");
  SECTION("a quota that is created now is counted, too") {
    f.Put(ClusterQuota("new", "x", {{kMemory, "30Gi"}, {kDisk, "10Gi"}, {kCount, "9"}}));
    f.RunFor(5s);
    CHECK(f.Used("new") == "8Gi 3Gi 3");
  }
  SECTION("its class comes back") {
    f.PutType("old", "16Gi");
    f.RunFor(5s);
    CHECK(f.Used() == "24Gi 3Gi 3");
    CHECK(f.events.Texts().back() == "QuotaHealed c: example.com/memory is counted again");
  }
}

TEST_CASE("cluster classes: an object without its class refuses nothing of others",
          "[controllers]") {
  Machines f;
  for (const char* const ns : {"a", "b"}) {
    INFO(ns);
    // One after the other, each in place of one before.
    for (int i = 10; i < 20; ++i) {
      const std::string name = std::to_string(i);
      CHECK(f.Admit(Machine(ns, name, "small")) == "");
      f.cluster.Put(kMachines, Machine(ns, name, "small"));
      f.RunFor(1s);
      f.cluster.Delete(kMachines, ns, name);
      f.RunFor(1s);
    }
  }
  CHECK(f.Used() == "12Gi 4Gi 4");
  CHECK(f.Admit(Machine("b", "more", "old")) ==
        "failed cluster quota: c: instance type \"old\" not found");
  // The object itself can be updated: what is unknown of it stays so.
  json::Value larger = Machine("b", "0", "old");
  larger.Make({"spec", "disk"}) = "2Gi";
  CHECK(f.Admit(larger, Machine("b", "0", "old")) == "");
  CHECK(f.Admit(Machine("b", "0", "small"), Machine("b", "0", "old")) == "");
}

}  // namespace
}  // namespace cluster_classes_test
