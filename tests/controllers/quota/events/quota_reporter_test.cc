#include "controllers/quota/events/quota_reporter.h"

#include <catch2/catch.hpp>

#include "tests/controllers/quota/controller_fixture.h"

namespace quota_reporter_test {

using namespace std::chrono_literals;
using fixture::ControllerFixture;
using fixture::kDeployments;
using fixture::kPods;
using fixture::kQuotas;
using fixture::kSecrets;
using fixture::MakePod;
using fixture::MakeQuota;
using Texts = std::vector<std::string>;

namespace {

constexpr const char* kCountDeployments = "count/deployments.apps";

// From now on requests for this resource fail.
void Break(ControllerFixture& f, const std::string& resource, base::ErrorCode code, int status) {
  f.cluster.fault = [=](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (!request.path.ends_with("/" + resource)) return std::nullopt;
    return base::Error{.code = code, .message = "no " + resource, .http_status = status};
  };
}

void Heal(ControllerFixture& f) { f.cluster.fault = nullptr; }

const std::string kKeeps = " stale, status.used keeps what was last known: ";

}  // namespace

TEST_CASE("quota reporter: a forbidden kind is reported on the quotas that name it",
          "[controllers]") {
  ControllerFixture f;
  Break(f, "deployments", base::ErrorCode::kForbidden, 403);
  f.cluster.Put(kQuotas, MakeQuota("named", {{"pods", "5"}, {kCountDeployments, "5"}}));
  f.cluster.Put(kQuotas, MakeQuota("not-named", {{"pods", "5"}}));
  f.RunFor(4s);
  CHECK(f.events.Texts().empty());
  f.RunFor(3s);
  const std::string stale =
      std::string("QuotaStale named: ") + kCountDeployments +
      " is not in force until counted for the first time: list deployments.v1.apps: no "
      "deployments: set rbac.countAny=true in its Helm values, or apply manifests/base/"
      "count-any.yaml";
  CHECK(f.events.Texts() == Texts{stale});
  CHECK(f.controller->conditions().Count().size() == 1);

  f.RunFor(30min);  // resyncs and retries
  CHECK(f.events.Texts() == Texts{stale});

  Heal(f);
  f.RunFor(2min);
  CHECK(f.events.Texts() ==
        Texts{stale, std::string("QuotaHealed named: ") + kCountDeployments + " is counted again"});
  CHECK(f.controller->conditions().size() == 0);
  CHECK(f.Used("named") == "count/deployments.apps=0,pods=0");
}

TEST_CASE("quota reporter: an event refers to the present quota", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"example.com/gpu", "1"}}));
  f.RunFor(1s);
  REQUIRE(f.events.said.size() == 1);
  const client::Event& event = f.events.said[0];
  const json::Value& quota = *f.cluster.Find(kQuotas, "team-a", "q");
  CHECK(event.about.api_version == "v1");
  CHECK(event.about.kind == "ResourceQuota");
  CHECK(event.about.ns == "team-a");
  CHECK(event.about.name == "q");
  CHECK(event.about.uid == quota.StringAt({"metadata", "uid"}));
  CHECK_FALSE(event.about.resource_version.empty());
  CHECK(event.reason == "UnknownResourceName");
}

TEST_CASE("quota reporter: an outage of the server is not reported on quotas", "[controllers]") {
  ControllerFixture f;
  for (int i = 0; i < 20; ++i) {
    f.cluster.Put(kQuotas, MakeQuota("q" + std::to_string(i), {{"pods", "5"}, {"secrets", "5"}}));
  }
  f.RunFor(1s);
  const int status = GENERATE(0, 500, 403);
  f.cluster.fault = [=](const client::ApiRequest&) -> std::optional<base::Error> {
    return base::Error{
        .code = base::ErrorCode::kUnavailable, .message = "away", .http_status = status};
  };
  for (const auto& resource : {kPods, kSecrets, kQuotas}) f.cluster.CutWatches(resource);
  f.RunFor(20min);
  CHECK(f.events.Texts().empty());
  Heal(f);
  f.RunFor(10min);
  CHECK(f.events.Texts().empty());
}

TEST_CASE("quota reporter: a kind that still fails after an outage is reported", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"secrets", "5"}}));
  f.RunFor(1s);
  f.cluster.fault = [](const client::ApiRequest&) -> std::optional<base::Error> {
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "away"};
  };
  for (const auto& resource : {kSecrets, kQuotas}) f.cluster.CutWatches(resource);
  f.RunFor(5min);
  Break(f, "secrets", base::ErrorCode::kForbidden, 403);
  f.RunFor(5min);
  CHECK(f.events.Texts() ==
        Texts{"QuotaStale q: secrets is" + kKeeps +
              "no secrets: set rbac.countSecrets=true in its Helm values, or apply "
              "manifests/components/count-secrets"});
}

TEST_CASE("quota reporter: an object that cannot be read is reported, and its repair too",
          "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"cpu", "5"}, {"pods", "5"}, {"secrets", "5"}}));
  f.cluster.Put(kQuotas, MakeQuota("other", {{"pods", "5"}, {"secrets", "5"}}));
  f.cluster.Put(kPods, MakePod("odd", "lots"));
  f.RunFor(2s);
  REQUIRE(f.events.Texts().size() == 1);
  CHECK(f.events.Texts()[0].starts_with(
      "QuotaStale q: cpu is" + kKeeps +
      "namespace team-a has an object that cannot be counted: team-a/odd: spec.containers[0]"));
  f.cluster.Put(kPods, MakePod("odd", "1"));
  f.RunFor(2s);
  CHECK(f.events.Texts().size() == 2);
  CHECK(f.events.Texts().back() == "QuotaHealed q: cpu is counted again");
}

TEST_CASE("quota reporter: a status that a policy forbids is reported, and its end too",
          "[controllers]") {
  ControllerFixture f;
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (!request.path.ends_with("/frozen/status")) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kInvalidArgument,
                       .message = "PATCH 422 Invalid: ValidatingAdmissionPolicy 'no' denied it",
                       .http_status = 422};
  };
  f.cluster.Put(kQuotas, MakeQuota("frozen", {{"pods", "5"}}));
  f.cluster.Put(kQuotas, MakeQuota("free", {{"pods", "5"}}));
  f.RunFor(2s);
  const std::string refused =
      "StatusRefused frozen: the API server refuses to write the status of this quota, so its "
      "usage is stale, and what needs it may be refused: PATCH 422 Invalid: "
      "ValidatingAdmissionPolicy 'no' denied it";
  CHECK(f.events.Texts() == Texts{refused});
  f.RunFor(30min);
  CHECK(f.events.Texts() == Texts{refused});
  Heal(f);
  f.RunFor(2min);
  CHECK(f.events.Texts() ==
        Texts{refused, "QuotaHealed frozen: the status of the quota is written again"});
  CHECK(f.controller->conditions().size() == 0);
  CHECK(f.Used("frozen") == "pods=0");
}

TEST_CASE("quota reporter: a refused write of a deleted quota says nothing about the next one",
          "[controllers]") {
  ControllerFixture f;
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "PATCH") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden,
                       .message = "PATCH 403 Forbidden: cannot patch",
                       .http_status = 403};
  };
  f.cluster.patch_delay = 500ms;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.RunFor(200ms);  // the write is on its way
  f.cluster.Delete(kQuotas, "team-a", "q");
  f.RunFor(5s);
  REQUIRE(f.cluster.writes.size() == 1);
  Heal(f);
  json::Value next = MakeQuota("q", {{"pods", "5"}});
  next.Make({"metadata", "uid"}) = "another";
  f.cluster.Put(kQuotas, next);
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=0");
  CHECK(f.events.Texts().empty());
}

TEST_CASE("quota reporter: a write that only comes too late or too often is not reported",
          "[controllers]") {
  const int status = GENERATE(401, 409, 429, 500, 503);
  ControllerFixture f;
  f.cluster.fault = [=](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (!request.path.ends_with("/status")) return std::nullopt;
    return base::Error{
        .code = status == 409 ? base::ErrorCode::kConflict : base::ErrorCode::kUnavailable,
        .message = "later",
        .http_status = status};
  };
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.RunFor(1min);
  Heal(f);
  CHECK(f.events.Texts().empty());
}

TEST_CASE("quota reporter: a limit that cannot be read is reported", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}, {"secrets", "1K"}}));
  f.RunFor(2s);
  CHECK(f.events.Texts() ==
        Texts{"QuotaUnreadable q: spec.hard[secrets]: unable to parse quantity's suffix; what can "
              "be read is enforced, the usage of secrets is unknown, and requests that need it are "
              "refused"});
}

TEST_CASE("quota reporter: a lowered limit is reported once", "[controllers]") {
  ControllerFixture f;
  for (const char* name : {"a", "b", "c"}) f.cluster.Put(kPods, MakePod(name));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.cluster.Put(kQuotas, MakeQuota("other", {{"pods", "5"}}));
  f.RunFor(1s);
  CHECK(f.events.Texts().empty());
  json::Value quota = *f.cluster.Find(kQuotas, "team-a", "q");
  quota.Make({"spec", "hard", "pods"}) = "2";
  f.cluster.Put(kQuotas, quota);
  f.RunFor(1s);
  const std::string exceeded =
      "QuotaExceeded q: the limit lies below what is used, nothing more can be created: pods: used "
      "3, hard 2";
  CHECK(f.events.Texts() == Texts{exceeded});
  f.cluster.Put(kPods, MakePod("d"));
  f.RunFor(10min);
  CHECK(f.events.Texts() == Texts{exceeded});

  SECTION("another writer was first") {
    f.WriteStatus("other", {{"pods", "1"}}, {{"pods", "4"}});
    f.scheduler.RunUntilIdle();
    CHECK(f.events.Texts().size() == 2);
  }
  SECTION("a restart does not report it again") {
    f.Stop();
    f.Start();
    f.RunFor(1min);
    CHECK(f.events.Texts() == Texts{exceeded});
  }
}

TEST_CASE("quota reporter: a kind that is not served is reported only if it stays away",
          "[controllers]") {
  ControllerFixture f;
  const api::GroupVersionResource widgets{"example.com", "v1", "widgets"};
  f.cluster.Put(kQuotas, MakeQuota("q", {{"count/widgets.example.com", "5"}}));
  SECTION("it is served soon") {
    f.RunFor(20s);
    f.cluster.Serve(widgets, "Widget");
    f.RunFor(2min);
    CHECK(f.events.Texts().empty());
  }
  SECTION("it is served late, and then deleted") {
    f.RunFor(40s);
    REQUIRE(f.events.Texts().size() == 1);
    CHECK(f.events.said[0].reason == "ResourceNotServed");
    f.cluster.Serve(widgets, "Widget");
    f.RunFor(1min);
    REQUIRE(f.events.Texts().size() == 2);
    CHECK(f.events.said[1].reason == "QuotaHealed");
    f.cluster.StopServing(widgets);
    f.RunFor(2min);
    REQUIRE(f.events.Texts().size() == 3);
    CHECK(f.events.said[2].reason == "ResourceNotServed");
  }
}

TEST_CASE("quota reporter: a restart reports present failures again, and nothing else",
          "[controllers]") {
  ControllerFixture f;
  Break(f, "deployments", base::ErrorCode::kUnavailable, 503);
  f.cluster.Put(kQuotas, MakeQuota("q", {{kCountDeployments, "5"}}));
  f.cluster.Put(kQuotas, MakeQuota("well", {{"pods", "5"}}));
  f.RunFor(1min);
  CHECK(f.events.Texts().size() == 1);
  f.Stop();
  f.Start();
  f.RunFor(1min);
  CHECK(f.events.Texts().size() == 2);
  f.Stop();
  Heal(f);
  f.Start();
  f.RunFor(1min);
  CHECK(f.events.Texts().size() == 2);
}

TEST_CASE("quota reporter: events of a deleted quota are sent again for its successor",
          "[controllers]") {
  ControllerFixture f;
  Break(f, "deployments", base::ErrorCode::kUnavailable, 503);
  f.cluster.Put(kQuotas, MakeQuota("q", {{kCountDeployments, "5"}}));
  f.RunFor(1min);
  f.cluster.Delete(kQuotas, "team-a", "q");
  f.RunFor(1s);
  CHECK(f.controller->conditions().size() == 0);
  f.cluster.Put(kQuotas, MakeQuota("q", {{kCountDeployments, "5"}}));
  f.RunFor(1min);
  CHECK(f.events.Texts().size() == 2);
}

TEST_CASE("quota reporter: a thousand quotas get one event each, once the queue has room",
          "[controllers]") {
  ControllerFixture f;
  Break(f, "deployments", base::ErrorCode::kUnavailable, 503);
  f.events.full = true;
  for (int i = 0; i < 1000; ++i) {
    f.cluster.Put(kQuotas, MakeQuota("q" + std::to_string(i), {{kCountDeployments, "5"}}));
  }
  f.RunFor(1min);
  CHECK(f.events.said.empty());
  f.events.full = false;
  f.RunFor(1min);
  CHECK(f.events.said.size() == 1000);
  f.RunFor(20min);
  CHECK(f.events.said.size() == 1000);
}

}  // namespace quota_reporter_test
