// A resource that one quota API needs no more, and another still does, keeps nothing of the former.
#include "controllers/usage/resource_tracker.h"

#include "tests/controllers/quota/cluster_charging_fixture.h"

namespace resource_tracker_test {

using namespace std::chrono_literals;
using fixture::ClusterQuota;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakePod;

TEST_CASE("resource tracker: a namespace that moves while its objects are not needed counts anew",
          "[controllers]") {
  fixture::Clustered f;
  // It needs pods all the time.
  f.cluster.Put(kQuotas, fixture::MakeQuota("core", {{"pods", "9"}}));
  for (const char* ns : {"stays", "moves"}) {
    f.PutNamespace(ns, "red");
    f.cluster.Put(kPods, MakePod("p", "1", ns));
  }
  f.Put(ClusterQuota("q", "red", {{"pods", "9"}}));
  f.RunFor(1s);
  CHECK(f.UsedOf("q") == "2");
  f.Put(ClusterQuota("q", "red", {{"count/deployments.apps", "9"}}));
  f.RunFor(90s);
  f.PutNamespace("moves", "blue");
  f.RunFor(1s);
  f.Put(ClusterQuota("q", "red", {{"pods", "9"}}));
  f.RunFor(1s);
  CHECK(f.UsedOf("q") == "1");
}

}  // namespace resource_tracker_test
