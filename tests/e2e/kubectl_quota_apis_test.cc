// `check` and `why` with the quotas of ironcore and Karmada: what they foresee is what the daemon
// then counts and refuses.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/cloud.h"
#include "tests/e2e/harness/counted_cluster.h"
#include "tests/e2e/harness/federation.h"

namespace e2e::kubectl_quota_apis_test {
namespace {

using Catch::Matchers::Contains;

auto AskIn(Scenario& s, std::vector<std::string> arguments) {
  arguments.push_back("--namespace=" + s.ns());
  return AskPlugin(s.server().Kubeconfig(), arguments);
}

auto CheckIn(Scenario& s, const std::vector<json::Value>& objects,
             const std::vector<std::string>& more = {}) {
  TempDir dir;
  std::string text;
  for (const json::Value& object : objects) text += json::Write(object) + "\n---\n";
  std::vector<std::string> arguments{"check", "-f", dir.Write("files.yaml", text)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return AskIn(s, arguments);
}

}  // namespace

TEST_CASE("kubectl quota check counts machines and volumes of ironcore",
          "[e2e][kubectl-quota][ironcore]") {
  Cloud c;
  Scenario& s = c.scenario();
  c.MakeClass("small", "2", "4Gi");
  c.Make("volumeclasses", VolumeClass("fast"));
  c.Limit("sum", {{"requests.cpu", "5"}, {"requests.storage", "20Gi"}});
  c.MakeMachine("first", "small");
  c.WaitUsed("sum", {{"requests.cpu", "2"}, {"requests.storage", "0"}});

  const std::vector<json::Value> fits{Machine("second", "small"), Volume("data", "fast", "15Gi")};
  const auto yes = CheckIn(s, fits);
  INFO(yes.output);
  CHECK(yes.exit_code == 0);
  CHECK_THAT(yes.output,
             Contains("resourcequota.core.ironcore.dev/sum   requests.cpu       2        "
                      "2       4       5       yes\n"));
  c.Make("machines", fits[0]);
  c.Make("volumes", fits[1]);
  c.WaitUsed("sum", {{"requests.cpu", "4"}, {"requests.storage", "15Gi"}});

  const auto no = CheckIn(s, {Machine("third", "small"), Volume("more", "fast", "6Gi")});
  CHECK(no.exit_code == 1);
  CHECK_THAT(no.output, Contains("no, lacks 1\n") && Contains("no, lacks 1Gi\n"));
  CHECK_FALSE(c.Post("machines", Machine("third", "small")).ok());
  CHECK_FALSE(c.Post("volumes", Volume("more", "fast", "6Gi")).ok());
  const auto none = CheckIn(s, {Machine("third", "none")});
  CHECK(none.exit_code == 1);
  CHECK_THAT(none.output, Contains("failed quota: sum: machine class \"none\" not found"));
  CHECK_FALSE(c.Post("machines", Machine("third", "none")).ok());
}

TEST_CASE("kubectl quota why tells of the volumes that a machine lacks",
          "[e2e][kubectl-quota][ironcore]") {
  Cloud c;
  Scenario& s = c.scenario();
  c.MakeClass("small", "2", "4Gi");
  c.Make("volumeclasses", VolumeClass("fast"));
  c.Limit("sum", {{"requests.storage", "20Gi"}});
  c.Make("volumes", Volume("other", "fast", "15Gi"));
  json::Value machine = Machine("m", "small");
  const auto spec = json::Parse(
      R"([{"name":"data","ephemeral":{"volumeTemplate":{"spec":{"volumeClassRef":{"name":"fast"},)"
      R"("resources":{"storage":"8Gi"}}}}}])");
  machine.Make({"spec", "volumes"}) = *spec;
  c.Make("machines", machine);
  c.WaitUsed("sum", {{"requests.storage", "15Gi"}});
  const auto told = AskIn(s, {"why", "machine/m"});
  INFO(told.output);
  CHECK(told.exit_code == 1);
  CHECK_THAT(told.output,
             Contains("wants 1 ephemeral object and has 0: each needs requests.storage=8Gi\n") &&
                 Contains("quota resourcequota.core.ironcore.dev/sum   requests.storage 15Gi/20Gi, "
                          "5Gi free, lacks 3Gi") &&
                 Contains("raise requests.storage of quota resourcequota.core.ironcore.dev/sum to "
                          "23Gi, or delete volume.storage.ironcore.dev/other"));
  c.Delete("volumes", "other");
  c.WaitUsed("sum", {{"requests.storage", "0"}});
  CHECK(AskIn(s, {"why", "machine/m"}).exit_code == 0);
}

TEST_CASE("kubectl quota check counts bindings of Karmada", "[e2e][kubectl-quota][karmada]") {
  Federation f;
  Scenario& s = f.scenario();
  f.Limit("all", {{"cpu", "2"}, {"pods", "9"}});
  const json::Value web = Binding("web", 3, {{"cpu", "500m"}});
  const auto yes = CheckIn(s, {web});
  INFO(yes.output);
  CHECK(yes.exit_code == 0);
  CHECK_THAT(yes.output,
             Contains("karmadaquota.policy.karmada.io/all   cpu        0        1500m   "
                      "1500m   2       yes\n"));
  REQUIRE(f.Post(web).ok());
  f.WaitUsed("all", {{"cpu", "1500m"}, {"pods", "3"}});
  const json::Value more = Binding("more", 2, {{"cpu", "500m"}});
  const auto no = CheckIn(s, {more});
  CHECK(no.exit_code == 1);
  CHECK_THAT(no.output, Contains("no, lacks 500m\n"));
  CHECK_FALSE(f.Post(more).ok());
  CHECK_THAT(AskIn(s, {"why", "resourcebinding/web"}).output,
             Contains("is stored, so no quota refuses it"));
}

TEST_CASE("kubectl quota check foresees the binding of what a policy of Karmada selects",
          "[e2e][kubectl-quota][karmada]") {
  Federation f;
  Scenario& s = f.scenario();
  f.Limit("all", {{"cpu", "2"}, {"pods", "9"}});
  const json::Value web = DeploymentOf("web", 3, {{"cpu", "500m"}});
  const auto unknown = CheckIn(s, {web});
  INFO(unknown.output);
  CHECK(unknown.exit_code == 3);
  CHECK_THAT(unknown.output, Contains("no propagation policy selects it"));
  CHECK(CheckIn(s, {web}, {"--allow-unknown"}).exit_code == 0);
  const auto policy = json::Parse(
      R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy","metadata":)"
      R"({"name":"all"},"spec":{"resourceSelectors":[{"apiVersion":"apps/v1","kind":"Deployment"}],)"
      R"("placement":{"replicaScheduling":{"replicaSchedulingType":"Divided"}}}})");
  const auto definition = json::Parse(
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":)"
      R"({"name":"propagationpolicies.policy.karmada.io"},"spec":{"group":"policy.karmada.io",)"
      R"("scope":"Namespaced","names":{"kind":"PropagationPolicy","plural":"propagationpolicies"}}})");
  const auto told = CheckIn(s, {*definition, *policy, web});
  INFO(told.output);
  CHECK(told.exit_code == 0);
  CHECK_THAT(told.output, Contains("cpu        0        1500m   1500m   2       yes\n"));
  CHECK_THAT(told.output, Contains("pods       0        3       3       9       yes\n"));
}

}  // namespace e2e::kubectl_quota_apis_test
