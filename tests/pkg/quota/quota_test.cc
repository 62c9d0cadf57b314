#include "pkg/quota/quota.h"

#include "pkg/json/projection.h"
#include "pkg/quota/core/core_quota.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::quota_test {
namespace {

constexpr std::string_view kWhole = R"({
  "apiVersion": "v1", "kind": "ResourceQuota",
  "metadata": {"name": "compute", "namespace": "team-a", "uid": "u-1", "resourceVersion": "42",
               "labels": {"x": "y"}},
  "spec": {
    "hard": {"pods": "10", "requests.memory": " 4Gi ", "requests.cpu": 2, "count/secrets": 1e1},
    "scopes": ["NotBestEffort"],
    "scopeSelector": {"matchExpressions": [
      {"scopeName": "PriorityClass", "operator": "In", "values": ["high", "low"]},
      {"scopeName": "CrossNamespacePodAffinity", "operator": "Exists"}]}},
  "status": {"hard": {"pods": "10"}, "used": {"pods": "3", "requests.cpu": null}}})";

Quota Parsed(std::string_view text) {
  const base::Result<Quota> quota = ParseQuota(Json(text));
  INFO((quota ? "" : quota.error().message));
  REQUIRE(quota.has_value());
  return *quota;
}

std::string ParseError(std::string_view spec_and_status) {
  const std::string text =
      R"({"metadata":{"name":"q","namespace":"n","uid":"u","resourceVersion":"1"},)" +
      std::string(spec_and_status) + "}";
  const base::Result<Quota> quota = ParseQuota(Json(text));
  if (quota) return "no error";
  CHECK(quota.error().code == base::ErrorCode::kMalformed);
  return quota.error().message;
}

TEST_CASE("quota: an invalid alert threshold is ignored", "[quota]") {
  const auto threshold = [](const std::string& annotations) {
    const std::string text = R"({"metadata":{"name":"q","namespace":"n","uid":"u",)"
                             R"("resourceVersion":"1","annotations":)" +
                             annotations + "}}";
    const auto projected = json::ParseProjected(text, json::Projection(CoreQuotaApi().fields));
    return ParseQuota(projected.value()).value().alert_threshold;
  };
  const auto of = [&](const std::string& value) {
    return threshold(R"({"a":"b","quota-controller-manager.io/alert-threshold":)" + value + "}");
  };
  CHECK(of("\"0.75\"") == 0.75);
  CHECK(of("\"75%\"") == 0.75);
  CHECK(of("\"1\"") == 1);
  for (const char* none : {"\"\"", "\"x\"", "\"0\"", "\"-0.5\"", "\"1.01\"", "\"150%\"", "\"0.5x\"",
                           "\"nan\"", "\"%\"", "0.5", "null"}) {
    INFO(none);
    CHECK(of(none) == 0);
  }
  CHECK(threshold("null") == 0);
  CHECK(threshold("{}") == 0);
}

TEST_CASE("quota: all of it is read from the projected fields", "[quota]") {
  const auto projected = json::ParseProjected(kWhole, json::Projection(CoreQuotaApi().fields));
  REQUIRE(projected.has_value());
  const base::Result<Quota> quota = ParseQuota(*projected);
  REQUIRE(quota.has_value());
  CHECK(quota->key.ToString() == "team-a/compute");
  CHECK(quota->uid == "u-1");
  CHECK(quota->resource_version == "42");
  CHECK_FALSE(quota->deleting);
  CHECK(quota->hard == List({{"pods", "10"},
                             {"requests.memory", "4Gi"},
                             {"requests.cpu", "2"},
                             {"count/secrets", "10"}}));
  CHECK(quota->status.hard == List({{"pods", "10"}}));
  CHECK(quota->status.used == List({{"pods", "3"}, {"requests.cpu", "0"}}));
  CHECK(quota->has_status_hard);
  CHECK(quota->has_status_used);
  const ScopeSelector selector = {{.scope = "NotBestEffort"},
                                  {"PriorityClass", ScopeOperator::kIn, {"high", "low"}},
                                  {.scope = "CrossNamespacePodAffinity"}};
  CHECK(quota->selector == selector);
}

TEST_CASE("quota: an absent status differs from an empty one", "[quota]") {
  const Quota quota = Parsed(
      R"({"metadata":{"name":"q","uid":"u","resourceVersion":"1",
          "deletionTimestamp":"2024-05-01T10:00:00Z"},"spec":{"hard":null},"status":{}})");
  CHECK(quota.hard.empty());
  CHECK(quota.selector.empty());
  CHECK_FALSE(quota.has_status_hard);
  CHECK_FALSE(quota.has_status_used);
  CHECK(quota.deleting);
}

TEST_CASE("quota: an error names the field and what is wrong", "[quota]") {
  CHECK(ParseError(R"("spec":{"hard":{"pods":"1K"}})") ==
        "spec.hard[pods]: unable to parse quantity's suffix");
  CHECK(ParseError(R"("spec":{"hard":{"pods":"1 0"}})")
            .starts_with("spec.hard[pods]: quantities must match the regular expression"));
  CHECK(ParseError(R"("status":{"used":{"cpu":true}})") ==
        "status.used[cpu]: must be a quantity, not boolean");
  CHECK(ParseError(R"("status":{"hard":[]})") == "status.hard: must be an object, not array");
  CHECK(ParseError(R"("spec":{"scopes":"x"})") == "spec.scopes: must be a list, not string");
  CHECK(ParseError(R"("spec":{"scopes":[1]})") ==
        "spec.scopes: must be a list of strings, not number");
  CHECK(ParseError(R"("spec":{"scopeSelector":{"matchExpressions":[{"scopeName":"X",
                      "operator":"Near"}]}})") ==
        "spec.scopeSelector.matchExpressions[0].operator: not a valid selector operator: 'Near'");
  const auto selector = [](const std::string& expressions) {
    return ParseError(R"("spec":{"scopeSelector":{"matchExpressions":)" + expressions + "}}");
  };
  CHECK(selector("{}") == "spec.scopeSelector.matchExpressions: must be a list, not object");
  CHECK(selector("[7]") == "spec.scopeSelector.matchExpressions[0]: must be an object, not number");
  CHECK(selector(R"([{"scopeName":"X"}])") ==
        "spec.scopeSelector.matchExpressions[0].operator: not a valid selector operator: ''");
  CHECK(selector(R"([{"operator":"Exists"}])") ==
        "spec.scopeSelector.matchExpressions[0].scopeName: must not be empty");
  CHECK(selector(R"([{"scopeName":"X","operator":"In","values":"a"}])") ==
        "spec.scopeSelector.matchExpressions[0].values: must be a list, not string");
  CHECK(selector(R"([{"scopeName":"X","operator":"In","values":["a",1]}])") ==
        "spec.scopeSelector.matchExpressions[0].values: must be a list of strings, not number");
  CHECK(ParseQuota(Json(R"({"metadata":{"name":"q","uid":"u"}})")).error().message ==
        "metadata.resourceVersion: must be a string and not empty");
  CHECK(ParseQuota(Json("[]")).error().message == "quota: must be an object, not array");
}

Quota Limited(const ResourceList& hard, const QuotaStatus& status) {
  Quota quota;
  quota.key = {"team-a", "compute"};
  quota.uid = "u-1";
  quota.resource_version = "42";
  quota.hard = hard;
  quota.status = status;
  quota.has_status_hard = !status.hard.empty();
  quota.has_status_used = !status.used.empty();
  return quota;
}

QuotaStatus Desired(const Quota& quota, const Observed& observed, const ResourceList& held = {}) {
  return DesiredStatus(quota, observed, held);
}

TEST_CASE("desired status: hard is from the spec, used is the observed usage plus held charges",
          "[quota]") {
  const Quota quota = Limited(List({{"pods", "5"}, {"cpu", "2"}}),
                              {List({{"pods", "9"}, {"gone", "1"}}), List({{"gone", "1"}})});
  const QuotaStatus desired = Desired(
      quota, {.used = List({{"pods", "3"}, {"cpu", "1500m"}, {"else", "7"}}), .unknown = {}},
      List({{"pods", "1"}, {"else", "1"}}));
  CHECK(desired.hard.ToString() == "cpu=2,pods=5");
  CHECK(desired.used.ToString() == "cpu=1500m,pods=4");
}

TEST_CASE("desired status: an unknown name keeps its last value or is absent, never zero",
          "[quota]") {
  const Quota quota = Limited(List({{"pods", "5"}, {"secrets", "5"}, {"x.io/y", "5"}, {"z", "1"}}),
                              {{}, List({{"pods", "4"}, {"x.io/y", "2"}})});
  // An evaluator answered for `pods`, but another one did not. Nobody owns `x.io/y` and `z`.
  const QuotaStatus desired =
      Desired(quota, {.used = List({{"pods", "1"}}), .unknown = {"pods", "secrets"}},
              List({{"pods", "1"}}));
  CHECK(desired.used.ToString() == "pods=4,x.io/y=2");
}

TEST_CASE("desired status: a sum that does not fit is saturated", "[quota]") {
  const Quota quota = Limited(List({{"cpu", "5"}}), {});
  const QuotaStatus desired =
      Desired(quota, {.used = List({{"cpu", "1e29"}}), .unknown = {}}, List({{"cpu", "1e29"}}));
  CHECK(desired.used.ToString() == "cpu=1e30");
  Quota stored = quota;
  stored.status = desired;
  CHECK_FALSE(NeedsWrite(stored, desired));
}

TEST_CASE("quota status: it is written only if a value differs", "[quota]") {
  const ResourceList hard = List({{"memory", "1Gi"}});
  const QuotaStatus stored = {List({{"memory", "1073741824"}}), List({{"memory", "512Mi"}})};
  const Quota quota = Limited(hard, stored);
  CHECK_FALSE(NeedsWrite(quota, {hard, List({{"memory", "536870912"}})}));
  CHECK(NeedsWrite(quota, {hard, List({{"memory", "513Mi"}})}));
  CHECK(NeedsWrite(quota, {hard, {}}));
  CHECK(NeedsWrite(quota, {List({{"memory", "2Gi"}}), stored.used}));
}

TEST_CASE("quota status: an absent status is written unless it would be empty", "[quota]") {
  const ResourceList hard = List({{"x.io/y", "1"}});
  CHECK(NeedsWrite(Limited(hard, {}), {hard, {}}));
  // The API server does not store empty maps: writing for them would never end.
  CHECK_FALSE(NeedsWrite(Limited(hard, {hard, {}}), {hard, {}}));
  CHECK_FALSE(NeedsWrite(Limited({}, {}), {}));
}

TEST_CASE("status patch: it is guarded and has only the members that differ", "[quota]") {
  const Quota quota = Limited({}, {List({{"pods", "5"}, {"cpu", "1"}, {"memory", "1Gi"}}),
                                   List({{"pods", "5"}, {"cpu", "1"}, {"memory", "1Gi"}})});
  const QuotaStatus desired = {List({{"pods", "5"}, {"memory", "1Gi"}}),
                               List({{"pods", "4"}, {"memory", "1024Mi"}})};
  CHECK(Json(StatusPatch(quota, desired)) ==
        Json(R"({"metadata":{"uid":"u-1","resourceVersion":"42"},
                 "status":{"hard":{"cpu":null},"used":{"pods":"4","cpu":null}}})"));
}

TEST_CASE("status patch: it is complete and canonical if there was no status", "[quota]") {
  const Quota quota = Limited({}, {});
  const QuotaStatus desired = {List({{"memory", "1024Mi"}, {"pods", "007"}}),
                               List({{"memory", "0.5Gi"}})};
  CHECK(Json(StatusPatch(quota, desired)) ==
        Json(R"({"metadata":{"uid":"u-1","resourceVersion":"42"},
                 "status":{"hard":{"memory":"1Gi","pods":"7"},"used":{"memory":"512Mi"}}})"));
  CHECK(Json(StatusPatch(quota, {desired.hard, {}})).At({"status", "used"})->AsObject()->empty());
}

TEST_CASE("status patch: reservations are written where /status keeps them", "[quota]") {
  Quota quota = Limited({}, {List({{"pods", "5"}}), List({{"pods", "5"}})});
  const std::string text = R"({"used":{"pods":"5"}})";
  const json::Value annotated = Json(StatusPatch(quota, quota.status, text));
  CHECK(annotated.StringAt({"metadata", "annotations", kReservations}) == text);
  CHECK(annotated.At({"status", "reservations"}) == nullptr);
  const json::Value own =
      Json(StatusPatch(quota, quota.status, text, {.reservations_in_status = true}));
  CHECK(own.StringAt({"status", "reservations"}) == text);
  CHECK(own.At({"metadata", "annotations"}) == nullptr);
  quota.reservations = text;
  CHECK(Json(StatusPatch(quota, quota.status, text)).At({"metadata", "annotations"}) == nullptr);
  CHECK(Json(StatusPatch(quota, quota.status)).At({"metadata", "annotations"}) == nullptr);
}

TEST_CASE("quota: reservations are read only where they are written", "[quota]") {
  const json::Value object = Json(R"({"metadata":{"name":"q","uid":"u","resourceVersion":"1",
      "annotations":{"quota-controller-manager.io/reservations":"annotated"}},
      "status":{"reservations":"in status"}})");
  CHECK(ParseQuota(object).value().reservations == "annotated");
  CHECK(ParseQuota(object, {.reservations_in_status = true}).value().reservations == "in status");
}

TEST_CASE("status patch: a name with quotes stays one name", "[quota]") {
  ResourceList odd;
  odd.Set("a\"b", Q("1"));
  const json::Value patch = Json(StatusPatch(Limited({}, {}), {odd, {}}));
  CHECK(patch.StringAt({"status", "hard", "a\"b"}) == "1");
}

}  // namespace
}  // namespace quota::quota_test
