#pragma once

// A tracker beside a fake cluster, and a quota over many namespaces.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controllers/usage/namespace_labels.h"
#include "controllers/usage/observed_usage.h"
#include "pkg/api/resource_version.h"
#include "tests/controllers/quota/controller_fixture.h"

namespace groups_fixture {

using namespace std::chrono_literals;
using controllers::ObservedUsage;
using controllers::Obstacle;
using fixture::kPods;
using fixture::kSecrets;
using fixture::MakePod;

class Listener final : public controllers::UsageListener {
 public:
  void OnUsageChange(const quota::Evaluator&, const quota::LedgerChange&) override {}
  void OnResourceStates(const Evaluators&) override {}
  void OnClassChange(const quota::Evaluator&, const std::string&) override {}
  void OnClassState(const quota::Evaluator&) override {}
  void OnShown(std::string_view, const quota::Uid&) override {}
};

inline quota::Quota QuotaOf(api::ObjectKey key, const std::vector<std::string>& names) {
  quota::Quota quota;
  quota.key = std::move(key);
  quota.uid = "uid of " + quota.key.ToString();
  for (const std::string& name : names) quota.hard.Set(name, quota::Quantity::FromInt(10));
  return quota;
}

inline quota::Uid UidOf(const std::string& name) { return quota::Uid::FromText("uid-of-" + name); }

inline json::Value Pod(const std::string& name, const std::string& ns) {
  json::Value pod = MakePod(name, "1", ns);
  pod.Make({"metadata", "uid"}) = "uid-of-" + name;
  return pod;
}

// A tracker of the core API beside a fake cluster, and a quota over namespaces.
struct TrackerFixture {
  TrackerFixture() {
    cluster.Serve(kPods, "Pod");
    cluster.Serve(kSecrets, "Secret");
    running.Spawn("tracker", [this] { return tracker.Run(); });
  }
  ~TrackerFixture() {
    running.Cancel();
    scheduler.RunFor(60s);
  }
  void Track(const quota::Quota& quota) {
    tracker.OnQuota(nullptr, &quota);
    RunFor(1s);
  }
  void RunFor(base::Duration duration) {
    scheduler.RunFor(duration);
    stalls.Beat(scheduler.Now());
  }
  [[nodiscard]] std::string Used(const quota::Quota& quota) const {
    return usage.Count(quota, 1s).observed.used.ToString();
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
  quota::QuotaApi api = quota::CoreQuotaApi();
  controllers::ServedResources served{cluster, scheduler};
  controllers::SharedResources shared;
  Listener listener;
  controllers::Tracker tracker{{.executor = io.get_executor(),
                                .scheduler = &scheduler,
                                .client = &cluster,
                                .reflector = {.seed = 1}},
                               api,
                               served,
                               shared,
                               listener};
  controllers::StallDetector stalls{scheduler.Now()};
  ObservedUsage usage{scheduler, cluster, served, tracker, stalls};
  base::TaskGroup running{io.get_executor()};
  const quota::Quota red = QuotaOf({"", "red"}, {"pods", "secrets"});
};

// The known labels of namespaces, set by the test.
class Labels final : public controllers::NamespaceLabels {
 public:
  std::optional<Obstacle> Incomplete(base::Duration) const override { return incomplete; }
  base::TimePoint BehindUntil(std::string_view) const override { return behind; }
  bool HasShown(std::string_view ns) const override { return ns != hidden; }
  std::size_t size() const override { return count; }
  std::string Newest() const override { return newest; }
  bool Reaches(std::string_view version) const override {
    return api::ReachesVersion(newest, version);
  }

  std::optional<Obstacle> incomplete;
  base::TimePoint behind = base::TimePoint::min();
  std::string hidden;
  std::size_t count = 3;
  std::string newest = "50";
};

}  // namespace groups_fixture
