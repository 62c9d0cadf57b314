// UsageDefinitions beside a fake cluster that serves schemas: which are in force.

#include "controllers/definitions/path_checks.h"

#include <catch2/catch.hpp>

#include "tests/controllers/definitions/definitions_fixture.h"

namespace definition_controller_test {
namespace {

constexpr const char* kDocument = "/openapi/v3/apis/example.com/v1";

// The document for buckets with these members of their spec.
std::string Buckets(const std::string& members) { return DocumentOf(KindOf("Bucket", members)); }

const std::string kWrong =
    "False PathNotInSchema: spec.usage[0].path: spec.size is not in the schema of Bucket "
    "(example.com/v1): spec has max";

TEST_CASE("path checks: a mistyped path is told, and the definition is never in force",
          "[controllers]") {
  Definitions f;
  f.Start();
  f.cluster.documents[kDocument] = Buckets(kSize);
  f.Put("buckets", "example.com/bytes", ".spec.siez");
  f.scheduler.RunFor(2s);
  CHECK(f.changes == 0);
  CHECK(f.Ready() ==
        "False PathNotInSchema: spec.usage[0].path: spec.siez is not in the schema of Bucket "
        "(example.com/v1): spec has size");
  CHECK_THAT(f.Condition("buckets.example.com", "Stalled"),
             Catch::StartsWith("True PathNotInSchema: spec.usage[0].path"));
  f.Put("buckets", "example.com/bytes", ".spec.size", 2);
  f.scheduler.RunFor(2s);
  CHECK(f.Defined() == "buckets=v1");
  CHECK_THAT(f.Ready(), Catch::StartsWith("True NotLimited: no quota limits one of its names"));
}

TEST_CASE("path checks: what appears while another one is put in force is checked, too",
          "[controllers]") {
  Definitions f;
  f.Start();
  f.cluster.documents[kDocument] =
      DocumentOf(KindOf("Bucket", kSize) + "," + KindOf("Disk", kSize));
  f.on_change = [&] { f.Put("disks", "example.com/disk-bytes", ".spec.siez"); };
  f.Put("buckets", "example.com/bytes", ".spec.size");
  f.scheduler.RunFor(5s);
  CHECK(f.changes == 1);
  CHECK(f.Defined() == "buckets=v1");
  CHECK_THAT(f.Ready("disks.example.com"), Catch::StartsWith("False PathNotInSchema"));
}

TEST_CASE("path checks: a schema that gets the field ends the complaint", "[controllers]") {
  Definitions f;
  f.cluster.documents[kDocument] = Buckets(kOther);
  f.Put("buckets", "example.com/bytes", ".spec.size");
  f.Start();
  f.scheduler.RunFor(1min);
  CHECK(f.Defined().empty());
  CHECK(f.Ready() == kWrong);
  CHECK(f.cluster.document_reads == 1);  // the others found it unchanged
  f.cluster.documents[kDocument] = Buckets(kSize);
  f.scheduler.RunFor(controllers::PathChecks::kWhileWrong + 2s);
  CHECK(f.Defined() == "buckets=v1");
  CHECK_THAT(f.Ready(), Catch::StartsWith("True"));
}

TEST_CASE("path checks: what was in force stays when the schema loses the field", "[controllers]") {
  Definitions f;
  f.cluster.documents[kDocument] = Buckets(kSize);
  f.Put("buckets", "example.com/bytes", ".spec.size");
  f.Start();
  f.scheduler.RunFor(2s);
  f.cluster.documents[kDocument] = Buckets(kOther);
  f.scheduler.RunFor(controllers::PathChecks::kRarely + 12s);
  CHECK(f.Defined() == "buckets=v1");
  CHECK(f.changes == 1);
  const std::string lost =
      "False PathLost: it stays in force, and new objects cannot have one of its paths: "
      "spec.usage[0].path: spec.size is not in the schema of Bucket (example.com/v1): spec has max";
  CHECK(f.Ready() == lost);
  // Its status tells the next daemon.
  f.Stop();
  f.defined.clear();
  f.Start();
  f.scheduler.RunFor(12s);
  CHECK(f.Defined() == "buckets=v1");
  CHECK(f.Ready() == lost);
  // An edit is a new decision. Until it is right, nothing changes.
  f.Put("buckets", "example.com/bytes", ".spec.min", 2);
  f.scheduler.RunFor(2s);
  CHECK(f.Defined() == "buckets=v1");
  CHECK_THAT(f.Ready(), Catch::StartsWith("False PathNotInSchema: spec.usage[0].path: spec.min"));
}

TEST_CASE("path checks: a restart does not put a refused definition into force", "[controllers]") {
  Definitions f;
  f.cluster.documents[kDocument] = Buckets(kOther);
  f.Put("buckets", "example.com/bytes", ".spec.size");
  f.Start();
  f.scheduler.RunFor(2s);
  f.Stop();
  f.changes = 0;
  f.cluster.documents.clear();  // no answer is no new answer
  f.Start();
  f.scheduler.RunFor(1min);
  CHECK(f.controller->Known());
  CHECK(f.changes == 0);
  CHECK(f.Ready() == kWrong);
  f.cluster.documents[kDocument] = Buckets(kSize);
  f.scheduler.RunFor(controllers::PathChecks::kWhileWrong + 2s);
  CHECK(f.Defined() == "buckets=v1");
}

TEST_CASE("path checks: a schema that cannot be read forbids nothing", "[controllers]") {
  Definitions f;
  f.cluster.documents.clear();
  f.Start();
  SECTION("it is not there") {}
  SECTION("it is no JSON") { f.cluster.documents[kDocument] = "<html>"; }
  SECTION("it does not know the kind") {
    f.cluster.documents[kDocument] = DocumentOf(KindOf("Tier", kSize));
  }
  SECTION("nobody answers in time") {
    f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (request.path.find("openapi") == std::string::npos) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kTimeout, .message = "no answer"};
    };
  }
  f.Put("buckets", "example.com/bytes", ".spec.siez");
  f.scheduler.RunFor(controllers::PathChecks::kPatience + 2s);
  CHECK(f.Defined() == "buckets=v1");
  CHECK_THAT(f.Ready(), Catch::StartsWith("True NotLimited"));
  // As soon as it can be read it counts: the server may only have been slow with a new CRD.
  f.cluster.ForgetFunctions();
  f.cluster.documents[kDocument] = Buckets(kSize);
  f.scheduler.RunFor(20s);
  CHECK(f.Defined().empty());
  CHECK_THAT(f.Ready(), Catch::StartsWith("False PathNotInSchema"));
}

// Its document comes a moment after the kind, and another document says nothing about it.
TEST_CASE("path checks: a definition that is older than its kind waits for the schema",
          "[controllers]") {
  Definitions f;
  f.cluster.documents.clear();
  f.cluster.StopServing(kBuckets);
  f.Put("buckets", "example.com/bytes", ".spec.size");
  f.Put("disks", "example.com/disk-bytes", ".spec.size");
  f.cluster.documents[kDocument] = DocumentOf(KindOf("Disk", kSize));
  f.Start();
  f.scheduler.RunFor(1min);
  CHECK(f.Ready() == "False NotServed: the API server does not serve buckets.example.com");
  f.cluster.Serve(kBuckets, "Bucket");
  f.running->Spawn("discovery", [&]() -> base::Task<void> { (void)co_await f.served->Refresh(); });
  f.scheduler.RunFor(5s);
  f.cluster.documents[kDocument] =
      DocumentOf(KindOf("Bucket", kOther) + "," + KindOf("Disk", kSize));
  f.scheduler.RunFor(12s);
  CHECK(f.Ready() == kWrong);
  CHECK_FALSE(f.defined.contains("buckets"));
}

TEST_CASE("path checks: the kind of a class has a schema, too", "[controllers]") {
  Definitions f;
  f.cluster.Serve(kTiers, "Tier", false);
  const std::string bucket = KindOf("Bucket", R"("tier":{"type":"string"})");
  f.cluster.documents[kDocument] = DocumentOf(bucket + "," + KindOf("Tier", R"("iops":{})"));
  f.PutWithClass(".spec.ipos");
  f.Start();
  f.scheduler.RunFor(2s);
  CHECK(f.Ready() ==
        "False PathNotInSchema: spec.usage[0].class.field: spec.ipos is not in the schema of Tier "
        "(example.com/v1): spec has iops");
  CHECK(f.cluster.document_reads == 1);  // both kinds are in one document
}

TEST_CASE("path checks: the check of many definitions reads each document once", "[controllers]") {
  Definitions f;
  f.cluster.documents[kDocument] =
      DocumentOf(KindOf("Bucket", kSize) + "," + KindOf("Disk", kSize));
  f.Put("buckets", "example.com/bytes", ".spec.size");
  f.Put("disks", "example.com/disk-bytes", ".spec.size");
  f.Start();
  f.scheduler.RunFor(1h);
  CHECK(f.Defined() == "buckets=v1 disks=v1");
  CHECK(f.cluster.document_reads == 1);
}

}  // namespace
}  // namespace definition_controller_test
