#include "cmd/quota-controller-manager/admission_service.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <utility>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/client/event_recorder.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/webhook/ownership.h"
#include "tests/fake/captured_log.h"
#include "tests/fake/fake_cluster.h"

namespace admission_service_test {
namespace {

using namespace std::chrono_literals;
using webhook::kWebhookConfigurations;

const api::GroupVersionResource kNamespaces{"", "v1", "namespaces"};
const std::string kName = webhook::ConfigurationOptions().name;
constexpr const char* kInstallation = "quota-system/lease";

class NoEvents final : public client::EventRecorder {
 public:
  bool Record(client::Event) override { return true; }
};

manager::Options Enforcing() {
  manager::Options options;
  options.enforced = {"core"};
  options.admission = http::BindAddress{"127.0.0.1", 0};
  options.admission_url = webhook::AdmissionUrl{.host = "127.0.0.1", .port = 9443, .path = ""};
  options.admission_timeout = 10s;
  options.admission_queue_limit = 64;
  options.exempt_namespaces = {"quota-system"};
  return options;
}

struct Fixture {
  explicit Fixture(const manager::Options& options = Enforcing()) {
    cluster.Serve(kWebhookConfigurations, "ValidatingWebhookConfiguration", false);
    cluster.Serve(kNamespaces, "Namespace", false);
    PutConfiguration(kInstallation);
    auto made =
        manager::AdmissionService::New(io.get_executor(), scheduler, cluster, events, registry,
                                       options, kInstallation, [] { return std::string(); });
    REQUIRE(made.has_value());
    service = std::move(*made);
  }
  ~Fixture() { cluster.ForgetFunctions(); }

  void PutConfiguration(const std::string& installation) {
    json::Value object = json::Object{{"metadata", json::Object{{"name", kName}}}};
    object.Make({"metadata", "labels", webhook::kManagedByLabel}) = webhook::kManagedByUs;
    object.Make({"metadata", "annotations", webhook::kInstallationAnnotation}) = installation;
    cluster.Put(kWebhookConfigurations, std::move(object));
  }
  void PutNamespace(bool deleting) {
    json::Value object = json::Object{{"metadata", json::Object{{"name", "quota-system"}}}};
    if (deleting) object.Make({"metadata", "deletionTimestamp"}) = "2026-01-01T00:00:00Z";
    cluster.Put(kNamespaces, std::move(object));
  }
  // True if the webhook configuration is kept when the daemon of this namespace stops.
  bool KeepsRules(const std::string& ns = "quota-system") {
    base::TaskGroup tasks(io.get_executor());
    tasks.Spawn("leave", [&] { return service->LeaveWith(ns); });
    scheduler.RunFor(10s);
    return cluster.Find(kWebhookConfigurations, "", kName) != nullptr;
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
  NoEvents events;
  metrics::Registry registry;
  std::unique_ptr<manager::AdmissionService> service;
};

}  // namespace

TEST_CASE("admission service: a stop keeps the rules while the daemon's namespace stays",
          "[manager]") {
  Fixture f;
  f.PutNamespace(false);
  CHECK(f.KeepsRules());
  CHECK(f.cluster.writes.empty());
}

TEST_CASE("admission service: the rules are deleted with the daemon's namespace", "[manager]") {
  Fixture f;
  SECTION("it terminates") { f.PutNamespace(true); }
  SECTION("it is gone") {}
  CHECK_FALSE(f.KeepsRules());
}

TEST_CASE("admission service: the rules are kept if it is not known that the namespace goes",
          "[manager]") {
  manager::Options options = Enforcing();
  SECTION("the daemon is not in a namespace") {
    Fixture f(options);
    CHECK(f.KeepsRules(""));
  }
  SECTION("an admin maintains them") {
    options.manage_webhook = false;
    Fixture f(options);
    CHECK(f.KeepsRules());
  }
  SECTION("they are another installation's") {
    Fixture f(options);
    f.PutConfiguration("elsewhere/lease");
    CHECK(f.KeepsRules());
  }
  SECTION("the namespace cannot be read") {
    Fixture f(options);
    f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (request.path != kNamespaces.Path({}, "quota-system")) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kForbidden, .message = "not yours"};
    };
    CHECK(f.KeepsRules());
  }
}

TEST_CASE("admission service: a failure at the stop is repeated, and then named", "[manager]") {
  Fixture f;
  f.PutNamespace(true);
  const std::string path = GENERATE(as<std::string>(), kNamespaces.Path({}, "quota-system"),
                                    kWebhookConfigurations.Path({}, kName));
  int failures = 0;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path != path || --failures < 0) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "not now"};
  };
  const fake::CapturedLog log;
  SECTION("a few times") {
    failures = 3;
    CHECK_FALSE(f.KeepsRules());
    CHECK(log.With("delete it").empty());
  }
  SECTION("to the end") {
    failures = 1000;
    CHECK(f.KeepsRules());
    CHECK(log.With("delete it by hand").size() == 1);
    CHECK(log.With("name=" + kName + " namespace=quota-system error=\"not now\"").size() == 1);
    CHECK(failures > 900);  // a pause before each further try
  }
}

TEST_CASE("admission service: quotas of exempt namespaces do not wait for rules", "[manager]") {
  Fixture f;
  controllers::QuotaControllerOptions options;
  f.service->Prepare("core", options);
  const quota::QuotaApi core = quota::CoreQuotaApi();
  const quota::Evaluator& evaluator = *core.evaluators.begin();
  CHECK(options.guarded(evaluator, {"quota-system", "q"}));
  CHECK_FALSE(options.guarded(evaluator, {"team-a", "q"}));
  CHECK(options.exempt->contains("quota-system"));
}

}  // namespace admission_service_test
