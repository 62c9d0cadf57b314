// The API server refuses to write the status of a quota: the log and an event of the quota say so.
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "tests/e2e/harness/cloud.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/faults.h"
#include "tests/e2e/harness/federation.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e::status_refused_test {
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

// Something forbids writes of the status of one quota: a policy, or on the sandbox the server.
class Refusal {
 public:
  // `status` is the path of the quota's status.
  Refusal(Scenario& s, const std::string& group, const std::string& resource,
          const std::string& quota, const std::string& status)
      : s_(s) {
    if (CurrentTier() == Tier::kReal) {
      policy_ = std::make_unique<StatusPolicy>(s.api(), group, resource, quota);
      policy_->WaitInForce(status);
      return;
    }
    json::Value fault = Json(R"({"fault":"answer","code":403,"times":-1,"reason":"Forbidden",
        "message":"frozen by a policy","subresource":"status","verb":"patch"})");
    fault.Make({"group"}) = group;
    fault.Make({"resource"}) = resource;
    fault.Make({"name"}) = quota;
    Inject(s, json::Write(fault));
  }
  // What its refusals say.
  [[nodiscard]] std::string words() const { return policy_ ? policy_->name() : "frozen by"; }
  void End() {
    if (CurrentTier() == Tier::kSandbox) ClearFaults(s_);
    policy_.reset();
  }

 private:
  Scenario& s_;
  std::unique_ptr<StatusPolicy> policy_;
};

constexpr const char* kWritten = "the status of the quota is written again";

// What the API server answers to a daemon without the right.
std::string Forbids(const std::string& resource) {
  return CurrentTier() == Tier::kReal ? "cannot patch resource \"" + resource + "\""
                                      : "the daemon may not write";
}

}  // namespace

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

TEST_CASE("a policy that forbids to charge a KarmadaQuota is named in the log and an event",
          "[e2e][status][karmada][admission][since-1.30]") {
  Federation f;
  f.Limit("q", {{"pods", "8"}});
  Refusal refusal(f.scenario(), "policy.karmada.io", "karmadaquotas", "q",
                  f.Path("karmadaquotas", "q", "status"));
  const Attempt attempt = f.Post(Binding("web", 3, {{"cpu", "1"}}));
  CHECK_FALSE(attempt.ok());
  CHECK_THAT(attempt.message, Catch::Contains(refusal.words()));
  const std::string& ns = f.scenario().ns();
  f.daemon().WaitForLog("status of " + ns + "/q fails");
  WaitSaid(f.api(), ns, "q", "StatusRefused", refusal.words());
  refusal.End();
  Eventually("the next binding is charged", [&]() -> std::string {
    const Attempt next = f.Post(Binding(FreshName("web"), 2, {{"cpu", "1"}}));
    return next.ok() ? "" : next.Text();
  });
  f.WaitUsed("q", {{"pods", "2"}});
  WaitSaid(f.api(), ns, "q", "QuotaHealed", kWritten);
}

TEST_CASE("a policy that forbids to charge a quota of ironcore is named in the log and an event",
          "[e2e][status][ironcore][admission][since-1.30]") {
  Cloud c;
  c.MakeClass("small", "2", "4Gi");
  c.Limit("q", {{"requests.cpu", "4"}});
  Refusal refusal(c.scenario(), "core.ironcore.dev", "resourcequotas", "q",
                  c.Path("resourcequotas", "q", "status"));
  const Attempt attempt = c.Post("machines", Machine("web", "small"));
  CHECK_FALSE(attempt.ok());
  CHECK_THAT(attempt.message, Catch::Contains(refusal.words()));
  c.daemon().WaitForLog("status of " + c.scenario().ns() + "/q fails");
  c.WaitSaid("q", "StatusRefused", refusal.words());
  refusal.End();
  Eventually("the next machine is charged", [&]() -> std::string {
    const Attempt next = c.Post("machines", Machine(FreshName("web"), "small"));
    return next.ok() ? "" : next.Text();
  });
  c.WaitUsed("q", {{"requests.cpu", "2"}});
  c.WaitSaid("q", "QuotaHealed", kWritten);
}

TEST_CASE("a daemon without the right to charge ClusterQuotas says so in the log and an event",
          "[e2e][status][cluster][admission]") {
  WriteBan ban(SharedServer(Managed()), "clusterquotas/status");
  Admission a(
      {.server = Managed(), .kubeconfig = ban.kubeconfig(), .more_flags = {"--enforce=cluster"}});
  ClusterQuotas quotas(a.api());
  const std::string name = FreshName("frozen");
  TeamNamespace team(a.api(), name);
  quotas.Create(name, SelectTeam(name, R"("hard":{"pods":"100"})"));
  quotas.WaitUsed(name, {{"pods", "0"}});
  ban.Forbid(a.scenario());
  const std::string forbids = Forbids("clusterquotas/status");
  Eventually("pods cannot be charged", [&]() -> std::string {
    const Attempt attempt = team.Try(FreshName("p"));
    return attempt.message.find(forbids) != std::string::npos ? "" : attempt.Text();
  });
  a.daemon().WaitForLog("status of " + name + " fails");
  WaitSaid(a.api(), "default", name, "StatusRefused", forbids);
  ban.Allow(a.scenario());
  Eventually("pods are charged", [&]() -> std::string {
    const Attempt next = team.Try(FreshName("p"));
    return next.ok() ? "" : next.Text();
  });
  WaitSaid(a.api(), "default", name, "QuotaHealed", kWritten);
}

TEST_CASE("a daemon without the right to count ResourceQuotas says so in the log and an event",
          "[e2e][status]") {
  WriteBan ban(SharedServer(), "resourcequotas/status");
  Scenario s;
  s.Create("resourcequotas", Quota("q", {{"pods", "100"}}));
  Daemon& daemon = s.StartDaemon("5m", ban.kubeconfig());
  s.WaitUsed("q", {{"pods", "0"}});
  ban.Forbid(s);
  const std::string line = "status of " + s.ns() + "/q fails";
  Eventually("a count is refused", [&]() -> std::string {
    s.Create("pods", Pod(FreshName("p")));
    return daemon.Log().find(line) != std::string::npos ? "" : "not yet";
  });
  WaitSaid(s.api(), s.ns(), "q", "StatusRefused", Forbids("resourcequotas/status"));
  ban.Allow(s);
  s.Create("pods", Pod("last"));
  WaitSaid(s.api(), s.ns(), "q", "QuotaHealed", kWritten);
}

}  // namespace e2e::status_refused_test
