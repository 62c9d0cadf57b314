// UsageDefinitions beside a fake cluster that serves their kind in two versions: which one is read.

#include <catch2/catch.hpp>

#include "tests/controllers/definitions/definitions_fixture.h"

namespace definition_controller_test {
namespace {

const std::string kDocuments = "/openapi/v3/apis/example.com/";

// The spec of buckets and of tiers has these members in v1, the version that is preferred.
struct TwoVersions : Definitions {
  TwoVersions(const std::string& in_v1, const std::string& in_v2) {
    Serve("v1", in_v1);
    Describe("v2", in_v2);
  }
  void Describe(const std::string& version, const std::string& members) {
    cluster.documents[kDocuments + version] =
        DocumentOf(KindOf("Bucket", members, version) + "," + KindOf("Tier", members, version));
  }
  void Serve(const std::string& version, const std::string& members) {
    Describe(version, members);
    cluster.Serve({"example.com", version, "buckets"}, "Bucket");
    cluster.Serve({"example.com", version, "tiers"}, "Tier", false);
  }
  void StopServing(const std::string& version) {
    cluster.StopServing({"example.com", version, "buckets"});
    cluster.StopServing({"example.com", version, "tiers"});
  }
  // v2 is preferred from now on, and v1 is served as well.
  void Prefer(const std::string& in_v2) {
    StopServing("v1");
    Serve("v2", in_v2);
    cluster.Serve({"example.com", "v1", "buckets"}, "Bucket");
    cluster.Serve({"example.com", "v1", "tiers"}, "Tier", false);
  }
  // The daemon starts with the definition of buckets, and has checked its paths.
  void Begin() {
    Put("buckets", "example.com/bytes", ".spec.size");
    Start();
    scheduler.RunFor(12s);
  }
  // The status stays.
  void Edit(const std::string& path, int generation) {
    json::Value stored = *cluster.Find(DefinitionResource(), "", "buckets.example.com");
    stored.Make({"metadata", "generation"}) = generation;
    json::Value amount = json::Object{{"name", "example.com/bytes"}, {"path", path}};
    stored.Make({"spec", "usage"}) = json::Array{std::move(amount)};
    cluster.Put(DefinitionResource(), std::move(stored));
    scheduler.RunFor(12s);
  }
  void Restart() {
    Stop();
    defined.clear();
    Start();
    scheduler.RunFor(12s);
  }
};

TEST_CASE("versions: a restart reads the version that was read before", "[controllers]") {
  const bool described = GENERATE(true, false);
  CAPTURE(described);
  TwoVersions f(kSize, kOther);
  if (!described) f.cluster.documents.clear();
  f.Begin();
  CHECK(f.Defined() == "buckets=v1");
  CHECK(f.Status("version") == "v1");
  f.Prefer(described ? kOther : "");
  if (!described) f.cluster.documents.clear();
  f.Restart();
  CHECK(f.Defined() == "buckets=v1");
  CHECK(f.changes == 2);
  CHECK_THAT(f.Ready(), Catch::StartsWith("True NotLimited"));
}

TEST_CASE("versions: a restart reads the same version of the class", "[controllers]") {
  const std::string tier = R"("tier":{"type":"string"},)";
  TwoVersions f(tier + kSize, tier + kOther);
  f.PutWithClass(".spec.size");
  f.Start();
  f.scheduler.RunFor(12s);
  CHECK(f.Status("classVersion") == "v1");
  f.Prefer(tier + kOther);
  f.Restart();
  CHECK(f.Defined() == "buckets=v1");
  CHECK_THAT(f.Ready(), Catch::StartsWith("True NotLimited"));
}

// Two replicas that read two versions want two rules, and rewrite each other's for ever.
TEST_CASE("versions: a replica that does not lead reads the version that the leader reads",
          "[controllers]") {
  const bool leads = GENERATE(true, false);
  CAPTURE(leads);
  TwoVersions f(kSize, kSize);
  f.Prefer(kSize);
  f.leads = leads;
  f.Begin();
  CHECK(f.Defined() == "buckets=v2");
  json::Value stored = *f.cluster.Find(DefinitionResource(), "", "buckets.example.com");
  stored.Make({"status", "observedGeneration"}) = 1;
  stored.Make({"status", "version"}) = "v1";
  stored.Make({"status", "conditions"}) =
      json::Array{json::Object{{"type", "Ready"}, {"status", "True"}, {"reason", "Counting"}}};
  f.cluster.Put(DefinitionResource(), stored);
  f.scheduler.RunFor(1min);
  CHECK(f.Defined() == (leads ? "buckets=v2" : "buckets=v1"));
  CHECK(f.Status("version") == (leads ? "v2" : "v1"));
  // A version that is not served is nobody's.
  f.StopServing("v1");
  f.Discover();
  f.scheduler.RunFor(12s);
  CHECK(f.Defined() == "buckets=v2");
}

TEST_CASE("versions: an edit that cannot be in force does not forget the version",
          "[controllers]") {
  const bool restarts = GENERATE(true, false);
  CAPTURE(restarts);
  TwoVersions f(kSize, kSize);
  f.Begin();
  f.Prefer(kSize);
  f.Edit(".spec.sizze", 2);
  CHECK_THAT(f.Ready(), Catch::StartsWith("False PathNotInSchema"));
  CHECK(f.Status("version") == "v1");
  if (restarts) {
    f.Restart();
    CHECK(f.Defined() == "buckets=v1");
    CHECK(f.Status("version") == "v1");
  }
  f.Edit(".spec.size", 3);
  CHECK_THAT(f.Ready(), Catch::StartsWith("True"));
  CHECK(f.Defined() == "buckets=v1");
  CHECK(f.Status("version") == "v1");
}

// A status of a former release does not say which version was read.
TEST_CASE("versions: without a record, the version that has the paths is read", "[controllers]") {
  TwoVersions f(kSize, kOther);
  f.Prefer(kOther);
  f.Put("buckets", "example.com/bytes", ".spec.size");
  json::Value stored = *f.cluster.Find(DefinitionResource(), "", "buckets.example.com");
  stored.Make({"status", "observedGeneration"}) = 1;
  stored.Make({"status", "conditions"}) =
      json::Array{json::Object{{"type", "Ready"}, {"status", "True"}, {"reason", "Counting"}}};
  const bool counted = GENERATE(true, false);
  if (counted) f.cluster.Put(DefinitionResource(), stored);
  f.Start();
  f.scheduler.RunFor(12s);
  CHECK(f.Defined() == "buckets=v1");
  CHECK(f.Status("version") == "v1");
}

TEST_CASE("versions: one that must change becomes one that has the paths", "[controllers]") {
  const bool restarts = GENERATE(true, false);
  CAPTURE(restarts);
  TwoVersions f(kSize, kOther);
  f.Begin();
  f.StopServing("v1");  // v3 is preferred
  f.Serve("v2", kSize);
  f.Serve("v3", kOther);
  if (restarts) {
    f.Restart();
  } else {
    f.Discover();
    f.scheduler.RunFor(12s);
    CHECK(f.changes == 2);  // v3 was not read meanwhile
  }
  CHECK(f.Defined() == "buckets=v2");
  CHECK(f.Status("version") == "v2");
  CHECK_THAT(f.Ready(), Catch::StartsWith("True NotLimited"));
}

TEST_CASE("versions: a start before the kind is served does not forget the version",
          "[controllers]") {
  TwoVersions f(kSize, kOther);
  f.Begin();
  f.StopServing("v1");
  for (int i = 0; i < 2; ++i) {
    f.Restart();
    CHECK(f.Defined() == "buckets=v1");
    CHECK_THAT(f.Ready(), Catch::StartsWith("False NotServed"));
    CHECK(f.Status("version") == "v1");
  }
  f.changes = 0;
  f.Serve("v1", kSize);
  f.Serve("v2", kOther);  // preferred
  f.Discover();
  f.scheduler.RunFor(12s);
  CHECK(f.Defined() == "buckets=v1");
  CHECK(f.changes == 0);
  CHECK_THAT(f.Ready(), Catch::StartsWith("True NotLimited"));
}

// Of a release that does not know the versions in a status, and leaves those of a former
// generation there.
TEST_CASE("versions: those in the status of a refused generation do not put it in force",
          "[controllers]") {
  const std::string reason =
      GENERATE(as<std::string>(), "PathNotInSchema", "NameTaken", "PathInvalid", "TooMany");
  CAPTURE(reason);
  TwoVersions f(kSize, kSize);
  f.Put("buckets", "example.com/bytes", ".spec.siez", 2);
  json::Value stored = *f.cluster.Find(DefinitionResource(), "", "buckets.example.com");
  stored.Make({"status", "observedGeneration"}) = 2;
  stored.Make({"status", "version"}) = "v1";
  stored.Make({"status", "conditions"}) =
      json::Array{json::Object{{"type", "Ready"},
                               {"status", "False"},
                               {"reason", reason},
                               {"message", "spec.usage[0].path: it is wrong"}}};
  f.cluster.Put(DefinitionResource(), stored);
  f.Start();
  f.scheduler.RunFor(12s);
  CHECK(f.Defined().empty());
  CHECK_THAT(f.Ready(), Catch::StartsWith("False PathNotInSchema"));
}

TEST_CASE("versions: an edit that is taken back reads the version that is in force",
          "[controllers]") {
  TwoVersions f(kSize, kSize);
  f.Begin();
  f.Serve("v2", kSize);
  f.Discover();
  CHECK(f.Defined() == "buckets=v1");
  f.Describe("v1", kOther);
  f.Put("buckets", "example.com/bytes", ".spec.siez", 2);
  f.scheduler.RunFor(12s);
  CHECK_THAT(f.Ready(), Catch::EndsWith("in force is still generation 1"));
  f.Put("buckets", "example.com/bytes", ".spec.size", 3);
  f.scheduler.RunFor(12s);
  CHECK(f.Defined() == "buckets=v1");
  CHECK_THAT(f.Ready(), Catch::StartsWith("False PathLost"));
}

// Whoever may change a CRD must not end a limit.
TEST_CASE("versions: if none has the paths, the definition stays in force and is not ready",
          "[controllers]") {
  TwoVersions f(kSize, kOther);
  f.Begin();
  f.StopServing("v1");
  f.Serve("v2", kOther);
  f.Discover();
  f.scheduler.RunFor(12s);
  for (int i = 0; i < 2; ++i) {
    CHECK(f.Defined() == "buckets=v2");
    CHECK_THAT(f.Ready(), Catch::StartsWith("False PathLost: it stays in force"));
    CHECK_THAT(f.Condition("buckets.example.com", "Stalled"), Catch::StartsWith("True PathLost"));
    f.Restart();
  }
}

// The CRD is older than the daemon.
TEST_CASE("versions: a server that drops the version is not asked again and again",
          "[controllers]") {
  TwoVersions f(kSize, kOther);
  f.Begin();
  f.Edit(".spec.sizze", 2);  // the status has a former generation
  json::Value pruned = *f.cluster.Find(DefinitionResource(), "", "buckets.example.com");
  REQUIRE(pruned.At({"status", "inForce"}) != nullptr);
  for (const char* member : {"version", "inForce"}) {
    pruned.Make({"status"}).AsObject()->Erase(member);
  }
  f.cluster.Put(DefinitionResource(), pruned);
  f.cluster.writes.clear();
  f.scheduler.RunFor(60s);
  CHECK(f.cluster.writes.empty());
}

}  // namespace
}  // namespace definition_controller_test
