// UsageDefinitions beside a fake cluster: which are in force, and what their status says.

#include "controllers/definitions/definition_controller.h"

#include <catch2/catch.hpp>

#include "tests/controllers/definitions/definitions_fixture.h"

namespace definition_controller_test {
namespace {

TEST_CASE("definitions: an evaluator follows its definition", "[controllers]") {
  Definitions f;
  f.Put("buckets", "example.com/bytes", ".spec.size");
  f.Start();
  CHECK(f.controller->Known());
  CHECK(f.Defined() == "buckets=v1");
  CHECK(f.defined.at("buckets").owns("example.com/bytes"));
  const std::uint64_t first = f.defined.at("buckets").revision;
  f.scheduler.RunFor(1s);
  CHECK(f.Ready() == "True NotLimited: no quota limits one of its names");
  CHECK(f.Condition("buckets.example.com", "Stalled") == "False Ready: ");

  f.Put("buckets", "example.com/bytes", ".spec.capacity", 2);
  f.scheduler.RunUntilIdle();
  CHECK(f.defined.at("buckets").revision > first);
  CHECK(f.defined.at("buckets").fields == std::vector<std::string>{"spec.capacity#"});
  // A status of its own, or of others, changes nothing.
  f.scheduler.RunFor(60s);
  CHECK(f.changes == 2);
  f.Delete("buckets");
  f.scheduler.RunUntilIdle();
  CHECK(f.Defined().empty());
}

TEST_CASE("definitions: what cannot be in force says why", "[controllers]") {
  Definitions f;
  f.Put("buckets", "example.com/bytes", "spec.size");
  f.Put("secrets", "example.com/bytes", ".data.size");
  f.Start();
  f.scheduler.RunFor(1s);
  CHECK(f.Defined().empty());
  CHECK(f.Ready() == "False PathInvalid: spec.usage[0].path: must begin with a dot, as .spec.size");
  CHECK_THAT(f.Condition("buckets.example.com", "Stalled"), Catch::StartsWith("True PathInvalid"));
  CHECK(f.Ready("secrets") == "False NotSupported: the daemon does not read what Secrets contain");

  f.Put("buckets", "example.com/bytes", ".spec.size", 2);
  f.use = {.watched = true};
  f.scheduler.RunFor(12s);
  CHECK(f.Defined() == "buckets=v1");
  CHECK(f.Ready() == "False NotCountedYet: buckets.example.com are not listed yet");
  CHECK_THAT(f.Condition("buckets.example.com", "Reconciling"),
             Catch::StartsWith("True NotCountedYet"));
  f.use.forbidden = true;
  f.scheduler.RunFor(12s);
  CHECK_THAT(f.Ready(), Catch::StartsWith("False Forbidden: the daemon may not list "
                                          "buckets.example.com: set rbac.countGroups"));
  f.use = {.watched = true, .synced = true, .objects = 7};
  f.scheduler.RunFor(12s);
  CHECK(f.Ready() == "True Counting: the objects are counted under its names");
  const json::Value* stored = f.cluster.Find(DefinitionResource(), "", "buckets.example.com");
  CHECK(stored->At({"status", "counted"})->AsInt64() == 7);
  CHECK(stored->At({"status", "observedGeneration"})->AsInt64() == 2);
}

TEST_CASE("definitions: a kind without namespaces cannot be limited", "[controllers]") {
  Definitions f;
  f.cluster.Serve({"example.com", "v1", "regions"}, "Region", false);
  f.Put("regions", "example.com/size", ".spec.size");
  f.Start();
  f.scheduler.RunFor(1s);
  CHECK(f.Ready("regions.example.com") ==
        "False NotSupported: regions.example.com are in no namespace, so no quota can limit them");
  CHECK_THAT(f.Condition("regions.example.com", "Stalled"), Catch::StartsWith("True NotSupported"));
}

TEST_CASE("definitions: a kind that Kubernetes counts gets names, and loses them again",
          "[controllers]") {
  Definitions f;
  f.Put("pods", "example.com/bytes", ".metadata.annotations.bytes");
  f.Start();
  REQUIRE(f.defined.contains("pods"));
  const quota::Evaluator with = f.defined.at("pods");
  CHECK(with.owns("example.com/bytes"));
  CHECK(with.owns("requests.cpu"));
  f.Delete("pods");
  f.scheduler.RunUntilIdle();
  REQUIRE(f.defined.contains("pods"));
  const quota::Evaluator without = f.defined.at("pods");
  CHECK_FALSE(without.owns("example.com/bytes"));
  CHECK(without.owns("requests.cpu"));
  CHECK(without.revision > with.revision);
}

TEST_CASE("definitions: a name belongs to the definition that was created first", "[controllers]") {
  Definitions f;
  f.Put("buckets", "example.com/bytes", ".spec.size", 1, "2026-01-02T00:00:00Z");
  f.Put("disks", "example.com/bytes", ".spec.size", 1, "2026-01-01T00:00:00Z");
  f.Start();
  f.scheduler.RunFor(1s);
  CHECK(f.Defined() == "disks=v1");
  CHECK(f.Ready() ==
        "False NameTaken: example.com/bytes belongs to the older definition disks.example.com");
  f.Delete("disks");
  f.scheduler.RunUntilIdle();
  CHECK(f.Defined() == "buckets=v1");
  f.Put("disks", "example.com/bytes", ".spec.size", 1, "2026-01-01T00:00:00Z");
  f.scheduler.RunUntilIdle();
  CHECK(f.Defined() == "disks=v1");
}

TEST_CASE("definitions: the objects are read in a version that is served", "[controllers]") {
  Definitions f;
  f.Put("buckets", "example.com/bytes", ".spec.size");
  f.Start();
  f.cluster.Serve(kNewBuckets, "Bucket");
  f.Discover();
  CHECK(f.Defined() == "buckets=v1");
  f.cluster.StopServing(kBuckets);
  f.Discover();
  CHECK(f.Defined() == "buckets=v2");
  f.cluster.StopServing(kNewBuckets);
  f.scheduler.RunFor(20s);
  f.Discover();
  CHECK(f.Ready() == "False NotServed: the API server does not serve buckets.example.com");
  CHECK(f.Defined() == "buckets=v2");
}

TEST_CASE("definitions: without their CRD nothing is defined, and nothing waits", "[controllers]") {
  Definitions f;
  f.cluster.StopServing(DefinitionResource());
  f.Start();
  f.scheduler.RunFor(5s);
  CHECK(f.controller->Known());
  f.cluster.Serve(DefinitionResource(), "UsageDefinition", false);
  f.Put("buckets", "example.com/bytes", ".spec.size");
  f.scheduler.RunFor(40s);
  CHECK(f.Defined() == "buckets=v1");
  f.cluster.StopServing(DefinitionResource());
  f.scheduler.RunFor(10s);
  CHECK(f.Defined().empty());
}

// One of several API servers, or one that has just started, may not know the CRD yet.
TEST_CASE("definitions: one answer without their CRD does not tell that there are none",
          "[controllers]") {
  Definitions f;
  f.cluster.StopServing(DefinitionResource());
  f.Start();
  f.scheduler.RunFor(1s);
  CHECK_FALSE(f.controller->Known());
  f.cluster.Serve(DefinitionResource(), "UsageDefinition", false);
  f.Put("buckets", "example.com/bytes", ".spec.size");
  for (int i = 0; i < 100 && f.Defined().empty(); ++i) {
    CHECK_FALSE(f.controller->Known());
    f.scheduler.RunFor(100ms);
  }
  CHECK(f.Defined() == "buckets=v1");
  CHECK(f.controller->Known());
}

TEST_CASE("definitions: definitions that cannot be listed are known to be unknown",
          "[controllers]") {
  Definitions f;
  f.Put("buckets", "example.com/bytes", ".spec.size");
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("usagedefinitions") == std::string::npos) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "no", .http_status = 403};
  };
  f.Start();
  f.scheduler.RunFor(1s);
  CHECK(f.controller->Known());
  CHECK(f.Defined().empty());
  f.cluster.ForgetFunctions();
  f.scheduler.RunFor(2min);
  CHECK(f.Defined() == "buckets=v1");
}

TEST_CASE("definitions: they are not known while the first list fails for a moment",
          "[controllers]") {
  Definitions f;
  f.Put("buckets", "example.com/bytes", ".spec.size");
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("usagedefinitions") == std::string::npos) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "no", .http_status = 503};
  };
  f.Start();
  f.scheduler.RunFor(4s);
  CHECK_FALSE(f.controller->Known());
  f.cluster.ForgetFunctions();
  f.scheduler.RunFor(30s);
  CHECK(f.controller->Known());
  CHECK(f.Defined() == "buckets=v1");
}

TEST_CASE("definitions: a bounded number is in force, the oldest", "[controllers]") {
  quota::usage::DefinitionSet set;
  const std::size_t most = quota::usage::DefinitionSet::kMostInForce;
  for (std::size_t i = 0; i <= most; ++i) {
    const std::string resource = "r" + std::to_string(i);
    json::Value amount = json::Object{{"name", "example.com/" + resource}, {"path", ".spec.size"}};
    json::Value object;
    object.Make({"metadata", "name"}) = resource + ".example.com";
    object.Make({"metadata", "creationTimestamp"}) =
        i == 7 ? "2027-01-01T00:00:00Z" : "2026-01-01T00:00:00Z";
    object.Make({"spec", "resource"}) =
        json::Object{{"group", "example.com"}, {"resource", resource}};
    object.Make({"spec", "usage"}) = json::Array{std::move(amount)};
    set.Put(object);
  }
  const auto verdicts = set.Judge([](const api::GroupResource&) { return nullptr; },
                                  [](const std::string&) { return quota::usage::Verdict{}; });
  for (const auto& [name, verdict] : verdicts) {
    CHECK(verdict.reason == (name == "r7.example.com" ? "TooMany" : ""));
  }
}

// Buckets may have any field, and the spec of disks has a size only.
constexpr const char* kDisksOfSize =
    R"({"components":{"schemas":{)"
    R"("Bucket":{"x-kubernetes-preserve-unknown-fields":true,)"
    R"("x-kubernetes-group-version-kind":[)"
    R"({"group":"example.com","version":"v1","kind":"Bucket"}]},)"
    R"("Disk":{"properties":{"spec":{"type":"object","properties":{"size":{"type":"string"}}}},)"
    R"("x-kubernetes-group-version-kind":[)"
    R"({"group":"example.com","version":"v1","kind":"Disk"}]}}}})";

// The status of one is being written, and meanwhile the watch shows another generation of the next
// one, which is not in force yet.
struct DuringAWrite : Definitions {
  DuringAWrite() {
    Put("buckets", "example.com/bytes", ".spec.size");
    Put("disks", "example.com/disk-bytes", ".spec.size");
    Start();
    scheduler.RunFor(20s);
    CHECK(Defined() == "buckets=v1 disks=v1");
    cluster.writes.clear();
    cluster.patch_answer_delay = 50ms;
    Put("buckets", "example.com/bytes", ".spec.capacity", 2);
    scheduler.RunFor(10ms);
    REQUIRE(cluster.writes.size() == 1);
  }
  // Returns what the status says of the new generation, at first and then each time it changes.
  std::vector<std::string> ReadyOfDisksDuring(base::Duration duration) {
    std::vector<std::string> said;
    for (const auto end = scheduler.Now() + duration; scheduler.Now() < end;) {
      scheduler.RunFor(10ms);
      const std::string ready = Ready("disks.example.com");
      if (!ready.empty() && (said.empty() || said.back() != ready)) said.push_back(ready);
    }
    return said;
  }
};

TEST_CASE("definitions: one that becomes unreadable during a write says so", "[controllers]") {
  DuringAWrite f;
  f.Put("disks", "example.com/disk-bytes", "spec.size", 2);
  CHECK(f.ReadyOfDisksDuring(5s) ==
        std::vector<std::string>{
            "False PathInvalid: spec.usage[0].path: must begin with a dot, as .spec.size; in force "
            "is still generation 1"});
  CHECK(f.Defined() == "buckets=v1 disks=v1");
}

TEST_CASE("definitions: one that changes during a write is not ready before it is in force",
          "[controllers]") {
  DuringAWrite f;
  f.cluster.documents["/openapi/v3/apis/example.com/v1"] = kDisksOfSize;
  f.Put("disks", "example.com/disk-bytes", ".spec.szie", 2);
  // A status that says Ready would also be taken for a sign that the new path was in force.
  CHECK(f.ReadyOfDisksDuring(5s) ==
        std::vector<std::string>{
            "False PathNotInSchema: spec.usage[0].path: spec.szie is not in the schema of Disk "
            "(example.com/v1): spec has size; in force is still generation 1"});
  CHECK(f.Defined() == "buckets=v1 disks=v1");
}

TEST_CASE("definitions: while they are listed again no status is written", "[controllers]") {
  Definitions f;
  f.Put("disks", "example.com/disk-bytes", ".spec.size");
  f.Start();
  f.scheduler.RunFor(20s);
  f.cluster.writes.clear();
  json::Value disks = *f.cluster.Find(DefinitionResource(), "", "disks.example.com");
  disks.Make({"metadata", "generation"}) = 2;
  disks.Make({"metadata", "resourceVersion"}) = "1000";
  const bool readable = GENERATE(true, false);
  CAPTURE(readable);
  disks.Make({"spec", "usage"}) = json::Array{json::Object{
      {"name", "example.com/disk-bytes"}, {"path", readable ? ".spec.capacity" : "spec.capacity"}}};
  f.controller->BeginList();
  f.controller->Upsert(disks);
  f.scheduler.RunFor(5s);
  CHECK(f.cluster.writes.empty());
  f.controller->EndList();
  f.scheduler.RunFor(1s);
  CHECK(f.Defined() == "disks=v1");
  CHECK(f.changes == (readable ? 2 : 1));
  REQUIRE(f.cluster.writes.size() == 1);
  CHECK_THAT(f.cluster.writes[0].body, Catch::Contains(readable ? "NotLimited" : "PathInvalid"));
}

TEST_CASE("definitions: only the leader writes, and a failed write waits", "[controllers]") {
  Definitions f;
  f.leads = false;
  f.Put("buckets", "example.com/bytes", ".spec.size");
  f.Start();
  f.scheduler.RunFor(10s);
  CHECK(f.Defined() == "buckets=v1");
  CHECK(f.cluster.writes.empty());
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "PATCH") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "no"};
  };
  f.leads = true;
  f.scheduler.RunFor(35s);
  CHECK(f.Ready().empty());
  f.cluster.ForgetFunctions();
  f.scheduler.RunFor(12s);
  CHECK_THAT(f.Ready(), Catch::StartsWith("True"));
}

TEST_CASE("definitions: a leader that loses its lease during a write writes no other status",
          "[controllers]") {
  Definitions f;
  f.Put("buckets", "example.com/bytes", ".spec.size");
  f.Put("disks", "example.com/disk-bytes", ".spec.size");
  f.cluster.patch_answer_delay = 50ms;
  f.Start();
  for (int i = 0; i < 500 && f.cluster.writes.empty(); ++i) f.scheduler.RunFor(10ms);
  REQUIRE(f.cluster.writes.size() == 1);
  f.leads = false;
  f.scheduler.RunFor(20s);
  CHECK(f.cluster.writes.size() == 1);
}

}  // namespace
}  // namespace definition_controller_test
