#include "tests/bench/guarded_server.h"

#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "pkg/admission/webhook_configuration.h"
#include "pkg/quantity/quantity.h"
#include "pkg/quota/core/core_quota.h"
#include "tests/bench/filler.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/certificates.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/wait.h"

namespace bench {
namespace {

constexpr std::chrono::seconds kPatience{60};

std::string Local(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

// The rules that the daemon would store for a quota of pods.
json::Value ConfigurationFor(std::uint16_t port, const std::string& ca_pem) {
  admission::ConfigurationOptions options;
  options.name = "allow-everything";
  options.endpoint = admission::AdmissionUrl{.host = "127.0.0.1", .port = port, .path = ""};
  std::vector<admission::GuardedResource> guarded;
  for (const auto& evaluator : quota::CoreQuotaApi().evaluators) {
    if (evaluator.resource.resource == "pods") {
      guarded.push_back(admission::Guarded("core", evaluator));
    }
  }
  return admission::DesiredConfiguration(options, guarded, ca_pem);
}

}  // namespace

std::string NameOf(Guard guard) {
  switch (guard) {
    case Guard::kNoQuota:
      return "no quota";
    case Guard::kBuiltin:
      return "built-in plugin";
    case Guard::kAllowAll:
      return "webhook that allows everything";
    case Guard::kTwoDaemons:
      return "two quota-controller-managers, each half";
    case Guard::kDaemonOfJson:
      return "quota-controller-manager, reading JSON";
    case Guard::kDaemon:
      break;
  }
  return "quota-controller-manager";
}

bool IsOneDaemon(Guard guard) { return guard == Guard::kDaemon || guard == Guard::kDaemonOfJson; }

GuardedServer::GuardedServer(Guard guard, const e2e::Quantities& hard)
    : guard_(guard),
      server_(e2e::StartServer({.quota_plugin = guard == Guard::kBuiltin})),
      api_(server_->Kubeconfig()),
      webhook_port_(e2e::FreePort()),
      metrics_port_(e2e::FreePort()) {
  api_.Create(e2e::PathOf("namespaces"), e2e::Namespace(kNamespace));
  if (guard == Guard::kAllowAll) StartAllower();
  if (!has_quota()) return;
  api_.Create(e2e::PathOf("resourcequotas", kNamespace),
              hard.empty() ? QuotaOfSevenNames() : e2e::Quota(kQuota, hard));
  if (IsOneDaemon(guard)) {
    StartDaemon();
  } else if (guard == Guard::kTwoDaemons) {
    for (const char* half : kHalves) StartHalf(half);
  } else {
    StartController();
  }
  WaitUntilEnforced();
}

GuardedServer::~GuardedServer() = default;

void GuardedServer::StartAllower() {
  e2e::CertificateAuthority authority(folder_.path(), "webhook-ca");
  const e2e::KeyPair pair = authority.Server("webhook");
  api_.Create(admission::kWebhookConfigurations.Path(),
              ConfigurationFor(webhook_port_, e2e::ReadFile(authority.cert_path())));
  // Once a creation fails because nothing listens there, the server does call the webhook.
  const auto answer = [&] {
    return api_.Do({.verb = "POST",
                    .path = PodPath(),
                    .query = {{"dryRun", "All"}},
                    .content_type = std::string(client::kJson),
                    .body = PodJson(0)});
  };
  e2e::Eventually(
      "the webhook is missed", [&] { return answer() ? "not asked" : ""; }, kPatience);
  webhook_ = std::make_unique<e2e::Process>(
      e2e::ProcessOptions{.argv = {e2e::BuiltProgram("allow_everything"),
                                   std::to_string(webhook_port_), pair.cert_path, pair.key_path},
                          .log_path = folder_.path() + "/webhook.log"});
  e2e::Eventually(
      "the webhook allows",
      [&]() -> std::string {
        const auto allowed = answer();
        return allowed ? "" : allowed.error().message;
      },
      kPatience);
}

void GuardedServer::StartController() {
  controller_ = e2e::StartBuiltinController("resourcequota-controller", Kubeconfig(),
                                            folder_.path() + "/controller.log");
  if (!controller_) throw std::runtime_error("no kube-controller-manager to compare with");
}

void GuardedServer::KillCounter() { (controller_ ? controller_ : webhook_)->Kill(); }

void GuardedServer::StartCounter() {
  if (controller_) {
    StartController();
  } else {
    StartDaemon({"--leader-elect=false"});
  }
}

void GuardedServer::StartDaemon(const std::vector<std::string>& more_flags) {
  std::vector<std::string> argv{
      e2e::BuiltProgram("quota-controller-manager"),
      "--kubeconfig=" + Kubeconfig(),
      "--enforce=core",
      "--admission-bind-address=" + Local(webhook_port_),
      "--admission-url=https://" + Local(webhook_port_),
      "--metrics-bind-address=" + Local(metrics_port_),
      "--health-probe-bind-address=",
      guard_ == Guard::kDaemonOfJson
          ? "--kube-api-content-type=application/json"
          : "--kube-api-content-type=application/vnd.kubernetes.protobuf"};
  argv.insert(argv.end(), more_flags.begin(), more_flags.end());
  webhook_ = std::make_unique<e2e::Process>(
      e2e::ProcessOptions{.argv = std::move(argv), .log_path = folder_.path() + "/daemon.log"});
}

// Starts a daemon with its own certificate and a configuration with an admin's rules.
void GuardedServer::StartHalf(const std::string& half) {
  const std::string folder = folder_.path() + "/" + half;
  std::filesystem::create_directory(folder);
  e2e::CertificateAuthority authority(folder_.path(), half);
  const e2e::KeyPair pair = authority.Server(half + "-webhook");
  std::filesystem::copy_file(authority.cert_path(), folder + "/ca.crt");
  std::filesystem::copy_file(pair.cert_path, folder + "/tls.crt");
  std::filesystem::copy_file(pair.key_path, folder + "/tls.key");
  const std::string address = Local(e2e::FreePort());
  halves_.push_back(std::make_unique<e2e::Process>(e2e::ProcessOptions{
      .argv = {e2e::BuiltProgram("quota-controller-manager"), "--kubeconfig=" + Kubeconfig(),
               "--enforce=core", "--admission-bind-address=" + address,
               "--admission-cert-dir=" + folder, "--manage-webhook=false",
               "--metrics-bind-address=", "--health-probe-bind-address="},
      .log_path = folder + "/daemon.log"}));
  api_.Create(e2e::ConfigurationPath(""),
              e2e::HandMadeConfiguration({.name = half,
                                          .url = "https://" + address + "/validate/core",
                                          .ca_pem = e2e::ReadFile(authority.cert_path()),
                                          .ns = kNamespace,
                                          .object_label = half}));
}

std::string GuardedServer::WebhookUrl() const {
  return "https://" + Local(webhook_port_) + "/validate/core";
}

std::string GuardedServer::PodPath(const std::string& name, const std::string& subresource) const {
  return e2e::PathOf("pods", kNamespace, name, subresource);
}

// A name in status.hard is enforced.
void GuardedServer::WaitUntilEnforced() {
  const auto missing = [this]() -> std::string {
    const auto quota = api_.Get(e2e::PathOf("resourcequotas", kNamespace, kQuota));
    const auto wanted = e2e::ToQuantities(quota.At({"spec", "hard"}));
    const auto hard = e2e::ToQuantities(quota.At({"status", "hard"}));
    const auto used = e2e::ToQuantities(quota.At({"status", "used"}));
    return hard == wanted && used.size() == wanted.size() ? "" : e2e::ToText(hard);
  };
  e2e::Eventually("every name of the quota is enforced", missing, kPatience);
}

std::string GuardedServer::QuotaVersion() {
  const auto quota = api_.Get(e2e::PathOf("resourcequotas", kNamespace, kQuota));
  return std::string(quota.StringAt({"metadata", "resourceVersion"}));
}

std::string GuardedServer::UsedPods() {
  const auto quota = api_.Get(e2e::PathOf("resourcequotas", kNamespace, kQuota));
  return std::string(quota.StringAt({"status", "used", "pods"}));
}

std::optional<double> GuardedServer::SecondsUntilUsed(int pods, std::chrono::seconds limit) {
  const auto began = std::chrono::steady_clock::now();
  const std::string wanted = quantity::Quantity::FromInt(pods).ToString();  // a thousand is "1k"
  const bool reached = e2e::PollUntil([&] { return UsedPods() == wanted; }, limit);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  return reached ? std::optional(took.count()) : std::nullopt;
}

void GuardedServer::DeleteAllPods() {
  const auto deleted = api_.Do({.verb = "DELETE",
                                .path = PodPath(),
                                .query = {{"gracePeriodSeconds", "0"}},
                                .timeout = kPatience});
  if (!deleted) throw std::runtime_error(deleted.error().message);
  if (has_quota() && !SecondsUntilUsed(0, kPatience)) {
    throw std::runtime_error("used.pods is " + UsedPods() + ", and no pod is left");
  }
}

double GuardedServer::ReviewsDecided() const {
  std::istringstream lines(e2e::PlainGet(metrics_port_, "/metrics").body);
  double sum = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("quota_admission_decisions_total{", 0) != 0) continue;
    sum += std::stod(line.substr(line.rfind(' ')));
  }
  return sum;
}

}  // namespace bench
