// Usage comes from the current class. A class that is created late, changes or is deleted changes
// every quota concerned. A class that is missing or unreadable makes only its own usage unknown.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/cloud.h"

namespace e2e::ironcore_classes_test {
namespace {

const std::string kMachines = "count/machines.compute.ironcore.dev";

// Deletes a class and creates it again, as required where capabilities are immutable.
void Remake(Cloud& c, const std::string& name, const std::string& cpu, const std::string& memory) {
  c.Delete("machineclasses", name);
  c.MakeClass(name, cpu, memory);
}

}  // namespace

TEST_CASE("ironcore: usage of machines is known once their class appears", "[e2e][ironcore]") {
  Cloud c({.enforce = ""});
  c.MakeClass("small", "2", "4Gi");
  c.MakeMachine("known", "small");
  c.MakeMachine("early", "later");
  c.WriteQuota("q", {{"requests.cpu", "20"}, {kMachines, "9"}});
  c.WriteQuota("small", {{"requests.cpu", "20"}, {kMachines, "9"}},
               Selector({{"MachineClass", "In", {"small"}}}));
  // Quotas that it does not concern are counted; unknown is not zero.
  c.WaitUsed("small", {{"requests.cpu", "2"}, {kMachines, "1"}}, Stretched(30s));
  c.WaitUsed("q", {{kMachines, "2"}}, Stretched(30s));
  c.WaitSaid("q", "ClassNotFound", "later");
  c.MakeClass("later", "3", "1Gi");
  c.WaitAndTell("q", {{"requests.cpu", "5"}, {kMachines, "2"}},
                "a class that appeared was counted");
  c.WaitUsed("small", {{"requests.cpu", "2"}, {kMachines, "1"}});
}

TEST_CASE("ironcore: changed capabilities change the usage in all namespaces", "[e2e][ironcore]") {
  Cloud c({.rules = Rules::kNone, .enforce = ""});
  c.MakeClass("small", "2", "4Gi");
  c.MakeClass("large", "16", "64Gi");
  const std::string other = FreshName("e2e-other");
  c.api().Create(PathOf("namespaces"), Namespace(other));
  const std::string compute = "/apis/compute.ironcore.dev/v1alpha1/namespaces/" + other;
  const std::string quotas = "/apis/core.ironcore.dev/v1alpha1/namespaces/" + other;
  c.api().Create(compute + "/machines", Machine("m", "small"));
  c.api().Create(quotas + "/resourcequotas", CloudQuota("q", {{"requests.cpu", "9"}}));
  for (const char* name : {"a", "b", "c"}) c.MakeMachine(name, "small");
  c.MakeMachine("d", "large");
  const Quantities hard = {{"requests.cpu", "99"}, {"requests.memory", "999Gi"}, {kMachines, "9"}};
  c.Limit("q", hard);
  c.Limit("large", hard, Selector({{"MachineClass", "In", {"large"}}}));
  c.WaitUsed("q", {{"requests.cpu", "22"}, {"requests.memory", "76Gi"}, {kMachines, "4"}});

  CHECK(c.Patch("machineclasses", "small", R"({"capabilities":{"cpu":"2500m","memory":"5Gi"}})")
            .ok());
  c.WaitAndTell("q", {{"requests.cpu", "23500m"}, {"requests.memory", "79Gi"}, {kMachines, "4"}},
                "changed capabilities were counted");
  Eventually("the quota of the other namespace has the new usage", [&]() -> std::string {
    const auto quota = c.api().Get(quotas + "/resourcequotas/q");
    const std::string used(quota.StringAt({"status", "used", "requests.cpu"}));
    return used == "2500m" ? "" : used;
  });
  c.WaitUsed("large", {{"requests.cpu", "16"}, {"requests.memory", "64Gi"}, {kMachines, "1"}});
  // Other capabilities of a class are not counted, and cause no write.
  const std::string before(c.GetQuota("q").StringAt({"metadata", "resourceVersion"}));
  CHECK(c.Patch("machineclasses", "small", R"({"capabilities":{"gpu":"4"}})").ok());
  CHECK(c.Patch("machineclasses", "large", R"({"metadata":{"labels":{"a":"b"}}})").ok());
  Always(
      "nothing is written",
      [&]() -> std::string {
        const std::string now(c.GetQuota("q").StringAt({"metadata", "resourceVersion"}));
        return now == before ? "" : now;
      },
      500ms);
  c.api().Delete(PathOf("namespaces", "", other));
}

TEST_CASE("ironcore: names of a deleted class keep their value, and other names are counted",
          "[e2e][ironcore]") {
  Cloud c({.enforce = ""});
  c.MakeClass("small", "2", "4Gi");
  c.MakeClass("large", "16", "64Gi");
  c.Make("volumeclasses", VolumeClass("fast"));
  for (const char* name : {"a", "b"}) c.MakeMachine(name, "small");
  c.MakeMachine("c", "large");
  const Quantities hard = {{"requests.cpu", "99"}, {kMachines, "9"}, {"requests.storage", "1Ti"}};
  c.Limit("q", hard);
  c.Limit("large", {{"requests.cpu", "99"}}, Selector({{"MachineClass", "In", {"large"}}}));
  c.WaitUsed("q", {{"requests.cpu", "20"}, {kMachines, "3"}, {"requests.storage", "0"}});

  c.Delete("machineclasses", "small");
  c.WaitSaid("q", "ClassNotFound", "small");
  // The name of the missing class keeps its last value. The count and the volumes of the same quota
  // are still counted, and so are unrelated quotas.
  c.Make("volumes", Volume("v", "fast", "10Gi"));
  c.MakeMachine("d", "large");
  c.WaitUsed("q", {{"requests.cpu", "20"}, {kMachines, "4"}, {"requests.storage", "10Gi"}});
  c.WaitUsed("large", {{"requests.cpu", "32"}});
  Eventually("a metric reports the stale quota", [&]() -> std::string {
    const std::string text = c.daemon().MetricsText();
    return text.find("quota_stale_quotas{") != std::string::npos &&
                   c.daemon().Metric("quota_stale_quotas").value_or(0) >= 1
               ? ""
               : text;
  });
  // Once the unknown machines are deleted, all usage is known.
  for (const char* name : {"a", "b"}) c.Delete("machines", name);
  c.WaitUsed("q", {{"requests.cpu", "32"}, {kMachines, "2"}, {"requests.storage", "10Gi"}});
  // Deleted and created again with other capabilities.
  Remake(c, "large", "8", "32Gi");
  c.WaitAndTell("q", {{"requests.cpu", "16"}, {kMachines, "2"}, {"requests.storage", "10Gi"}},
                "a class that was made again was counted");
  c.WaitUsed("large", {{"requests.cpu", "16"}});
}

TEST_CASE("ironcore: events report invalid capabilities, and other names are counted",
          "[e2e][ironcore]") {
  Cloud c({.rules = Rules::kNone, .enforce = ""});
  c.MakeClass("good", "2", "4Gi");
  c.MakeMachine("g", "good");
  c.WriteQuota("good", {{"requests.cpu", "9"}}, Selector({{"MachineClass", "In", {"good"}}}));
  c.WaitUsed("good", {{"requests.cpu", "2"}}, Stretched(30s));
  struct Bad {
    const char* name;
    const char* capabilities;
    const char* words;
  };
  const std::vector<Bad> all = {
      {"missing", R"({"memory":"1Gi"})", "capabilities[cpu]"},
      {"negative", R"({"cpu":"-1","memory":"1Gi"})", "capabilities[cpu]"},
      {"junk", R"({"cpu":"many","memory":"1Gi"})", "capabilities[cpu]"},
  };
  for (const Bad& bad : all) {
    json::Value made = MachineClass(bad.name, {});
    made.Make({"capabilities"}) = Json(bad.capabilities);
    c.Make("machineclasses", made);
    c.MakeMachine(bad.name, bad.name);
  }
  // A quota counted before its machine exists would keep that count as its last value.
  c.Limit("all", {{kMachines, "9"}});
  c.WaitUsed("all", {{kMachines, "4"}}, Stretched(30s));
  for (const Bad& bad : all) {
    c.WriteQuota(bad.name, {{"requests.cpu", "9"}, {kMachines, "9"}},
                 Selector({{"MachineClass", "In", {bad.name}}}));
  }
  for (const Bad& bad : all) {
    INFO(bad.name);
    c.WaitUsed(bad.name, {{kMachines, "1"}}, Stretched(30s));
    c.WaitSaid(bad.name, "QuotaStale", bad.words);
  }
  // A class whose sum is the greatest amount, and one with fractions.
  c.MakeClass("sum", "1e29", "1Gi");
  c.MakeClass("half", "500m", "1.5Gi");
  for (const char* name : {"s1", "s2"}) c.MakeMachine(name, "sum");
  for (const char* name : {"h1", "h2", "h3"}) c.MakeMachine(name, "half");
  c.WriteQuota("sum", {{"requests.cpu", "9"}, {kMachines, "9"}},
               Selector({{"MachineClass", "In", {"sum"}}}));
  c.WriteQuota("half", {{"requests.cpu", "9"}, {"requests.memory", "9Gi"}},
               Selector({{"MachineClass", "In", {"half"}}}));
  c.WaitUsed("half", {{"requests.cpu", "1500m"}, {"requests.memory", "4608Mi"}}, Stretched(30s));
  c.WaitUsed("sum", {{"requests.cpu", "1e30"}, {kMachines, "2"}}, Stretched(30s));
  // Once corrected, all of them count.
  for (const Bad& bad : all) {
    CHECK(c.Patch("machineclasses", bad.name, R"({"capabilities":{"cpu":"3"}})").ok());
    c.WaitUsed(bad.name, {{"requests.cpu", "3"}, {kMachines, "1"}});
  }
  c.WaitUsed("good", {{"requests.cpu", "2"}});
}

TEST_CASE("ironcore: a missing class affects neither unrelated creations nor edits at the limit",
          "[e2e][ironcore][admission]") {
  Cloud c;
  c.MakeClass("small", "2", "4Gi");
  c.MakeClass("large", "16", "64Gi");
  c.Make("volumeclasses", VolumeClass("fast"));
  c.Limit("q", {{"requests.cpu", "6"}, {kMachines, "3"}, {"requests.storage", "50Gi"}});
  c.Limit("large", {{"requests.cpu", "16"}}, Selector({{"MachineClass", "In", {"large"}}}));
  for (const char* name : {"a", "b", "c"}) c.MakeMachine(name, "small");
  c.WaitUsed("q", {{"requests.cpu", "6"}, {kMachines, "3"}, {"requests.storage", "0"}});
  c.Delete("machineclasses", "small");
  c.WaitSaid("q", "ClassNotFound", "small");

  // At the limit with unknown usage: requests that need nothing are admitted.
  for (const char* patch :
       {R"({"metadata":{"labels":{"a":"b"}}})", R"({"metadata":{"finalizers":["e2e.test/held"]}})",
        R"({"metadata":{"finalizers":null}})", R"({"spec":{"power":"Off"}})",
        R"({"spec":{"machinePoolRef":{"name":"pool"}}})"}) {
    INFO(patch);
    const Attempt attempt = c.Patch("machines", "a", patch);
    INFO(attempt.Text());
    CHECK(attempt.ok());
  }
  // Volumes are not concerned, and are limited as before.
  CHECK(c.Post("volumes", Volume("v", "fast", "40Gi")).ok());
  CHECK(c.Post("volumes", Volume("w", "fast", "20Gi")).message ==
        DeniedByCloud("volumes.storage.ironcore.dev \"w\" is forbidden: exceeded quota: q, "
                      "requested: requests.storage=20Gi, used: requests.storage=40Gi, "
                      "limited: requests.storage=50Gi"));
  c.Delete("machines", "b");
  c.WaitUsed("q", {{"requests.cpu", "6"}, {kMachines, "2"}, {"requests.storage", "40Gi"}});
  // A new machine of the deleted class cannot be decided.
  const Attempt gone = c.Post("machines", Machine("d", "small"));
  INFO(gone.Text());
  CHECK(gone.code == 403);
  CHECK(gone.reason == "Forbidden");
  CHECK(gone.message == DeniedByCloud("machines.compute.ironcore.dev \"d\" is forbidden: failed "
                                      "quota: q: machine class \"small\" not found"));
  c.MakeClass("small", "1", "2Gi");
  c.WaitUsed("q", {{"requests.cpu", "2"}, {kMachines, "2"}, {"requests.storage", "40Gi"}});
  Eventually("its machines are admitted again", [&]() -> std::string {
    const Attempt attempt = c.Post("machines", Machine("d", "small"));
    return attempt.ok() ? "" : attempt.Text();
  });
  c.WaitUsed("q", {{"requests.cpu", "3"}, {kMachines, "3"}, {"requests.storage", "40Gi"}});
}

TEST_CASE("ironcore: a class is not read if no quota needs it", "[e2e][ironcore][admission]") {
  Cloud c;
  c.Make("volumeclasses", VolumeClass("fast"));
  CHECK(c.Post("machines", Machine("free", "none-such")).ok());
  c.Limit("q", {{kMachines, "3"}, {"requests.storage", "50Gi"}});
  CHECK(c.Post("machines", Machine("counted", "none-such")).ok());
  // A quota of cpu whose scope excludes machines of this class.
  c.Limit("other", {{"requests.cpu", "1"}}, Selector({{"MachineClass", "In", {"large"}}}));
  CHECK(c.Post("machines", Machine("third", "none-such")).ok());
  c.WaitUsed("q", {{kMachines, "3"}, {"requests.storage", "0"}});
  CHECK(c.Post("machines", Machine("fourth", "none-such")).message ==
        DeniedByCloud("machines.compute.ironcore.dev \"fourth\" is forbidden: exceeded quota: q, "
                      "requested: count/machines.compute.ironcore.dev=1, used: "
                      "count/machines.compute.ironcore.dev=3, limited: "
                      "count/machines.compute.ironcore.dev=3"));
}

TEST_CASE("ironcore: a machine may be created right after its class",
          "[e2e][ironcore][admission]") {
  Cloud c;
  c.Limit("q", {{"requests.cpu", "100"}});
  c.MakeClass("first", "1", "1Gi");
  Eventually("machines are admitted", [&]() -> std::string {
    const Attempt attempt = c.Post("machines", Machine("first", "first"));
    return attempt.ok() || attempt.code == 409 ? "" : attempt.Text();
  });
  for (int i = 0; i < 20; ++i) {
    const std::string name = "c" + std::to_string(i);
    c.MakeClass(name, "2", "1Gi");
    const Attempt attempt = c.Post("machines", Machine(name, name));
    INFO(attempt.Text());
    CHECK(attempt.ok());
  }
  c.WaitUsed("q", {{"requests.cpu", "41"}});
}

TEST_CASE("ironcore: usage that was never known is not enforced as zero",
          "[e2e][ironcore][admission]") {
  Cloud c;
  c.MakeClass("small", "2", "4Gi");
  c.Make("volumeclasses", VolumeClass("fast"));
  c.MakeMachine("early", "later");
  c.WriteQuota("q", {{"requests.cpu", "3"}, {kMachines, "9"}, {"requests.storage", "50Gi"}});
  c.WaitUsed("q", {{kMachines, "1"}, {"requests.storage", "0"}}, Stretched(30s));
  // Volumes are not concerned. Whether machines fit is unknown.
  CHECK(c.Post("volumes", Volume("v", "fast", "40Gi")).ok());
  CHECK(c.Post("volumes", Volume("w", "fast", "20Gi")).exceeded());
  const Attempt blind = c.Post("machines", Machine("m", "small"));
  INFO(blind.Text());
  CHECK(blind.code == 403);
  CHECK_THAT(blind.message, Catch::EndsWith("status unknown for quota: q, resources: " + kMachines +
                                            ",requests.cpu"));
  c.MakeClass("later", "1", "1Gi");
  c.WaitUsed("q", {{"requests.cpu", "1"}, {kMachines, "1"}, {"requests.storage", "40Gi"}});
  Eventually("machines are decided", [&]() -> std::string {
    const Attempt attempt = c.Post("machines", Machine("m", "small"));
    return attempt.ok() ? "" : attempt.Text();
  });
  CHECK(c.Post("machines", Machine("n", "small")).exceeded());
  c.WaitUsed("q", {{"requests.cpu", "3"}, {kMachines, "2"}, {"requests.storage", "40Gi"}});
}

}  // namespace e2e::ironcore_classes_test
