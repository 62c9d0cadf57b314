// Limits on a kind that the daemon may not list, with the shipped roles.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/installation.h"

namespace e2e::missing_rights_test {
namespace {

constexpr const char* kHow = "set rbac.countSecrets=true in its Helm values, or apply manifests/";

// An installation that enforces, without the role for Secrets, and a namespace of a team.
struct World {
  explicit World(const std::string& folder) : folder_(folder) {
    installation.Apply(folder);
    daemon.emplace(installation.Enforcing(folder));
    daemon->WaitUntilReady();
    ns.emplace(installation.api(), "red");
  }
  Attempt Create(std::string_view resource, const json::Value& object) {
    return ToAttempt(installation.api().Do(PostOf(PathOf(resource, ns->name()), object)));
  }
  Attempt Keep(const std::string& name) { return Create("secrets", Secret(name)); }
  // The API server asks for a right when a watch begins, so only a new process notices its loss.
  void Restart() {
    daemon.emplace(installation.Enforcing(folder_));
    daemon->WaitUntilReady();
  }
  // Waits until the refusal of this Secret says that.
  void WaitRefused(const std::string& name, const std::string& words) {
    Eventually("Secrets are refused: " + words, [&]() -> std::string {
      const Attempt attempt = Keep(name);
      const bool said = attempt.code == 403 && attempt.message.find(words) != std::string::npos;
      return said ? "" : attempt.Text();
    });
  }

  Installation installation;
  std::optional<Daemon> daemon;
  std::optional<TeamNamespace> ns;

 private:
  std::string folder_;
};

}  // namespace

TEST_CASE("cluster: a limit on Secrets holds nobody up without the role for Secrets, and says why",
          "[e2e][manifests][cluster][admission][real-only]") {
  World w("cluster-enforced");
  ClusterQuotas quotas(w.installation.api(), true);
  quotas.Create("team",
                SelectTeam("red", R"("hard":{"secrets":"1","count/secrets":"5","pods":"1"})"));
  quotas.WaitCondition("team", "Ready", "False ListForbidden: ");
  const std::string said = quotas.Condition("team", "Ready");
  INFO(said);
  CHECK_THAT(said, Catch::Contains("count/secrets, secrets are not in force until counted"));
  CHECK_THAT(said, Catch::Contains(kHow));
  Eventually("the quota has an Event", [&]() -> std::string {
    return IsSaid(w.installation.api(), "team", "QuotaStale") ? "" : "none";
  });
  for (const char* name : {"one", "two"}) {
    const Attempt attempt = w.Keep(name);
    INFO(attempt.Text());
    CHECK(attempt.ok());
  }
  // The other name is enforced.
  CHECK(w.ns->Try("one").ok());
  CHECK(w.ns->Try("two").code == 403);

  w.installation.Kubectl({"apply", "-f", kCountSecrets});
  quotas.WaitUsed("team", {{"secrets", "2"}, {"count/secrets", "2"}, {"pods", "1"}});
  quotas.WaitCondition("team", "Ready", "True Counted");
  w.WaitRefused("three", "exceeded cluster quota: team, requested: secrets=1, used: secrets=2");

  // A right that is taken away ends no limit, and its refusals say why.
  w.installation.Kubectl({"delete", "-f", kCountSecrets});
  w.Restart();
  quotas.WaitCondition("team", "Ready", "False ListForbidden: ");
  CHECK_THAT(quotas.Condition("team", "Ready"),
             Catch::Contains("are stale, status.used keeps what was last known"));
  w.WaitRefused("three", std::string("may not list secrets: ") + kHow);
}

TEST_CASE(
    "a limit of a ResourceQuota on Secrets holds nobody up without the role for Secrets, and is "
    "enforced with it",
    "[e2e][manifests][admission][real-only]") {
  World w("core-enforced");
  w.installation.api().Create(PathOf("resourcequotas", w.ns->name()),
                              Quota("q", {{"secrets", "1"}, {"pods", "1"}}));
  const auto status = [&](const char* member) {
    return ToQuantities(w.installation.api()
                            .Get(PathOf("resourcequotas", w.ns->name(), "q"))
                            .At({"status", member}));
  };
  Eventually("pods are counted", [&]() -> std::string {
    return status("used") == Quantities{{"pods", "0"}} ? "" : ToText(status("used"));
  });
  CHECK(status("hard") == Quantities{{"pods", "1"}});
  CHECK(w.Keep("one").ok());
  w.installation.Kubectl({"apply", "-f", kCountSecrets});
  Eventually("Secrets are counted", [&]() -> std::string {
    return status("used") == Quantities{{"pods", "0"}, {"secrets", "1"}} ? ""
                                                                         : ToText(status("used"));
  });
  w.WaitRefused("two", "exceeded quota: q, requested: secrets=1, used: secrets=1");
}

}  // namespace e2e::missing_rights_test
