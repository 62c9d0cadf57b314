// Outside of loopback, only users that the API server allows may read /metrics. Health is open.
#include <catch2/catch.hpp>
#include <map>

#include "pkg/base/clock.h"
#include "tests/e2e/harness/https.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e::metrics_access_test {
namespace {

constexpr const char* kAdminToken = "e2e-admin-token";

HttpsAnswer Get(const Daemon& daemon, const std::string& token,
                const std::string& path = "/metrics", const std::string& method = "GET") {
  HttpsCall call{.port = daemon.metrics_port(), .method = method, .path = path};
  if (!token.empty()) call.headers.Set("Authorization", "Bearer " + token);
  return Call(call);
}

// True if the answer contains any metric of the daemon.
bool TellsAnything(const HttpsAnswer& answer) {
  return answer.body.find("quota") != std::string::npos ||
         answer.body.find("process_") != std::string::npos;
}

// A ServiceAccount of the scenario's namespace, and a token for it.
std::string MakeScraper(Scenario& s, const std::string& name) {
  json::Value account = Json(R"({"apiVersion":"v1","kind":"ServiceAccount"})");
  account.Make({"metadata", "name"}) = name;
  s.Create("serviceaccounts", account);
  const json::Value answer =
      s.api().Create(s.Path("serviceaccounts", name, "token"),
                     Json(R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest",
                              "spec":{"expirationSeconds":3600}})"));
  return std::string(answer.StringAt({"status", "token"}));
}

// Grants it as the manifests do for Prometheus.
void Grant(Scenario& s, const std::string& role, const std::string& name) {
  json::Value made = Json(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",
      "rules":[{"nonResourceURLs":["/metrics"],"verbs":["get"]}]})");
  made.Make({"metadata", "name"}) = role;
  s.api().Create(PathOf("clusterroles"), made);
  json::Value binding = Json(R"({"apiVersion":"rbac.authorization.k8s.io/v1",
      "kind":"ClusterRoleBinding","roleRef":{"apiGroup":"rbac.authorization.k8s.io",
      "kind":"ClusterRole"}})");
  binding.Make({"metadata", "name"}) = role;
  binding.Make({"roleRef", "name"}) = role;
  binding.Make({"subjects"}) =
      json::Array{json::Object{{"kind", "ServiceAccount"}, {"name", name}, {"namespace", s.ns()}}};
  s.api().Create(PathOf("clusterrolebindings"), binding);
}

}  // namespace

TEST_CASE("metrics: beyond loopback the API server decides who reads them",
          "[e2e][metrics][access]") {
  const auto server = StartServer();
  Scenario s(*server);
  Daemon& daemon = s.StartDaemon(DaemonOptions{.more_flags = {"--metrics-secure=true"}});
  CHECK(Get(daemon, kAdminToken).body.find("quota_controller_manager_build_info") !=
        std::string::npos);
  for (const char* token : {"", "no-such-token"}) {
    const HttpsAnswer answer = Get(daemon, token);
    CHECK(answer.status == 401);
    CHECK(answer.headers.Get("WWW-Authenticate") == "Bearer");
    CHECK_FALSE(TellsAnything(answer));
  }
  CHECK(PlainGet(daemon.metrics_port(), "/metrics").status == 0);  // no plain HTTP
  CHECK(daemon.Probe("/readyz") == 200);                           // probes stay open and plain
  for (const char* path : {"/", "/debug/pprof", "/metrics/x", "/quotas", "/configz"}) {
    INFO(path);
    CHECK(Get(daemon, kAdminToken, path).status == 404);
    CHECK(PlainGet(daemon.probe_port(), path).status == 404);
  }
  CHECK(PlainGet(daemon.probe_port(), "/metrics").status == 404);
  CHECK_FALSE(ShakesHands(daemon.metrics_port(), "-tls1_1"));
  CHECK(ShakesHands(daemon.metrics_port(), "-tls1_2"));

  server->Kill();
  CHECK(Get(daemon, kAdminToken).status == 200);  // cached for a while
  const HttpsAnswer away = Get(daemon, "somebody-else");
  CHECK(away.status == 503);
  CHECK_FALSE(TellsAnything(away));
  CHECK(daemon.Probe("/livez") == 200);
  CHECK(daemon.Log().find("access to metrics cannot be reviewed") != std::string::npos);
  for (const char* token : {kAdminToken, "somebody-else", "no-such-token"}) {
    CHECK(daemon.Log().find(token) == std::string::npos);
  }
}

// A 401 is the answer of a TokenReview, a 429 of none. The time only says how many are allowed.
TEST_CASE("metrics: strangers cause few reviews, and lock out no scraper",
          "[e2e][metrics][access]") {
  Scenario s;
  Daemon& daemon = s.StartDaemon(DaemonOptions{.more_flags = {"--metrics-secure=true"}});
  CHECK(Get(daemon, kAdminToken).status == 200);
  constexpr int kStrangers = 400;
  const base::RealClock clock;
  const base::TimePoint begun = clock.Now();
  std::map<int, int> answers;
  for (int i = 0; i < kStrangers; ++i) {
    ++answers[Get(daemon, "no-such-token-" + std::to_string(i)).status];
    if (i % 40 == 0) CHECK(Get(daemon, kAdminToken).status == 200);
  }
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(clock.Now() - begun).count();
  CHECK(answers[401] + answers[429] == kStrangers);
  CHECK(answers[401] >= 20);
  CHECK(answers[401] <= 40 + 5 * seconds);
  CHECK(Get(daemon, kAdminToken).status == 200);
}

TEST_CASE("metrics: a ServiceAccount that may get /metrics reads them",
          "[e2e][metrics][access][real-only]") {
  Scenario s;
  Daemon& daemon = s.StartDaemon(DaemonOptions{.more_flags = {"--metrics-secure=true"}});
  const std::string token = MakeScraper(s, "scraper");
  const HttpsAnswer refused = Get(daemon, token);
  CHECK(refused.status == 403);
  std::string user("system:serviceaccount:");
  user.append(s.ns()).append(":scraper");
  CHECK(refused.body.find(user) != std::string::npos);
  CHECK_FALSE(TellsAnything(refused));
  Grant(s, s.ns(), "scraper");
  Eventually(
      "the ServiceAccount is let in",
      [&] { return Get(daemon, token).status == 200 ? std::string() : std::string("not yet"); },
      Stretched(20s));
  CHECK(Get(daemon, MakeScraper(s, "other")).status == 403);
  CHECK(Get(daemon, "e2e-stranger-token").status == 403);
  for (const char* kind : {"clusterrolebindings", "clusterroles"}) {
    s.api().Delete(PathOf(kind, "", s.ns()));
  }
  CHECK(daemon.Log().find(token) == std::string::npos);
}

TEST_CASE("metrics: they are served with the webhook's certificate", "[e2e][metrics][access]") {
  Scenario s;
  const TempDir dir;
  CertificateAuthority authority{dir.path(), "ca"};
  const KeyPair pair = authority.Server("webhook");
  dir.Write("tls.crt", ReadFile(pair.cert_path));
  dir.Write("tls.key", ReadFile(pair.key_path));
  const std::string address = "127.0.0.1:" + std::to_string(FreePort());
  Daemon& daemon =
      s.StartDaemon({.more_flags = {"--metrics-secure=true", "--enforce=core",
                                    "--manage-webhook=false", "--admission-bind-address=" + address,
                                    "--admission-cert-dir=" + dir.path()}});
  HttpsCall call{
      .port = daemon.metrics_port(), .path = "/metrics", .ca_pem = ReadFile(authority.cert_path())};
  call.headers.Set("Authorization", "Bearer e2e-admin-token");
  const HttpsAnswer answer = Call(call);
  INFO(answer.error);
  CHECK(answer.status == 200);
}

}  // namespace e2e::metrics_access_test
