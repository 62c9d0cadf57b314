// The status of a quota: its writer, the fields that a write preserves, and no write without need.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/scenario.h"
#include "tests/e2e/harness/write_recorder.h"
#include "tests/fake/managed_fields.h"

namespace e2e {

TEST_CASE("a changed limit reaches the status", "[e2e][status]") {
  Scenario s;
  s.Create("resourcequotas", Quota("q", {{"pods", "3"}}));
  s.Create("pods", Pod("a"));
  s.StartDaemon();
  s.WaitUsed("q", {{"pods", "1"}});
  s.api().MergePatch(s.Path("resourcequotas", "q"), HardPatch({{"pods", "7"}, {"secrets", "4"}}));
  s.WaitUsed("q", {{"pods", "1"}, {"secrets", "0"}});
  s.api().MergePatch(s.Path("resourcequotas", "q"), Json(R"({"spec":{"hard":{"pods":null}}})"));
  s.WaitUsed("q", {{"secrets", "0"}});
}

TEST_CASE("a status that another writer changed is repaired", "[e2e][status]") {
  Scenario s;
  s.Create("resourcequotas", Quota("q", {{"pods", "5"}, {"secrets", "5"}}));
  s.Create("pods", Pod("a"));
  s.StartDaemon();
  s.WaitUsed("q", {{"pods", "1"}, {"secrets", "0"}});

  const auto spoil = [&](const char* status) {
    s.api().MergePatch(s.Path("resourcequotas", "q", "status"), Json(status));
    s.WaitUsed("q", {{"pods", "1"}, {"secrets", "0"}});
  };
  SECTION("used too low") { spoil(R"({"status":{"used":{"pods":"0"}}})"); }
  SECTION("a name lost") { spoil(R"({"status":{"used":{"secrets":null}}})"); }
  SECTION("limits lost") { spoil(R"({"status":{"hard":{"pods":null}}})"); }
  // An increase may be a charge whose object is not stored yet: it is held for 15 s.
  SECTION("used too high") { spoil(R"({"status":{"used":{"pods":"4"}}})"); }
}

TEST_CASE("labels and annotations of a quota survive every status write", "[e2e][status]") {
  Scenario s;
  auto quota = Quota("q", {{"pods", "5"}});
  quota.Make({"metadata", "labels", "team"}) = "a";
  quota.Make({"metadata", "annotations", "example.com/why"}) = "because \"quotes\" and ünïcode";
  s.Create("resourcequotas", quota);
  s.StartDaemon();
  s.Create("pods", Pod("a"));
  s.WaitUsed("q", {{"pods", "1"}});
  s.api().MergePatch(s.Path("resourcequotas", "q"),
                     Json(R"({"metadata":{"labels":{"tier":"b"}}})"));
  s.Create("pods", Pod("b"));
  s.WaitUsed("q", {{"pods", "2"}});

  const auto after = s.GetQuota("q");
  CHECK(after.StringAt({"metadata", "labels", "team"}) == "a");
  CHECK(after.StringAt({"metadata", "labels", "tier"}) == "b");
  CHECK(after.StringAt({"metadata", "annotations", "example.com/why"}) ==
        "because \"quotes\" and ünïcode");
}

TEST_CASE("the field manager of a status is the daemon, whichever process wrote it",
          "[e2e][status]") {
  Scenario s;
  s.Create("resourcequotas", Quota("q", {{"pods", "5"}}));
  auto& daemon = s.StartDaemon();
  const auto writer = [&] {
    const auto quota = s.GetQuota("q");
    return std::string(api::UpdaterOf(quota, {"status", "used", "pods"}).value_or("nobody"));
  };
  s.WaitUsed("q", {{"pods", "0"}});
  CHECK(writer() == "quota-controller-manager");
  CHECK(daemon.Stop() == 0);
  s.Create("pods", Pod("a"));
  s.StartDaemon();
  s.WaitUsed("q", {{"pods", "1"}});
  CHECK(writer() == "quota-controller-manager");
}

TEST_CASE("nothing is written while nothing changes, despite resyncs", "[e2e][status]") {
  Scenario s;
  s.Create("resourcequotas", Quota("q", {{"pods", "5"}, {"requests.memory", "1Gi"}}));
  s.Create("pods", Pod("a", {{"memory", "100M"}}));
  auto& daemon = s.StartDaemon("1s");
  s.WaitUsed("q", {{"pods", "1"}, {"requests.memory", "100M"}});
  const auto version = s.ResourceVersion("q");

  // Three full resyncs, and a change that does not concern the quota.
  const auto before = daemon.Metric("quota_resync_total").value_or(0);
  s.Create("secrets", Secret("unrelated"));
  s.api().MergePatch(s.Path("pods", "a"), Json(R"({"metadata":{"labels":{"x":"y"}}})"));
  Eventually("three resyncs have passed", [&]() -> std::string {
    const auto now = daemon.Metric("quota_resync_total");
    if (!now) return "no such metric";
    return *now >= before + 3 ? "" : "resyncs: " + std::to_string(*now - before);
  });
  CHECK(s.ResourceVersion("q") == version);
}

TEST_CASE("a quota that is deleted and created again starts with the right usage",
          "[e2e][status]") {
  Scenario s;
  s.Create("resourcequotas", Quota("q", {{"pods", "5"}}));
  s.StartDaemon();
  s.Create("pods", Pod("a"));
  s.WaitUsed("q", {{"pods", "1"}});
  s.Delete("resourcequotas", "q");
  s.Create("pods", Pod("b"));
  s.Create("resourcequotas", Quota("q", {{"pods", "9"}, {"configmaps", "3"}}));
  s.WaitUsed("q", {{"pods", "2"}, {"configmaps", "0"}});
}

TEST_CASE("the deletion of a namespace ends its quota, and others stay right",
          "[e2e][status][controller-manager]") {
  Scenario s;
  const auto doomed = FreshName("e2e-doomed");
  s.api().Create(PathOf("namespaces"), Namespace(doomed));
  s.api().Create(PathOf("resourcequotas", doomed), Quota("q", {{"pods", "5"}}));
  s.api().Create(PathOf("pods", doomed), Pod("a"));
  s.Create("resourcequotas", Quota("q", {{"pods", "5"}}));
  auto& daemon = s.StartDaemon();
  s.WaitUsed("q", {{"pods", "0"}});

  TempDir dir;
  // On the real tier this controller deletes the contents of a namespace; the sandbox does it
  // itself.
  std::unique_ptr<Process> controller;
  if (CurrentTier() == Tier::kReal) {
    controller = StartBuiltinController("namespace-controller", s.server().Kubeconfig(),
                                        dir.path() + "/controller.log");
  }
  s.api().Delete(PathOf("namespaces", "", doomed));
  Eventually("the namespace is gone", [&]() -> std::string {
    return s.api().Exists(PathOf("namespaces", "", doomed)) ? "still there" : "";
  });
  s.Create("pods", Pod("mine"));
  s.WaitUsed("q", {{"pods", "1"}});
  CHECK(daemon.Running());

  // A new namespace of the same name: the daemon remembers nothing of the old one.
  s.api().Create(PathOf("namespaces"), Namespace(doomed));
  s.api().Create(PathOf("resourcequotas", doomed), Quota("q", {{"pods", "5"}}));
  Eventually("the new namespace's quota counts nothing", [&]() -> std::string {
    const auto quota = s.api().Get(PathOf("resourcequotas", doomed, "q"));
    const auto used = ToQuantities(quota.At({"status", "used"}));
    return used == Quantities{{"pods", "0"}} ? "" : ToText(used);
  });
  s.api().Delete(PathOf("namespaces", "", doomed));
}

TEST_CASE("a burst of changes is written in few writes", "[e2e][status]") {
  Scenario s;
  const auto quota = s.Create("resourcequotas", Quota("q", {{"pods", "500"}}));
  WriteRecorder recorder(s.server().Kubeconfig(), s.ns(),
                         std::string(quota.StringAt({"metadata", "resourceVersion"})));
  s.StartDaemon();
  std::vector<client::ApiRequest> requests;
  requests.reserve(200);
  for (int i = 0; i < 200; ++i) {
    requests.push_back({.verb = "POST",
                        .path = s.Path("pods"),
                        .content_type = std::string(client::kJson),
                        .body = json::Write(Pod("p" + std::to_string(i)))});
  }
  for (const auto& answer : s.api().DoAll(std::move(requests), 16)) REQUIRE(answer.has_value());
  s.WaitUsed("q", {{"pods", "200"}});
  recorder.WaitSeen("q", s.ResourceVersion("q"));
  CHECK(recorder.Writes("q") <= 100);
}

}  // namespace e2e
