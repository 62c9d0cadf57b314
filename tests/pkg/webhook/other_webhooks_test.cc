#include "pkg/webhook/other_webhooks.h"

#include <boost/asio/io_context.hpp>
#include <vector>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "tests/fake/captured_log.h"
#include "tests/fake/fake_cluster.h"
#include "tests/pkg/webhook/webhook_testing.h"

namespace webhook::other_webhooks_test {
namespace {

using namespace std::chrono_literals;

// A configuration with a webhook for each timeout; 0: timeoutSeconds is not set.
json::Value Configuration(const std::string& name, const std::vector<int>& seconds) {
  json::Array webhooks;
  for (const int timeout : seconds) {
    json::Object webhook{{"name", "w.example.com"}};
    if (timeout > 0) webhook.Set("timeoutSeconds", std::int64_t{timeout});
    webhooks.emplace_back(std::move(webhook));
  }
  return json::Object{{"metadata", json::Object{{"name", name}}},
                      {"webhooks", std::move(webhooks)}};
}

struct OthersFixture {
  OthersFixture() {
    cluster.Serve(kWebhookConfigurations, "ValidatingWebhookConfiguration", false);
  }
  ~OthersFixture() {
    running.Cancel();
    scheduler.RunFor(60s);
  }
  void Start() {
    running.Spawn("others", [this] { return others.Run(); });
    scheduler.RunFor(100ms);
  }
  void Put(const std::string& name, const std::vector<int>& seconds) {
    cluster.Put(kWebhookConfigurations, Configuration(name, seconds));
    scheduler.RunFor(100ms);
  }
  void Delete(const std::string& name) {
    cluster.Delete(kWebhookConfigurations, "", name);
    scheduler.RunFor(100ms);
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
  std::vector<base::Duration> told;
  OtherWebhooks others{scheduler,
                       cluster,
                       "ours",
                       {.backoff = {.initial = 500ms, .cap = 4s}, .seed = 1},
                       [this](base::Duration longest) { told.push_back(longest); }};
  base::TaskGroup running{io.get_executor()};
};

}  // namespace

TEST_CASE_METHOD(OthersFixture, "other webhooks: the longest timeout counts, except our own",
                 "[admission]") {
  CHECK(others.Longest() == 10s);
  cluster.Put(kWebhookConfigurations, Configuration("ours", {30}));
  cluster.Put(kWebhookConfigurations, Configuration("a", {5, 12}));
  cluster.Put(kWebhookConfigurations, Configuration("b", {3}));
  Start();
  CHECK(others.Longest() == 12s);
  Put("c", {0});
  CHECK(others.Longest() == 12s);
  Put("c", {25});
  CHECK(others.Longest() == 25s);
  Put("d", {300});  // more than a server allows
  CHECK(others.Longest() == 30s);
  CHECK(told == std::vector<base::Duration>{12s, 25s, 30s});
}

TEST_CASE_METHOD(OthersFixture,
                 "other webhooks: a shorter timeout counts when earlier requests have ended",
                 "[admission]") {
  cluster.Put(kWebhookConfigurations, Configuration("a", {20}));
  cluster.Put(kWebhookConfigurations, Configuration("b", {8}));
  Start();
  Delete("a");
  scheduler.RunFor(20s);
  CHECK(others.Longest() == 20s);
  Put("b", {3});  // it had 8 s before
  scheduler.RunFor(20s);
  CHECK(others.Longest() == 20s);
  scheduler.RunFor(6s);
  CHECK(others.Longest() == 3s);
  Delete("b");
  Put("b", {4});
  scheduler.RunFor(60s);
  CHECK(told == std::vector<base::Duration>{20s, 3s, 4s});
}

TEST_CASE_METHOD(OthersFixture, "other webhooks: the timeout is zero if there are none",
                 "[admission]") {
  Start();
  CHECK(others.Longest() == 0s);
}

TEST_CASE_METHOD(OthersFixture,
                 "other webhooks: without a watch the longest possible timeout counts",
                 "[admission]") {
  fake::CapturedLog log;
  bool forbidden = true;
  cluster.fault = [&](const client::ApiRequest&) -> std::optional<base::Error> {
    if (!forbidden) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "no", .http_status = 403};
  };
  Start();
  CHECK(others.Longest() == 10s);
  scheduler.RunFor(60s);
  CHECK(others.Longest() == 30s);
  CHECK(log.With("how long the API server waits for other validating webhooks").size() == 1);
  forbidden = false;
  scheduler.RunFor(5min);
  CHECK(others.Longest() == 0s);
}

TEST_CASE_METHOD(OthersFixture, "other webhooks: a short gap in the watch changes nothing",
                 "[admission]") {
  cluster.Put(kWebhookConfigurations, Configuration("a", {7}));
  Start();
  bool away = true;
  cluster.fault = [&](const client::ApiRequest&) -> std::optional<base::Error> {
    if (!away) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "no", .http_status = 503};
  };
  cluster.CutWatches(kWebhookConfigurations);
  scheduler.RunFor(3s);
  CHECK(others.Longest() == 7s);
  away = false;
  scheduler.RunFor(60s);
  CHECK(told == std::vector<base::Duration>{7s});
  away = true;
  cluster.CutWatches(kWebhookConfigurations);
  scheduler.RunFor(13s);
  CHECK(others.Longest() == 30s);
  away = false;
  scheduler.RunFor(60s);
  CHECK(others.Longest() == 7s);
}

}  // namespace webhook::other_webhooks_test
