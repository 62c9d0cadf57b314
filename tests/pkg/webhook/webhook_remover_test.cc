#include "pkg/webhook/webhook_remover.h"

#include <boost/asio/io_context.hpp>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/webhook/stored_configuration.h"
#include "tests/fake/fake_cluster.h"
#include "tests/pkg/webhook/webhook_testing.h"

namespace webhook::webhook_remover_test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kName = "quota-controller-manager";
constexpr const char* kOurs = "quota-system/quota";

json::Value Left(const std::string& installation) {
  ConfigurationOptions options = ByService();
  options.installation = installation;
  return DesiredConfiguration(options, {Counted("secrets")}, "PEM");
}

class RemoverFixture {
 protected:
  RemoverFixture() {
    cluster.Serve(kWebhookConfigurations, "ValidatingWebhookConfiguration", false);
  }
  ~RemoverFixture() {
    running.Cancel();
    scheduler.RunFor(60s);
  }
  void Start(const std::string& identity) {
    WebhookRemoverOptions options{.name = kName, .installation = kOurs, .identity = identity};
    options.leads = [this] { return leads; };
    options.somebody_leads = [this]() -> base::Task<base::Result<bool>> {
      ++lease_looks;
      co_return std::as_const(held);  // result<bool> has a constructor from what tests as true
    };
    remover.emplace(scheduler, cluster, std::move(options));
    running.Spawn("remover", [this] { return remover->Run(); });
  }
  [[nodiscard]] const json::Value& Live() const {
    return *cluster.Find(kWebhookConfigurations, "", kName);
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
  bool leads = true;
  base::Result<bool> held = false;
  int lease_looks = 0;
  std::optional<WebhookRemover> remover;
  base::TaskGroup running{io.get_executor()};
};

}  // namespace

TEST_CASE_METHOD(RemoverFixture, "webhook remover: the leader empties the object and signs it",
                 "[admission]") {
  leads = false;
  cluster.Put(kWebhookConfigurations, Left(kOurs));
  Start("me");
  scheduler.RunFor(60s);
  CHECK(cluster.writes.empty());
  leads = true;
  scheduler.RunFor(1s);
  CHECK(AsksNobody(Live()));
  CHECK(AnnotationOf(Live(), kCountingAnnotation) == "me");
  CHECK(InstallationOf(Live()) == kOurs);
  scheduler.RunFor(10min);
  CHECK(cluster.writes.size() == 1);
  cluster.Put(kWebhookConfigurations, Left(kOurs));  // by a replica that does not heed the mark
  scheduler.RunFor(6s);
  CHECK(AsksNobody(Live()));
}

TEST_CASE_METHOD(RemoverFixture, "webhook remover: knows whether enforcement was turned off",
                 "[admission]") {
  leads = false;
  Start("me");
  scheduler.RunFor(10s);
  CHECK_FALSE(remover->TurnedOff().has_value());
  leads = true;
  scheduler.RunFor(10s);
  CHECK(remover->TurnedOff() == std::optional(false));  // nobody ever enforced
  json::Value empty = Left("");
  empty.Make({"webhooks"}) = json::Array();
  cluster.Put(kWebhookConfigurations, empty);  // as Helm installs it
  scheduler.RunFor(10s);
  CHECK(remover->TurnedOff() == std::optional(false));
  cluster.Put(kWebhookConfigurations, Left("another/installation"));
  scheduler.RunFor(10s);
  CHECK(remover->TurnedOff() == std::optional(false));
  cluster.Put(kWebhookConfigurations, Left(kOurs));
  scheduler.RunFor(10s);
  CHECK(remover->TurnedOff() == std::optional(true));
  CHECK(AsksNobody(Live()));
  cluster.Delete(kWebhookConfigurations, "", kName);
  scheduler.RunFor(10s);
  CHECK(remover->TurnedOff() == std::optional(false));
}

TEST_CASE_METHOD(RemoverFixture,
                 "webhook remover: without a lease an object that is filled again is kept",
                 "[admission]") {
  cluster.Put(kWebhookConfigurations, Left(kOurs));
  Start("");
  scheduler.RunFor(1s);
  CHECK(AsksNobody(Live()));
  CHECK(AnnotationOf(Live(), kCountingAnnotation).empty());
  cluster.Put(kWebhookConfigurations, Left(kOurs));
  scheduler.RunFor(10min);
  CHECK_FALSE(AsksNobody(Live()));
  CHECK(cluster.writes.size() == 1);
}

TEST_CASE_METHOD(RemoverFixture,
                 "webhook remover: without election the object of a live leader is left alone",
                 "[admission]") {
  cluster.Put(kWebhookConfigurations, Left(kOurs));
  held = GENERATE(
      base::Result<bool>(true),
      base::Result<bool>(base::Error{.code = base::ErrorCode::kUnavailable, .message = "away"}));
  Start("");
  scheduler.RunFor(10min);
  CHECK_FALSE(AsksNobody(Live()));
  CHECK(cluster.writes.empty());
  CHECK(lease_looks > 100);
  held = false;  // it has stopped
  scheduler.RunFor(6s);
  CHECK(AsksNobody(Live()));
}

TEST_CASE_METHOD(RemoverFixture, "webhook remover: objects of others are left alone",
                 "[admission]") {
  json::Value left = Left(GENERATE(as<std::string>(), "other/quota", kOurs, ""));
  if (InstallationOf(left) == kOurs) left.Make({"metadata"}).AsObject()->Erase("labels");
  cluster.Put(kWebhookConfigurations, left);
  Start("me");
  scheduler.RunFor(1min);
  CHECK(cluster.writes.empty());
}

TEST_CASE_METHOD(RemoverFixture, "webhook remover: after a conflict it reads the object again",
                 "[admission]") {
  cluster.Put(kWebhookConfigurations, Left(kOurs));
  int conflicts = 3;
  cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "PATCH" || conflicts-- <= 0) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kConflict, .message = "changed"};
  };
  Start("me");
  scheduler.RunFor(1s);
  CHECK(AsksNobody(Live()));
}

TEST_CASE_METHOD(RemoverFixture, "webhook remover: looks seldom if reading is forbidden",
                 "[admission]") {
  int asked = 0;
  cluster.fault = [&](const client::ApiRequest&) -> std::optional<base::Error> {
    ++asked;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "no"};
  };
  Start("me");
  scheduler.RunFor(1h);
  CHECK(asked <= 13);
}

}  // namespace webhook::webhook_remover_test
