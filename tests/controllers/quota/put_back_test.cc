// An API server that was restored to an earlier state. Its versions go back, so the result of a
// live read or a list replaces newer versions.

#include "tests/controllers/quota/charging_fixture.h"

namespace put_back_test {

using namespace std::chrono_literals;
using fixture::ChargingFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakeQuota;
using fixture::PodWithUid;

TEST_CASE("put back: a charge is decided again with the restored status", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}}));
  f.RunFor(1s);
  f.cluster.Backup();
  for (const char* name : {"a", "b"}) f.cluster.Put(kPods, PodWithUid(name));
  f.RunFor(1s);
  REQUIRE(f.Used("q") == "pods=2");
  f.cluster.PutBack();
  REQUIRE(f.Used("q") == "pods=0");
  f.scheduler.SetBudget(200'000);  // no endless loop of decisions
  CHECK(f.Admits(PodWithUid("c")));
  f.cluster.Put(kPods, PodWithUid("c"));
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=1");
  for (const char* name : {"d", "e"}) {
    CHECK(f.Admits(PodWithUid(name)));
    f.cluster.Put(kPods, PodWithUid(name));
  }
  CHECK_FALSE(f.Admits(PodWithUid("f")));
  CHECK(f.Used("q") == "pods=3");
}

TEST_CASE("put back: a recount starts from the restored status, and all is listed again",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}}));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(1s);
  f.cluster.Backup();
  for (const char* name : {"b", "c"}) f.cluster.Put(kPods, PodWithUid(name));
  f.RunFor(1s);
  REQUIRE(f.Used("q") == "pods=3");
  f.cluster.PutBack();
  // Watches from a version that is not reached are silent until the reflector probes the server.
  f.RunFor(200s);
  CHECK(f.Used("q") == "pods=1");
  f.cluster.Delete(kPods, "team-a", "a");
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("put back: a list of restored quotas replaces newer versions", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}}));
  f.RunFor(1s);
  f.cluster.Backup();
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(1s);
  REQUIRE(f.Used("q") == "pods=1");
  f.cluster.PutBack();
  f.cluster.CutWatches(kQuotas, true);
  f.cluster.CutWatches(kPods, true);
  f.RunFor(5s);
  CHECK(f.controller->store().Find({"team-a", "q"})->status.used.ToString() == "pods=0");
  CHECK(f.Admits(PodWithUid("b")));
  CHECK(f.Used("q") == "pods=1");
}

}  // namespace put_back_test
