// UsageDefinitions that are edited while they are in force, and many of them.

#include <catch2/catch.hpp>

#include "tests/controllers/definitions/definitions_fixture.h"

namespace definition_controller_test {
namespace {

const std::string kBucketDocument = "/openapi/v3/apis/example.com/v1";

struct InForce : Definitions {
  InForce() {
    cluster.documents[kBucketDocument] =
        DocumentOf(KindOf("Bucket", kSize) + "," + KindOf("Disk", kSize));
    Put("buckets", "example.com/bytes", ".spec.size");
    Start();
    scheduler.RunFor(20s);
    CHECK(Defined() == "buckets=v1");
  }
  [[nodiscard]] bool Owns(const std::string& name) const {
    return defined.contains("buckets") && defined.at("buckets").owns(name);
  }
};

TEST_CASE("edits: a mistyped one does not end the limit", "[controllers]") {
  InForce f;
  const std::string path = GENERATE(".spec.siez", "spec.size");
  CAPTURE(path);
  f.Put("buckets", "example.com/bytes", path, 2);
  f.scheduler.RunFor(60s);
  CHECK(f.Owns("example.com/bytes"));
  CHECK(f.changes == 1);
  CHECK_THAT(f.Ready(), Catch::StartsWith("False Path") &&
                            Catch::EndsWith("; in force is still generation 1"));
  f.Put("buckets", "example.com/bytes", ".spec.size", 3);
  f.scheduler.RunFor(20s);
  CHECK(f.changes == 1);
  CHECK_THAT(f.Ready(), Catch::StartsWith("True NotLimited"));
  f.Put("buckets", "example.com/bytes", path, 4);
  f.scheduler.RunFor(20s);
  f.Delete("buckets");
  f.scheduler.RunFor(20s);
  CHECK(f.Defined().empty());
}

TEST_CASE("edits: one that waits for a schema does not end the limit", "[controllers]") {
  InForce f;
  f.cluster.documents.clear();
  f.Put("buckets", "example.com/more-bytes", ".spec.size", 2);
  f.scheduler.RunFor(1s);
  CHECK(f.Owns("example.com/bytes"));
  f.cluster.documents[kBucketDocument] = DocumentOf(KindOf("Bucket", kSize));
  f.scheduler.RunFor(20s);
  CHECK(f.Owns("example.com/more-bytes"));
  CHECK(f.changes == 2);
}

TEST_CASE("edits: one that takes a name of another definition does not end the limit",
          "[controllers]") {
  InForce f;
  f.Put("disks", "example.com/disk-bytes", ".spec.size", 1, "2025-01-01T00:00:00Z");
  f.scheduler.RunFor(20s);
  f.Put("buckets", "example.com/disk-bytes", ".spec.size", 2);
  f.scheduler.RunFor(20s);
  CHECK(f.Owns("example.com/bytes"));
  CHECK_THAT(f.Ready(), Catch::StartsWith("False NameTaken") &&
                            Catch::EndsWith("in force is still generation 1"));
  // What is in force keeps its names only while no older definition has them.
  f.Put("disks", "example.com/bytes", ".spec.size", 2, "2025-01-01T00:00:00Z");
  f.scheduler.RunFor(20s);
  CHECK(f.Owns("example.com/disk-bytes"));
  CHECK(f.defined.at("disks").owns("example.com/bytes"));
}

TEST_CASE("edits: another definition of the same name inherits nothing", "[controllers]") {
  InForce f;
  json::Value other = *f.cluster.Find(DefinitionResource(), "", "buckets.example.com");
  f.Delete("buckets");
  other.Make({"metadata", "uid"}) = "another";
  other.Make({"spec", "usage"}) =
      json::Array{json::Object{{"name", "example.com/bytes"}, {"path", "spec.size"}}};
  f.cluster.Put(DefinitionResource(), other);
  f.scheduler.RunFor(20s);
  CHECK(f.Defined().empty());
}

TEST_CASE("edits: while nothing changes nothing is judged", "[controllers]") {
  InForce f;
  f.judged = 0;
  f.scheduler.RunFor(10min);
  CHECK(f.judged <= 5);  // after answers about the schema
  f.judged = 0;
  f.Put("disks", "example.com/disk-bytes", ".spec.size");
  f.scheduler.RunFor(20s);
  CHECK(f.judged > 0);
  CHECK(f.judged <= 60);
}

// The definition of a resource with the longest paths.
json::Value Large(const std::string& resource, const std::string& created) {
  json::Array usage;
  for (std::size_t i = 0; i < quota::usage::kMostNames; ++i) {
    std::string path = ".spec.a" + std::to_string(i);
    for (int step = 0; step < 14; ++step) path += "." + std::string(60, 'b');
    usage.push_back(json::Object{{"name", "example.com/" + resource + "-" + std::to_string(i)},
                                 {"path", path}});
  }
  json::Value object;
  object.Make({"metadata"}) = json::Object{{"name", resource + ".example.com"},
                                           {"uid", "uid-of-" + resource},
                                           {"generation", 1},
                                           {"creationTimestamp", created}};
  object.Make({"spec", "resource"}) =
      json::Object{{"group", "example.com"}, {"resource", resource}};
  object.Make({"spec", "usage"}) = std::move(usage);
  return object;
}

TEST_CASE("edits: the memory of all definitions together has a bound", "[controllers]") {
  Definitions f;
  for (int i = 0; i < 100; ++i) {
    f.cluster.Put(
        DefinitionResource(),
        Large("r" + std::to_string(i), i < 50 ? "2026-01-01T00:00:00Z" : "2025-01-01T00:00:00Z"));
  }
  f.Start();
  f.scheduler.RunFor(5min);
  const std::size_t most = f.defined.size();
  CHECK(most > 20);
  CHECK(most < 80);
  // The oldest; of the same age by name.
  CHECK(f.defined.contains("r50"));
  CHECK_FALSE(f.defined.contains("r9"));
  CHECK_THAT(f.Ready("r9.example.com"), Catch::StartsWith("False TooMany: older definitions take"));
  // One that goes makes room.
  f.Delete("r50");
  f.scheduler.RunFor(5min);
  CHECK(f.defined.size() == most);
  CHECK_FALSE(f.defined.contains("r50"));
}

TEST_CASE("edits: a small definition is not kept out by large ones that are younger",
          "[controllers]") {
  Definitions f;
  for (int i = 0; i < 100; ++i) {
    f.cluster.Put(DefinitionResource(), Large("r" + std::to_string(i), "2026-01-01T00:00:00Z"));
  }
  f.Put("buckets", "example.com/bytes", ".spec.size", 1, "2025-01-01T00:00:00Z");
  f.Start();
  f.scheduler.RunFor(20s);
  CHECK(f.defined.contains("buckets"));
}

}  // namespace
}  // namespace definition_controller_test
