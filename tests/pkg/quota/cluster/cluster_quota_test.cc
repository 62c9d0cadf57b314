#include "pkg/quota/cluster/cluster_quota.h"

#include "pkg/json/projection.h"
#include "pkg/quota/cluster_status.h"
#include "pkg/quota/core/core_quota.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::cluster_quota_test {
namespace {

Quota Parsed(const std::string& status) {
  static const QuotaApi api = ClusterQuotaApi();
  const std::string text =
      R"({"metadata":{"name":"team-a","uid":"u-1","resourceVersion":"42"},
          "spec":{"namespaceSelector":{},"hard":{"pods":"9"}},"status":)" +
      status + "}";
  const auto projected = json::ParseProjected(text, json::Projection(api.fields));
  REQUIRE(projected.has_value());
  const base::Result<Quota> quota = ParseQuota(*projected, api.form);
  REQUIRE(quota.has_value());
  return *quota;
}

std::string Patch(const Quota& quota, const json::Object& further) {
  return StatusPatch(quota, quota.status, {}, ClusterQuotaApi().form, further);
}

const std::string kGuards = R"({"metadata":{"uid":"u-1","resourceVersion":"42"},"status":)";

TEST_CASE("cluster quota: names and usage are those of ResourceQuota", "[quota]") {
  const QuotaApi cluster = ClusterQuotaApi();
  const QuotaApi core = CoreQuotaApi();
  CHECK(cluster.name == "cluster");
  CHECK(cluster.resource.ToString() == "clusterquotas.v1alpha1.quota-controller-manager.io");
  CHECK(cluster.kind == "ClusterQuota");
  CHECK(std::ranges::equal(cluster.evaluators, core.evaluators, {}, &Evaluator::resource,
                           &Evaluator::resource));
  CHECK(cluster.object_counter({"apps", "deployments"}).has_value());
  CHECK(cluster.counted_resource("count/deployments.apps") ==
        api::GroupResource{"apps", "deployments"});
  CHECK(cluster.form.cluster);
  CHECK(cluster.form.reservations_in_status);
}

TEST_CASE("cluster quota: a correct status needs no write", "[quota]") {
  const Quota quota = Parsed(
      R"({"hard":{"pods":"9"},"used":{"pods":"2"},"observedGeneration":3,"summary":"pods: 2/9",
      "available":{"pods":"7"},"namespaces":2,"children":0,"largest":[{"namespace":"a"}],
      "conditions":[{"type":"Ready"}],"reservations":"[]"})");
  CHECK(quota.reservations == "[]");
  CHECK(quota.further_status.size() == FurtherStatusMembers().size());
  CHECK_FALSE(NeedsWrite(quota, quota.status, quota.further_status));
  CHECK_FALSE(NeedsWrite(quota, quota.status));
  CHECK(Patch(quota, quota.further_status) == kGuards + "{}}");
}

TEST_CASE("cluster quota: a patch has only the members of status that differ", "[quota]") {
  const Quota quota = Parsed(R"({"hard":{"pods":"9"},"used":{"pods":"2"},"summary":"pods: 2/9",
      "available":{"cpu":"1","pods":"7"},"namespaces":2,"largest":[{"namespace":"a"}]})");
  const json::Object further{{"available", json::Object{{"mem", "3"}, {"pods", "7"}}},
                             {"namespaces", 3},
                             {"largest", json::Array{}},
                             {"children", 1}};
  CHECK(NeedsWrite(quota, quota.status, further));
  CHECK(Patch(quota, further) ==
        kGuards +
            R"({"available":{"mem":"3","cpu":null},"namespaces":3,"largest":[],"children":1}})");
  // Members that are not named are kept.
  CHECK(Patch(quota, {{"namespaces", 2}}) == kGuards + "{}}");
}

TEST_CASE("cluster quota: a write of used also writes the summary", "[quota]") {
  Quota quota = Parsed(R"({"hard":{"pods":"9"},"used":{"pods":"2"},"summary":"pods: 2/9"})");
  QuotaStatus status = quota.status;
  status.used.Set("pods", Quantity::FromInt(3));
  CHECK(StatusPatch(quota, status, {}, ClusterQuotaApi().form) ==
        kGuards + R"({"summary":"pods: 3/9","used":{"pods":"3"}}})");
  status.hard.Set("requests.cpu", Quantity::FromInt(4));
  CHECK(SummaryOf(status) == "pods: 3/9, requests.cpu: ?/4");
  quota.cluster.reset();
  status = quota.status;
  CHECK(StatusPatch(quota, status, {}, ClusterQuotaApi().form) == kGuards + "{}}");
}

}  // namespace
}  // namespace quota::cluster_quota_test
