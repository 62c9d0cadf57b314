// How an enforcing daemon reaches its API server: over few connections, and with new credentials
// once the old ones are rejected.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/faults.h"
#include "tests/e2e/harness/proxy.h"

namespace e2e::admission_connections_test {
namespace {

// Namespaces, each with an enforced quota on pods.
class Crowd {
 public:
  Crowd(Admission& a, std::size_t size) : a_(a) {
    std::vector<client::ApiRequest> namespaces;
    std::vector<client::ApiRequest> quotas;
    for (std::size_t i = 0; i < size; ++i) {
      names_.push_back(FreshName("crowd"));
      namespaces.push_back(PostOf(PathOf("namespaces"), Namespace(names_.back())));
      quotas.push_back(PostOf(PathOf("resourcequotas", names_.back()), Quota("q", {kHard})));
    }
    Must(std::move(namespaces));
    Must(std::move(quotas));
    for (const std::string& ns : names_) {
      Eventually("the quota of " + ns + " is enforced", [&] {
        return Unenforced(a_.api().Get(PathOf("resourcequotas", ns, "q")), {kHard});
      });
    }
  }
  // No controller deletes namespaces here, and their content must not disturb later scenarios.
  ~Crowd() {
    std::vector<client::ApiRequest> deletions;
    for (const std::string& ns : names_) {
      for (const char* resource : {"resourcequotas", "pods"}) {
        deletions.push_back({.verb = "DELETE",
                             .path = PathOf(resource, ns),
                             .query = {{"gracePeriodSeconds", "0"}}});
      }
      deletions.push_back({.verb = "DELETE", .path = PathOf("namespaces", "", ns)});
    }
    (void)a_.api().DoAll(std::move(deletions), 8);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // A pod in each namespace, all at once.
  void CreateEverywhere(int number) {
    std::vector<client::ApiRequest> creations;
    const json::Value pod = Pod("p" + std::to_string(number));
    for (const std::string& ns : names_) creations.push_back(PostOf(PathOf("pods", ns), pod));
    Must(std::move(creations));
  }

 private:
  inline static const Quantities::value_type kHard{"pods", "100"};

  void Must(std::vector<client::ApiRequest> requests) {
    for (const Attempt& attempt : a_.DoAll(std::move(requests), names_.size())) {
      INFO(attempt.Text());
      REQUIRE(attempt.ok());
    }
  }

  Admission& a_;
  std::vector<std::string> names_;
};

// A user of the daemon whose token comes from a plugin.
class Renewed {
 public:
  explicit Renewed(ApiServer& server) : fields_(server.Fields()) {
    const std::string script = dir_.Write(
        "plugin.sh",
        R"(printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
        R"("status":{"token":"%s"}}' "$(cat ")" +
            dir_.path() + "/token\")\"\n");
    Say(fields_.token);
    fields_.extra_user_lines =
        "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n"
        "      command: /bin/sh\n      args: [" +
        script + "]\n      interactiveMode: Never\n";
  }
  // From the plugin's next run on.
  void Say(const std::string& token) { dir_.Write("token", token); }
  std::string Kubeconfig() {
    KubeconfigFields fields = fields_;
    fields.token.clear();
    return dir_.Write("kubeconfig", KubeconfigText(fields));
  }
  // A kubeconfig with only this token.
  std::string KubeconfigWith(const std::string& token) {
    KubeconfigFields fields = fields_;
    fields.token = token;
    fields.extra_user_lines.clear();
    return dir_.Write("kubeconfig-of-token", KubeconfigText(fields));
  }

 private:
  TempDir dir_;
  KubeconfigFields fields_;
};

// An account with all rights; its tokens end when their Secret is deleted.
class Account {
 public:
  explicit Account(Scenario& s) : s_(s) {
    s_.Create("serviceaccounts", Json(R"({"metadata":{"name":"daemon"}})"));
    auto binding = Json(R"({"apiVersion":"rbac.authorization.k8s.io/v1",
        "kind":"ClusterRoleBinding","roleRef":{"apiGroup":"rbac.authorization.k8s.io",
        "kind":"ClusterRole","name":"cluster-admin"},
        "subjects":[{"kind":"ServiceAccount","name":"daemon"}]})");
    binding.Make({"metadata", "name"}) = binding_;
    (*binding.Make({"subjects"}).AsArray())[0].Make({"namespace"}) = s_.ns();
    s_.api().Create(PathOf("clusterrolebindings"), binding);
  }
  ~Account() {
    (void)s_.api().Do({.verb = "DELETE", .path = PathOf("clusterrolebindings", "", binding_)});
  }
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  std::string TokenUntilGone(const std::string& secret) {
    const json::Value stored = s_.Create("secrets", Secret(secret));
    auto request = Json(R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest",
        "spec":{"boundObjectRef":{"apiVersion":"v1","kind":"Secret"}}})");
    request.Make({"spec", "boundObjectRef", "name"}) = secret;
    request.Make({"spec", "boundObjectRef", "uid"}) =
        std::string(stored.StringAt({"metadata", "uid"}));
    const json::Value answer =
        s_.api().Create(s_.Path("serviceaccounts", "daemon", "token"), request);
    return std::string(answer.StringAt({"status", "token"}));
  }

 private:
  Scenario& s_;
  std::string binding_ = FreshName("e2e-daemon");
};

}  // namespace

// Each answer takes long enough for all requests to run at once.
TEST_CASE("admission: concurrent writes of namespaces reuse their connections",
          "[e2e][admission]") {
  constexpr std::size_t kNamespaces = 60;
  constexpr int kRounds = 6;
  TcpProxy proxy(SharedServer().port());
  Admission a({.kubeconfig = SharedServer().Kubeconfig(proxy.port())});
  Crowd crowd(a, kNamespaces);
  proxy.Slow(100ms);
  const int before = proxy.accepted();
  for (int round = 0; round < kRounds; ++round) crowd.CreateEverywhere(round);
  const int opened = proxy.accepted() - before;
  proxy.Slow(0ms);
  // A concurrent recount and an event may need a connection, too.
  CHECK(opened <= static_cast<int>(kNamespaces) + 15);
}

TEST_CASE("admission: refused credentials are renewed, and no request fails", "[e2e][admission]") {
  Renewed renewed(SharedServer());
  if (CurrentTier() == Tier::kSandbox) {
    Admission a({.kubeconfig = renewed.Kubeconfig()});
    a.Limit("q", {{"pods", "5"}});
    const int times = GENERATE(1, 3);
    Inject(a.scenario(), R"({"fault":"answer","verb":"patch","resource":"resourcequotas",
        "subresource":"status","code":401,"reason":"Unauthorized","times":)" +
                             std::to_string(times) + "}");
    CHECK(a.Post("pods", Pod("p")).Text() == "201 : ");
    ClearFaults(a.scenario());
    CHECK(a.daemon().MetricsText().find("code=\"401\"") != std::string::npos);
    return;
  }
  Scenario other;
  Account account(other);
  const std::string first = account.TokenUntilGone("first");
  renewed.Say(first);
  Admission a({.kubeconfig = renewed.Kubeconfig()});
  a.Limit("q", {{"pods", "5"}});
  renewed.Say(account.TokenUntilGone("second"));
  other.Delete("secrets", "first");
  // The API server caches successful authentication for ten seconds.
  Api old(renewed.KubeconfigWith(first));
  Eventually(
      "the old token is refused",
      [&]() -> std::string {
        const auto answer = old.Do({.path = "/api/v1/namespaces"});
        return !answer && answer.error().http_status == 401 ? "" : "not yet";
      },
      Stretched(30s));
  CHECK(a.Post("pods", Pod("p")).Text() == "201 : ");
  CHECK(a.daemon().MetricsText().find("code=\"401\"") != std::string::npos);
}

}  // namespace e2e::admission_connections_test
