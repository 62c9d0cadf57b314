// A second API server behind the first one serves ironcore's kinds, and may be away while the first
// is available.
#include <catch2/catch.hpp>
#include <memory>

#include "tests/e2e/harness/cloud.h"
#include "tests/e2e/harness/faults.h"

namespace e2e::ironcore_aggregated_test {
namespace {

constexpr const char* kGroups[] = {"core.ironcore.dev", "compute.ironcore.dev",
                                   "storage.ironcore.dev"};
const std::string kMachines = "count/machines.compute.ironcore.dev";

// The second server: on the real tier a server of its own, with an APIService for each group on the
// first. The sandbox does not aggregate; it acts as if the groups' server were away.
class SecondServer {
 public:
  SecondServer() : front_(SharedServer().Kubeconfig()) {
    if (CurrentTier() == Tier::kSandbox) return;
    server_ = StartServer();
    api_ = std::make_unique<Api>(server_->Kubeconfig());
    OpenToTheFirst();
    for (const char* plural : kCloudKinds) {
      api_->Create(PathOf("customresourcedefinitions"), CloudDefinition(plural));
    }
    Register();
  }
  ~SecondServer() {
    if (!server_) return;
    for (const char* group : kGroups) front_.Delete(ServicePath(group));
    front_.Delete(PathOf("services", "default", kService));
  }
  SecondServer(const SecondServer&) = delete;
  SecondServer& operator=(const SecondServer&) = delete;

  void AddNamespace(const std::string& ns) {
    if (server_) api_->Create(PathOf("namespaces"), Namespace(ns));
  }
  // Copies the webhooks of the first server, as a second server reads them there.
  void CopyWebhooks() {
    if (!server_) return;
    json::Value copy = front_.Get(ConfigurationPath());
    const std::string name(copy.StringAt({"metadata", "name"}));
    copy.Make({"metadata"}) = json::Object{{"name", name}};
    api_->Delete(ConfigurationPath());
    api_->Create(PathOf("validatingwebhookconfigurations"), copy);
  }
  void Stop(Scenario& s) {
    if (server_) {
      server_->Kill();
      return;
    }
    for (const char* group : kGroups) {
      Inject(s, R"({"fault":"stale-group","version":"v1alpha1","group":")" + std::string(group) +
                    "\"}");
    }
  }
  void Start(Scenario& s) {
    if (server_) {
      server_->Start();
    } else {
      ClearFaults(s);
    }
  }

 private:
  static constexpr const char* kService = "ironcore";
  [[nodiscard]] static std::string ServicePath(const std::string& group) {
    return PathOf("apiservices", "", "v1alpha1." + group);
  }

  // The first server is not configured to pass on its users, so everybody may do everything here.
  void OpenToTheFirst() {
    api_->Create(PathOf("clusterrolebindings"),
                 Json(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding",
        "metadata":{"name":"first"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
        "kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"Group",
        "apiGroup":"rbac.authorization.k8s.io","name":"system:unauthenticated"}]})"));
  }

  void Register() {
    front_.Create(PathOf("services", "default"),
                  Json(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"ironcore"},
        "spec":{"type":"ExternalName","externalName":"localhost"}})"));
    for (const std::string group : kGroups) {
      json::Value service = Json(R"({"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService",
          "spec":{"version":"v1alpha1","groupPriorityMinimum":1000,"versionPriority":100,
          "insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"ironcore"}}})");
      service.Make({"metadata", "name"}) = "v1alpha1." + group;
      service.Make({"spec", "group"}) = group;
      service.Make({"spec", "service", "port"}) = static_cast<int>(server_->port());
      front_.Create(PathOf("apiservices"), service);
    }
    for (const char* path : {"/apis/core.ironcore.dev/v1alpha1/resourcequotas",
                             "/apis/compute.ironcore.dev/v1alpha1/machines",
                             "/apis/storage.ironcore.dev/v1alpha1/volumes"}) {
      WaitServed(front_, path, Stretched(60s));
    }
  }

  Api front_;
  std::unique_ptr<ApiServer> server_;  // null on the sandbox
  std::unique_ptr<Api> api_;
};

void WaitAnswer(Cloud& c, bool answers) {
  Eventually(
      answers ? "machines are served" : "machines are not served",
      [&]() -> std::string {
        const auto answer = c.api().Do({.path = c.Path("machines")});
        if (answer.has_value() == answers) return "";
        return answer ? "they are listed" : answer.error().message;
      },
      Stretched(60s));
}

bool Synced(Cloud& c, const std::string& quota_api, const std::string& resource) {
  return c.daemon().MetricsText().find("quota_tracked_synced{quota_api=\"" + quota_api +
                                       "\",resource=\"" + resource + "\"} 1") != std::string::npos;
}

}  // namespace

TEST_CASE("ironcore: an outage of its API server does not affect core, and ends",
          "[e2e][ironcore][aggregated]") {
  SecondServer second;
  Cloud c({.serve = CurrentTier() == Tier::kSandbox, .enforce = "core,ironcore"});
  Scenario& s = c.scenario();
  second.AddNamespace(s.ns());
  c.MakeClass("small", "2", "4Gi");
  s.Create("resourcequotas", Quota("q", {{"pods", "9"}}));
  s.WaitUsed("q", {{"pods", "0"}});
  c.Limit("q", {{"requests.cpu", "6"}, {kMachines, "9"}});
  second.CopyWebhooks();
  for (const char* name : {"a", "b"}) c.MakeMachine(name, "small");
  c.WaitUsed("q", {{"requests.cpu", "4"}, {kMachines, "2"}});
  c.MakeMachine("c", "small");
  // The server that serves the kind calls the webhooks.
  Eventually("the limit is enforced", [&]() -> std::string {
    const Attempt attempt = c.Post("machines", Machine("d", "small"));
    return attempt.exceeded() ? "" : attempt.Text();
  });
  c.WaitUsed("q", {{"requests.cpu", "6"}, {kMachines, "3"}});

  second.Stop(s);
  WaitAnswer(c, false);
  s.Create("pods", Pod("one"));
  s.WaitUsed("q", {{"pods", "1"}});
  const std::string machines = "machines.compute.ironcore.dev";
  Eventually(
      "machines are stale",
      [&]() -> std::string {
        return Synced(c, "ironcore", machines) ? "they are called current" : "";
      },
      Stretched(60s));
  CHECK(Synced(c, "core", "pods"));
  s.Delete("pods", "one");
  s.WaitUsed("q", {{"pods", "0"}});

  second.Start(s);
  WaitAnswer(c, true);
  Eventually("a machine can be deleted again", [&]() -> std::string {
    const auto answer = c.api().Do({.verb = "DELETE", .path = c.Path("machines", "a")});
    return answer ? "" : answer.error().message;
  });
  c.WaitUsed("q", {{"requests.cpu", "4"}, {kMachines, "2"}}, Stretched(45s));
  CHECK(c.daemon().Probe("/readyz") == 200);
  s.Create("pods", Pod("two"));
  s.WaitUsed("q", {{"pods", "1"}});
}

TEST_CASE("ironcore: a daemon that starts during an outage of its API server counts core and waits",
          "[e2e][ironcore][aggregated]") {
  SecondServer second;
  Cloud c({.serve = CurrentTier() == Tier::kSandbox, .enforce = ""});
  Scenario& s = c.scenario();
  second.AddNamespace(s.ns());
  c.MakeClass("small", "2", "4Gi");
  c.WriteQuota("q", {{"requests.cpu", "6"}, {kMachines, "9"}});
  c.MakeMachine("a", "small");
  c.WaitUsed("q", {{"requests.cpu", "2"}, {kMachines, "1"}}, Stretched(30s));
  s.Create("resourcequotas", Quota("q", {{"pods", "9"}}));
  s.WaitUsed("q", {{"pods", "0"}});
  c.daemon().Kill();
  c.MakeMachine("b", "small");
  second.Stop(s);
  WaitAnswer(c, false);
  c.daemon().Start();
  c.daemon().WaitUntilReady();
  s.Create("pods", Pod("one"));
  s.WaitUsed("q", {{"pods", "1"}});
  second.Start(s);
  WaitAnswer(c, true);
  c.WaitUsed("q", {{"requests.cpu", "4"}, {kMachines, "2"}}, Stretched(45s));
}

}  // namespace e2e::ironcore_aggregated_test
