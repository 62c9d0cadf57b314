#include "pkg/inspect/unused_claims.h"

#include <catch2/catch.hpp>

#include "pkg/api/time.h"
#include "pkg/inspect/holders.h"
#include "pkg/inspect/who_view.h"
#include "pkg/json/value.h"
#include "pkg/quota/core/core_quota.h"

namespace unused_claims_test {
namespace {

using inspect::UnusedClaims;

json::Value Json(const std::string& text) { return json::Parse(text).value(); }

// `more` are members of metadata, with a comma before them.
json::Value Claim(const std::string& name, const std::string& conditions,
                  const std::string& more = "") {
  return Json(R"({"metadata": {"name": ")" + name + R"(", "namespace": "a")" + more + R"(},
      "spec": {"resources": {"requests": {"storage": "2Gi"}}},
      "status": {"conditions": [)" +
              conditions + "]}}");
}

std::string Unused(const std::string& status, const std::string& since) {
  return R"({"type": "FileSystemResizePending", "status": "True"},
      {"type": "Unused", "status": ")" +
         status + R"(", "reason": "NoPodsUsingPVC", "lastTransitionTime": ")" + since + R"("})";
}

json::Value Pod(const std::string& phase, const std::string& volumes) {
  return Json(R"({"metadata": {"name": "web", "namespace": "a", "uid": "web-uid"},
      "spec": {"volumes": [)" +
              volumes + R"(]}, "status": {"phase": ")" + phase + R"("}})");
}

std::string OfClaim(const std::string& claim) {
  return R"({"name": "v", "persistentVolumeClaim": {"claimName": ")" + claim + R"("}})";
}

// "used", "unused", or the time since then.
std::string Said(const UnusedClaims& claims, const std::string& name) {
  const UnusedClaims::Unused* unused = claims.Find("a", name);
  if (unused == nullptr) return "used";
  return unused->since ? api::FormatTime(*unused->since) : "unused";
}

}  // namespace

TEST_CASE("unused claims: the condition says since when", "[inspect]") {
  UnusedClaims claims;
  claims.AddClaim(Claim("old", Unused("True", "2026-11-02T10:00:00Z")));
  claims.AddClaim(Claim("busy", Unused("False", "2026-11-02T10:00:00Z")));
  claims.AddClaim(Claim("odd", Unused("True", "yesterday")));
  CHECK(claims.WithoutCondition() == 0);
  CHECK(Said(claims, "old") == "2026-11-02T10:00:00Z");
  CHECK(Said(claims, "busy") == "used");
  CHECK(Said(claims, "odd") == "unused");
  CHECK(claims.Find("b", "old") == nullptr);
}

TEST_CASE("unused claims: without the condition, pods tell", "[inspect]") {
  UnusedClaims claims;
  const std::string of_pod =
      R"(, "ownerReferences": [{"uid": "web-uid", "controller": true, "kind": "Pod"}])";
  claims.AddClaim(Claim("data", ""));
  claims.AddClaim(Claim("done", ""));
  claims.AddClaim(Claim("web-cache", "", of_pod));
  claims.AddClaim(Claim("web-other", ""));
  claims.AddClaim(Claim("not-said", Unused("Unknown", "2026-11-02T10:00:00Z")));
  CHECK(claims.WithoutCondition() == 5);
  const std::string ephemeral = R"({"name": "cache", "ephemeral": {}}, {"name": "other",
      "ephemeral": {}})";
  claims.AddPod(Pod("Pending", OfClaim("data") + ", " + ephemeral));
  claims.AddPod(Pod("Succeeded", OfClaim("done")));
  CHECK(Said(claims, "data") == "used");
  CHECK(Said(claims, "done") == "unused");
  CHECK(Said(claims, "web-cache") == "used");
  CHECK(Said(claims, "web-other") == "unused");  // of the same name, but not made for the pod
  CHECK(Said(claims, "not-said") == "unused");

  claims.DropWithoutCondition();
  CHECK(Said(claims, "done") == "used");
}

TEST_CASE("unused claims: holders are only these, with the longest time", "[inspect]") {
  const std::string of_set =
      R"(, "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db",
         "uid": "db-uid", "controller": true}])";
  const std::vector<json::Value> objects{
      Claim("data-db-0", Unused("True", "2026-11-10T10:00:00Z"), of_set),
      Claim("data-db-1", Unused("True", "2026-11-02T10:00:00Z"), of_set),
      Claim("alone", Unused("True", "")), Claim("busy", Unused("False", ""))};
  UnusedClaims claims;
  for (const json::Value& object : objects) claims.AddClaim(object);
  quota::Quota quota;
  quota.key = {"a", "storage"};
  quota.hard = {{"requests.storage", quota::Quantity::FromInt(std::int64_t{100} << 30)}};
  quota.status = {quota.hard,
                  {{"requests.storage", quota::Quantity::FromInt(std::int64_t{10} << 30)}}};
  inspect::HolderBook book(quota, {"requests.storage"},
                           {.by = inspect::GroupBy::kOwner, .unused = &claims});
  const quota::QuotaApi api = quota::CoreQuotaApi();
  for (const quota::Evaluator& evaluator : api.evaluators) {
    if (evaluator.resource.resource != "persistentvolumeclaims") continue;
    for (const json::Value& object : objects) {
      const std::string name(object.StringAt({"metadata", "name"}));
      REQUIRE(book.Add(evaluator, nullptr, object, {"persistentvolumeclaim", "", name}, {})
                  .has_value());
    }
  }
  const std::vector<inspect::NamedHolders> all{
      {"requests.storage", book.HoldersOf("requests.storage")}};
  const auto now = api::ParseTime("2026-11-28T10:00:00Z").value();
  CHECK(inspect::PrintTable(inspect::WhoTable(all, {.unused = true, .now = now}), {}) ==
        "RESOURCE           HOLDER                        AMOUNT   SHARE   OBJECTS   UNUSED\n"
        "requests.storage   statefulset.apps/db           4Gi      40%     2         26 d\n"
        "requests.storage   persistentvolumeclaim/alone   2Gi      20%     1         <unknown>\n");
  CHECK(inspect::PrintCsv(inspect::WhoTable(all, {.unused = true}), false) ==
        "requests.storage,statefulset.apps/db,4Gi,40%,2,2026-11-02T10:00:00Z\r\n"
        "requests.storage,persistentvolumeclaim/alone,2Gi,20%,1,<unknown>\r\n");
  CHECK(
      json::Write(inspect::WhoValue(quota, all)).find(R"("unusedSince":"2026-11-02T10:00:00Z")") !=
      std::string::npos);
}

}  // namespace unused_claims_test
