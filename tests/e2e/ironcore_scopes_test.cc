// Scopes over classes, and quotas that are edited by their owner or by somebody who should not.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/cloud.h"

namespace e2e::ironcore_scopes_test {
namespace {

const std::string kMachines = "count/machines.compute.ironcore.dev";
const std::string kVolumes = "count/volumes.storage.ironcore.dev";
const std::string kBuckets = "count/buckets.storage.ironcore.dev";

const Quantities kHard = {{kMachines, "99"}, {"requests.cpu", "999"},
                          {kVolumes, "99"},  {"requests.storage", "9Ti"},
                          {kBuckets, "99"},  {"requests.iops", "9k"}};

// Two machines, three volumes, two buckets; one each of the latter without a class.
void MakeObjects(Cloud& c) {
  c.MakeClass("small", "2", "4Gi");
  c.MakeClass("large", "16", "64Gi");
  for (const char* name : {"fast", "slow"}) c.Make("volumeclasses", VolumeClass(name));
  c.Make("bucketclasses", BucketClass("gold", {{"tps", "1Mi"}, {"iops", "500"}}));
  c.MakeMachine("a", "small");
  c.MakeMachine("b", "large");
  c.Make("volumes", Volume("a", "fast", "10Gi"));
  c.Make("volumes", Volume("b", "slow", "20Gi"));
  c.Make("volumes", Volume("bare", "", ""));
  c.Make("buckets", Bucket("a", "gold"));
  c.Make("buckets", Bucket("bare", ""));
}

// The given amounts; all others are 0.
Quantities Only(const Quantities& used) {
  Quantities all;
  for (const auto& [name, limit] : kHard) all[name] = used.contains(name) ? used.at(name) : "0";
  return all;
}

struct Case {
  std::vector<Expression> expressions;
  Quantities used;
};

const std::vector<Case> kCases = {
    {{{"MachineClass", "In", {"large"}}}, {{kMachines, "1"}, {"requests.cpu", "16"}}},
    {{{"MachineClass", "In", {"large", "large", "small"}}},
     {{kMachines, "2"}, {"requests.cpu", "18"}}},
    {{{"MachineClass", "In", {"Large"}}}, {}},
    {{{"MachineClass", "NotIn", {"large"}}}, {{kMachines, "1"}, {"requests.cpu", "2"}}},
    {{{"MachineClass", "Exists"}}, {{kMachines, "2"}, {"requests.cpu", "18"}}},
    {{{"MachineClass", "DoesNotExist"}}, {}},
    {{{"VolumeClass", "In", {"fast"}}}, {{kVolumes, "1"}, {"requests.storage", "10Gi"}}},
    {{{"VolumeClass", "NotIn", {"fast"}}}, {{kVolumes, "1"}, {"requests.storage", "20Gi"}}},
    {{{"VolumeClass", "Exists"}}, {{kVolumes, "2"}, {"requests.storage", "30Gi"}}},
    {{{"VolumeClass", "DoesNotExist"}}, {{kVolumes, "1"}}},
    {{{"BucketClass", "In", {"gold"}}}, {{kBuckets, "1"}, {"requests.iops", "500"}}},
    {{{"BucketClass", "NotIn", {"gold"}}}, {}},
    {{{"BucketClass", "Exists"}}, {{kBuckets, "1"}, {"requests.iops", "500"}}},
    {{{"BucketClass", "DoesNotExist"}}, {{kBuckets, "1"}}},
    // Several expressions must all match, of one scope or of two.
    {{{"MachineClass", "In", {"small", "large"}}, {"MachineClass", "NotIn", {"small"}}},
     {{kMachines, "1"}, {"requests.cpu", "16"}}},
    {{{"VolumeClass", "Exists"}, {"VolumeClass", "NotIn", {"fast", "slow"}}}, {}},
    {{{"MachineClass", "Exists"}, {"VolumeClass", "Exists"}}, {}},
    // No expression matches everything.
    {{},
     {{kMachines, "2"},
      {"requests.cpu", "18"},
      {kVolumes, "3"},
      {"requests.storage", "30Gi"},
      {kBuckets, "2"},
      {"requests.iops", "500"}}},
};

}  // namespace

TEST_CASE("ironcore: scopes over classes take every operator, and all expressions must hold",
          "[e2e][ironcore]") {
  Cloud c({.enforce = ""});
  MakeObjects(c);
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    c.WriteQuota("q" + std::to_string(i), kHard, Selector(kCases[i].expressions));
  }
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    INFO(Selector(kCases[i].expressions));
    c.WaitUsed("q" + std::to_string(i), Only(kCases[i].used), Stretched(30s));
  }
  c.MakeMachine("c", "large");
  c.Delete("volumes", "b");
  c.WaitUsed("q0", Only({{kMachines, "2"}, {"requests.cpu", "32"}}));
  c.WaitUsed("q7", Only({}));
  c.WaitUsed("q8", Only({{kVolumes, "1"}, {"requests.storage", "10Gi"}}));
}

TEST_CASE("ironcore: an edited selector or limit is followed at once", "[e2e][ironcore]") {
  Cloud c({.enforce = ""});
  MakeObjects(c);
  const Quantities hard = {{kMachines, "9"}, {"requests.cpu", "99"}};
  c.Limit("q", hard, Selector({{"MachineClass", "In", {"small"}}}));
  c.WaitUsed("q", {{kMachines, "1"}, {"requests.cpu", "2"}});
  const auto edit = [&](const std::vector<Expression>& expressions) {
    const std::string spec =
        expressions.empty() ? R"({"scopeSelector":null})" : Selector(expressions);
    CHECK(c.Patch("resourcequotas", "q", R"({"spec":)" + spec + "}").ok());
  };
  edit({{"MachineClass", "In", {"large"}}});
  c.WaitAndTell("q", {{kMachines, "1"}, {"requests.cpu", "16"}}, "an edited selector was followed");
  edit({{"MachineClass", "Exists"}});
  c.WaitUsed("q", {{kMachines, "2"}, {"requests.cpu", "18"}});
  edit({{"VolumeClass", "Exists"}});
  c.WaitUsed("q", {{kMachines, "0"}, {"requests.cpu", "0"}});
  edit({});
  c.WaitUsed("q", {{kMachines, "2"}, {"requests.cpu", "18"}});
  CHECK(c.Patch("resourcequotas", "q",
                R"({"spec":{"hard":{"requests.cpu":"1","requests.storage":"1Gi"}}})")
            .ok());
  c.WaitUsed("q", {{kMachines, "2"}, {"requests.cpu", "18"}, {"requests.storage", "30Gi"}});
  Eventually("the new limits are shown", [&]() -> std::string {
    const auto shown = ToQuantities(c.GetQuota("q").At({"status", "hard"}));
    const Quantities expected = {
        {kMachines, "9"}, {"requests.cpu", "1"}, {"requests.storage", "1Gi"}};
    return shown == expected ? "" : ToText(shown);
  });
}

TEST_CASE("ironcore: a changed status is repaired, and nothing else is changed",
          "[e2e][ironcore]") {
  Cloud c({.enforce = ""});
  MakeObjects(c);
  c.Limit("q", {{kMachines, "9"}, {"requests.cpu", "99"}});
  const Quantities right = {{kMachines, "2"}, {"requests.cpu", "18"}};
  c.WaitUsed("q", right);
  CHECK(c.Patch("resourcequotas", "q",
                R"({"metadata":{"labels":{"team":"a"},"annotations":{"e2e.test/note":"x"}}})")
            .ok());
  for (const char* wrong : {R"({"status":{"used":{"requests.cpu":"1"}}})",
                            R"({"status":{"used":{"requests.cpu":null}}})", R"({"status":null})",
                            R"({"status":{"used":{"requests.gold":"7"}}})"}) {
    INFO(wrong);
    CHECK(c.Patch("resourcequotas", "q/status", wrong).ok());
    c.WaitUsed("q", right, Stretched(5s));
  }
  // An increase may be a charge for an object that is not seen yet: it is held for a while.
  CHECK(c.Patch("resourcequotas", "q/status", R"({"status":{"used":{"requests.cpu":"90"}}})").ok());
  c.WaitAndTell("q", right, "an increase by hand was taken back");
  // The same by PUT, with another limit than the spec's.
  json::Value replaced = c.GetQuota("q");
  replaced.Make({"status", "hard", "requests.cpu"}) = "1";
  replaced.Make({"status", "used", "requests.cpu"}) = "3";
  replaced.Make({"spec", "hard", "requests.cpu"}) = "7";  // the status endpoint must not change it
  CHECK(c.Replace(c.Path("resourcequotas", "q", "status"), replaced).ok());
  c.WaitUsed("q", right);
  const json::Value now = c.GetQuota("q");
  CHECK(now.StringAt({"metadata", "labels", "team"}) == "a");
  CHECK(now.StringAt({"metadata", "annotations", "e2e.test/note"}) == "x");
  CHECK(ToQuantities(now.At({"spec", "hard"})) ==
        Quantities{{kMachines, "9"}, {"requests.cpu", "99"}});
  CHECK(ToQuantities(now.At({"status", "hard"})) == ToQuantities(now.At({"spec", "hard"})));
  // A PUT of the quota itself without a status.
  json::Value whole = now;
  whole.AsObject()->Erase("status");
  whole.Make({"spec", "hard", "requests.cpu"}) = "50";
  CHECK(c.Replace(c.Path("resourcequotas", "q"), whole).ok());
  Eventually("the new limit is shown", [&]() -> std::string {
    const std::string shown(c.GetQuota("q").StringAt({"status", "hard", "requests.cpu"}));
    return shown == "50" ? "" : shown;
  });
  c.WaitUsed("q", right);
}

TEST_CASE("ironcore: a correct status is not written again", "[e2e][ironcore]") {
  Cloud c({.enforce = "", .resync_period = "1s"});
  MakeObjects(c);
  c.Limit("q", {{kMachines, "9"}, {"requests.cpu", "99"}});
  c.WaitUsed("q", {{kMachines, "2"}, {"requests.cpu", "18"}});
  const std::string before(c.GetQuota("q").StringAt({"metadata", "resourceVersion"}));
  const double resyncs = c.daemon().Metric("quota_resync_total").value_or(0);
  for (const char* name : {"a", "b"}) {
    CHECK(c.Patch("machines", name, R"({"metadata":{"labels":{"x":"y"}}})").ok());
    c.SetState("machines", name, "Running");
  }
  Eventually(
      "several resyncs are over",
      [&]() -> std::string {
        const double now = c.daemon().Metric("quota_resync_total").value_or(0);
        return now >= resyncs + 3 ? "" : std::to_string(now);
      },
      Stretched(30s));
  CHECK(c.GetQuota("q").StringAt({"metadata", "resourceVersion"}) == before);
}

}  // namespace e2e::ironcore_scopes_test
