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

}  // namespace
}  // namespace definition_controller_test
