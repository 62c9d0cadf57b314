#include "tests/e2e/harness/faults.h"

#include <stdexcept>

namespace e2e {
namespace {

constexpr const char* kBasics = R"([
    {"apiGroups":[""],"resources":["resourcequotas","pods"],"verbs":["get","list","watch"]},
    {"apiGroups":[""],"resources":["resourcequotas/status"],"verbs":["get","patch"]},
    {"apiGroups":["","events.k8s.io"],"resources":["events"],"verbs":["create","patch"]}])";

// All reads, and the writes that no ban is about.
constexpr const char* kReadsAndEvents = R"([
    {"apiGroups":["*"],"resources":["*"],"verbs":["get","list","watch"]},
    {"apiGroups":["","events.k8s.io"],"resources":["events"],"verbs":["create","patch"]}])";

struct Write {
  const char* group;
  const char* resource;
  std::vector<std::string> verbs;
};
const std::vector<Write>& DaemonWrites() {
  static const std::vector<Write> writes{
      {"", "resourcequotas/status", {"patch"}},
      {"quota-controller-manager.io", "clusterquotas/status", {"patch"}},
      {"admissionregistration.k8s.io",
       "validatingwebhookconfigurations",
       {"create", "patch", "delete"}}};
  return writes;
}

void GrantWrite(Stranger& stranger, std::size_t index) {
  const Write& write = DaemonWrites()[index];
  json::Value rule;
  rule.Make({"apiGroups"}) = json::Array{write.group};
  rule.Make({"resources"}) = json::Array{write.resource};
  rule.Make({"verbs"}) = json::Array(write.verbs.begin(), write.verbs.end());
  stranger.Grant("write-" + std::to_string(index), json::Write(json::Array{rule}));
}

std::size_t IndexOf(const std::string& resource) {
  for (std::size_t i = 0; i < DaemonWrites().size(); ++i) {
    if (DaemonWrites()[i].resource == resource) return i;
  }
  throw std::runtime_error("no write of " + resource);
}

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

Stranger::Stranger(ApiServer& server) : api_(server.Kubeconfig()) {
  auto fields = server.Fields();
  fields.token = "e2e-stranger-token";
  kubeconfig_ = dir_.Write("kubeconfig", KubeconfigText(fields));
}

Stranger::~Stranger() {
  while (!granted_.empty()) Revoke(std::string(*granted_.begin()));
}

void Stranger::Grant(const std::string& name, const std::string& rules) {
  granted_.insert(name);
  auto role = Json(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole"})");
  role.Make({"metadata", "name"}) = role_ + "-" + name;
  role.Make({"rules"}) = Json(rules);
  api_.Create(PathOf("clusterroles"), role);
  auto binding = Json(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding",
      "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole"},
      "subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"stranger"}]})");
  binding.Make({"metadata", "name"}) = role_ + "-" + name;
  binding.Make({"roleRef", "name"}) = role_ + "-" + name;
  api_.Create(PathOf("clusterrolebindings"), binding);
}

void Stranger::Revoke(const std::string& name) {
  granted_.erase(name);
  for (const auto* resource : {"clusterrolebindings", "clusterroles"}) {
    (void)api_.Do({.verb = "DELETE", .path = PathOf(resource, "", role_ + "-" + name)});
  }
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
  stranger_.emplace(s.server());
  stranger_->Grant("basics", kBasics);
  kubeconfig_ = stranger_->kubeconfig();
}

void Restricted::Allow() {
  if (!stranger_) return ClearFaults(s_);
  stranger_->Grant("more", R"([{"apiGroups":[""],"verbs":["get","list","watch"],"resources":[")" +
                               resource_ + "\"]}]");
}

WriteBan::WriteBan(ApiServer& server, const std::string& resource)
    : resource_(resource), kubeconfig_(server.Kubeconfig()) {
  if (CurrentTier() == Tier::kSandbox) return;
  stranger_.emplace(server);
  kubeconfig_ = stranger_->kubeconfig();
  stranger_->Grant("reads", kReadsAndEvents);
  for (std::size_t i = 0; i < DaemonWrites().size(); ++i) GrantWrite(*stranger_, i);
}

void WriteBan::Forbid(Scenario& s) {
  const std::size_t index = IndexOf(resource_);
  if (stranger_) return stranger_->Revoke("write-" + std::to_string(index));
  const std::size_t slash = resource_.find('/');
  for (const std::string& verb : DaemonWrites()[index].verbs) {
    if (verb == "delete") continue;  // the test's own
    json::Value fault = Json(R"({"fault":"answer","code":403,"times":-1,"reason":"Forbidden",
        "message":"the daemon may not write"})");
    fault.Make({"resource"}) = resource_.substr(0, slash);
    if (slash != std::string::npos) fault.Make({"subresource"}) = resource_.substr(slash + 1);
    fault.Make({"verb"}) = verb;
    Inject(s, json::Write(fault));
  }
}

void WriteBan::Allow(Scenario& s) {
  if (!stranger_) return ClearFaults(s);
  GrantWrite(*stranger_, IndexOf(resource_));
}

}  // namespace e2e
