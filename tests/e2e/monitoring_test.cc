// manifests/monitoring and manifests/dashboard only query metrics that the daemon exports.
#include <catch2/catch.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

#include "pkg/base/base64.h"
#include "pkg/config/yaml.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/https.h"
#include "tests/e2e/harness/installation.h"
#include "tests/e2e/harness/objects.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/source_dir.h"

namespace e2e::monitoring_test {
namespace {

const std::string kManifests = tests::SourcePath("/manifests/");

// The text of every member "expr", at any depth.
void CollectExpressions(const json::Value& value, std::vector<std::string>& found) {
  if (const json::Array* array = value.AsArray()) {
    for (const json::Value& element : *array) CollectExpressions(element, found);
  }
  const json::Object* object = value.AsObject();
  if (object == nullptr) return;
  for (const auto& [name, member] : *object) {
    if (name == "expr" && member.AsString() != nullptr) found.push_back(*member.AsString());
    CollectExpressions(member, found);
  }
}

std::vector<std::string> Expressions() {
  std::vector<std::string> found;
  CollectExpressions(
      config::ParseYaml(ReadFile(kManifests + "monitoring/prometheus-rule.yaml")).value(), found);
  const std::size_t of_alerts = found.size();
  CHECK(of_alerts > 5);
  CollectExpressions(Json(ReadFile(kManifests + "dashboard/quota-controller-manager.json")), found);
  CHECK(found.size() > of_alerts + 20);
  return found;
}

bool IsOfApiServer(const std::string& metric) { return metric.starts_with("apiserver_"); }

// Metric names: identifiers that are neither labels, nor functions, nor made by Prometheus.
std::set<std::string> MetricsIn(const std::vector<std::string>& expressions) {
  static const std::regex strings_and_labels(R"("[^"]*"|\b(by|on) *\([^)]*\))");
  static const std::regex name(R"(\b[a-z]+_[a-z_]*[a-z]\b)");
  const std::set<std::string> others{"histogram_quantile", "label_replace",    "group_left",
                                     "max_over_time",      "absent_over_time", "quota_api",
                                     "error_type"};
  std::set<std::string> metrics;
  for (const std::string& expression : expressions) {
    const std::string text = std::regex_replace(expression, strings_and_labels, "");
    for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) {
      if (!others.contains(at->str()) && !at->str().starts_with("__")) metrics.insert(at->str());
    }
  }
  metrics.erase("rate_interval");  // $__rate_interval
  return metrics;
}

// The endpoint of the ServiceMonitor in a folder.
json::Value ScrapedEndpoint(const std::string& folder) {
  for (const json::Value& object : RenderManifests(folder)) {
    if (object.StringAt({"kind"}) != "ServiceMonitor") continue;
    return object.At({"spec", "endpoints"})->AsArray()->front();
  }
  throw std::runtime_error("no ServiceMonitor in " + folder);
}

json::Value HowToVerify(const std::string& folder) {
  return *ScrapedEndpoint(folder).At({"tlsConfig"});
}

}  // namespace

TEST_CASE("every metric that alerts and the dashboard use is exported",
          "[e2e][manifests][real-only]") {
  auto metrics = MetricsIn(Expressions());
  std::erase_if(metrics, IsOfApiServer);
  CHECK(metrics.size() > 20);
  CHECK(metrics.contains("quota_used"));
  Installation installation;
  installation.Apply("core-enforced");
  json::Value quota = Quota("q", {{"pods", "9"}});
  quota.Make({"metadata", "annotations", "quota-controller-manager.io/alert-threshold"}) = "0.5";
  installation.api().Create(PathOf("resourcequotas", "default"), quota);
  // A kind that cannot be counted, so that its metrics exist.
  installation.api().Create(PathOf("resourcequotas", "default"), Quota("s", {{"secrets", "9"}}));
  // A limit in mode Warn that pods of a namespace without another quota exceed.
  installation.api().Create(PathOf("namespaces"), Namespace("tries"));
  const json::Value trial = ClusterQuotas::Quota(
      "trial", Json(R"({"namespaceSelector":{},"hard":{"pods":"0"},"enforcement":"Warn"})"));
  Eventually("ClusterQuotas are served", [&]() -> std::string {
    const auto created = installation.api().Do(PostOf(ClusterQuotas::Path(), trial));
    return created ? "" : created.error().message;
  });
  Daemon daemon(installation.Enforcing("core-enforced", {"--resync-period=1s"}));
  Eventually(
      "a pod is let in, and all metrics are there",
      [&] {
        const std::string pod = FreshName("pod");
        for (const char* ns : {"default", "tries"}) {
          (void)installation.api().Do(PostOf(PathOf("pods", ns), Pod(pod)));
        }
        std::string missing;
        const std::string text = daemon.MetricsText();
        for (const std::string& metric : metrics) {
          const bool found = text.find("\n" + metric + "{") != std::string::npos ||
                             text.find("\n" + metric + " ") != std::string::npos;
          if (!found) missing.append(missing.empty() ? "" : ", ").append(metric);
        }
        return missing;
      },
      Stretched(60s));
}

TEST_CASE("API servers count the calls that got no answer, with the labels that alerts ask for",
          "[e2e][manifests][server][real-only]") {
  auto metrics = MetricsIn(Expressions());
  std::erase_if(metrics, [](const std::string& metric) { return !IsOfApiServer(metric); });
  REQUIRE(metrics == std::set<std::string>{"apiserver_admission_webhook_fail_open_count",
                                           "apiserver_admission_webhook_rejection_count"});
  Installation installation;
  installation.Apply("core-enforced");
  installation.api().Create(PathOf("resourcequotas", "default"), Quota("q", {{"pods", "9"}}));
  Daemon daemon(installation.Enforcing("core-enforced"));
  const auto stored = [&] { return installation.api().Get(ConfigurationPath()); };
  Eventually("there are rules", [&] {
    const json::Value configuration = stored();
    const json::Value* webhooks = configuration.At({"webhooks"});
    return webhooks != nullptr && !webhooks->AsArray()->empty() ? "" : "none";
  });
  daemon.Kill();
  // One of the series of the metric: with both labels, and counted.
  const auto counts = [&](const std::string& metric, const std::string& label) {
    std::istringstream lines(installation.Kubectl({"get", "--raw", "/metrics"}));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(metric + "{") && line.find(label) != std::string::npos &&
          std::regex_search(line,
                            std::regex(R"re(name="[^"]+\.quota-controller-manager\.io")re"))) {
        return true;
      }
    }
    return false;
  };
  Eventually("a pod is refused because nobody answers", [&]() -> std::string {
    const auto created =
        installation.api().Do(PostOf(PathOf("pods", "default"), Pod(FreshName("pod"))));
    if (created) return "it is created";
    return counts("apiserver_admission_webhook_rejection_count",
                  R"(error_type="calling_webhook_error")")
               ? ""
               : created.error().message;
  });
  json::Value open = stored();
  for (json::Value& webhook : *open.Make({"webhooks"}).AsArray()) {
    webhook.Make({"failurePolicy"}) = "Ignore";
  }
  installation.api().MergePatch(ConfigurationPath(), open);
  Eventually("a pod passes because nobody answers", [&]() -> std::string {
    (void)installation.api().Do(PostOf(PathOf("pods", "default"), Pod(FreshName("pod"))));
    return counts("apiserver_admission_webhook_fail_open_count", "") ? "" : "not counted";
  });
}

TEST_CASE("the shipped roles allow one ServiceAccount to read metrics over TLS, and no other",
          "[e2e][manifests][metrics][real-only]") {
  Installation installation;
  installation.Apply("base");
  installation.Apply("monitoring");
  Daemon daemon(installation.AsDeployed("base", {"--metrics-secure=true"}));
  daemon.WaitUntilReady();
  const auto token_of = [&](const std::string& account) {
    installation.Kubectl({"create", "serviceaccount", account, "--namespace=default"});
    std::string token = installation.Kubectl({"create", "token", account, "--namespace=default"});
    token.erase(token.find_last_not_of(" \n") + 1);
    return token;
  };
  const auto read = [&](const std::string& token) {
    HttpsCall call{.port = daemon.metrics_port(), .path = "/metrics"};
    call.headers.Set("Authorization", "Bearer " + token);
    return Call(call).status;
  };
  const std::string prometheus = token_of("prometheus");
  installation.Kubectl({"create", "clusterrolebinding", "prometheus",
                        "--clusterrole=quota-controller-manager-metrics-reader",
                        "--serviceaccount=default:prometheus"});
  Eventually("Prometheus reads metrics", [&] { return read(prometheus) == 200 ? "" : "not yet"; });
  CHECK(read(token_of("somebody")) == 403);
  CHECK(daemon.Log().find("cannot be reviewed") == std::string::npos);
}

TEST_CASE("the account of monitoring-token reads metrics, and its ServiceMonitor names no file",
          "[e2e][manifests][metrics][real-only]") {
  Installation installation;
  installation.Apply("base");
  installation.Apply("monitoring-token");
  const json::Value endpoint = ScrapedEndpoint("monitoring-token");
  CHECK(endpoint.At({"bearerTokenFile"}) == nullptr);
  CHECK(endpoint.StringAt({"authorization", "credentials", "key"}) == "token");
  const json::Value secret = installation.api().Get(
      PathOf("secrets", kQuotaSystem, endpoint.StringAt({"authorization", "credentials", "name"})));
  CHECK(secret.StringAt({"type"}) == "kubernetes.io/service-account-token");
  // No kube-controller-manager writes the token here, so ask for one of the same account.
  const std::string account(
      secret.StringAt({"metadata", "annotations", "kubernetes.io/service-account.name"}));
  std::string token = installation.Kubectl(
      {"create", "token", account, std::string("--namespace=") + kQuotaSystem});
  token.erase(token.find_last_not_of(" \n") + 1);
  Daemon daemon(installation.AsDeployed("base", {"--metrics-secure=true"}));
  daemon.WaitUntilReady();
  HttpsCall call{.port = daemon.metrics_port(), .path = "/metrics"};
  call.headers.Set("Authorization", "Bearer " + token);
  Eventually("the account reads metrics", [&] {
    const int status = Call(call).status;
    return status == 200 ? std::string() : std::to_string(status);
  });
}

TEST_CASE("Prometheus verifies a certificate of a CA as the ServiceMonitor says",
          "[e2e][manifests][metrics][real-only]") {
  Installation installation;
  installation.Apply("core-enforced");
  installation.Apply("monitoring-verified");
  Daemon daemon(installation.AsDeployed(
      "core-enforced", {"--metrics-secure=true",
                        "--admission-bind-address=127.0.0.1:" + std::to_string(FreePort())}));
  daemon.WaitUntilReady();
  const json::Value tls = HowToVerify("monitoring-verified");
  const json::Value secret = installation.api().Get(
      PathOf("secrets", kQuotaSystem, tls.StringAt({"ca", "secret", "name"})));
  const auto ca =
      base::DecodeBase64(secret.StringAt({"data", tls.StringAt({"ca", "secret", "key"})}));
  REQUIRE(ca.has_value());
  HttpsCall call{.port = daemon.metrics_port(),
                 .path = "/metrics",
                 .ca_pem = *ca,
                 .server_name = std::string(tls.StringAt({"serverName"}))};
  call.headers.Set("Authorization", "Bearer " + installation.server().Fields().token);
  const HttpsAnswer answer = Call(call);
  INFO(answer.error);
  CHECK(answer.status == 200);
  CHECK(tls.At({"insecureSkipVerify"}) == nullptr);
  call.server_name = "another.quota-system.svc";
  CHECK(Call(call).status == 0);

  // With cert-manager the Secret and the name are those of the Certificate.
  const json::Value mounted = HowToVerify("monitoring-cert-manager");
  bool found = false;
  for (const json::Value& object : RenderManifests("cert-manager")) {
    if (object.StringAt({"kind"}) != "Certificate") continue;
    if (object.StringAt({"spec", "secretName"}) != mounted.StringAt({"ca", "secret", "name"})) {
      continue;
    }
    found = true;
    CHECK(json::Write(*object.At({"spec", "dnsNames"}))
              .find("\"" + std::string(mounted.StringAt({"serverName"})) + "\"") !=
          std::string::npos);
  }
  CHECK(found);
}

}  // namespace e2e::monitoring_test
