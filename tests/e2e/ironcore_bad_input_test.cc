// Invalid input that is stored: names without an evaluator, meaningless selectors, objects without
// a size, invented states, other writers. Each gets a clear message, and other quotas are still
// counted.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/cloud.h"

namespace e2e::ironcore_bad_input_test {
namespace {

const std::string kMachines = "count/machines.compute.ironcore.dev";

int Times(const std::string& text, const std::string& words) {
  int times = 0;
  for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++times;
  return times;
}

}  // namespace

TEST_CASE("ironcore: events report names that are never counted, and the other names count",
          "[e2e][ironcore]") {
  Cloud c;
  c.MakeClass("small", "2", "4Gi");
  c.WriteQuota("q", {{"requests.cpu", "3"}, {"limits.cpu", "1"}, {"count/", "1"}, {"pods", "1"}});
  c.WriteQuota("typo", {{kMachines, "9"}, {"count/machines.compute.ironcore.example", "1"}});
  c.WaitUsed("q", {{"requests.cpu", "0"}}, Stretched(30s));
  for (const char* name : {"limits.cpu", "count/", "pods"}) {
    c.WaitSaid("q", "UnknownResourceName", name);
  }
  Eventually("a machine is limited by the counted names", [&]() -> std::string {
    const Attempt attempt = c.Post("machines", Machine("m", "small"));
    return attempt.ok() || attempt.code == 409 ? "" : attempt.Text();
  });
  c.WaitUsed("q", {{"requests.cpu", "2"}});
  c.WaitUsed("typo", {{kMachines, "1"}});
  CHECK(c.Post("machines", Machine("n", "small")).exceeded());
  // ironcore accepts a negative limit in an update. Then nothing more fits, and counting continues.
  CHECK(c.Patch("resourcequotas", "q", R"({"spec":{"hard":{"requests.cpu":"-1"}}})").ok());
  CHECK(c.Post("machines", Machine("n", "small")).exceeded());
  CHECK(c.Patch("machines", "m", R"({"metadata":{"labels":{"a":"b"}}})").ok());
  c.Delete("machines", "m");
  c.WaitUsed("q", {{"requests.cpu", "0"}});
}

TEST_CASE("ironcore: an invalid selector matches nothing and does not affect other quotas",
          "[e2e][ironcore]") {
  Cloud c({.enforce = ""});
  c.MakeClass("small", "2", "4Gi");
  const Quantities hard = {{"requests.cpu", "9"}, {kMachines, "9"}};
  const std::vector<Expression> wrong = {{"machineclass", "Exists"},
                                         {"PriorityClass", "Exists"},
                                         {"MachineClass", "Is", {"small"}},
                                         {"MachineClass", "in", {"small"}},
                                         {"MachineClass", "In"},
                                         {"", "Exists"}};
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    c.WriteQuota("wrong-" + std::to_string(i), hard, Selector({wrong[i]}));
  }
  c.WriteQuota("right", hard);
  c.MakeMachine("m", "small");
  c.WaitUsed("right", {{"requests.cpu", "2"}, {kMachines, "1"}}, Stretched(30s));
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    INFO(Selector({wrong[i]}));
    c.WaitUsed("wrong-" + std::to_string(i), {{"requests.cpu", "0"}, {kMachines, "0"}});
    c.WaitSaid("wrong-" + std::to_string(i), "ScopeMatchesNothing", "it limits nothing");
  }
  // NotIn without values: every machine with a class.
  c.WriteQuota("all", hard, Selector({{"MachineClass", "NotIn"}}));
  c.WaitUsed("all", {{"requests.cpu", "2"}, {kMachines, "1"}});
}

TEST_CASE("ironcore: an invalid object is refused, and a stored one does not affect others",
          "[e2e][ironcore][admission]") {
  Cloud c({.rules = Rules::kNone});
  c.MakeClass("small", "2", "4Gi");
  json::Value nobodys = Machine("nobodys", "small");
  nobodys.Make({"spec", "machineClassRef"}) = json::Object();
  c.Make("machines", nobodys);  // no quota yet
  c.Make("volumes", Volume("less", "fast", "-5Gi"));
  c.Make("volumes", Volume("much", "fast", "junk"));
  c.Limit("q", {{"requests.cpu", "9"}, {kMachines, "9"}, {"requests.storage", "50Gi"}});
  c.WaitUsed("q", {{"requests.cpu", "0"}, {kMachines, "1"}, {"requests.storage", "0"}});
  const auto refused = [](const Attempt& attempt, const std::string& words) {
    INFO(attempt.Text());
    CHECK(attempt.code == 403);
    CHECK_THAT(attempt.message, Catch::Contains(words));
  };
  nobodys.Make({"metadata", "name"}) = "another";
  refused(c.Post("machines", nobodys),
          "it cannot be counted: spec.machineClassRef.name: must name a machine class");
  refused(c.Post("volumes", Volume("v", "fast", "-1Gi")), "spec.resources[storage]: ");
  refused(c.Post("volumes", Volume("v", "fast", "1e60")),
          "exceeded quota: q, requested: requests.storage=1e30");  // the greatest amount
  refused(c.Post("volumes", Volume("v", "fast", "many")), "spec.resources[storage]: ");
  CHECK(
      // Rounded up to bytes or not: too small to matter.
      c.Post("volumes", Volume("v", "fast", "1500m")).ok());
  CHECK(c.Post("machines", Machine("good", "small")).ok());
  for (const char* name : {"nobodys", "good"}) {
    CHECK(c.Patch("machines", name, R"({"metadata":{"finalizers":["e2e.test/held"]}})").ok());
    CHECK(c.Patch("machines", name, R"({"metadata":{"finalizers":null}})").ok());
  }
  CHECK(c.Patch("volumes", "less", R"({"metadata":{"labels":{"a":"b"}}})").ok());
  Eventually("cpu is counted", [&]() -> std::string {
    const auto used = c.Used("q");
    return used.contains("requests.cpu") && used.at("requests.cpu") == "2" ? "" : ToText(used);
  });
  CHECK(c.Patch("volumes", "less", R"({"spec":{"resources":{"storage":"5Gi"}}})").ok());
  for (const char* name : {"v", "much"}) c.Delete("volumes", name);
  c.WaitUsed("q", {{"requests.cpu", "2"}, {kMachines, "2"}, {"requests.storage", "5Gi"}});
}

TEST_CASE("ironcore: a changed class is charged to the quotas that the machine enters",
          "[e2e][ironcore][admission]") {
  Cloud c({.rules = Rules::kNone});
  c.MakeClass("small", "2", "4Gi");
  c.MakeClass("large", "16", "64Gi");
  c.MakeMachine("m", "small");
  c.Limit("large", {{"requests.cpu", "16"}, {kMachines, "1"}},
          Selector({{"MachineClass", "In", {"large"}}}));
  c.Limit("total", {{"requests.cpu", "20"}, {kMachines, "9"}});
  c.WaitUsed("large", {{"requests.cpu", "0"}, {kMachines, "0"}});
  c.WaitUsed("total", {{"requests.cpu", "2"}, {kMachines, "1"}});
  const auto become = [&](const std::string& machine, const std::string& of_class) {
    return c.Patch("machines", machine,
                   R"({"spec":{"machineClassRef":{"name":")" + of_class + "\"}}}");
  };
  CHECK(become("m", "large").ok());
  c.WaitUsed("large", {{"requests.cpu", "16"}, {kMachines, "1"}});
  c.WaitUsed("total", {{"requests.cpu", "16"}, {kMachines, "1"}});
  CHECK(c.Post("machines", Machine("n", "small")).ok());
  const Attempt second = become("n", "large");
  INFO(second.Text());
  CHECK_THAT(second.message,
             Catch::Contains("exceeded quota: large, requested: " + kMachines +
                             "=1,requests.cpu=16, used: " + kMachines + "=1,requests.cpu=16"));
  CHECK(become("m", "small").ok());
  c.WaitUsed("large", {{"requests.cpu", "0"}, {kMachines, "0"}});
  c.WaitUsed("total", {{"requests.cpu", "4"}, {kMachines, "2"}});
}

TEST_CASE("ironcore: a state in the write of a machine frees nothing",
          "[e2e][ironcore][admission]") {
  Cloud c({.serve = false});
  for (const std::string plural : kCloudKinds) {
    c.Serve(plural, plural == "machines" ? Rules::kStatusInObject : Rules::kAll);
  }
  c.MakeClass("small", "2", "4Gi");
  c.Limit("q", {{"requests.cpu", "4"}});
  json::Value forged = Machine("forged", "small");
  forged.Make({"status", "state"}) = "Terminated";
  const auto refused = [](const Attempt& attempt) {
    INFO(attempt.Text());
    CHECK(attempt.code == 403);
    CHECK_THAT(attempt.message, Catch::Contains("status.state: Terminated"));
  };
  refused(c.Post("machines", forged));
  CHECK(c.Post("machines", Machine("a", "small")).ok());
  refused(c.Patch("machines", "a", R"({"status":{"state":"Terminated"}})"));
  CHECK(c.Patch("machines", "a", R"({"status":{"state":"Running"}})").ok());
  CHECK(c.Post("machines", Machine("b", "small")).ok());
  CHECK(c.Post("machines", Machine("c", "small")).exceeded());
  c.WaitUsed("q", {{"requests.cpu", "4"}});
}

TEST_CASE("ironcore: a charge of ironcore's own plugin is kept until the machine is seen",
          "[e2e][ironcore]") {
  Cloud c({.enforce = ""});
  c.MakeClass("small", "2", "4Gi");
  c.Limit("q", {{"requests.cpu", "20"}, {kMachines, "9"}});
  // The plugin charges a machine when it admits it. The machine is stored afterwards.
  const auto plugin = [&](const std::string& cpu, const std::string& count) {
    CHECK(c.Patch("resourcequotas", "q/status",
                  R"({"status":{"used":{"requests.cpu":")" + cpu + R"(",")" + kMachines + R"(":")" +
                      count + "\"}}}")
              .ok());
  };
  plugin("2", "1");
  c.StaysUsed("q", {{"requests.cpu", "2"}, {kMachines, "1"}}, 700ms);
  c.MakeMachine("a", "small");
  c.StaysUsed("q", {{"requests.cpu", "2"}, {kMachines, "1"}}, 700ms);
  plugin("4", "2");
  c.MakeMachine("b", "small");
  plugin("6", "3");  // this one is never stored
  c.WaitUsed("q", {{"requests.cpu", "4"}, {kMachines, "2"}}, Stretched(30s));
  c.Delete("machines", "a");
  c.WaitUsed("q", {{"requests.cpu", "2"}, {kMachines, "1"}});
}

TEST_CASE("ironcore: its quota API may appear, disappear and come back", "[e2e][ironcore]") {
  Cloud c({.serve = false, .enforce = ""});
  CHECK(c.daemon().Probe("/readyz") == 200);
  const std::string absent = "does not serve this quota API, waiting for it quota_api=ironcore";
  c.daemon().WaitForLog(absent);
  c.ServeAll();
  c.MakeClass("small", "2", "4Gi");
  c.MakeMachine("m", "small");
  c.WriteQuota("q", {{"requests.cpu", "20"}});
  c.WaitUsed("q", {{"requests.cpu", "2"}}, Stretched(30s));
  c.StopServing("resourcequotas");
  Eventually(
      "the engine has stopped",
      [&]() -> std::string {
        return Times(c.daemon().Log(), absent) == 2 ? "" : Tail(c.daemon().Log(), 10);
      },
      Stretched(30s));
  CHECK(c.daemon().Probe("/readyz") == 200);
  c.Serve("resourcequotas");
  c.MakeMachine("n", "small");
  c.WriteQuota("again", {{"requests.cpu", "20"}});
  c.WaitUsed("again", {{"requests.cpu", "4"}}, Stretched(30s));
}

}  // namespace e2e::ironcore_bad_input_test
