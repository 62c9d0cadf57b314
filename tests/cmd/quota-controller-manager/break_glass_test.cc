#include "cmd/quota-controller-manager/break_glass.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <sstream>
#include <string>
#include <utility>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/webhook/ownership.h"
#include "pkg/webhook/webhook_configuration.h"
#include "tests/fake/fake_cluster.h"

namespace break_glass_test {
namespace {

using namespace std::chrono_literals;

const std::string kName = webhook::ConfigurationOptions().name;

// A configuration with one webhook. `installation` is its owner; "": nobody owns it.
json::Value Configuration(bool ours, const std::string& installation) {
  json::Value object = json::Object{{"metadata", json::Object{{"name", kName}}}};
  if (ours) object.Make({"metadata", "labels", webhook::kManagedByLabel}) = webhook::kManagedByUs;
  if (!installation.empty()) {
    object.Make({"metadata", "annotations", webhook::kInstallationAnnotation}) = installation;
  }
  object.Make({"webhooks"}) = json::Array{json::Object{{"name", "pods"}}};
  return object;
}

struct Fixture {
  Fixture() {
    cluster.Serve(webhook::kWebhookConfigurations, "ValidatingWebhookConfiguration", false);
  }
  ~Fixture() { cluster.ForgetFunctions(); }
  void Put(bool ours, const std::string& installation) {
    cluster.Put(webhook::kWebhookConfigurations, Configuration(ours, installation));
  }
  // Returns what is printed, or the error.
  std::string Break(base::Duration lasts = {}) {
    std::ostringstream out;
    base::Result<void> done;
    base::TaskGroup tasks(io.get_executor());
    tasks.Spawn("break glass", [&]() -> base::Task<void> {
      done = co_await manager::BreakGlass(cluster, "kube-system/lease", lasts, out);
    });
    scheduler.RunFor(1min);
    return done ? out.str() : done.error().message;
  }
  bool IsOpen() const {
    const json::Value* live = cluster.Find(webhook::kWebhookConfigurations, "", kName);
    REQUIRE(live != nullptr);
    const bool annotated = webhook::AnnotationOf(*live, webhook::kBreakGlassAnnotation) == "true";
    CHECK(annotated == live->ArrayAt({"webhooks"}).empty());
    return annotated;
  }
  // "": for good.
  std::string Lasts() const {
    const json::Value* live = cluster.Find(webhook::kWebhookConfigurations, "", kName);
    REQUIRE(live != nullptr);
    return std::string(webhook::AnnotationOf(*live, webhook::kBreakGlassForAnnotation));
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
};

}  // namespace

TEST_CASE("break glass: without a webhook configuration nothing is to be done", "[manager]") {
  Fixture f;
  CHECK(f.Break() == "validatingwebhookconfiguration " + kName + ": there is none\n");
  CHECK(f.cluster.writes.empty());
}

TEST_CASE("break glass: the configuration of this installation, or of none, is emptied",
          "[manager]") {
  const std::string owner = GENERATE(as<std::string>(), "", "kube-system/lease");
  Fixture f;
  f.Put(true, owner);
  CHECK(f.Break().find(": emptied, and stays empty until its annotation ") != std::string::npos);
  CHECK(f.IsOpen());
}

TEST_CASE("break glass: for a time that daemons measure", "[manager]") {
  Fixture f;
  f.Put(true, "kube-system/lease");
  CHECK(f.Break(5min).ends_with("is removed, which running daemons do after 5m0s\n"));
  CHECK(f.IsOpen());  // also for daemons that do not know the duration
  const std::string first = f.Lasts();
  CHECK(first.starts_with("5m0s (version "));
  CHECK(f.Break(5min).ends_with("after 5m0s\n"));
  const std::string second = f.Lasts();
  CHECK(second.starts_with("5m0s (version "));
  CHECK(second != first);
}

TEST_CASE("break glass: what is open for good stays so", "[manager]") {
  Fixture f;
  f.Put(true, "kube-system/lease");
  CHECK(f.Break().ends_with("is removed\n"));
  CHECK(f.Break(5min).ends_with("is removed\n"));
  CHECK(f.IsOpen());
  CHECK(f.Lasts().empty());
}

TEST_CASE("break glass: an opening for good ends the time of the one before", "[manager]") {
  Fixture f;
  f.Put(true, "kube-system/lease");
  CHECK(f.Break(5min).ends_with("after 5m0s\n"));
  CHECK(f.Break().ends_with("is removed\n"));
  CHECK(f.IsOpen());
  CHECK(f.Lasts().empty());
}

TEST_CASE("break glass: the configuration of others is not changed", "[manager]") {
  Fixture f;
  f.Put(true, "elsewhere/lease");
  CHECK(f.Break() == "validatingwebhookconfiguration " + kName +
                         " is not this installation's, kube-system/lease, but that of "
                         "elsewhere/lease");
  CHECK_FALSE(f.IsOpen());
  f.Put(false, "");
  CHECK(f.Break() == "validatingwebhookconfiguration " + kName +
                         " is not this installation's, kube-system/lease");
  CHECK_FALSE(f.IsOpen());
}

TEST_CASE("break glass: a daemon that writes at the same time only delays it", "[manager]") {
  Fixture f;
  f.Put(true, "kube-system/lease");
  int writes = 0;
  std::string owner = "kube-system/lease";
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb == "PATCH" && --writes >= 0) f.Put(true, owner);
    return std::nullopt;
  };
  SECTION("a few times") {
    writes = 4;
    f.Break();
    CHECK(f.IsOpen());
  }
  SECTION("again and again") {
    writes = 100;
    CHECK(f.Break() == "the object has been modified");
    CHECK(f.cluster.writes.size() == 5);
  }
  SECTION("another installation takes it over") {
    writes = 1;
    owner = "elsewhere/lease";
    CHECK(f.Break().ends_with("but that of elsewhere/lease"));
    CHECK_FALSE(f.IsOpen());
  }
}

TEST_CASE("break glass: an error of the server is returned", "[manager]") {
  Fixture f;
  f.Put(true, "");
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "PATCH") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "not yours"};
  };
  CHECK(f.Break() == "not yours");
  CHECK(f.cluster.writes.size() == 1);
}

}  // namespace break_glass_test
