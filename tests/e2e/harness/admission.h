#pragma once

// A scenario whose daemon decides the admission of what core quotas limit. The webhook
// configuration goes with it, whoever made it: a daemon that is away must not shut out the
// scenarios that follow.

#include <string>
#include <vector>

#include "tests/e2e/harness/denial.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e {

// The daemon's own configuration.
inline constexpr const char* kConfigurationName = "quota-controller-manager";

// What became of one write, as its client sees it.
struct Attempt {
  int code = 0;  // 0: no answer
  std::string reason;
  std::string message;  // the server's words
  std::vector<std::string> warnings;
  [[nodiscard]] bool ok() const { return code >= 200 && code <= 299; }
  // By quota: this is what a user is told.
  [[nodiscard]] bool exceeded() const {
    return code == 403 && message.find("exceeded quota") != std::string::npos;
  }
  // For messages of failures: "403 Forbidden: …".
  [[nodiscard]] std::string Text() const;
};
Attempt ToAttempt(const base::Result<client::ApiResponse>& answer);

client::ApiRequest PostOf(const std::string& path, const json::Value& object);
// Of pods: the prefix, and a number from 0.
std::vector<client::ApiRequest> Creations(Scenario& scenario, const std::string& prefix, int count);
client::ApiRequest PatchOf(const std::string& path, const std::string& merge_patch);

struct AdmissionOptions {
  ServerOptions server{};
  std::string kubeconfig{};  // the daemon's; "": straight to the server
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
  // Where the daemon answers reviews.
  [[nodiscard]] std::uint16_t port() const { return port_; }
  // "https://127.0.0.1:1234/validate/core"
  [[nodiscard]] std::string Url() const;
  [[nodiscard]] DaemonOptions daemon_options() const { return daemon_options_; }

  // Makes the quota and returns when every name of it is enforced.
  void Limit(const std::string& quota, const Quantities& hard);
  void LimitScoped(const json::Value& quota);

  Attempt Post(std::string_view resource, const json::Value& object, bool dry_run = false);
  Attempt Patch(const std::string& path, const std::string& merge_patch);
  // All of them, `parallel` at a time.
  std::vector<Attempt> DoAll(std::vector<client::ApiRequest> requests, std::size_t parallel);
  [[nodiscard]] double Metric(const std::string& name) {
    return daemon().Metric(name).value_or(-1);
  }
  // Objects of this resource in the scenario's namespace.
  [[nodiscard]] std::size_t Count(std::string_view resource);

  // Forgets a configuration at the end, beside the daemon's own.
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

// One webhook that asks `url` about every write of these core resources ("pods") to namespaces with
// this name, as an admin would write it by hand. `object_label`: only objects with half=<this>.
struct HandMade {
  std::string name;
  std::string url;
  std::string ca_pem;
  std::string ns;
  std::string object_label{};
};
json::Value HandMadeConfiguration(const HandMade& hand_made);

// Time for `used` to be true again where a charge may be of nothing that was stored: a hold beside
// a webhook of 15 s, which another scenario may have on the same server, and some more.
std::chrono::milliseconds AfterAHold();

}  // namespace e2e
