// A pod under a ResourceQuota and a ClusterQuota, while one of the two cannot be read or written.

#include "tests/controllers/quota/cluster_charging_fixture.h"

namespace beside_cluster_quotas_test {
namespace {

using namespace fixture;
using namespace std::chrono_literals;
using Kind = admission::Answer::Kind;

// The ClusterQuota c is over the namespaces a and b. Each has a ResourceQuota q.
struct Beside : Clustered {
  explicit Beside(const std::string& mode = "Deny") {
    cluster.patch_delay = 4ms;
    for (const char* const ns : {"a", "b"}) {
      PutNamespace(ns, "x");
      cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}, ns));
    }
    json::Value quota = ClusterQuota("c", "x", {{"pods", "100"}});
    quota.Make({"spec", "enforcement"}) = mode;
    Put(quota);
    RunFor(1s);
  }
  ~Beside() { cluster.ForgetFunctions(); }
  // Requests of this verb whose path contains the text fail.
  void Fail(const std::string& verb, const std::string& path, const base::Error& error) {
    cluster.fault = [=](const client::ApiRequest& request) -> std::optional<base::Error> {
      const bool meant = request.verb == verb && request.path.find(path) != std::string::npos;
      return meant ? std::optional(error) : std::nullopt;
    };
  }
};

TEST_CASE("beside ClusterQuotas: a ResourceQuota that cannot be written delays no other namespace",
          "[admission]") {
  Beside f;
  f.Fail("PATCH", "/namespaces/a/resourcequotas/",
         {.code = base::ErrorCode::kUnavailable, .message = "no"});
  auto& stuck = f.Ask("a", "p");
  f.RunFor(100ms);
  for (int i = 0; i < 5; ++i) {
    const std::string name = "p" + std::to_string(i);
    f.Ask("a", "more" + name);
    CHECK(f.Get("b", name).kind == Kind::kAllowed);  // within 100 ms
  }
  CHECK_FALSE(stuck.has_value());
  f.RunFor(6s);
  REQUIRE(stuck.has_value());
  CHECK(stuck->kind == Kind::kUnavailable);
  CHECK(f.UsedOf("c") == "5");  // what the others of namespace a had is taken back
}

TEST_CASE(
    "beside ClusterQuotas: a ClusterQuota in mode Audit that cannot be written refuses nothing",
    "[admission]") {
  Beside f("Audit");
  const auto code = GENERATE(base::ErrorCode::kConflict, base::ErrorCode::kUnavailable);
  f.Fail("PATCH", "/clusterquotas/", {.code = code, .message = "no"});
  for (int i = 0; i < 3; ++i) f.Ask("a", "p" + std::to_string(i));
  f.RunFor(2s);
  for (int i = 3; i < 5; ++i) f.Ask("a", "p" + std::to_string(i));
  f.RunFor(10s);
  CHECK(f.Count(Kind::kAllowed) == 5);
  CHECK(f.Used("q", "a") == "pods=5");
}

// The write was planned while the quota denied.
TEST_CASE("beside ClusterQuotas: a quota whose mode becomes Audit during its write refuses nothing",
          "[admission]") {
  Beside f;
  f.Fail("PATCH", "/clusterquotas/", {.code = base::ErrorCode::kForbidden, .message = "no"});
  f.cluster.patch_delay = 1s;
  auto& asked = f.Ask("a", "p");
  f.RunFor(500ms);
  json::Value audited = *f.cluster.Find(f.quotas.resource, "", "c");
  audited.Make({"spec", "enforcement"}) = "Audit";
  f.Put(audited);
  f.RunFor(3s);
  REQUIRE(asked.has_value());
  CHECK(asked->kind == Kind::kAllowed);
  REQUIRE(asked->would_refuse.size() == 1);
  CHECK(asked->would_refuse[0].would.message == "not decided: no");
  CHECK(f.Used("q", "a") == "pods=1");
}

TEST_CASE("beside ClusterQuotas: a full ResourceQuota refuses while ClusterQuotas cannot be read",
          "[admission]") {
  Beside f;
  f.Fail("GET", "clusterquotas", {.code = base::ErrorCode::kUnavailable, .message = "no"});
  f.cluster.CutWatches(f.quotas.resource);
  f.RunFor(10s);
  for (int i = 0; i < 5; ++i) f.cluster.Put(kPods, MakePod("there" + std::to_string(i), "1", "a"));
  f.RunFor(1s);
  REQUIRE(f.Used("q", "a") == "pods=5");
  const admission::Answer& refused = f.Get("a", "p");
  CHECK(refused.kind == Kind::kRefused);
  CHECK(refused.message == "exceeded quota: q, requested: pods=1, used: pods=5, limited: pods=5");
  auto& fits = f.Ask("b", "p");
  f.RunFor(6s);
  REQUIRE(fits.has_value());
  CHECK(fits->kind == Kind::kUnavailable);
}

}  // namespace
}  // namespace beside_cluster_quotas_test
