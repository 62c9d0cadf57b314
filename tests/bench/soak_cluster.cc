#include "tests/bench/soak_cluster.h"

#include <filesystem>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/certificates.h"
#include "tests/e2e/harness/objects.h"
#include "tests/e2e/harness/sockets.h"
#include "tests/e2e/harness/wait.h"

namespace bench {
namespace {

constexpr const char* kHome = "soak-home";
constexpr const char* kLease = "soak";

std::string LeasePath() { return e2e::PathOf("leases", kHome, kLease); }

double CountEntries(const std::string& folder) {
  std::error_code gone;
  double count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder, gone)) {
    (void)entry;
    ++count;
  }
  return count;
}

// Both replicas serve the same certificate, and publish the same CA.
void MakeCertificate(const std::string& folder) {
  e2e::CertificateAuthority authority(folder, "webhook-ca");
  const e2e::KeyPair pair = authority.Server("webhook");
  std::filesystem::copy_file(authority.cert_path(), folder + "/ca.crt");
  std::filesystem::copy_file(pair.cert_path, folder + "/tls.crt");
  std::filesystem::copy_file(pair.key_path, folder + "/tls.key");
}

}  // namespace

SoakCluster::SoakCluster(const SoakWorld& world)
    : world_(world),
      server_(e2e::StartServer()),
      api_(server_->Kubeconfig()),
      proxy_(std::make_unique<e2e::TcpProxy>(server_->port())),
      ports_{e2e::FreePort(), e2e::FreePort()} {
  MakeCertificate(folder_.path());
  api_.Create(e2e::PathOf("namespaces"), e2e::Namespace(kHome));
  world_.Create(api_);
  balancer_.SetTargets({ports_[0], ports_[1]});
  first_ = std::make_unique<e2e::Daemon>(OptionsOf("first", ports_[0]));
  first_->WaitUntilReady();
  second_ = std::make_unique<e2e::Daemon>(OptionsOf("second", ports_[1]));
  second_->WaitUntilReady();
}

// The lease tolerates a busy machine.
e2e::DaemonOptions SoakCluster::OptionsOf(const std::string& identity, std::uint16_t port) {
  e2e::DaemonOptions options;
  options.kubeconfig = server_->Kubeconfig(proxy_->port());
  options.resync_period = "1m";
  const auto add = [&options](const char* flag, const std::string& value) {
    std::string text(flag);
    text.append("=").append(value);
    options.more_flags.push_back(std::move(text));
  };
  add("--enforce", "core,karmada,ironcore");
  add("--admission-bind-address", std::string("127.0.0.1:").append(std::to_string(port)));
  add("--admission-url",
      std::string("https://127.0.0.1:").append(std::to_string(balancer_.port())));
  add("--admission-cert-dir", folder_.path());
  add("--leader-elect", "true");
  add("--leader-elect-identity", identity);
  add("--leader-elect-resource-name", kLease);
  add("--leader-elect-resource-namespace", kHome);
  add("--leader-elect-lease-duration", "60s");
  add("--leader-elect-renew-deadline", "45s");
  add("-v", "0");
  return options;
}

void SoakCluster::KillSecond() { second_->Kill(); }

void SoakCluster::StartSecond() {
  second_->Start();
  (void)e2e::PollUntil([this] { return second_->Probe("/readyz") == 200; },
                       e2e::Stretched(std::chrono::seconds(20)));
}

json::Value SoakCluster::Saved(const std::string& path) {
  const auto answer = api_.Do({.path = path});
  if (!answer) return {};
  json::Value object = e2e::Json(answer->body);
  json::Object* metadata = object.Make({"metadata"}).AsObject();
  for (const char* own :
       {"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"}) {
    metadata->Erase(own);
  }
  return object;
}

void SoakCluster::RestartServer() {
  const json::Value lease = Saved(LeasePath());
  const json::Value configuration = Saved(e2e::ConfigurationPath());
  proxy_->Refuse(true);
  proxy_->Cut();
  server_->Kill();
  server_->Start();
  if (!configuration.IsNull()) api_.Create(e2e::ConfigurationPath(""), configuration);
  api_.Create(e2e::PathOf("namespaces"), e2e::Namespace(kHome));
  if (!lease.IsNull()) api_.Create(e2e::PathOf("leases", kHome), lease);
  world_.Create(api_);
  proxy_->Refuse(false);
}

void SoakCluster::Inject(const std::string& faults) {
  (void)api_.Do({.verb = "POST",
                 .path = "/sandbox/faults",
                 .content_type = std::string(client::kJson),
                 .body = faults});
}

void SoakCluster::ClearFaults() { (void)api_.Do({.verb = "DELETE", .path = "/sandbox/faults"}); }

Vitals VitalsOf(const e2e::Daemon& daemon) {
  if (!daemon.Running()) return {};
  const std::string proc = "/proc/" + std::to_string(daemon.pid());
  const e2e::ProcessUsage usage = e2e::UsageOf(daemon.pid());
  return {.resident_mb = static_cast<double>(usage.resident_bytes) / 1e6,
          .descriptors = CountEntries(proc + "/fd"),
          .threads = CountEntries(proc + "/task"),
          .charges = daemon.Metric("quota_reservations").value_or(0),
          .drift = daemon.Metric("quota_resync_drift_objects_total").value_or(0),
          .writes = daemon.Metric("quota_status_writes_total").value_or(0) +
                    daemon.Metric("quota_admission_status_writes_total").value_or(0),
          .advances = daemon.Metric("quota_charged_in_advance_total").value_or(0),
          .decisions = daemon.Metric("quota_admission_decisions_total").value_or(0),
          .cpu_seconds = usage.cpu_seconds};
}

}  // namespace bench
