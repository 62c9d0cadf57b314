#pragma once

// A quota controller for the core API beside a fake cluster, in virtual time.

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controllers/quota/quota_controller.h"
#include "pkg/admission/quota_admitter.h"
#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/quota/core/core_quota.h"
#include "tests/fake/fake_cluster.h"

namespace fixture {

inline std::shared_ptr<std::set<std::string, std::less<>>> NamesOf(
    std::set<std::string, std::less<>> names) {
  return std::make_shared<std::set<std::string, std::less<>>>(std::move(names));
}

inline const api::GroupVersionResource kPods{"", "v1", "pods"};
inline const api::GroupVersionResource kSecrets{"", "v1", "secrets"};
inline const api::GroupVersionResource kQuotas{"", "v1", "resourcequotas"};
inline const api::GroupVersionResource kDeployments{"apps", "v1", "deployments"};

json::Value MakePod(const std::string& name, const std::string& cpu = "100m",
                    const std::string& ns = "team-a");
json::Value MakeSecret(const std::string& name, const std::string& ns = "team-a");
// `hard` as {{"pods","10"}, …}.
json::Value MakeQuota(const std::string& name, const json::Object& hard,
                      const std::string& ns = "team-a");

// The admitter decides by the quotas of this controller from now on.
inline void Enforce(admission::QuotaAdmitter& admitter, const quota::QuotaApi& api,
                    controllers::QuotaController& controller) {
  admitter.Enforce(api);
  admitter.Open(api.name, controller.quota_book(), controller.object_book());
}

class Recorder final : public controllers::ControllerObserver {
 public:
  void OnReconcile(std::string_view result, base::Duration) override {
    ++reconciles[std::string(result)];
  }
  void OnDrift(const api::GroupResource&, const controllers::DriftReport& report) override {
    drift.missing += report.drift.missing;
    drift.vanished += report.drift.vanished;
    drift.different += report.drift.different;
    if (report.drift.objects() > 0) drift_usage = report.usage.ToString();
  }
  void OnResync(base::Duration, bool complete) override { complete ? ++resyncs : ++failed_resyncs; }

  void OnExternalChargesExpired(std::size_t charges) override { external_expired += charges; }
  void OnBurst(const quota::Quota&, const quota::ResourceList&) override { ++bursts; }

  std::map<std::string, int> reconciles;
  std::size_t external_expired = 0;
  std::size_t bursts = 0;
  quota::Drift drift;
  std::string drift_usage;
  int resyncs = 0;
  int failed_resyncs = 0;
};

// The events about all quotas, in order.
class EventList final : public client::EventRecorder {
 public:
  bool Record(client::Event event) override {
    if (full) return false;
    said.push_back(std::move(event));
    return true;
  }
  // "QuotaStale q: message" each.
  [[nodiscard]] std::vector<std::string> Texts() const;

  std::vector<client::Event> said;
  bool full = false;
};

class ControllerFixture {
 public:
  explicit ControllerFixture(controllers::QuotaControllerOptions options = {});
  ~ControllerFixture();

  void Start();
  void Stop();
  void RunFor(base::Duration duration) { scheduler.RunFor(duration); }
  // "pods=1,secrets=2", of status.used (or status.hard); "" without a status.
  [[nodiscard]] std::string Used(const std::string& name, const std::string& ns = "team-a") const;
  [[nodiscard]] std::string Hard(const std::string& name, const std::string& ns = "team-a") const;
  // The number of objects with a reservation.
  [[nodiscard]] std::size_t Reserved() const {
    controllers::Accounts::Tally tally;
    while (controller->accounts().Count(tally)) continue;
    return tally.reservations;
  }
  // Another writer replaces the status. The spec stays.
  void WriteStatus(const std::string& name, const json::Object& hard, const json::Object& used);

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
  quota::QuotaApi api = quota::CoreQuotaApi();
  std::optional<controllers::ServedResources> served;  // started with the controller
  controllers::SharedResources shared;
  Recorder recorder;
  EventList events;
  queue::Observer* queue_observer = &queue::NoObserver();  // for the next Start()
  std::unique_ptr<controllers::QuotaController> controller;

 private:
  [[nodiscard]] std::string List(const std::string& name, const std::string& ns,
                                 std::string_view field) const;
  controllers::QuotaControllerOptions options_;
  int starts_ = 0;
  std::unique_ptr<base::TaskGroup> running_;
};

}  // namespace fixture
