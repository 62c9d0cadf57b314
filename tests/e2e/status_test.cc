// The status of a quota: its writer, the fields that a write preserves, and no write without need.
#include <catch2/catch.hpp>
#include <optional>
#include <utility>

#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/scenario.h"
#include "tests/e2e/harness/write_recorder.h"
#include "tests/fake/managed_fields.h"

namespace e2e {
namespace {

// A policy that forbids writes of the status of the quotas with this name.
class StatusPolicy {
 public:
  StatusPolicy(Api& api, const std::string& group, const std::string& resource,
               const std::string& quota)
      : api_(api), name_(FreshName("frozen")) {
    json::Value rule = Json(R"({"apiVersions":["*"],"operations":["UPDATE"]})");
    rule.Make({"apiGroups"}) = json::Array{group};
    rule.Make({"resources"}) = json::Array{resource + "/status"};
    json::Value validation;
    validation.Make({"expression"}) = "object.metadata.name != '" + quota + "'";
    json::Value policy;
    policy.Make({"matchConstraints", "resourceRules"}) = json::Array{rule};
    policy.Make({"validations"}) = json::Array{validation};
    Create("ValidatingAdmissionPolicy", std::move(policy));
    json::Value binding;
    binding.Make({"policyName"}) = name_;
    binding.Make({"validationActions"}) = json::Array{"Deny"};
    Create("ValidatingAdmissionPolicyBinding", std::move(binding));
  }
  ~StatusPolicy() {
    for (const char* kind : {"ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy"}) {
      (void)api_.Do({.verb = "DELETE", .path = Path(kind) + "/" + name_});
    }
  }
  StatusPolicy(const StatusPolicy&) = delete;
  StatusPolicy& operator=(const StatusPolicy&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  // `status` is the path of the quota's status.
  void WaitInForce(const std::string& status) {
    Eventually("the policy is in force", [&] {
      const auto written = api_.Do({.verb = "PATCH",
                                    .path = status,
                                    .content_type = "application/merge-patch+json",
                                    .body = R"({"status":{"used":{"pods":"0"}}})"});
      return written ? "not yet" : "";
    });
  }

 private:
  static std::string Path(const std::string& kind) {
    const bool binding = kind.ends_with("Binding");
    return std::string("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic") +
           (binding ? "ybindings" : "ies");
  }
  void Create(const std::string& kind, json::Value spec) {
    json::Value object = Json(R"({"apiVersion":"admissionregistration.k8s.io/v1"})");
    object.Make({"kind"}) = kind;
    object.Make({"metadata", "name"}) = name_;
    object.Make({"spec"}) = std::move(spec);
    api_.Create(Path(kind), object);
  }

  Api& api_;
  std::string name_;
};

// Waits for an event about the quota. Of a quota in no namespace it is in "default".
void WaitSaid(Api& api, const std::string& ns, const std::string& quota, const std::string& reason,
              const std::string& message) {
  Eventually("quota " + quota + " has an event " + reason, [&]() -> std::string {
    std::string others = "none";
    const json::Value events = api.Get(PathOf("events", ns));
    for (const json::Value& event : events.ArrayAt({"items"})) {
      if (event.StringAt({"involvedObject", "name"}) != quota) continue;
      const std::string text(event.StringAt({"message"}));
      const bool same = event.StringAt({"reason"}) == reason;
      if (same && text.find(message) != std::string::npos) return "";
      others += "; " + text;
    }
    return others;
  });
}

}  // namespace

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

TEST_CASE(
    "a policy that forbids the status of one quota is named in the log and an event, and delays no "
    "other",
    "[e2e][status][real-only][since-1.30]") {
  Scenario s;
  std::optional<StatusPolicy> policy(std::in_place, s.api(), "", "resourcequotas", "frozen");
  s.Create("resourcequotas", Quota("frozen", {{"pods", "9"}}));
  s.Create("resourcequotas", Quota("free", {{"pods", "9"}}));
  policy->WaitInForce(s.Path("resourcequotas", "frozen", "status"));
  Daemon& daemon = s.StartDaemon();
  s.Create("pods", Pod("a"));
  s.WaitUsed("free", {{"pods", "1"}});
  daemon.WaitForLog("status of " + s.ns() + "/frozen fails");
  daemon.WaitForLog("ValidatingAdmissionPolicy '" + policy->name() + "'");
  WaitSaid(s.api(), s.ns(), "frozen", "StatusRefused", policy->name());
  for (const char* pod : {"b", "c"}) s.Create("pods", Pod(pod));
  s.WaitUsed("free", {{"pods", "3"}});
  CHECK(daemon.Probe("/readyz") == 200);
  policy.reset();
  s.WaitUsed("frozen", {{"pods", "3"}}, Stretched(60s));
  WaitSaid(s.api(), s.ns(), "frozen", "QuotaHealed", "the status of the quota is written again");
}

TEST_CASE("a policy that forbids to charge a quota is named in the log and an event",
          "[e2e][status][cluster][admission][real-only][since-1.30]") {
  Admission a({.server = Managed(), .more_flags = {"--enforce=cluster"}});
  ClusterQuotas quotas(a.api());
  TeamNamespace team(a.api(), "frozen");
  const std::string name = FreshName("frozen");
  quotas.Create(name, SelectTeam("frozen", R"("hard":{"pods":"2"})"));
  quotas.WaitUsed(name, {{"pods", "0"}});
  std::optional<StatusPolicy> policy(std::in_place, a.api(), "quota-controller-manager.io",
                                     "clusterquotas", name);
  policy->WaitInForce(ClusterQuotas::Path(name) + "/status");
  const Attempt attempt = team.Try("one");
  CHECK_FALSE(attempt.ok());
  CHECK_THAT(attempt.message, Catch::Contains(policy->name()));
  a.daemon().WaitForLog("status of " + name + " fails");
  WaitSaid(a.api(), "default", name, "StatusRefused", policy->name());
  policy.reset();
  Eventually("the next pod is charged", [&]() -> std::string {
    const Attempt next = team.Try("two");
    return next.ok() ? "" : next.Text();
  });
  WaitSaid(a.api(), "default", name, "QuotaHealed", "the status of the quota is written again");
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
  daemon.Stop();
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

TEST_CASE("the deletion of a namespace ends its quota, and others stay right", "[e2e][status]") {
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
  const auto controller = StartBuiltinController("namespace-controller", s.server().Kubeconfig(),
                                                 dir.path() + "/controller.log");
  if (CurrentTier() == Tier::kReal && !controller) {
    WARN("no kube-controller-manager: the namespace is not removed here");
    return;
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
