// Updates through the subresource `scale` of a kind that a UsageDefinition counts.
#include <catch2/catch.hpp>
#include <chrono>

#include "pkg/admission/quota_admitter.h"
#include "pkg/config/yaml.h"
#include "pkg/quota/usage/defined_evaluator.h"
#include "tests/controllers/quota/controller_fixture.h"

namespace scale_admission_test {
namespace {

using namespace std::chrono_literals;
using fixture::ControllerFixture;
using fixture::kQuotas;
using fixture::MakeQuota;

const api::GroupVersionResource kClusters{"example.com", "v1", "clusters"};
constexpr const char* kBytes = "example.com/bytes";
constexpr const char* kCrd =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusters.example.com";

std::string CrdWith(const std::string& path) {
  return R"({"spec":{"versions":[{"name":"v2","subresources":{"scale":{"specReplicasPath":)"
         R"(".spec.other"}}},{"name":"v1","schema":{"openAPIV3Schema":{}},"subresources":)"
         R"({"status":{},"scale":{"specReplicasPath":")" +
         path + R"("}}}]}})";
}

quota::Evaluator Defined() {
  const auto object = config::ParseYaml(
      "metadata: {name: clusters.example.com}\n"
      "spec:\n"
      "  resource: {group: example.com, resource: clusters}\n"
      "  usage:\n"
      "  - {name: example.com/bytes, path: .spec.size, times: .spec.instances}\n");
  REQUIRE(object.has_value());
  const auto definition = quota::usage::ParseUsageDefinition(*object);
  REQUIRE(definition.has_value());
  quota::Evaluator evaluator = quota::usage::EvaluatorOf(*definition);
  evaluator.version = "v1";
  evaluator.revision = 1;
  return evaluator;
}

json::Value Scale(const json::Value& replicas) {
  json::Value scale = json::Object{{"kind", "Scale"}, {"apiVersion", "autoscaling/v1"}};
  scale.Make({"metadata"}) =
      json::Object{{"name", "c"}, {"namespace", "team-a"}, {"uid", "uid-of-c"}};
  scale.Make({"metadata", "resourceVersion"}) = "1";
  scale.Make({"spec"}) = json::Object();
  if (!replicas.IsNull()) scale.Make({"spec", "replicas"}) = replicas;
  return scale;
}

// A cluster of three instances of 2 GiB each, of at most 10 GiB.
struct Scaling : ControllerFixture {
  Scaling() : ControllerFixture({.resync_period = 0s}) {
    cluster.Serve(kClusters, "Cluster");
    cluster.documents[kCrd] = CrdWith(".spec.instances");
    json::Value object = json::Object{{"spec", json::Object{{"size", "2Gi"}, {"instances", 3}}}};
    object.Make({"metadata"}) =
        json::Object{{"name", "c"}, {"namespace", "team-a"}, {"uid", "uid-of-c"}};
    cluster.Put(kClusters, object);
    cluster.Put(kQuotas, MakeQuota("q", {{kBytes, "10Gi"}}));
    controller->ChangeEvaluator(kClusters.WithoutVersion(), [&] { api.evaluators.Put(Defined()); });
    admitter.emplace(io.get_executor(), scheduler, admission::NoObserver());
    fixture::Enforce(*admitter, api, *controller);
    RunFor(3s);
  }
  ~Scaling() {
    cluster.ForgetFunctions();
    calls.Spawn("stop", [this] { return admitter->Stop(); });
    RunFor(1min);
  }
  admission::Answer ScaleTo(const json::Value& replicas) {
    std::optional<admission::Answer> answer;
    admission::Review review{.uid = "call",
                             .resource = kClusters,
                             .subresource = "scale",
                             .operation = admission::Operation::kUpdate,
                             .ns = "team-a",
                             .name = "c",
                             .object = Scale(replicas),
                             .old_object = Scale(3)};
    calls.Spawn("call", [this, &answer, review]() -> base::Task<void> {
      co_await base::DeferCancellation();
      answer = co_await admitter->Admit(review, scheduler.Now() + 5s);
    });
    RunFor(6s);
    REQUIRE(answer.has_value());
    return *answer;
  }
  std::string Said(const json::Value& replicas) {
    const admission::Answer answer = ScaleTo(replicas);
    return answer.kind == admission::Answer::Kind::kAllowed ? "" : answer.message;
  }

  std::optional<admission::QuotaAdmitter> admitter;
  base::TaskGroup calls{io.get_executor()};
};

}  // namespace

TEST_CASE("scale: it is decided as the update that it causes", "[controllers]") {
  Scaling f;
  REQUIRE(f.Used("q") == "example.com/bytes=6Gi");
  CHECK_THAT(f.Said(6), Catch::Contains("requested: example.com/bytes=6Gi, used: "
                                        "example.com/bytes=6Gi, limited: example.com/bytes=10Gi"));
  CHECK(f.Said(5).empty());
  CHECK(f.Used("q") == "example.com/bytes=10Gi");  // reserved
  CHECK(f.Said(1).empty());
  CHECK(f.Said(nullptr).empty());  // a Scale of zero has no replicas
  CHECK(f.cluster.document_reads == 1);
  // The API server stores the number in the object.
  CHECK(f.admitter->FieldsOf(kClusters.WithoutVersion()) ==
        std::vector<std::string>{"spec.instances#", "spec.replicas", "spec.size#"});
}

TEST_CASE("scale: the CRD says which field it changes", "[controllers]") {
  Scaling f;
  SECTION("another one") { f.cluster.documents[kCrd] = CrdWith(".spec.replicas"); }
  SECTION("none") { f.cluster.documents[kCrd] = R"({"spec":{"versions":[{"name":"v1"}]}})"; }
  SECTION("the kind has no CRD") { f.cluster.documents.clear(); }
  SECTION("the daemon may not read it") {
    f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (request.path != kCrd) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kForbidden, .message = "no", .http_status = 403};
    };
  }
  CHECK(f.Said(100).empty());
  f.cluster.ForgetFunctions();
  f.cluster.documents[kCrd] = CrdWith(".spec.instances");
  f.RunFor(controllers::ObjectReads::kFieldKept);
  CHECK_THAT(f.Said(100), Catch::Contains("exceeded"));
}

TEST_CASE("scale: without an answer of the API server nothing is admitted", "[controllers]") {
  Scaling f;
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "GET") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "down"};
  };
  const admission::Answer answer = f.ScaleTo(4);
  CHECK(answer.kind == admission::Answer::Kind::kUnavailable);
  CHECK_THAT(answer.message, Catch::Contains("it cannot be scaled now: down"));
  f.cluster.ForgetFunctions();
  CHECK(f.Said(4).empty());
}

TEST_CASE("scale: an object that is gone is left to the API server", "[controllers]") {
  Scaling f;
  f.cluster.Delete(kClusters, "team-a", "c");
  CHECK(f.Said(100).empty());
}

}  // namespace scale_admission_test
