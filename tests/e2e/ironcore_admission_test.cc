// Creations and updates decided against ironcore's quotas, with the messages of ironcore's own
// plugin (v0.5.0).
#include <catch2/catch.hpp>

#include "tests/e2e/harness/cloud.h"
#include "tests/e2e/harness/crowd.h"

namespace e2e::ironcore_admission_test {
namespace {

const std::string kMachines = "count/machines.compute.ironcore.dev";

}  // namespace

TEST_CASE("ironcore: a refusal has the text of ironcore's own plugin",
          "[e2e][ironcore][admission]") {
  Cloud c;
  c.MakeClass("small", "2", "4Gi");
  c.MakeClass("large", "16", "64Gi");
  c.Limit("team-a-total", {{"requests.cpu", "5"}, {"requests.memory", "80Gi"}});
  CHECK(c.Post("machines", Machine("web-1", "small")).ok());
  CHECK(c.Post("machines", Machine("web-2", "small")).ok());
  const Attempt third = c.Post("machines", Machine("web-3", "small"));
  INFO(third.Text());
  CHECK(third.code == 403);
  CHECK(third.reason == "Forbidden");
  CHECK(third.message ==
        DeniedByCloud("machines.compute.ironcore.dev \"web-3\" is forbidden: exceeded quota: "
                      "team-a-total, requested: requests.cpu=2, used: requests.cpu=4, "
                      "limited: requests.cpu=5"));
  // Usage equal to the limit is admitted; a dry run is decided but not charged.
  CHECK(
      c.Patch("resourcequotas", "team-a-total", R"({"spec":{"hard":{"requests.cpu":"6"}}})").ok());
  Eventually("the raised limit is enforced", [&]() -> std::string {
    const Attempt attempt = c.Post("machines", Machine("web-3", "small"), true);
    return attempt.ok() ? "" : attempt.Text();
  });
  c.WaitUsed("team-a-total", {{"requests.cpu", "4"}, {"requests.memory", "8Gi"}});
  CHECK(c.Post("machines", Machine("web-3", "small")).ok());
  CHECK(c.Post("machines", Machine("web-4", "small"), true).exceeded());
  c.WaitUsed("team-a-total", {{"requests.cpu", "6"}, {"requests.memory", "12Gi"}});
  // A terminated machine makes room, although it still exists.
  c.SetState("machines", "web-1", "Terminated");
  c.WaitAndTell("team-a-total", {{"requests.cpu", "4"}, {"requests.memory", "8Gi"}},
                "a terminated machine freed its cpu");
  CHECK(c.Post("machines", Machine("web-4", "small")).ok());
  CHECK(c.Count("machines") == 4);
  c.WaitUsed("team-a-total", {{"requests.cpu", "6"}, {"requests.memory", "12Gi"}});
}

TEST_CASE("ironcore: machines of one class have a limit of their own",
          "[e2e][ironcore][admission]") {
  Cloud c;
  c.MakeClass("small", "2", "4Gi");
  c.MakeClass("large", "16", "64Gi");
  c.Limit("a-large", {{kMachines, "1"}, {"requests.cpu", "16"}},
          Selector({{"MachineClass", "In", {"large", "xlarge"}}}));
  c.Limit("b-total", {{"requests.cpu", "20"}});
  CHECK(c.Post("machines", Machine("web-1", "small")).ok());
  CHECK(c.Post("machines", Machine("db-1", "large")).ok());
  c.WaitUsed("b-total", {{"requests.cpu", "18"}});
  // Both quotas would refuse: the first by name is reported, and neither is charged.
  const Attempt second = c.Post("machines", Machine("db-2", "large"));
  INFO(second.Text());
  CHECK(second.message ==
        DeniedByCloud("machines.compute.ironcore.dev \"db-2\" is forbidden: exceeded quota: "
                      "a-large, requested: count/machines.compute.ironcore.dev=1,requests.cpu=16, "
                      "used: count/machines.compute.ironcore.dev=1,requests.cpu=16, limited: "
                      "count/machines.compute.ironcore.dev=1,requests.cpu=16"));
  CHECK(c.Post("machines", Machine("web-2", "small")).ok());
  CHECK(c.Post("machines", Machine("web-3", "small")).exceeded());
  c.WaitUsed("a-large", {{kMachines, "1"}, {"requests.cpu", "16"}});
  c.WaitUsed("b-total", {{"requests.cpu", "20"}});
  // A limit below usage: nothing is evicted, and requests that add nothing are admitted.
  CHECK(c.Patch("resourcequotas", "b-total", R"({"spec":{"hard":{"requests.cpu":"3"}}})").ok());
  Eventually("the lower limit is enforced", [&]() -> std::string {
    const std::string shown(c.GetQuota("b-total").StringAt({"status", "hard", "requests.cpu"}));
    return shown == "3" ? "" : shown;
  });
  CHECK(c.Patch("machines", "web-1", R"({"metadata":{"labels":{"a":"b"}}})").ok());
  CHECK(c.Patch("machines", "web-1", R"({"spec":{"power":"Off"}})").ok());
  c.Delete("machines", "db-1");
  c.WaitUsed("b-total", {{"requests.cpu", "4"}});
  CHECK(c.Post("machines", Machine("web-3", "small")).exceeded());
}

TEST_CASE("ironcore: a growing volume is charged the difference", "[e2e][ironcore][admission]") {
  Cloud c;
  c.Make("volumeclasses", VolumeClass("fast"));
  c.Limit("q", {{"requests.storage", "50Gi"}});
  CHECK(c.Post("volumes", Volume("v", "fast", "20Gi")).ok());
  CHECK(c.Post("volumes", Volume("bare", "", "")).ok());
  const auto resize = [&](const std::string& size) {
    return c.Patch("volumes", "v", R"({"spec":{"resources":{"storage":")" + size + "\"}}}");
  };
  CHECK(resize("45Gi").ok());
  c.WaitUsed("q", {{"requests.storage", "45Gi"}});
  const Attempt too_much = resize("60Gi");
  INFO(too_much.Text());
  CHECK(too_much.code == 403);
  CHECK_THAT(too_much.message,
             Catch::EndsWith("denied the request: volumes.storage.ironcore.dev \"v\" is forbidden: "
                             "exceeded quota: q, requested: requests.storage=15Gi, used: "
                             "requests.storage=45Gi, limited: requests.storage=50Gi"));
  CHECK(resize("10Gi").ok());
  c.WaitUsed("q", {{"requests.storage", "10Gi"}});
  CHECK(resize("50Gi").ok());
  CHECK(c.Post("volumes", Volume("w", "fast", "1")).exceeded());
  CHECK(c.Patch("volumes", "v", R"({"metadata":{"finalizers":["e2e.test/held"]}})").ok());
  CHECK(c.Patch("volumes", "v", R"({"metadata":{"finalizers":null}})").ok());
  c.WaitUsed("q", {{"requests.storage", "50Gi"}});
}

TEST_CASE("ironcore: buckets and objects of any kind are limited, too",
          "[e2e][ironcore][admission]") {
  Cloud c;
  c.Make("bucketclasses", BucketClass("gold", {{"tps", "100Mi"}, {"iops", "500"}}));
  c.Limit("q", {{"requests.iops", "900"}, {"count/configmaps", "1"}});
  CHECK(c.Post("buckets", Bucket("a", "gold")).ok());
  CHECK(c.Post("buckets", Bucket("b", "gold")).message ==
        DeniedByCloud("buckets.storage.ironcore.dev \"b\" is forbidden: exceeded quota: q, "
                      "requested: requests.iops=500, used: requests.iops=500, "
                      "limited: requests.iops=900"));
  CHECK(c.Post("buckets", Bucket("bare", "")).ok());
  const auto map = [&](const std::string& name) {
    return ToAttempt(c.api().Do(PostOf(c.scenario().Path("configmaps"), ConfigMap(name))));
  };
  CHECK(map("one").ok());
  CHECK(map("two").message ==
        DeniedByCloud("configmaps \"two\" is forbidden: exceeded quota: q, requested: "
                      "count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1"));
}

TEST_CASE("ironcore: 64 racing clients end exactly at the limit, never above",
          "[e2e][ironcore][admission][load]") {
  constexpr std::size_t kLimit = 20;
  constexpr std::size_t kFreed = 7;
  Cloud c({.enforce = "core,ironcore"});
  c.MakeClass("one", "1", "1Gi");
  c.Limit("q", {{"requests.cpu", std::to_string(kLimit)}});
  const json::Value quota = c.GetQuota("q");
  const std::string kubeconfig = c.scenario().server().Kubeconfig();
  const HeadCount heads(kubeconfig, c.Path("machines"),
                        std::string(quota.StringAt({"metadata", "resourceVersion"})));
  const HighestUsed used(kubeconfig, c.Path("resourcequotas"), quota, "requests.cpu");
  std::size_t stored = 0;
  for (int round = 0; round < 4; ++round) {
    std::vector<client::ApiRequest> requests;
    for (int i = 0; i < 96; ++i) {
      const std::string name = "m" + std::to_string(round) + "-" + std::to_string(i);
      requests.push_back(PostOf(c.Path("machines"), Machine(name, "one")));
    }
    std::vector<std::string> made;
    for (std::size_t i = 0; const auto& answer : c.api().DoAll(std::move(requests), 64)) {
      const Attempt attempt = ToAttempt(answer);
      if (attempt.ok()) made.push_back("m" + std::to_string(round) + "-" + std::to_string(i));
      if (!attempt.ok() && !attempt.exceeded()) FAIL_CHECK(attempt.Text());
      ++i;
    }
    stored += made.size();
    CHECK(c.Count("machines") == kLimit);
    c.WaitUsed("q", {{"requests.cpu", std::to_string(kLimit)}});
    // Makes room for the next round.
    CHECK(made.size() >= kFreed);
    for (std::size_t i = 0; i < kFreed; ++i) c.Delete("machines", made[i]);
    c.WaitUsed("q", {{"requests.cpu", std::to_string(kLimit - kFreed)}});
  }
  CHECK(stored == kLimit + 3 * kFreed);
  heads.WaitFor(kLimit - kFreed);
  CHECK(heads.most() == kLimit);
  CHECK(used.highest() <= kLimit);
  CHECK(used.highest() > 1);
}

TEST_CASE("ironcore: a creation of a name that was taken just before is not charged",
          "[e2e][ironcore][admission]") {
  Cloud c;
  c.MakeClass("small", "2", "4Gi");
  c.Limit("q", {{"requests.cpu", "100"}, {kMachines, "50"}});
  for (int i = 0; i < 19; ++i) c.MakeMachine("taken-" + std::to_string(i), "small");
  c.WaitUsed("q", {{"requests.cpu", "38"}, {kMachines, "19"}});
  const HighestUsed used(c.scenario().server().Kubeconfig(), c.Path("resourcequotas"),
                         c.GetQuota("q"), kMachines);
  std::vector<client::ApiRequest> requests;
  requests.reserve(19);
  for (int i = 0; i < 19; ++i) {
    requests.push_back(PostOf(c.Path("machines"), Machine("taken-" + std::to_string(i), "small")));
  }
  for (const auto& answer : c.api().DoAll(std::move(requests), 8)) {
    const Attempt attempt = ToAttempt(answer);
    CHECK(attempt.code == 409);
    CHECK(attempt.reason == "AlreadyExists");
  }
  c.WaitUsed("q", {{"requests.cpu", "38"}, {kMachines, "19"}}, Stretched(30s));
  CHECK(used.highest() <= 19);
}

TEST_CASE("ironcore: the webhook is called only for updates that can need quota",
          "[e2e][ironcore][admission][real-only]") {
  Cloud c;
  c.MakeClass("small", "2", "4Gi");
  c.Make("volumeclasses", VolumeClass("fast"));
  c.Limit("q", {{"requests.cpu", "20"}, {"requests.storage", "50Gi"}, {kMachines, "9"}});
  c.MakeMachine("m", "small");
  c.Make("volumes", Volume("v", "fast", "10Gi"));
  const auto asked = [&] {
    return c.daemon().Metric("quota_admission_decisions_total").value_or(-1);
  };
  const double before = asked();
  CHECK(before >= 2);
  for (const char* patch : {R"({"metadata":{"labels":{"a":"b"},"finalizers":["e2e.test/held"]}})",
                            R"({"metadata":{"finalizers":null}})", R"({"spec":{"power":"Off"}})",
                            R"({"spec":{"machinePoolRef":{"name":"pool"}}})"}) {
    INFO(patch);
    CHECK(c.Patch("machines", "m", patch).ok());
  }
  CHECK(c.Patch("volumes", "v", R"({"metadata":{"labels":{"a":"b"}}})").ok());
  CHECK(c.Patch("volumes", "v", R"({"spec":{"volumePoolRef":{"name":"pool"}}})").ok());
  c.SetState("machines", "m", "Running");
  c.SetState("volumes", "v", "Available");
  CHECK(asked() == before);
  CHECK(c.Patch("volumes", "v", R"({"spec":{"resources":{"storage":"11Gi"}}})").ok());
  CHECK(asked() > before);
}

}  // namespace e2e::ironcore_admission_test
