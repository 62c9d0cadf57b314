// What the status of a UsageDefinition says of the objects and the classes that cannot be read.

#include <catch2/catch.hpp>

#include "tests/controllers/definitions/definitions_fixture.h"

namespace definition_controller_test {
namespace {

struct WithClass : Definitions {
  WithClass() {
    cluster.documents["/openapi/v3/apis/example.com/v1"] =
        DocumentOf(KindOf("Bucket", R"("tier":{"type":"string"})") + "," + KindOf("Tier", kSize));
    PutWithClass(".spec.size");
    use = {.watched = true, .synced = true};
  }
  std::string ReadySoon() {
    Start();
    scheduler.RunFor(20s);
    return Ready();
  }
};

TEST_CASE("status: a class that is not served is told", "[controllers]") {
  WithClass f;
  CHECK(f.ReadySoon() ==
        "False NotServed: the API server does not serve tiers.example.com (the kind of the class)");
  f.cluster.Serve(kTiers, "Tier", false);
  f.Discover();
  f.scheduler.RunFor(20s);
  CHECK_THAT(f.Ready(), Catch::StartsWith("True Counting"));
}

TEST_CASE("status: a class in namespaces is told", "[controllers]") {
  WithClass f;
  f.cluster.Serve(kTiers, "Tier");
  CHECK(f.ReadySoon() ==
        "False NotSupported: tiers.example.com (the kind of the class) are in namespaces: a class "
        "must be cluster-scoped");
}

TEST_CASE("status: classes that cannot be read are told", "[controllers]") {
  WithClass f;
  f.cluster.Serve(kTiers, "Tier", false);
  f.class_use = {.watched = true};
  CHECK(f.ReadySoon() ==
        "False NotCountedYet: tiers.example.com (the kind of the class) are not listed yet");
  f.class_use.forbidden = true;
  f.scheduler.RunFor(20s);
  CHECK_THAT(f.Ready(), Catch::StartsWith("False Forbidden: the daemon may not list "
                                          "tiers.example.com (the kind of the class): set rbac"));
  f.class_use = {.watched = true, .synced = true};
  f.scheduler.RunFor(20s);
  CHECK_THAT(f.Ready(), Catch::StartsWith("True Counting"));
  f.cluster.SetStale("example.com", true);
  f.Discover();
  f.scheduler.RunFor(20s);
  CHECK_THAT(f.Ready(), Catch::StartsWith("True Counting"));  // it was served, and is read
}

TEST_CASE("status: objects that cannot be read any more are told", "[controllers]") {
  Definitions f;
  f.Put("buckets", "example.com/bytes", ".spec.size");
  f.use = {.watched = true,
           .synced = true,
           .trouble = base::Error{.code = base::ErrorCode::kUnavailable, .message = "503"}};
  f.Start();
  f.scheduler.RunFor(20s);
  CHECK(f.Ready() ==
        "False NotCountedYet: buckets.example.com cannot be read now, and the last count stays: "
        "503");
  CHECK_THAT(f.Condition("buckets.example.com", "Reconciling"), Catch::StartsWith("True"));
}

TEST_CASE("status: a kind of which discovery says nothing is not counted", "[controllers]") {
  Definitions f;
  f.Put("buckets", "example.com/bytes", ".spec.size");
  f.cluster.SetStale("example.com", true);
  f.use = {.watched = true};
  f.Start();
  f.scheduler.RunFor(20s);
  CHECK(f.Ready() ==
        "False NotCountedYet: the API server cannot say now whether it serves "
        "buckets.example.com");
}

// Definitions cannot be listed or watched, for this reason.
void Break(Definitions& f, const base::Error& error) {
  f.cluster.fault = [error](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("usagedefinitions") == std::string::npos) return std::nullopt;
    return error;
  };
  f.cluster.CutWatches(DefinitionResource());
}

TEST_CASE("status: definitions that cannot be watched any more are not known", "[controllers]") {
  const bool forbidden = GENERATE(false, true);
  CAPTURE(forbidden);
  Definitions f;
  f.Put("buckets", "example.com/bytes", ".spec.size");
  f.Start();
  f.scheduler.RunFor(20s);
  Break(f, forbidden
               ? base::Error{.code = base::ErrorCode::kForbidden, .message = "", .http_status = 403}
               : base::Error{
                     .code = base::ErrorCode::kUnavailable, .message = "", .http_status = 503});
  f.scheduler.RunFor(3s);
  CHECK(f.controller->Known());  // a reconnect is no reason to refuse
  f.scheduler.RunFor(30s);
  CHECK(f.controller->Known() == forbidden);
  CHECK(f.Defined() == "buckets=v1");
  f.cluster.ForgetFunctions();
  f.scheduler.RunFor(2min);
  CHECK(f.controller->Known());
}

}  // namespace
}  // namespace definition_controller_test
