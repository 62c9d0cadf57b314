#include "tests/bench/guarded_server.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "pkg/quantity/quantity.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/webhook/webhook_configuration.h"
#include "tests/bench/filler.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/certificates.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/wait.h"

namespace bench {
namespace {

constexpr std::chrono::seconds kPatience{60};

// What QuotaOfSevenNames() limits besides pods, under names of a definition.
constexpr std::array<std::pair<const char*, const char*>, 6> kDefinedNames{{
    {"example.com/cpu", "requests.cpu"},
    {"example.com/memory", "requests.memory"},
    {"example.com/requests-cpu", "requests.cpu"},
    {"example.com/requests-memory", "requests.memory"},
    {"example.com/limits-cpu", "limits.cpu"},
    {"example.com/limits-memory", "limits.memory"},
}};

json::Value HardOfSevenDefinedNames() {
  json::Object hard{{"pods", "1M"}};
  for (const auto& [name, field] : kDefinedNames) hard.Set(name, "1Pi");
  return hard;
}

std::string Local(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

// The rules that the daemon would store for a quota of pods.
json::Value ConfigurationFor(std::uint16_t port, const std::string& ca_pem) {
  webhook::ConfigurationOptions options;
  options.name = "allow-everything";
  options.endpoint = webhook::AdmissionUrl{.host = "127.0.0.1", .port = port, .path = ""};
  std::vector<webhook::GuardedResource> guarded;
  for (const auto& evaluator : quota::CoreQuotaApi().evaluators) {
    if (evaluator.resource.resource == "pods") {
      guarded.push_back(webhook::Guarded("core", evaluator));
    }
  }
  return webhook::DesiredConfiguration(options, guarded, ca_pem);
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
    case Guard::kOlder:
      return "older quota-controller-manager";
    case Guard::kBalanced:
      return "one replica";
    case Guard::kReplicas:
      return "two replicas";
    case Guard::kOlderReplicas:
      return "two replicas of an older version";
    case Guard::kBoth:
      return "quota-controller-manager, and a ClusterQuota";
    case Guard::kClusterQuota:
      return "one ClusterQuota over 100 namespaces";
    case Guard::kDefined:
      return "the same, of names of a UsageDefinition";
    case Guard::kTree:
      return "1000 ClusterQuotas, 5 above each of 100 namespaces";
    case Guard::kDaemon:
      break;
  }
  return "quota-controller-manager";
}

bool IsOneDaemon(Guard guard) {
  return guard == Guard::kDaemon || guard == Guard::kDaemonOfJson || guard == Guard::kOlder ||
         guard == Guard::kBoth || OfClusterQuotas(guard);
}

int BalancedDaemons(Guard guard) {
  if (guard == Guard::kReplicas || guard == Guard::kOlderReplicas) return 2;
  return guard == Guard::kBalanced ? 1 : 0;
}

bool OfClusterQuotas(Guard guard) {
  return guard == Guard::kClusterQuota || guard == Guard::kDefined || guard == Guard::kTree;
}

GuardedServer::GuardedServer(Guard guard, const e2e::Quantities& hard)
    : guard_(guard),
      server_(
          e2e::StartServer({.quota_plugin = guard == Guard::kBuiltin || OfClusterQuotas(guard)})),
      api_(server_->Kubeconfig()),
      webhook_port_(e2e::FreePort()),
      metrics_port_(e2e::FreePort()) {
  api_.Create(e2e::PathOf("namespaces"), e2e::Namespace(kNamespace));
  if (guard == Guard::kAllowAll) StartAllower();
  if (!has_quota()) return;
  CreateQuotas(hard);
  if (IsOneDaemon(guard)) {
    StartDaemon();
  } else if (guard == Guard::kTwoDaemons) {
    for (const char* half : kHalves) StartHalf(half);
  } else if (BalancedDaemons(guard) > 0) {
    StartBalanced(BalancedDaemons(guard));
  } else {
    StartController();
  }
  WaitUntilEnforced();
}

GuardedServer::~GuardedServer() = default;

void GuardedServer::CreateQuotas(const e2e::Quantities& hard) {
  const json::Value quota = hard.empty() ? QuotaOfSevenNames() : e2e::Quota(kQuota, hard);
  if (!OfClusterQuotas(guard_)) api_.Create(QuotaCollection(), quota);
  if (!OfClusterQuotas(guard_) && guard_ != Guard::kBoth) return;
  cluster_quotas_ = std::make_unique<e2e::ClusterQuotas>(api_);
  if (guard_ == Guard::kBoth) {
    json::Value spec = json::Object{{"hard", *quota.At({"spec", "hard"})}};
    spec.Make({"namespaceSelector", "matchLabels", "kubernetes.io/metadata.name"}) = kNamespace;
    cluster_quotas_->Create(kQuota, json::Write(spec));
    return;
  }
  for (int i = 0; i < kNamespaces; ++i) {
    json::Value ns = e2e::Namespace(NamespaceOf(i));
    ns.Make({"metadata", "labels", "tenant"}) = "t" + std::to_string(i);
    api_.Create(e2e::PathOf("namespaces"), ns);
  }
  if (guard_ == Guard::kDefined) Define();
  CreateTree(guard_ == Guard::kDefined ? HardOfSevenDefinedNames() : *quota.At({"spec", "hard"}));
}

void GuardedServer::Define() {
  definitions_ = std::make_unique<e2e::UsageDefinitions>(api_);
  json::Array usage;
  for (const auto& [name, field] : kDefinedNames) {
    usage.push_back(json::Object{{"name", name},
                                 {"path", std::string(".spec.containers[*].resources.") + field},
                                 {"default", "0"}});
  }
  definitions_->Create("pods", json::Write(json::Object{{"usage", std::move(usage)}}));
}

// Quota (i - 1) / 6 is the parent of quota i, so that 1 000 quotas have 5 levels. The namespaces
// are selected by quotas of the lowest level.
void GuardedServer::CreateTree(const json::Value& hard) {
  constexpr int kChildren = 6;
  constexpr int kFirstLeaf = 259;
  constexpr int kApart = 7;
  const auto name = [](int i) { return kQuota + (i == 0 ? "" : std::to_string(i)); };
  const auto maker = [&](int i) {
    json::Value spec = json::Object{{"hard", hard}};
    if (i > 0) spec.Make({"parent"}) = name((i - 1) / kChildren);
    if (guard_ != Guard::kTree) {
      spec.Make({"namespaceSelector", "matchExpressions"}) =
          json::Array{e2e::Json(R"({"key":"tenant","operator":"Exists"})")};
    } else if (i >= kFirstLeaf) {
      const int tenant = (i - kFirstLeaf) % kApart == 0 ? (i - kFirstLeaf) / kApart : i;
      spec.Make({"namespaceSelector", "matchLabels", "tenant"}) = "t" + std::to_string(tenant);
    }
    return client::ApiRequest{.verb = "POST",
                              .path = QuotaCollection(),
                              .content_type = std::string(client::kJson),
                              .body = json::Write(e2e::ClusterQuotas::Quota(name(i), spec))};
  };
  CreateAll(api_, 0, guard_ == Guard::kTree ? kQuotas : 1, maker);
}

void GuardedServer::StartAllower() {
  e2e::CertificateAuthority authority(folder_.path(), "webhook-ca");
  const e2e::KeyPair pair = authority.Server("webhook");
  api_.Create(webhook::kWebhookConfigurations.Path(),
              ConfigurationFor(webhook_port_, e2e::ReadFile(authority.cert_path())));
  // Nothing listens yet. The first failed creation shows that the server calls the webhook.
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
  const char* const older = std::getenv("QCM_OLDER_DAEMON");
  std::vector<std::string> argv{
      guard_ == Guard::kOlder && older != nullptr ? older
                                                  : e2e::BuiltProgram("quota-controller-manager"),
      "--kubeconfig=" + Kubeconfig(),
      std::string("--enforce=") + (guard_ == Guard::kBoth    ? "core,cluster"
                                   : OfClusterQuotas(guard_) ? "cluster"
                                                             : "core"),
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
  daemons_.push_back(std::make_unique<e2e::Process>(e2e::ProcessOptions{
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

// The daemons share a certificate, a lease and a configuration, whose URL is the balancer's. The
// API server keeps its connections, so the balancer spreads connections, like a Service.
void GuardedServer::StartBalanced(int daemons) {
  e2e::CertificateAuthority authority(folder_.path(), "webhook-ca");
  const e2e::KeyPair pair = authority.Server("webhook");
  const std::string folder = folder_.path() + "/certificate";
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(pair.cert_path, folder + "/tls.crt");
  std::filesystem::copy_file(pair.key_path, folder + "/tls.key");
  const char* const older = std::getenv("QCM_OLDER_DAEMON");
  const bool is_older = guard_ == Guard::kOlderReplicas && older != nullptr;
  std::vector<std::uint16_t> ports;
  for (int i = 0; i < daemons; ++i) {
    ports.push_back(e2e::FreePort());
    replica_metrics_ports_.push_back(e2e::FreePort());
    daemons_.push_back(std::make_unique<e2e::Process>(e2e::ProcessOptions{
        .argv = {is_older ? older : e2e::BuiltProgram("quota-controller-manager"),
                 "--kubeconfig=" + Kubeconfig(), "--enforce=core",
                 "--admission-bind-address=" + Local(ports.back()),
                 "--admission-cert-dir=" + folder, "--manage-webhook=false",
                 "--metrics-bind-address=" + Local(replica_metrics_ports_.back()),
                 "--health-probe-bind-address=", "--leader-elect=true",
                 "--leader-elect-identity=replica-" + std::to_string(i)},
        .log_path = folder_.path() + "/replica-" + std::to_string(i) + ".log"}));
  }
  balancer_ = std::make_unique<e2e::LoadBalancer>();
  balancer_->SetTargets(ports);
  api_.Create(
      e2e::ConfigurationPath(""),
      e2e::HandMadeConfiguration({.name = "replicas",
                                  .url = "https://" + Local(balancer_->port()) + "/validate/core",
                                  .ca_pem = e2e::ReadFile(authority.cert_path()),
                                  .ns = kNamespace}));
}

Micros GuardedServer::WebhookCpu() const {
  Micros cpu = CpuOfProcess(webhook_pid());
  for (const auto& daemon : daemons_) cpu += CpuOfProcess(daemon->pid());
  return cpu;
}

std::string GuardedServer::WebhookUrl() const {
  return "https://" + Local(webhook_port_) + "/validate/core";
}

std::string GuardedServer::PodPath(const std::string& name, const std::string& subresource) const {
  return e2e::PathOf("pods", kNamespace, name, subresource);
}

std::string GuardedServer::NamespaceOf(int index) const {
  if (!OfClusterQuotas(guard_)) return kNamespace;
  return std::string(kNamespace) + "-" + std::to_string(index % kNamespaces);
}
std::string GuardedServer::CollectionOfPod(int index) const {
  return e2e::PathOf("pods", NamespaceOf(index));
}
std::string GuardedServer::PathOfPod(int index) const {
  return e2e::PathOf("pods", NamespaceOf(index), "p" + std::to_string(index));
}
std::string GuardedServer::QuotaCollection() const {
  return OfClusterQuotas(guard_) ? e2e::ClusterQuotas::Path()
                                 : e2e::PathOf("resourcequotas", kNamespace);
}

// A name in status.hard is enforced.
void GuardedServer::WaitUntilEnforced() {
  const auto missing_of = [this](const std::string& collection) -> std::string {
    const json::Value list = api_.Get(collection);
    for (const json::Value& quota : *list.At({"items"})->AsArray()) {
      const auto wanted = e2e::ToQuantities(quota.At({"spec", "hard"}));
      const auto hard = e2e::ToQuantities(quota.At({"status", "hard"}));
      const auto used = e2e::ToQuantities(quota.At({"status", "used"}));
      if (hard == wanted && used.size() == wanted.size()) continue;
      return std::string(quota.StringAt({"metadata", "name"})) + ": " + e2e::ToText(hard);
    }
    return "";
  };
  const auto missing = [&] {
    std::string lacks = missing_of(QuotaCollection());
    if (lacks.empty() && guard_ == Guard::kBoth) lacks = missing_of(e2e::ClusterQuotas::Path());
    return lacks;
  };
  e2e::Eventually("every name of the quotas is enforced", missing, kPatience);
}

std::string GuardedServer::QuotaVersion() {
  return std::string(api_.Get(QuotaPath()).StringAt({"metadata", "resourceVersion"}));
}

std::string GuardedServer::UsedPods() {
  return std::string(api_.Get(QuotaPath()).StringAt({"status", "used", "pods"}));
}

std::optional<double> GuardedServer::SecondsUntilUsed(int pods, std::chrono::seconds limit) {
  const auto began = std::chrono::steady_clock::now();
  const std::string wanted = quantity::Quantity::FromInt(pods).ToString();  // a thousand is "1k"
  const bool reached = e2e::PollUntil([&] { return UsedPods() == wanted; }, limit);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  return reached ? std::optional(took.count()) : std::nullopt;
}

void GuardedServer::DeleteAllPods() {
  const auto maker = [this](int i) {
    return client::ApiRequest{.verb = "DELETE",
                              .path = CollectionOfPod(i),
                              .query = {{"gracePeriodSeconds", "0"}},
                              .timeout = kPatience};
  };
  CreateAll(api_, 0, OfClusterQuotas(guard_) ? kNamespaces : 1, maker);
  if (has_quota() && !SecondsUntilUsed(0, kPatience)) {
    throw std::runtime_error("used.pods is " + UsedPods() + ", and no pod is left");
  }
}

double GuardedServer::Metric(const std::string& name) const {
  std::vector<std::uint16_t> ports = replica_metrics_ports_;
  if (ports.empty()) ports.push_back(metrics_port_);
  double sum = 0;
  for (const std::uint16_t port : ports) {
    std::istringstream lines(e2e::PlainGet(port, "/metrics").body);
    for (std::string line; std::getline(lines, line);) {
      const bool is_it = line.starts_with(name + "{") || line.starts_with(name + " ");
      if (is_it) sum += std::stod(line.substr(line.rfind(' ')));
    }
  }
  return sum;
}

}  // namespace bench
