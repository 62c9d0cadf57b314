#include "pkg/quota/cluster_spec.h"

#include "pkg/json/projection.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::cluster_spec_test {
namespace {

using Enforcement = ClusterSpec::Enforcement;

constexpr QuotaForm kForm{.reservations_in_status = true, .cluster = true};

base::Result<Quota> Parse(const std::string& spec, const QuotaForm& form = kForm) {
  const std::string text =
      R"({"metadata":{"name":"team-a","uid":"u","resourceVersion":"1","generation":7},"spec":)" +
      spec + "}";
  const auto projected = json::ParseProjected(text, json::Projection(QuotaFields(form)));
  REQUIRE(projected.has_value());
  return ParseQuota(*projected, form);
}

ClusterSpec Spec(const std::string& spec) {
  const base::Result<Quota> quota = Parse(spec);
  INFO((quota ? "" : quota.error().message));
  REQUIRE(quota.has_value());
  REQUIRE(quota->cluster.has_value());
  return *quota->cluster;
}

// What of the spec cannot be read.
std::string SpecError(const std::string& spec) {
  const base::Result<Quota> quota = Parse(spec);
  REQUIRE(quota.has_value());
  return quota->unreadable.why;
}

TEST_CASE("cluster spec: all of it is read from the projected fields", "[quota]") {
  const base::Result<Quota> quota = Parse(R"({
    "namespaceSelector": {"matchLabels": {"team": "a"}}, "parent": "engineering",
    "hard": {"requests.cpu": "100"}, "guaranteed": {"requests.cpu": 40, "pods": "2"},
    "scopes": ["NotBestEffort"], "enforcement": "Warn"})");
  REQUIRE(quota.has_value());
  CHECK(quota->key == api::ObjectKey{"", "team-a"});
  CHECK(quota->hard == List({{"requests.cpu", "100"}}));
  CHECK(quota->selector == ScopeSelector{{.scope = "NotBestEffort"}});
  REQUIRE(quota->cluster.has_value());
  const ClusterSpec& spec = *quota->cluster;
  REQUIRE(spec.selector.has_value());
  const json::Value labels = Json(R"({"team":"a"})");
  const json::Value others = Json(R"({"team":"b"})");
  CHECK(spec.selector->Matches(&labels));
  CHECK_FALSE(spec.selector->Matches(&others));
  CHECK(spec.parent == "engineering");
  CHECK(spec.guaranteed == List({{"requests.cpu", "40"}, {"pods", "2"}}));
  CHECK(spec.enforcement == Enforcement::kWarn);
  CHECK(spec.generation == 7);
}

TEST_CASE("cluster spec: no selector selects nothing, an empty one selects all", "[quota]") {
  CHECK_FALSE(Spec("{}").selector.has_value());
  CHECK_FALSE(Spec(R"({"namespaceSelector":null})").selector.has_value());
  const ClusterSpec all = Spec(R"({"namespaceSelector":{}})");
  REQUIRE(all.selector.has_value());
  CHECK(all.selector->Matches(nullptr));
}

TEST_CASE("cluster spec: absent fields have defaults", "[quota]") {
  const ClusterSpec spec = Spec("{}");
  CHECK(spec.parent.empty());
  CHECK(spec.guaranteed.empty());
  CHECK(spec.enforcement == Enforcement::kDeny);
  CHECK(Spec(R"({"enforcement":"Deny"})").enforcement == Enforcement::kDeny);
  CHECK(Spec(R"({"enforcement":"Audit"})").enforcement == Enforcement::kAudit);
}

TEST_CASE("cluster spec: a part that cannot be read has its default, the others count", "[quota]") {
  const base::Result<Quota> quota = Parse(
      R"({"enforcement":"deny","parent":7,"namespaceSelector":[],"hard":{"pods":"3","cpu":"x"},
          "guaranteed":{"pods":"1","cpu":"-2"}})");
  REQUIRE(quota.has_value());
  CHECK(quota->hard.Get("pods") == Q("3"));
  CHECK(quota->unreadable.names == std::vector<std::string>{"cpu"});
  CHECK(quota->cluster->enforcement == Enforcement::kDeny);
  CHECK(quota->cluster->parent.empty());
  CHECK_FALSE(quota->cluster->selector.has_value());
  CHECK(quota->cluster->guaranteed.ToString() == "pods=1");
}

TEST_CASE("cluster spec: what cannot be read is named", "[quota]") {
  CHECK(SpecError("{}").empty());
  CHECK(SpecError(R"({"enforcement":"deny"})") ==
        "spec.enforcement: must be Deny, Warn or Audit, not 'deny'");
  CHECK(SpecError(R"({"enforcement":1})") == "spec.enforcement: must be a string, not number");
  CHECK(SpecError(R"({"parent":{}})") == "spec.parent: must be a string, not object");
  CHECK(SpecError(R"({"guaranteed":{"pods":"1K"}})") ==
        "spec.guaranteed[pods]: unable to parse quantity's suffix");
  CHECK(SpecError(R"({"guaranteed":[]})") == "spec.guaranteed: must be an object, not array");
  CHECK(SpecError(R"({"namespaceSelector":[]})").starts_with("spec.namespaceSelector: "));
  CHECK(SpecError(R"({"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"in"}]}})") ==
        "spec.namespaceSelector: \"in\" is not a valid label selector operator");
  CHECK(SpecError(R"({"namespaceSelector":{"matchLabels":{"a":"-"}}})")
            .starts_with("spec.namespaceSelector: "));
}

TEST_CASE("cluster spec: a quota of another API has no cluster spec", "[quota]") {
  const base::Result<Quota> quota = Parse(R"({"enforcement":"deny","parent":3})", {});
  REQUIRE(quota.has_value());
  CHECK_FALSE(quota->cluster.has_value());
  for (const std::string& field : QuotaFields()) CHECK(field != "spec.parent");
}

}  // namespace
}  // namespace quota::cluster_spec_test
