#include "cmd/quota-controller-manager/engine.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "pkg/base/manual_scheduler.h"
#include "pkg/http/message.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/karmada/karmada_quota.h"
#include "tests/fake/fake_cluster.h"

namespace engine_test {
namespace {

using namespace std::chrono_literals;

class Fixture {
 public:
  // `asked`: another part of the process asks the server what it serves, before the engine starts.
  explicit Fixture(quota::QuotaApi api, bool asked = false)
      : resource(api.resource), engine_(std::move(api), served_, shared_, Options()) {
    engine_.AddChecks(health_);
    if (asked) {
      tasks_.Spawn("look", [this]() -> base::Task<void> { (void)co_await served_.Refresh(); });
    }
    tasks_.Spawn("engine", [this] { return engine_.Run(); });
  }
  ~Fixture() {
    tasks_.Cancel();
    scheduler.RunFor(10s);
  }
  [[nodiscard]] bool Runs() const { return engine_.store() != nullptr; }
  [[nodiscard]] bool IsReady() const { return health_.IsReady(); }

 private:
  manager::EngineOptions Options() {
    return {.context = {.executor = io_.get_executor(),
                        .scheduler = &scheduler,
                        .client = &cluster,
                        .reflector = {},
                        .name = "",
                        .registry = &registry_},
            .controller = {}};
  }
  base::asio::io_context io_{1};
  metrics::Registry registry_;

 public:
  const api::GroupVersionResource resource;
  base::ManualScheduler scheduler{io_};
  fake::FakeCluster cluster{scheduler};

 private:
  debug::Health health_{scheduler};
  controllers::ServedResources served_{cluster, scheduler};
  controllers::SharedResources shared_;
  manager::Engine engine_;
  base::TaskGroup tasks_{io_.get_executor()};
};

}  // namespace

TEST_CASE("engine: the core group's quotas need no discovery", "[manager]") {
  Fixture f(quota::CoreQuotaApi());
  f.cluster.Serve(f.resource, "ResourceQuota");
  CHECK_FALSE(f.IsReady());
  f.scheduler.RunFor(1s);
  CHECK(f.Runs());
  CHECK(f.IsReady());
}

TEST_CASE("engine: the daemon waits for a quota API that is not served, without an error",
          "[manager]") {
  Fixture f(quota::KarmadaQuotaApi());
  // Nothing is known until discovery answers.
  CHECK_FALSE(f.IsReady());
  f.scheduler.RunFor(1s);
  CHECK_FALSE(f.Runs());
  CHECK(f.IsReady());

  f.cluster.Serve(f.resource, "KarmadaQuota");
  f.scheduler.RunFor(5s);
  CHECK(f.Runs());
}

TEST_CASE("engine: it starts as soon as the answer is there that another part has asked for",
          "[manager]") {
  Fixture f(quota::KarmadaQuotaApi(), true);
  f.cluster.Serve(f.resource, "KarmadaQuota");
  f.cluster.stall = [](const client::ApiRequest& request) {
    return request.path.starts_with("/api") ? 20ms : 0ms;
  };
  f.scheduler.RunFor(150ms);
  CHECK(f.Runs());
  f.cluster.ForgetFunctions();
}

TEST_CASE("engine: a quota API that is deleted is counted again once it is back", "[manager]") {
  Fixture f(quota::KarmadaQuotaApi());
  f.cluster.Serve(f.resource, "KarmadaQuota");
  f.scheduler.RunFor(5s);
  REQUIRE(f.Runs());
  f.cluster.StopServing(f.resource);
  f.scheduler.RunFor(10s);
  CHECK_FALSE(f.Runs());
  CHECK(f.IsReady());
  f.cluster.Serve(f.resource, "KarmadaQuota");
  f.scheduler.RunFor(10s);
  CHECK(f.Runs());
}

// One of several API servers has just started, or has an old copy of what others serve.
TEST_CASE("engine: quotas that are watched are served, whatever discovery says", "[manager]") {
  Fixture f(quota::KarmadaQuotaApi());
  f.cluster.Serve(f.resource, "KarmadaQuota");
  f.scheduler.RunFor(5s);
  REQUIRE(f.Runs());
  f.cluster.hidden.insert(f.resource.group);
  f.scheduler.RunFor(5min);
  CHECK(f.Runs());
}

TEST_CASE("engine: a server that does not answer does not make a quota API absent", "[manager]") {
  Fixture f(quota::KarmadaQuotaApi());
  f.cluster.Serve(f.resource, "KarmadaQuota");
  f.cluster.fault = [](const client::ApiRequest&) {
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "away"};
  };
  f.scheduler.RunFor(1min);
  CHECK_FALSE(f.IsReady());
  f.cluster.fault = nullptr;
  f.scheduler.RunFor(1min);
  CHECK(f.Runs());
  CHECK(f.IsReady());
}

TEST_CASE("engine: quotas that are only counted and must not be listed keep nobody waiting",
          "[manager]") {
  const auto refuse = [](const client::ApiRequest& request) {
    const bool list = request.path.find("quotas") != std::string::npos;
    return list ? std::optional(base::Error{.code = base::ErrorCode::kForbidden,
                                            .message = "quotas is forbidden",
                                            .http_status = 403})
                : std::nullopt;
  };
  SECTION("an optional quota API") {
    Fixture f(quota::KarmadaQuotaApi());
    f.cluster.Serve(f.resource, "KarmadaQuota");
    f.cluster.fault = refuse;
    f.scheduler.RunFor(5s);
    CHECK(f.Runs());
    CHECK(f.IsReady());
  }
  SECTION("the core group's") {
    Fixture f(quota::CoreQuotaApi());
    f.cluster.Serve(f.resource, "ResourceQuota");
    f.cluster.fault = refuse;
    f.scheduler.RunFor(5s);
    CHECK_FALSE(f.IsReady());
  }
}

TEST_CASE("engine: a replica that was ready stays ready while something new is listed",
          "[manager]") {
  const api::GroupVersionResource pods{.group = "", .version = "v1", .resource = "pods"};
  const auto name_pods = [](Fixture& f) {
    f.cluster.Put(f.resource, *json::Parse(R"({"metadata":{"namespace":"ns","name":"q"},
                                               "spec":{"hard":{"pods":"1"}}})"));
  };
  // Their lists are answered after 20 s.
  const auto list_slowly = [](Fixture& f, const std::string& resource) {
    f.cluster.stall = [resource](const client::ApiRequest& request) -> base::Duration {
      return request.path.ends_with("/" + resource) ? 20s : 0s;
    };
  };
  SECTION("a resource that a new quota names") {
    Fixture f(quota::CoreQuotaApi());
    f.cluster.Serve(f.resource, "ResourceQuota");
    f.cluster.Serve(pods, "Pod");
    f.scheduler.RunFor(1s);
    REQUIRE(f.IsReady());
    list_slowly(f, "pods");
    name_pods(f);
    f.scheduler.RunFor(5s);
    CHECK(f.IsReady());
  }
  SECTION("a quota API that appears") {
    Fixture f(quota::KarmadaQuotaApi());
    f.scheduler.RunFor(1s);
    REQUIRE(f.IsReady());
    f.cluster.Serve(f.resource, "KarmadaQuota");
    list_slowly(f, f.resource.resource);
    f.scheduler.RunFor(10s);
    CHECK(f.Runs());
    CHECK(f.IsReady());
  }
  SECTION("but a new replica waits until the resource is listed") {
    Fixture f(quota::CoreQuotaApi());
    f.cluster.Serve(f.resource, "ResourceQuota");
    f.cluster.Serve(pods, "Pod");
    list_slowly(f, "pods");
    name_pods(f);
    f.scheduler.RunFor(5s);
    CHECK_FALSE(f.IsReady());
    f.scheduler.RunFor(30s);
    CHECK(f.IsReady());
  }
}

}  // namespace engine_test
