#include "controllers/quota/quota_changes.h"

#include "tests/controllers/quota/cluster_quotas_fixture.h"

namespace quota_changes_test {

using namespace std::chrono_literals;
using cluster_quotas_test::ClusterFixture;
using cluster_quotas_test::kFivePods;

TEST_CASE("quota changes: what changes the limited namespaces is told, and nothing else",
          "[controllers]") {
  ClusterFixture f;
  f.PutNamespace("a", "red");
  f.PutQuota("above", kFivePods, "green");
  f.PutQuota("q", kFivePods, "red");
  f.Start();
  const int before = f.constrained;
  int told = 1;
  SECTION("another selector") { f.PutQuota("q", kFivePods, "blue"); }
  SECTION("another parent") {
    json::Object spec = kFivePods;
    spec.Set("parent", "above");
    f.PutQuota("q", std::move(spec), "red");
  }
  SECTION("another name in its limits") {
    f.PutQuota("q", {{"hard", json::Object{{"requests.cpu", "5"}}}}, "red");
  }
  SECTION("a mode") {
    json::Object spec = kFivePods;
    spec.Set("enforcement", "Warn");
    f.PutQuota("q", std::move(spec), "red");
    told = 0;
  }
  SECTION("usage") {
    f.PutPod("p", "a");
    told = 0;
  }
  f.scheduler.RunFor(1s);
  CHECK(f.constrained == before + told);
}

}  // namespace quota_changes_test
