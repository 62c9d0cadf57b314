#include "tests/e2e/harness/faults.h"

#include <stdexcept>

namespace e2e {
namespace {

constexpr const char* kBasics = R"([
    {"apiGroups":[""],"resources":["resourcequotas","pods"],"verbs":["get","list","watch"]},
    {"apiGroups":[""],"resources":["resourcequotas/status"],"verbs":["get","patch"]},
    {"apiGroups":["","events.k8s.io"],"resources":["events"],"verbs":["create","patch"]}])";

}  // namespace

void Inject(Scenario& s, const std::string& faults) {
  const auto answer = s.api().Do({.verb = "POST",
                                  .path = "/sandbox/faults",
                                  .content_type = std::string(client::kJson),
                                  .body = faults});
  if (!answer) throw std::runtime_error(answer.error().message);
}

void ClearFaults(Scenario& s) {
  const auto answer = s.api().Do({.verb = "DELETE", .path = "/sandbox/faults"});
  if (!answer) throw std::runtime_error(answer.error().message);
}

Restricted::Restricted(Scenario& s, std::string resource)
    : s_(s), resource_(std::move(resource)), kubeconfig_(s.server().Kubeconfig()) {
  if (CurrentTier() == Tier::kSandbox) {
    for (const auto* verb : {"list", "watch"}) {
      Inject(s_, R"({"fault":"answer","code":403,"times":-1,"resource":")" + resource_ +
                     R"(","verb":")" + verb + "\"}");
    }
    return;
  }
  auto fields = s.server().Fields();
  fields.token = "e2e-stranger-token";
  kubeconfig_ = dir_.Write("kubeconfig", KubeconfigText(fields));
  Grant("", kBasics);
}

void Restricted::Grant(const std::string& suffix, const std::string& rules) {
  auto role = Json(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole"})");
  role.Make({"metadata", "name"}) = role_ + suffix;
  role.Make({"rules"}) = Json(rules);
  s_.api().Create(PathOf("clusterroles"), role);
  auto binding = Json(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding",
      "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole"},
      "subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"stranger"}]})");
  binding.Make({"metadata", "name"}) = role_ + suffix;
  binding.Make({"roleRef", "name"}) = role_ + suffix;
  s_.api().Create(PathOf("clusterrolebindings"), binding);
}

void Restricted::Allow() {
  if (CurrentTier() == Tier::kSandbox) {
    ClearFaults(s_);
  } else {
    Grant("-more", R"([{"apiGroups":[""],"verbs":["get","list","watch"],"resources":[")" +
                       resource_ + "\"]}]");
  }
}

Restricted::~Restricted() {
  if (CurrentTier() == Tier::kSandbox) return;
  for (const auto* resource : {"clusterrolebindings", "clusterroles"}) {
    for (const auto* suffix : {"", "-more"}) {
      (void)s_.api().Do({.verb = "DELETE", .path = PathOf(resource, "", role_ + suffix)});
    }
  }
}

}  // namespace e2e
