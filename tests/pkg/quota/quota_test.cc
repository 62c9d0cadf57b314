#include "pkg/quota/quota.h"
#include "pkg/base/text.h"

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

Quota WithSpec(std::string_view spec_and_status) {
  return Parsed(R"({"metadata":{"name":"q","namespace":"n","uid":"u","resourceVersion":"1"},)" +
                std::string(spec_and_status) + "}");
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

TEST_CASE("quota: a limit that cannot be read makes only its name unknown", "[quota]") {
  const Quota quota = WithSpec(
      R"("spec":{"hard":{"pods":"2","cpu":"1K","memory":true,"secrets":"-1 0","services":"1e30"}},
         "status":{"hard":{"pods":"2","cpu":"9"},"used":{"pods":"1","cpu":"3","secrets":"1"}})");
  CHECK(quota.unreadable.names == std::vector<std::string>{"cpu", "memory", "secrets"});
  CHECK(quota.unreadable.why == "spec.hard[cpu]: unable to parse quantity's suffix");
  CHECK(quota.hard.ToString() == "cpu=0,memory=0,pods=2,secrets=0,services=1e30");
  // All names are limited; the unknown ones have no count.
  CHECK(quota.status.hard.ToString() == "cpu=0,memory=0,pods=2,secrets=0");
  CHECK(quota.status.used.ToString() == "pods=1");
  const Observed observed{.used = quota.hard, .unknown = {}, .partial = {}};  // whatever is counted
  const QuotaStatus desired = DesiredStatus(quota, observed, {});
  CHECK(desired.hard == quota.hard);
  CHECK(desired.used.ToString() == "pods=2,services=1e30");
  CHECK(quota.garbage.why.empty());
  // What is stored under the unknown names stays, so that nothing is written again and again.
  CHECK(StatusPatch(quota, desired) ==
        R"({"metadata":{"uid":"u","resourceVersion":"1"},)"
        R"("status":{"hard":{"services":"1e30"},"used":{"pods":"2","services":"1e30"}}})");
}

TEST_CASE("quota: a name that is too long for every object is unknown", "[quota]") {
  const std::string longest(253, 'a');
  const auto unknown = [](const std::string& name) {
    const Quota quota = WithSpec(R"("spec":{"hard":{"pods":"1",")" + name + R"(":"2"}})");
    CHECK(quota.hard.Get("pods").ToString() == "1");
    const UnreadableSpec& unreadable = quota.unreadable;
    CHECK(unreadable.why.empty() == unreadable.names.empty());
    if (!unreadable.names.empty()) {
      CHECK(unreadable.names == std::vector{name});
      CHECK(unreadable.why ==
            "spec.hard: a name has more than 253 characters before the /, or after count/");
    }
    return !unreadable.names.empty();
  };
  CHECK_FALSE(unknown(longest + "/gpu"));
  CHECK_FALSE(unknown("count/" + longest));
  CHECK_FALSE(unknown("requests." + longest.substr(9) + "/gpu"));
  CHECK(unknown(longest + "a/gpu"));
  CHECK(unknown("count/" + longest + "a"));
  CHECK(unknown("requests." + longest + "/gpu"));
  CHECK(unknown(longest + ".storageclass.storage.k8s.io/requests.storage"));
}

TEST_CASE("quota: what is wrong in a spec is named, and makes names unknown", "[quota]") {
  struct Row {
    const char* spec;
    const char* why;
    const char* unknown;
  };
  const Row rows[] = {
      {R"({"hard":{"pods":"1 0"}})",
       "spec.hard[pods]: quantities must match the regular expression", "pods"},
      {R"({"hard":{"pods":"1","cpu":[]}})", "spec.hard[cpu]: must be a quantity, not array", "cpu"},
      {R"({"hard":{"pods":"-1 0"}})",
       "spec.hard[pods]: quantities must match the regular expression", "pods"},
      {R"({"hard":["pods"]})", "spec.hard: must be an object, not array", "kept"},
      {R"({"hard":{"pods":"1","cpu":"2"},"scopes":"x"})", "spec.scopes: must be a list, not string",
       "cpu,pods"},
      {R"({"hard":{"pods":"1"},"scopes":[1]})",
       "spec.scopes: must be a list of strings, not number", "pods"},
      {R"({"hard":{"pods":"1"},"scopeSelector":7})",
       "spec.scopeSelector: must be an object, not number", "pods"},
      {R"({"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":{}}})",
       "spec.scopeSelector.matchExpressions: must be a list, not object", "pods"},
      {R"({"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[7]}})",
       "spec.scopeSelector.matchExpressions[0]: must be an object, not number", "pods"},
      {R"({"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"X"}]}})",
       "spec.scopeSelector.matchExpressions[0].operator: not a valid selector operator: ''",
       "pods"},
      {R"({"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"operator":"Exists"}]}})",
       "spec.scopeSelector.matchExpressions[0].scopeName: must not be empty", "pods"},
      {R"({"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[
           {"scopeName":"X","operator":"In","values":["a",1]}]}})",
       "spec.scopeSelector.matchExpressions[0].values: must be a list of strings, not number",
       "pods"},
  };
  for (const Row& row : rows) {
    INFO(row.spec);
    const Quota quota = WithSpec(R"("spec":)" + std::string(row.spec) +
                                 R"(,"status":{"hard":{"kept":"3"},"used":{"kept":"1"}})");
    CHECK(quota.unreadable.why.starts_with(row.why));
    CHECK(base::Join(quota.unreadable.names, ",") == row.unknown);
    for (const std::string& name : quota.unreadable.names) {
      CHECK(quota.hard.Find(name) != nullptr);
      CHECK(quota.status.hard.Find(name) != nullptr);
      CHECK(quota.status.used.Find(name) == nullptr);
    }
  }
}

TEST_CASE("quota: scopes that can be read still restrict an unreadable quota", "[quota]") {
  const Quota quota = WithSpec(
      R"("spec":{"hard":{"pods":"1"},"scopes":["BestEffort"],"scopeSelector":{"matchExpressions":[
         {"scopeName":"X","operator":"Near"},{"scopeName":"Y","operator":"Exists"}]}})");
  CHECK(quota.selector == ScopeSelector{{.scope = "BestEffort"}, {.scope = "Y"}});
  CHECK(quota.unreadable.names == std::vector<std::string>{"pods"});
}

TEST_CASE("quota: what cannot be read in a status is replaced", "[quota]") {
  struct Row {
    const char* status;
    const char* why;
    const char* used;   // what is known
    const char* patch;  // of status, once 1 pod and 2 cpu are counted
  };
  const Row rows[] = {
      {R"({"hard":{"pods":"5","cpu":"8"},"used":{"pods":"1","cpu":"garbage"}})",
       "status.used[cpu]: quantities must match", "pods=1", R"({"used":{"cpu":"2"}})"},
      {R"({"hard":{"pods":"5","cpu":"8"},"used":{"pods":"1","cpu":"-500"}})",
       "status.used[cpu]: must not be negative", "pods=1", R"({"used":{"cpu":"2"}})"},
      {R"({"hard":{"pods":"5","cpu":"8"},"used":{"pods":"1","cpu":"2","x":{}}})",
       "status.used[x]: must be a quantity", "cpu=2,pods=1", R"({"used":{"x":null}})"},
      {R"({"hard":{"pods":"5","cpu":"8"},"used":[1]})", "status.used: must be an object", "",
       R"({"used":{"cpu":"2","pods":"1"}})"},
      {R"({"hard":{"pods":"5","cpu":"x"},"used":{"pods":"1","cpu":"2"}})",
       "status.hard[cpu]: ", "cpu=2,pods=1", R"({"hard":{"cpu":"8"}})"},
      {R"({"hard":{"pods":"5","cpu":"8","y":"-1 0"},"used":{"pods":"1","cpu":"2"}})",
       "status.hard[y]: quantities must match", "cpu=2,pods=1", R"({"hard":{"y":null}})"},
      {R"({"hard":"all","used":{"pods":"1","cpu":"2"}})", "status.hard: must be an object",
       "cpu=2,pods=1", R"({"hard":{"cpu":"8","pods":"5"}})"},
  };
  for (const Row& row : rows) {
    INFO(row.status);
    const Quota quota =
        WithSpec(R"("spec":{"hard":{"pods":"5","cpu":"8"}},"status":)" + std::string(row.status));
    CHECK(quota.unreadable.why.empty());
    CHECK(quota.garbage.why.starts_with(row.why));
    CHECK(quota.status.used.ToString() == row.used);
    // Every name of the spec stays limited, so that what is not counted is refused.
    for (const char* name : {"pods", "cpu"}) CHECK(quota.status.hard.Find(name) != nullptr);
    const QuotaStatus desired =
        DesiredStatus(quota, {.used = List({{"pods", "1"}, {"cpu", "2"}}), .unknown = {}}, {});
    CHECK(NeedsWrite(quota, desired));
    const auto patch = json::Parse(StatusPatch(quota, desired));
    REQUIRE(patch.has_value());
    CHECK(json::Write(*patch->At({"status"})) == row.patch);
  }
}

TEST_CASE("quota: a count stands beside a limit that cannot be read", "[quota]") {
  const Quota quota =
      WithSpec(R"("spec":{"hard":{"pods":"5","cpu":"8"}},)"
               R"("status":{"hard":{"pods":"1/0","cpu":"8"},"used":{"pods":"3","cpu":"2"}})");
  const QuotaStatus desired =
      DesiredStatus(quota, {.used = List({{"cpu", "2"}}), .unknown = {"pods"}}, {});
  const auto patch = json::Parse(StatusPatch(quota, desired));
  REQUIRE(patch.has_value());
  CHECK(json::Write(*patch->At({"status"})) == R"({"hard":{"pods":"5"}})");
}

TEST_CASE("quota: only a quota that has no identity cannot be parsed", "[quota]") {
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

TEST_CASE("desired status: usage below zero is none", "[quota]") {
  const Quota quota = Limited(List({{"cpu", "5"}}), {});
  CHECK(Desired(quota, {.used = List({{"cpu", "-3"}}), .unknown = {}}).used.ToString() == "cpu=0");
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
