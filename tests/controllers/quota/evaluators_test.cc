// Evaluators that come, are replaced and go while objects are counted and created.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>

#include "pkg/config/yaml.h"
#include "pkg/quota/usage/defined_evaluator.h"
#include "tests/controllers/quota/devices_fixture.h"

namespace evaluators_test {

namespace {

using namespace std::chrono_literals;
using fixture::ControllerFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakePod;
using fixture::MakeQuota;

const api::GroupVersionResource kBuckets{"example.com", "v1", "buckets"};
const api::GroupVersionResource kTiers{"example.com", "v1", "tiers"};
constexpr const char* kBytes = "example.com/bytes";
constexpr const char* kIops = "example.com/iops";
constexpr const char* kCount = "count/buckets.example.com";

json::Value Bucket(const std::string& name, const std::string& size, const std::string& tier = "") {
  json::Value object =
      json::Object{{"metadata", json::Object{{"name", name}, {"namespace", "team-a"}}},
                   {"spec", json::Object{{"size", size}, {"quota", json::Object{{"max", "7"}}}}}};
  object.Make({"metadata", "uid"}) = "uid-of-" + name;
  if (!tier.empty()) object.Make({"spec", "tier"}) = tier;
  return object;
}

json::Value Tier(const std::string& name, const std::string& iops) {
  return json::Object{{"metadata", json::Object{{"name", name}}},
                      {"spec", json::Object{{"iops", iops}}}};
}

quota::Evaluator Defined(const std::string& usage, const std::string& kind = "buckets") {
  static std::uint64_t revision = 0;
  const auto object = config::ParseYaml("metadata: {name: " + kind +
                                        ".example.com}\n"
                                        "spec:\n"
                                        "  resource: {group: example.com, resource: " +
                                        kind +
                                        "}\n"
                                        "  usage:\n" +
                                        usage);
  REQUIRE(object.has_value());
  const auto definition = quota::usage::ParseUsageDefinition(*object);
  REQUIRE(definition.has_value());
  quota::Evaluator evaluator = quota::usage::EvaluatorOf(*definition);
  evaluator.revision = ++revision;
  return evaluator;
}

constexpr const char* kSize = "  - {name: example.com/bytes, path: .spec.size}\n";
constexpr const char* kMax = "  - {name: example.com/bytes, path: .spec.quota.max}\n";
constexpr const char* kOfTier =
    "  - name: example.com/iops\n"
    "    class: {path: .spec.tier, resource: {group: example.com, resource: tiers},\n"
    "            field: .spec.iops}\n";

struct Defining : ControllerFixture {
  Defining() : ControllerFixture({.resync_period = 0s}) {
    cluster.Serve(kBuckets, "Bucket");
    cluster.Serve(kTiers, "Tier", false);
    admitter.emplace(io.get_executor(), scheduler, admission::NoObserver());
    fixture::Enforce(*admitter, api, *controller);
  }
  ~Defining() {
    cluster.ForgetFunctions();
    calls.Spawn("stop", [this] { return admitter->Stop(); });
    RunFor(1min);
  }
  void Define(const std::string& usage) {
    controller->ChangeEvaluator(kBuckets.WithoutVersion(),
                                [&] { api.evaluators.Put(Defined(usage)); });
  }
  void Undefine() {
    controller->ChangeEvaluator(kBuckets.WithoutVersion(),
                                [&] { api.evaluators.Remove(kBuckets.WithoutVersion()); });
  }
  void Admit(const json::Value& bucket, std::optional<std::string>& answer) {
    admission::Review review{
        .uid = "call", .resource = kBuckets, .ns = "team-a", .name = "b", .object = bucket};
    calls.Spawn("call", [this, &answer, review]() -> base::Task<void> {
      co_await base::DeferCancellation();
      const auto said = co_await admitter->Admit(review, scheduler.Now() + 5s);
      answer = said.kind == admission::Answer::Kind::kAllowed ? "" : said.message;
    });
  }
  // "" if the creation is admitted, else why not.
  std::string Ask(const json::Value& bucket) {
    std::optional<std::string> answer;
    Admit(bucket, answer);
    RunFor(100ms);
    return answer.value_or("no answer yet");
  }
  bool Watches(const api::GroupVersionResource& resource) {
    return std::ranges::any_of(controller->tracker().Watched(), [&](const auto& tracked) {
      return tracked->resource() == resource;
    });
  }
  std::vector<std::string> Fields() { return admitter->FieldsOf(kBuckets.WithoutVersion()); }

  std::optional<admission::QuotaAdmitter> admitter;
  base::TaskGroup calls{io.get_executor()};
};

}  // namespace

TEST_CASE("evaluators: names count from the moment that they are defined", "[controllers]") {
  Defining f;
  f.cluster.Put(kBuckets, Bucket("a", "3Gi"));
  f.cluster.Put(kPods, MakePod("p"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}, {kBytes, "10Gi"}}));
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=1");
  f.Define(kSize);
  f.RunFor(5s);
  CHECK(f.Used("q") == "example.com/bytes=3Gi,pods=1");
  f.cluster.Put(kBuckets, Bucket("b", "1Gi"));
  f.scheduler.RunUntilIdle();
  CHECK(f.Used("q") == "example.com/bytes=4Gi,pods=1");
}

TEST_CASE("evaluators: an edited definition counts what is stored by its new fields",
          "[controllers]") {
  Defining f;
  f.cluster.Put(kBuckets, Bucket("a", "3Gi"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kBytes, "10Gi"}, {kCount, "5"}}));
  f.Define(kSize);
  f.RunFor(5s);
  CHECK(f.Used("q") == "count/buckets.example.com=1,example.com/bytes=3Gi");
  f.Define(kMax);
  // Until the objects are listed, the names keep their values.
  CHECK(f.Used("q") == "count/buckets.example.com=1,example.com/bytes=3Gi");
  f.RunFor(5s);
  CHECK(f.Used("q") == "count/buckets.example.com=1,example.com/bytes=7");
  CHECK(f.Fields() == std::vector<std::string>{"spec.quota.max#", "spec.replicas"});
  f.cluster.Delete(kBuckets, "team-a", "a");
  f.scheduler.RunUntilIdle();
  CHECK(f.Used("q") == "count/buckets.example.com=0,example.com/bytes=0");
}

TEST_CASE("evaluators: without its definition a name is unknown, and objects still count",
          "[controllers]") {
  Defining f;
  f.cluster.Put(kBuckets, Bucket("a", "3Gi"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kBytes, "10Gi"}, {kCount, "5"}}));
  f.Define(kSize);
  f.RunFor(5s);
  f.Undefine();
  f.RunFor(5s);
  f.cluster.Put(kBuckets, Bucket("b", "1Gi"));
  f.RunFor(2min);
  CHECK(f.Used("q") == "count/buckets.example.com=2,example.com/bytes=3Gi");
  CHECK(f.Fields().empty());
  // A quota that is removed in any of these states leaves nothing behind.
  f.cluster.Delete(kQuotas, "team-a", "q");
  f.RunFor(2min);
  CHECK(f.controller->tracker().Watched().empty());
  f.Define(kSize);
  f.RunFor(2min);
  CHECK(f.controller->tracker().Watched().empty());
}

TEST_CASE("evaluators: classes of a definition are read while a quota needs them",
          "[controllers]") {
  Defining f;
  f.cluster.Put(kTiers, Tier("fast", "100"));
  f.cluster.Put(kBuckets, Bucket("a", "3Gi", "fast"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kIops, "500"}}));
  f.Define(kOfTier);
  f.RunFor(5s);
  CHECK(f.Used("q") == "example.com/iops=100");
  f.cluster.Put(kTiers, Tier("fast", "200"));
  f.scheduler.RunUntilIdle();
  CHECK(f.Used("q") == "example.com/iops=200");
  // Both the objects and the classes are read by the new definition.
  f.Define(std::string(kOfTier) + "    times: .spec.quota.max\n");
  f.RunFor(5s);
  CHECK(f.Used("q") == "example.com/iops=1400");
  f.Define(kSize);
  f.RunFor(2min);
  CHECK(f.Used("q") == "example.com/iops=1400");
  f.cluster.Delete(kQuotas, "team-a", "q");
  f.RunFor(2min);
  CHECK(f.controller->tracker().Watched().empty());
}

TEST_CASE("evaluators: one that is removed is not watched for the names that its classes owned",
          "[controllers]") {
  Defining f;
  f.cluster.Serve(fixture::kClaims, "ResourceClaim");
  f.cluster.Serve(fixture::kClasses, "DeviceClass", false);
  const api::GroupResource claims = fixture::kClaims.WithoutVersion();
  const auto change = [&](const std::function<void()>& of) {
    f.controller->ChangeEvaluator(claims, of);
    f.RunFor(2min);
  };
  f.cluster.Put(fixture::kClasses, fixture::DeviceClass("gpus", "example.com/gpu"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"requests.example.com/gpu", "10"}}));
  f.RunFor(1min);
  CHECK(f.Watches(fixture::kClaims));
  const quota::Evaluator of_claims = *f.api.evaluators.Find(claims);
  change([&] { f.api.evaluators.Remove(claims); });
  CHECK_FALSE(f.Watches(fixture::kClaims));
  change([&] { f.api.evaluators.Put(of_claims); });
  CHECK(f.Watches(fixture::kClaims));
  // One that reads no classes comes in its place.
  quota::Evaluator plain = of_claims;
  plain.classes.reset();
  plain.revision = 1;
  change([&] { f.api.evaluators.Put(plain); });
  CHECK_FALSE(f.Watches(fixture::kClaims));
  change([&] { f.api.evaluators.Put(of_claims); });
  f.cluster.Delete(kQuotas, "team-a", "q");
  f.RunFor(2min);
  CHECK(f.controller->tracker().Watched().empty());
}

TEST_CASE("evaluators: one may leave the count of its objects to nobody", "[controllers]") {
  Defining f;
  f.cluster.Put(kBuckets, Bucket("a", "3Gi"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kBytes, "10Gi"}, {kCount, "5"}}));
  f.RunFor(5s);
  CHECK(f.Used("q") == "count/buckets.example.com=1");
  quota::Evaluator bytes = Defined(kSize);
  bytes.owns = [](std::string_view name) { return name == kBytes; };
  f.controller->ChangeEvaluator(kBuckets.WithoutVersion(), [&] { f.api.evaluators.Put(bytes); });
  f.RunFor(5s);
  f.cluster.Put(kBuckets, Bucket("b", "1Gi"));
  f.RunFor(5s);
  CHECK(f.Used("q") == "count/buckets.example.com=1,example.com/bytes=4Gi");
  SECTION("the quota is deleted first") {
    f.cluster.Delete(kQuotas, "team-a", "q");
    f.RunFor(1s);
    f.Undefine();
  }
  SECTION("the evaluator is removed first") {
    f.Undefine();
    f.RunFor(5s);
    CHECK(f.Used("q") == "count/buckets.example.com=2,example.com/bytes=4Gi");
    f.cluster.Delete(kQuotas, "team-a", "q");
  }
  f.RunFor(2min);
  CHECK(f.controller->tracker().Watched().empty());
}

TEST_CASE("evaluators: what was counted for a former definition counts for no name of a new one",
          "[controllers]") {
  Defining f;
  f.cluster.Put(kBuckets, Bucket("a", "3Gi", "fast"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kBytes, "10Gi"}, {kIops, "500"}, {kCount, "5"}}));
  f.Define(kSize);
  f.RunFor(5s);
  CHECK(f.Used("q") == "count/buckets.example.com=1,example.com/bytes=3Gi");
  // The tracker waits for discovery, which the classes of the new definition need.
  f.cluster.stall = [](const client::ApiRequest& request) -> base::Duration {
    return request.path == "/apis" ? 3s : 0s;
  };
  f.Undefine();
  f.RunFor(5s);
  f.Define(std::string(kSize) + kOfTier);
  for (int i = 0; i < 40; ++i) {
    f.RunFor(100ms);
    CHECK_THAT(f.Used("q"), Catch::Contains("example.com/bytes=3Gi"));
  }
  f.cluster.Put(kTiers, Tier("fast", "100"));
  f.RunFor(10s);
  CHECK(f.Used("q") == "count/buckets.example.com=1,example.com/bytes=3Gi,example.com/iops=100");
}

TEST_CASE("evaluators: a name that another kind's definition takes over counts its objects",
          "[controllers]") {
  Defining f;
  const api::GroupVersionResource disks{"example.com", "v1", "disks"};
  f.cluster.Serve(disks, "Disk");
  f.cluster.Put(kBuckets, Bucket("a", "3Gi"));
  f.cluster.Put(disks, Bucket("d", "5Gi"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kBytes, "10Gi"}, {kCount, "5"}}));
  f.Define(kSize);
  f.RunFor(5s);
  CHECK(f.Used("q") == "count/buckets.example.com=1,example.com/bytes=3Gi");
  f.Define("  - {name: example.com/other, path: .spec.size}\n");
  quota::Evaluator of_disks = Defined(kSize, "disks");
  f.controller->ChangeEvaluator(disks.WithoutVersion(),
                                [&] { f.api.evaluators.Put(std::move(of_disks)); });
  f.RunFor(5s);
  CHECK(f.Used("q") == "count/buckets.example.com=1,example.com/bytes=5Gi");
  // The name returns, after the kind that had it was not counted any more for a while.
  f.controller->ChangeEvaluator(disks.WithoutVersion(),
                                [&] { f.api.evaluators.Remove(disks.WithoutVersion()); });
  f.RunFor(2min);
  f.cluster.Delete(kBuckets, "team-a", "a");
  f.Define(kSize);
  f.RunFor(5s);
  CHECK(f.Used("q") == "count/buckets.example.com=0,example.com/bytes=0");
}

TEST_CASE("evaluators: a creation is decided by the definition that there is", "[controllers]") {
  Defining f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{kBytes, "5Gi"}}));
  f.RunFor(5s);
  CHECK(f.Ask(Bucket("b", "100Gi")).empty());  // nobody says what it uses
  f.Define(kSize);
  f.RunFor(5s);
  CHECK(f.Ask(Bucket("b", "4Gi")).empty());
  CHECK(f.Ask(Bucket("c", "2Gi")) ==
        "exceeded quota: q, requested: example.com/bytes=2Gi, used: example.com/bytes=4Gi, "
        "limited: example.com/bytes=5Gi");
  // Its amount cannot be read.
  CHECK(f.Ask(Bucket("c", "many")).find("spec.size: ") != std::string::npos);
  f.Undefine();
  CHECK(f.Ask(Bucket("c", "2Gi")).empty());
}

TEST_CASE("evaluators: an amount that cannot be read matters only where its name is limited",
          "[controllers]") {
  Defining f;
  f.Define(kSize);
  f.cluster.Put(kQuotas, MakeQuota("q", {{kCount, "5"}}));
  f.RunFor(5s);
  CHECK(f.Ask(Bucket("c", "many")).empty());
}

TEST_CASE("evaluators: a quota with a scope that nobody defines keeps what it has counted",
          "[controllers]") {
  Defining f;
  const std::string scoped =
      std::string(kSize) + "  scopes:\n  - {name: example.com/tier, path: .spec.tier}\n";
  f.cluster.Put(kBuckets, Bucket("a", "3Gi", "fast"));
  json::Value quota = MakeQuota("q", {{kBytes, "10Gi"}, {kCount, "5"}});
  quota.Make({"spec", "scopes"}) = json::Array{"example.com/tier"};
  f.cluster.Put(kQuotas, std::move(quota));
  f.Define(scoped);
  f.RunFor(5s);
  CHECK(f.Used("q") == "count/buckets.example.com=1,example.com/bytes=3Gi");
  f.Undefine();
  f.RunFor(10s);
  CHECK(f.Used("q") == "count/buckets.example.com=1,example.com/bytes=3Gi");
  f.cluster.Delete(kBuckets, "team-a", "a");
  f.Define(scoped);
  f.RunFor(5s);
  CHECK(f.Used("q") == "count/buckets.example.com=0,example.com/bytes=0");
}

TEST_CASE("evaluators: a definition may change while creations wait for its names",
          "[controllers]") {
  Defining f;
  f.Define(kSize);
  f.cluster.Put(kQuotas, MakeQuota("q", {{kBytes, "1000Gi"}}));
  f.RunFor(5s);
  std::vector<std::optional<std::string>> answers(30);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    f.Admit(Bucket("b" + std::to_string(i), "1Gi"), answers[i]);
    f.RunFor(1ms);
    if (i % 3 == 0) f.Define(i % 2 == 0 ? kMax : kSize);
    if (i % 7 == 0) f.Undefine();
  }
  f.RunFor(10s);
  for (const auto& answer : answers) CHECK(answer == "");
}

}  // namespace evaluators_test
