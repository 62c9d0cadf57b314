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

TEST_CASE("put back: an answer that is older than the watch of its kind proves it",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}}));
  f.RunFor(1s);
  CHECK(f.Admits(PodWithUid("a")));  // never stored, so the server is asked about it
  f.RunFor(1s);
  const std::string quota = json::Write(*f.cluster.Find(kQuotas, "team-a", "q"));
  f.cluster.Backup();
  for (const char* name : {"x", "y"}) f.cluster.Put(kPods, PodWithUid(name));
  f.cluster.Delete(kPods, "team-a", "x");
  f.cluster.Delete(kPods, "team-a", "y");
  f.RunFor(100ms);
  f.cluster.PutBack();
  const std::size_t lists = f.cluster.lists;
  f.RunFor(20s);
  CHECK(f.cluster.lists - lists >= 3);  // the question, the pods and the quotas
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("put back: everything is listed at most once a minute because of it", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "9"}}));
  f.RunFor(1s);
  f.cluster.Backup();
  std::size_t lists = 0;
  for (int i = 0; i < 20; ++i) {
    f.cluster.Put(kPods, PodWithUid("a"));
    f.cluster.Put(kQuotas, MakeQuota("other", {{"pods", "9"}}));
    f.RunFor(200ms);
    f.cluster.PutBack();
    const std::size_t before = f.cluster.lists;
    CHECK(f.Admits(PodWithUid("b" + std::to_string(i))));
    f.RunFor(1s);
    lists += f.cluster.lists - before;
  }
  CHECK(lists >= 2);
  CHECK(lists <= 4);
}

}  // namespace put_back_test
