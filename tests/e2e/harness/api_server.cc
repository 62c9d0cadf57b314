#include "tests/e2e/harness/api_server.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <utility>

#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/certificates.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/wait.h"

namespace e2e {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string Asset(const std::string& name) {
  const auto folder = Environment("KUBEBUILDER_ASSETS");
  if (folder.empty()) throw std::runtime_error("the real tier needs KUBEBUILDER_ASSETS");
  return folder + "/" + name;
}

std::string Local(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

// What clients connect to. With QCM_E2E_HOST=localhost they look up a name.
std::string Url(std::uint16_t port) {
  const std::string host = Environment("QCM_E2E_HOST");
  return "https://" + (host.empty() ? "127.0.0.1" : host) + ":" + std::to_string(port);
}

// Common to both tiers: a folder, a port, a log, an administrator's kubeconfig.
class ServerBase : public ApiServer {
 public:
  [[nodiscard]] std::uint16_t port() const override { return port_; }
  std::string Kubeconfig(std::uint16_t port) override {
    auto fields = Fields();
    if (port == 0 || port == port_) return dir_.Write("admin.kubeconfig", KubeconfigText(fields));
    fields.server = Url(port);
    return dir_.Write("port-" + std::to_string(port) + ".kubeconfig", KubeconfigText(fields));
  }
  KubeconfigFields Fields() override {
    return {.server = Url(port_), .ca_path = authority_.cert_path(), .token = kToken};
  }
  KeyPair ClientCertificate(const std::string& subject) override {
    return authority_.Client("client", subject);
  }
  [[nodiscard]] std::string LogTail() const override { return Tail(ReadFile(log_path_), 20); }
  [[nodiscard]] int pid() const override { return process_ ? process_->pid() : -1; }
  void Kill() override { process_.reset(); }
  void KillStore() override { throw std::logic_error("this server has no store of its own"); }
  void StartStore() override { KillStore(); }
  void Restart(const ServerOptions& /*options*/) override { KillStore(); }
  std::unique_ptr<ApiServer> StartBeside(const ServerOptions& /*options*/) override {
    throw std::logic_error("this server has no store to share");
  }

 protected:
  static constexpr const char* kToken = "e2e-admin-token";

  void WaitUntilReady(std::chrono::milliseconds timeout) {
    Api api(Kubeconfig(0));
    const auto missing = [&]() -> std::string {
      if (!process_->Running()) throw std::runtime_error("the API server ended:\n" + LogTail());
      const auto answer = api.Do({.path = "/readyz", .timeout = std::chrono::seconds(2)});
      return answer ? "" : answer.error().message;
    };
    Eventually("the API server answers /readyz", missing, timeout);
  }

  TempDir dir_;
  CertificateAuthority authority_{dir_.path(), "ca"};
  KeyPair serving_ = authority_.Server("apiserver");
  std::uint16_t port_ = FreePort();
  std::string log_path_ = dir_.path() + "/apiserver.log";
  std::unique_ptr<Process> process_;
};

class SandboxServer final : public ServerBase {
 public:
  SandboxServer() { Start(); }
  ~SandboxServer() override { Kill(); }

  void Kill() override {
    if (!process_) return;
    const auto ended = process_->Wait(std::chrono::milliseconds(0));
    process_.reset();
    if (ended) ReportEnd("the sandbox", *ended, ReadFile(log_path_));
  }
  void Start() override {
    process_ = std::make_unique<Process>(ProcessOptions{
        .argv = {BuiltProgram("sandbox-apiserver"), "--bind-address=" + Local(port_),
                 "--tls-cert-file=" + serving_.cert_path,
                 "--tls-private-key-file=" + serving_.key_path,
                 "--client-ca-file=" + authority_.cert_path(), std::string("--token=") + kToken},
        .log_path = log_path_});
    WaitUntilReady(Patience());
  }
  [[nodiscard]] bool keeps_objects() const override { return false; }
};

// Go collects garbage when the heap has grown to five times the memory in use, instead of two. For
// a server that lives for minutes this saves a fifth of the CPU.
const std::map<std::string, std::string> kFewCollections{{"GOGC", "400"}};

class RealServer final : public ServerBase {
 public:
  explicit RealServer(const ServerOptions& options) : options_(options) {
    WriteTokens();
    service_accounts_ = authority_.Server("service-accounts");
    StartEtcd();
    Start();
  }
  // Over the etcd of `first`.
  RealServer(const ServerOptions& options, const RealServer& first)
      : options_(options),
        etcd_port_(first.etcd_port_),
        service_accounts_(first.service_accounts_) {
    WriteTokens();
    Start();
  }

  void Start() override {
    process_ = std::make_unique<Process>(
        ProcessOptions{.argv = ServerArguments(), .env = kFewCollections, .log_path = log_path_});
    WaitUntilReady(std::chrono::seconds(120));
  }
  [[nodiscard]] bool keeps_objects() const override { return true; }
  void KillStore() override { etcd_.reset(); }
  void StartStore() override {
    StartEtcd();
    WaitUntilReady(std::chrono::seconds(60));
  }
  void Restart(const ServerOptions& options) override {
    process_->Signal(SIGTERM);
    (void)process_->Wait(std::chrono::seconds(10));  // open watches may keep it longer
    process_.reset();
    options_ = options;
    Start();
  }
  std::unique_ptr<ApiServer> StartBeside(const ServerOptions& options) override {
    return std::make_unique<RealServer>(options, *this);
  }

 private:
  void StartEtcd() {
    etcd_ = std::make_unique<Process>(ProcessOptions{
        .argv = EtcdArguments(), .env = kFewCollections, .log_path = dir_.path() + "/etcd.log"});
  }

  void WriteTokens() {
    dir_.Write("tokens.csv", std::string(kToken) + ",admin,admin,system:masters\n" +
                                 "e2e-stranger-token,stranger,stranger\n");
    dir_.Write("audit-policy.yaml",
               "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\n"
               "rules: [{level: Metadata}]\n");
  }

  [[nodiscard]] std::vector<std::string> EtcdArguments() const {
    const auto client = "http://" + Local(etcd_port_);
    const auto peer = "http://" + Local(etcd_peer_port_);
    return {Asset("etcd"),
            "--data-dir=" + dir_.path() + "/etcd",
            "--unsafe-no-fsync",
            "--log-level=error",
            "--quota-backend-bytes=8000000000",
            "--listen-client-urls=" + client,
            "--advertise-client-urls=" + client,
            "--listen-peer-urls=" + peer,
            "--initial-advertise-peer-urls=" + peer,
            "--initial-cluster=default=" + peer};
  }

  [[nodiscard]] std::vector<std::string> ServerArguments() const {
    std::string disabled = "ServiceAccount";
    if (!options_.quota_plugin) disabled += ",ResourceQuota";
    std::vector<std::string> arguments{
        options_.assets.empty() ? Asset("kube-apiserver") : options_.assets + "/kube-apiserver",
        "--etcd-servers=http://" + Local(etcd_port_),
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--secure-port=" + std::to_string(port_),
        "--tls-cert-file=" + serving_.cert_path,
        "--tls-private-key-file=" + serving_.key_path,
        "--client-ca-file=" + authority_.cert_path(),
        "--token-auth-file=" + dir_.path() + "/tokens.csv",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-account-signing-key-file=" + service_accounts_.key_path,
        "--service-account-key-file=" + service_accounts_.cert_path,
        "--service-cluster-ip-range=10.0.0.0/16",
        "--endpoint-reconciler-type=none",
        "--disable-admission-plugins=" + disabled};
    if (!options_.admission_config.empty()) {
      arguments.push_back("--admission-control-config-file=" + options_.admission_config);
    }
    if (!options_.runtime_config.empty()) {
      arguments.push_back("--runtime-config=" + options_.runtime_config);
    }
    if (!options_.feature_gates.empty()) {
      arguments.push_back("--feature-gates=" + options_.feature_gates);
    }
    if (options_.aggregator_routing) arguments.emplace_back("--enable-aggregator-routing=true");
    if (!options_.audit_log.empty()) {
      arguments.push_back("--audit-policy-file=" + dir_.path() + "/audit-policy.yaml");
      arguments.push_back("--audit-log-path=" + options_.audit_log);
    }
    return arguments;
  }

  ServerOptions options_;
  std::uint16_t etcd_port_ = FreePort();
  std::uint16_t etcd_peer_port_ = FreePort();
  KeyPair service_accounts_;
  std::unique_ptr<Process> etcd_;
};

struct Shared {
  TempDir dir;
  std::unique_ptr<ApiServer> server;
  std::unique_ptr<Process> controllers;  // last: it ends first
};

// Key: whether it has the built-in quota plugin, and controllers.
using SharedKey = std::pair<bool, bool>;
std::map<SharedKey, Shared>& SharedServers() {
  static std::map<SharedKey, Shared> servers;
  return servers;
}

}  // namespace

Tier CurrentTier() {
  const auto name = Environment("QCM_E2E_SERVER");
  if (name == "real") return Tier::kReal;
  if (name.empty() || name == "sandbox") return Tier::kSandbox;
  throw std::runtime_error("QCM_E2E_SERVER is '" + name + "': neither sandbox nor real");
}

std::string KubeconfigText(const KubeconfigFields& fields) {
  std::string text =
      "apiVersion: v1\nkind: Config\ncurrent-context: e2e\n"
      "contexts:\n- name: e2e\n  context: {cluster: e2e, user: e2e}\n"
      "clusters:\n- name: e2e\n  cluster:\n    server: " +
      fields.server + "\n";
  if (!fields.ca_path.empty()) text += "    certificate-authority: " + fields.ca_path + "\n";
  text += "users:\n- name: e2e\n  user:\n";
  if (!fields.token.empty()) text += "    token: " + fields.token + "\n";
  return text + fields.extra_user_lines;
}

std::unique_ptr<ApiServer> StartServer(const ServerOptions& options) {
  if (CurrentTier() == Tier::kReal) return std::make_unique<RealServer>(options);
  return std::make_unique<SandboxServer>();
}

ApiServer& SharedServer(const ServerOptions& options) {
  const bool real = CurrentTier() == Tier::kReal;
  const SharedKey key{real && options.quota_plugin, real && options.controllers};
  Shared& shared = SharedServers()[key];
  if (!shared.server) {
    shared.server = StartServer({.quota_plugin = key.first});
    if (key.second && HaveBuiltinController()) {
      shared.controllers = StartBuiltinController(
          "resourcequota-controller,namespace-controller,garbage-collector-controller",
          shared.server->Kubeconfig(), shared.dir.path() + "/controllers.log");
    }
  }
  return *shared.server;
}

bool IsShared(const ApiServer& server) {
  return std::ranges::any_of(
      SharedServers(), [&](const auto& entry) { return entry.second.server.get() == &server; });
}

bool HaveBuiltinController() {
  return CurrentTier() == Tier::kReal && std::filesystem::exists(Asset("kube-controller-manager"));
}

std::unique_ptr<Process> StartBuiltinController(const std::string& controller,
                                                const std::string& kubeconfig,
                                                const std::string& log_path,
                                                const std::vector<std::string>& more_flags) {
  if (!HaveBuiltinController()) throw std::runtime_error("there is no kube-controller-manager");
  std::vector<std::string> argv{Asset("kube-controller-manager"),
                                "--controllers=" + controller,
                                "--kubeconfig=" + kubeconfig,
                                "--leader-elect=false",
                                "--secure-port=0",
                                "--use-service-account-credentials=false",
                                "--kube-api-qps=1000",
                                "--kube-api-burst=2000"};
  argv.insert(argv.end(), more_flags.begin(), more_flags.end());
  return std::make_unique<Process>(ProcessOptions{.argv = std::move(argv), .log_path = log_path});
}

}  // namespace e2e
