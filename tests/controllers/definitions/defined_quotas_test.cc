// The parts of ResourceQuotas, beside a fake cluster.

#include "controllers/definitions/defined_quotas.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "pkg/base/manual_scheduler.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/defined/defined_quota.h"
#include "tests/fake/fake_cluster.h"

namespace defined_quotas_test {
namespace {

using namespace std::chrono_literals;

const api::GroupVersionResource kResourceQuotas{"", "v1", "resourcequotas"};

// A store of quotas that follows a watch, and tells the keys of what changes.
struct Followed final : controllers::QuotaListener {
  Followed(const controllers::TrackingContext& context, const quota::QuotaApi& api)
      : store(api.name, *this, *context.scheduler, api.form),
        watch(controllers::NewReflector(context, api.resource, api.fields, nullptr, store)) {}
  void OnQuota(const quota::Quota* before, const quota::Quota* after) override {
    if (told) told(after != nullptr ? after->key : before->key);
  }
  void OnQuotasSynced() override {}

  controllers::QuotaStore store;
  std::unique_ptr<informers::Reflector> watch;
  std::function<void(const api::ObjectKey&)> told;
};

struct Parts {
  explicit Parts(bool in_parts = true) {
    cluster.Serve(kResourceQuotas, "ResourceQuota");
    cluster.Serve(quota::DefinedQuotas(), "DefinedQuota");
    controller.emplace(context,
                       controllers::DefinedQuotaHooks{
                           .resource_quotas = [this] { return stores ? &wholes.store : nullptr; },
                           .defined_quotas = [this] { return stores ? &parts.store : nullptr; },
                           .leading = [this] { return leads; },
                           .in_parts = in_parts});
    for (Followed* one : {&wholes, &parts}) {
      one->told = [this](const api::ObjectKey& key) { controller->OnQuota(key); };
    }
    running.Spawn("wholes", [this] { return wholes.watch->Run(); });
    running.Spawn("parts", [this] { return parts.watch->Run(); });
    running.Spawn("controller", [this] { return controller->Run(); });
  }
  ~Parts() {
    cluster.ForgetFunctions();
    running.Cancel();
    scheduler.RunFor(60s);
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  static json::Value Quota(json::Object hard, const std::string& name = "q") {
    json::Value quota;
    quota.Make({"metadata"}) = json::Object{{"name", name}, {"namespace", "a"}};
    quota.Make({"spec", "hard"}) = std::move(hard);
    return quota;
  }
  void Limit(json::Object hard) {
    cluster.Put(kResourceQuotas, Quota(std::move(hard)));
    scheduler.RunFor(1s);
  }
  // The spec of the part of q; "": there is none.
  [[nodiscard]] std::string Spec() const {
    const json::Value* part = cluster.Find(quota::DefinedQuotas(), "a", "q");
    return part == nullptr ? "" : json::Write(*part->At({"spec"}));
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
  controllers::TrackingContext context{.executor = io.get_executor(),
                                       .scheduler = &scheduler,
                                       .client = &cluster,
                                       .reflector = {.seed = 1}};
  Followed wholes{context, quota::CoreQuotaApi()};
  Followed parts{context, quota::DefinedQuotaApi()};
  bool leads = true;
  bool stores = true;
  std::optional<controllers::DefinedQuotaController> controller;
  base::TaskGroup running{io.get_executor()};
};

TEST_CASE("defined quotas: a part has the limits that a definition may explain", "[controllers]") {
  Parts f;
  f.Limit({{"pods", "5"}, {"requests.example.com/gpu", "2"}, {"count/jobs.batch", "1"}});
  CHECK(f.Spec().empty());
  CHECK(f.cluster.writes.empty());
  f.Limit({{"pods", "5"}, {"example.com/bytes", "2Gi"}});
  CHECK(f.Spec() == R"({"hard":{"example.com/bytes":"2Gi"}})");
  const json::Value* part = f.cluster.Find(quota::DefinedQuotas(), "a", "q");
  const json::Value& owner = part->ArrayAt({"metadata", "ownerReferences"}).front();
  CHECK(owner.StringAt({"kind"}) == "ResourceQuota");
  CHECK(owner.StringAt({"uid"}) ==
        f.cluster.Find(kResourceQuotas, "a", "q")->StringAt({"metadata", "uid"}));
  f.Limit({{"pods", "6"}, {"example.com/bytes", "2048Mi"}});
  CHECK(f.cluster.writes.size() == 1);  // the same amount
  f.Limit({{"example.com/bytes", "3Gi"}});
  CHECK(f.Spec() == R"({"hard":{"example.com/bytes":"3Gi"}})");
  f.Limit({{"pods", "5"}});
  CHECK(f.Spec().empty());
  CHECK(f.cluster.writes.size() == 3);
}

TEST_CASE("defined quotas: a part has the scopes", "[controllers]") {
  Parts f;
  json::Value quota = Parts::Quota({{"example.com/bytes", "2"}});
  quota.Make({"spec", "scopes"}) = json::Array{"NotTerminating"};
  quota.Make({"spec", "scopeSelector", "matchExpressions"}) = json::Array{json::Object{
      {"scopeName", "PriorityClass"}, {"operator", "In"}, {"values", json::Array{"x"}}}};
  f.cluster.Put(kResourceQuotas, quota);
  f.scheduler.RunFor(1s);
  CHECK_THAT(f.Spec(),
             Catch::Contains(R"("scopeName":"NotTerminating","operator":"Exists")") &&
                 Catch::Contains(R"("scopeName":"PriorityClass","operator":"In","values":["x"])"));
  // It is what was meant: no further write.
  f.scheduler.RunFor(5min);
  CHECK(f.cluster.writes.size() == 1);
}

TEST_CASE("defined quotas: what somebody else changes is restored", "[controllers]") {
  Parts f;
  f.Limit({{"example.com/bytes", "2"}});
  const std::string right = f.Spec();
  f.cluster.Put(quota::DefinedQuotas(), Parts::Quota({{"example.com/bytes", "200"}}));
  f.scheduler.RunFor(1s);
  CHECK(f.Spec() == right);
  json::Value garbled = Parts::Quota({{"example.com/bytes", "2"}});
  garbled.Make({"spec", "scopeSelector"}) = "all";
  f.cluster.Put(quota::DefinedQuotas(), garbled);
  f.scheduler.RunFor(1s);
  CHECK(f.Spec() == right);
  f.cluster.Delete(quota::DefinedQuotas(), "a", "q");
  f.scheduler.RunFor(1s);
  CHECK(f.Spec() == right);
  f.cluster.Put(quota::DefinedQuotas(), Parts::Quota({{"example.com/bytes", "2"}}, "foreign"));
  f.scheduler.RunFor(1s);
  CHECK(f.cluster.Find(quota::DefinedQuotas(), "a", "foreign") == nullptr);
}

TEST_CASE("defined quotas: a part belongs to the quota that has the name now", "[controllers]") {
  Parts f;
  f.Limit({{"example.com/bytes", "2"}});
  f.cluster.Delete(kResourceQuotas, "a", "q");
  f.Limit({{"example.com/bytes", "2"}});  // before anybody saw that it was gone
  const json::Value* part = f.cluster.Find(quota::DefinedQuotas(), "a", "q");
  REQUIRE(part != nullptr);
  CHECK(part->ArrayAt({"metadata", "ownerReferences"}).front().StringAt({"uid"}) ==
        f.cluster.Find(kResourceQuotas, "a", "q")->StringAt({"metadata", "uid"}));
}

TEST_CASE("defined quotas: a part is not deleted while only our watch lacks its quota",
          "[controllers]") {
  Parts f;
  f.scheduler.RunFor(1s);
  f.cluster.Hold(kResourceQuotas);
  f.Limit({{"example.com/bytes", "2"}});
  f.cluster.Put(quota::DefinedQuotas(), Parts::Quota({{"example.com/bytes", "2"}}));
  f.scheduler.RunFor(1min);
  CHECK_FALSE(f.Spec().empty());
  f.cluster.Release(kResourceQuotas);
  f.cluster.Delete(kResourceQuotas, "a", "q");
  f.scheduler.RunFor(2min);
  CHECK(f.Spec().empty());
}

// Another leader, whose watch was ahead, has made the part.
TEST_CASE("defined quotas: what is stored decides, not what our watch has shown", "[controllers]") {
  Parts f;
  f.Limit({{"pods", "2"}});
  f.cluster.Hold(kResourceQuotas);
  f.Limit({{"example.com/bytes", "2"}});
  f.cluster.Put(quota::DefinedQuotas(), Parts::Quota({{"example.com/bytes", "2"}}));
  f.scheduler.RunFor(1min);
  CHECK(f.Spec() == R"({"hard":{"example.com/bytes":"2"}})");
  for (const client::ApiRequest& write : f.cluster.writes) CHECK(write.verb != "DELETE");
}

TEST_CASE("defined quotas: only the leader writes, once it knows both kinds", "[controllers]") {
  Parts f;
  SECTION("another process leads") { f.leads = false; }
  SECTION("the quotas are not known") { f.stores = false; }
  f.Limit({{"example.com/bytes", "2"}});
  f.cluster.Put(quota::DefinedQuotas(), Parts::Quota({{"example.com/bytes", "2"}}, "left"));
  f.scheduler.RunFor(1min);
  CHECK(f.cluster.writes.empty());
  f.leads = f.stores = true;
  f.scheduler.RunFor(1s);
  CHECK(f.Spec() == R"({"hard":{"example.com/bytes":"2"}})");
  CHECK(f.cluster.Find(quota::DefinedQuotas(), "a", "left") == nullptr);
}

TEST_CASE("defined quotas: a failed write is tried again", "[controllers]") {
  Parts f;
  int failures = 0;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb == "GET" || failures >= 3) return std::nullopt;
    ++failures;
    return base::Error{
        .code = base::ErrorCode::kForbidden, .message = "no right", .http_status = 403};
  };
  f.Limit({{"example.com/bytes", "2"}});
  f.scheduler.RunFor(10s);
  CHECK(failures == 3);
  CHECK(f.Spec() == R"({"hard":{"example.com/bytes":"2"}})");
}

TEST_CASE("defined quotas: there are none where ResourceQuotas are decided as a whole",
          "[controllers]") {
  Parts f(false);
  f.cluster.Put(quota::DefinedQuotas(), Parts::Quota({{"example.com/bytes", "2"}}));
  f.Limit({{"example.com/bytes", "2"}});
  CHECK(f.Spec().empty());
}

}  // namespace
}  // namespace defined_quotas_test
