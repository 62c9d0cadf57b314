#include "tests/e2e/harness/admission.h"

#include "pkg/base/base64.h"
#include "tests/e2e/harness/proxy.h"

namespace e2e {
namespace {

// If the server answered, its message begins after "POST /path: 403 Forbidden: ".
std::string WordsOf(const base::Error& error) {
  const std::string answer = ": " + std::to_string(error.http_status) + " " + error.reason + ": ";
  const auto at = error.message.find(answer);
  return at == std::string::npos ? error.message : error.message.substr(at + answer.size());
}

// `299 - "quota nearly used up: …"`
std::string WarningText(std::string_view header) {
  const auto first = header.find('"');
  const auto last = header.rfind('"');
  if (first == std::string_view::npos || last <= first) return std::string(header);
  return std::string(header.substr(first + 1, last - first - 1));
}

std::vector<std::string> WarningsOf(const http::Headers& headers) {
  std::vector<std::string> warnings;
  for (const auto& [name, value] : headers) {
    if (name == "Warning" || name == "warning") warnings.push_back(WarningText(value));
  }
  return warnings;
}

}  // namespace

std::string Attempt::Text() const { return std::to_string(code) + " " + reason + ": " + message; }

Attempt ToAttempt(const base::Result<client::ApiResponse>& answer) {
  if (answer) return {.code = answer->status, .warnings = WarningsOf(answer->headers)};
  return {.code = answer.error().http_status,
          .reason = answer.error().reason,
          .message = WordsOf(answer.error())};
}

client::ApiRequest PostOf(const std::string& path, const json::Value& object) {
  return {.verb = "POST",
          .path = path,
          .content_type = std::string(client::kJson),
          .body = json::Write(object),
          .timeout = Stretched(60s)};
}

std::vector<client::ApiRequest> Creations(Scenario& scenario, const std::string& prefix,
                                          int count) {
  std::vector<client::ApiRequest> requests;
  requests.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    requests.push_back(PostOf(scenario.Path("pods"), Pod(prefix + std::to_string(i))));
  }
  return requests;
}

client::ApiRequest PatchOf(const std::string& path, const std::string& merge_patch) {
  return {.verb = "PATCH",
          .path = path,
          .content_type = std::string(client::kMergePatch),
          .body = merge_patch,
          .timeout = Stretched(60s)};
}

Admission::Admission(ApiServer& server) : scenario_(server), port_(FreePort()) {}

// However the start ends, the destructor deletes the configuration.
Admission::Admission(ApiServer& server, const AdmissionOptions& options) : Admission(server) {
  Start(options);
}

void Admission::Start(const AdmissionOptions& options) {
  ApiServer& server = scenario_.server();
  daemon_options_.kubeconfig = options.kubeconfig;
  if (daemon_options_.kubeconfig.empty()) daemon_options_.kubeconfig = server.Kubeconfig();
  const std::string address = "127.0.0.1:" + std::to_string(port_);
  daemon_options_.more_flags = {"--admission-bind-address=" + address,
                                "--admission-url=https://" + address};
  auto& flags = daemon_options_.more_flags;
  if (options.enforce) flags.emplace_back("--enforce=core");
  flags.insert(flags.end(), options.more_flags.begin(), options.more_flags.end());
  scenario_.StartDaemon(daemon_options_, options.wait_until_ready);
}

Admission::~Admission() {
  if (scenario_.HasDaemon()) daemon().Finish();
  for (const std::string& name : configurations_) {
    (void)api().Do({.verb = "DELETE", .path = ConfigurationPath(name), .timeout = Stretched(5s)});
  }
  // An API server uses a deleted configuration for a moment longer.
  const auto open = [this] {
    for (const auto& [resource, object] :
         std::map<std::string_view, json::Value>{{"pods", Pod("probe")},
                                                 {"secrets", Secret("probe")},
                                                 {"configmaps", ConfigMap("p")},
                                                 {"services", ClusterIpService("probe")},
                                                 {"persistentvolumeclaims", Claim("p", "1")}}) {
      if (Post(resource, object, true).message.find("webhook") != std::string::npos) return false;
    }
    return true;
  };
  (void)PollUntil(open, Stretched(5s));
}

std::string Admission::Url() const {
  return "https://127.0.0.1:" + std::to_string(port_) + "/validate/core";
}

void Admission::Limit(const std::string& quota, const Quantities& hard) {
  LimitScoped(Quota(quota, hard));
}

void Admission::LimitScoped(const json::Value& quota) {
  scenario_.Create("resourcequotas", quota);
  const std::string name(quota.StringAt({"metadata", "name"}));
  Eventually("quota " + name + " is enforced", [&]() -> std::string {
    const json::Value stored = scenario_.GetQuota(name);
    return Unenforced(stored, ToQuantities(stored.At({"spec", "hard"})));
  });
}

Attempt Admission::Post(std::string_view resource, const json::Value& object, bool dry_run) {
  client::ApiRequest request = PostOf(scenario_.Path(resource), object);
  if (dry_run) request.query.emplace_back("dryRun", "All");
  return ToAttempt(api().Do(std::move(request)));
}

Attempt Admission::Patch(const std::string& path, const std::string& merge_patch) {
  return ToAttempt(api().Do(PatchOf(path, merge_patch)));
}

std::vector<Attempt> Admission::DoAll(std::vector<client::ApiRequest> requests,
                                      std::size_t parallel) {
  std::vector<Attempt> attempts;
  for (const auto& answer : api().DoAll(std::move(requests), parallel)) {
    attempts.push_back(ToAttempt(answer));
  }
  return attempts;
}

std::size_t Admission::Count(std::string_view resource) {
  const json::Value list = api().Get(scenario_.Path(resource));
  const json::Value* items = list.At({"items"});
  return items == nullptr || items->AsArray() == nullptr ? 0 : items->AsArray()->size();
}

std::string ConfigurationPath(const std::string& name) {
  return PathOf("validatingwebhookconfigurations", "", name);
}

std::string ConfigWithClient(const TempDir& dir, const KeyPair& client) {
  const std::string kubeconfig =
      dir.Write("webhooks.kubeconfig",
                "apiVersion: v1\nkind: Config\nusers:\n- name: '*'\n  user:\n"
                "    client-certificate: " +
                    client.cert_path + "\n    client-key: " + client.key_path + "\n");
  return dir.Write("admission.yaml",
                   "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n"
                   "plugins:\n- name: ValidatingAdmissionWebhook\n  configuration:\n"
                   "    apiVersion: apiserver.config.k8s.io/v1\n"
                   "    kind: WebhookAdmissionConfiguration\n"
                   "    kubeConfigFile: " +
                       kubeconfig + "\n");
}

std::chrono::milliseconds AfterAHold() { return Stretched(40s); }

json::Value HandMadeConfiguration(const HandMade& hand_made) {
  json::Value webhook = Json(R"({"name":"core.quota-controller-manager.io","failurePolicy":"Fail",
      "admissionReviewVersions":["v1"],"sideEffects":"NoneOnDryRun","timeoutSeconds":10,
      "rules":[{"operations":["CREATE","UPDATE"],"apiGroups":[""],"apiVersions":["*"],
                "resources":["pods","services","persistentvolumeclaims"],"scope":"Namespaced"}]})");
  webhook.Make({"clientConfig", "url"}) = hand_made.url;
  webhook.Make({"clientConfig", "caBundle"}) = base::EncodeBase64(hand_made.ca_pem);
  webhook.Make({"namespaceSelector", "matchLabels", "kubernetes.io/metadata.name"}) = hand_made.ns;
  if (!hand_made.object_label.empty()) {
    webhook.Make({"objectSelector", "matchLabels", "half"}) = hand_made.object_label;
  }
  json::Value configuration = Json(R"({"apiVersion":"admissionregistration.k8s.io/v1",
      "kind":"ValidatingWebhookConfiguration"})");
  configuration.Make({"metadata", "name"}) = hand_made.name;
  configuration.Make({"webhooks"}) = json::Array{std::move(webhook)};
  return configuration;
}

}  // namespace e2e
