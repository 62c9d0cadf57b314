#pragma once

// A scenario whose daemon enforces core quotas at admission. The webhook configuration is deleted
// with it, whoever created it: without a daemon it would lock out later scenarios.

#include <string>
#include <vector>

#include "tests/e2e/harness/denial.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e {

// The daemon's own configuration.
inline constexpr const char* kConfigurationName = "quota-controller-manager";

// The outcome of one write for its client.
struct Attempt {
  int code = 0;  // 0: no answer
  std::string reason;
  std::string message;  // the server's message
  std::vector<std::string> warnings;
  [[nodiscard]] bool ok() const { return code >= 200 && code <= 299; }
  // Refused by quota: the message is what a user sees.
  [[nodiscard]] bool exceeded() const {
    return code == 403 && message.find("exceeded quota") != std::string::npos;
  }
  // For failure messages: "403 Forbidden: …".
  [[nodiscard]] std::string Text() const;
};
Attempt ToAttempt(const base::Result<client::ApiResponse>& answer);

client::ApiRequest PostOf(const std::string& path, const json::Value& object);
// Creations of pods named by the prefix and a number from 0.
std::vector<client::ApiRequest> Creations(Scenario& scenario, const std::string& prefix, int count);
client::ApiRequest PatchOf(const std::string& path, const std::string& merge_patch);

struct AdmissionOptions {
  ServerOptions server{};
  std::string kubeconfig{};  // the daemon's; "": directly to the server
  std::vector<std::string> more_flags{};
  bool enforce = true;  // core
  bool wait_until_ready = true;
};

class Admission {
 public:
  explicit Admission(const AdmissionOptions& options = {})
      : Admission(SharedServer(options.server), options) {}
  Admission(ApiServer& server, const AdmissionOptions& options);
  ~Admission();
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  [[nodiscard]] Scenario& scenario() { return scenario_; }
  [[nodiscard]] Api& api() { return scenario_.api(); }
  [[nodiscard]] Daemon& daemon() { return scenario_.daemon(); }
  // The port of the daemon's webhook.
  [[nodiscard]] std::uint16_t port() const { return port_; }
  // "https://127.0.0.1:1234/validate/core"
  [[nodiscard]] std::string Url() const;
  [[nodiscard]] DaemonOptions daemon_options() const { return daemon_options_; }

  // Creates the quota and returns when all its names are enforced.
  void Limit(const std::string& quota, const Quantities& hard);
  void LimitScoped(const json::Value& quota);

  Attempt Post(std::string_view resource, const json::Value& object, bool dry_run = false);
  Attempt Patch(const std::string& path, const std::string& merge_patch);
  // Sends all of them, `parallel` at a time.
  std::vector<Attempt> DoAll(std::vector<client::ApiRequest> requests, std::size_t parallel);
  [[nodiscard]] double Metric(const std::string& name) {
    return daemon().Metric(name).value_or(-1);
  }
  // Objects of this resource in the scenario's namespace.
  [[nodiscard]] std::size_t Count(std::string_view resource);

  // Also deletes this configuration at the end.
  void AlsoDelete(const std::string& configuration) { configurations_.push_back(configuration); }

 private:
  explicit Admission(ApiServer& server);
  void Start(const AdmissionOptions& options);

  Scenario scenario_;
  std::uint16_t port_;
  DaemonOptions daemon_options_;
  std::vector<std::string> configurations_{kConfigurationName};
};

std::string ConfigurationPath(const std::string& name = kConfigurationName);

// One webhook that calls `url` for every write of these core resources ("pods") in namespaces with
// this name, as an admin would write it by hand. `object_label`: only for objects with half=<this>.
struct HandMade {
  std::string name;
  std::string url;
  std::string ca_pem;
  std::string ns;
  std::string object_label{};
};
json::Value HandMadeConfiguration(const HandMade& hand_made);

// The file of --admission-control-config-file with which an API server shows this certificate to
// every webhook; the files are written to `dir`.
std::string ConfigWithClient(const TempDir& dir, const KeyPair& client);

// The longest time until `used` is correct again after a charge whose object was never stored.
// Another scenario may have a webhook with a timeout of 15 s on the same server, and then charges
// are held that long, too.
std::chrono::milliseconds AfterAHold();

}  // namespace e2e
