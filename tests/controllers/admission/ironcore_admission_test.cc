// Requests for machines, volumes and buckets, with the rules of pkg/quota/ironcore: missing
// classes, forged states, updates that need nothing.

#include "tests/controllers/admission/cloud_fixture.h"

namespace ironcore_admission_test {
namespace {

using namespace cloud_fixture;
using fixture::kBuckets;
using fixture::kMachineCount;
using fixture::kVolumes;
using fixture::MakeClass;
using namespace std::chrono_literals;
using admission::Answer;
using admission::Review;
using Kind = Answer::Kind;

const base::Error kRefused{.code = base::ErrorCode::kUnavailable, .message = "connection refused"};

TEST_CASE("ironcore admission: a machine uses what its class defines, up to the limit",
          "[admission][ironcore]") {
  Cloud cloud;
  cloud.PutClass("tiny", "1", "1Gi");
  cloud.Store(Machine("tiny", "", "old"));
  cloud.PutQuota("total", {{"requests.cpu", "5"}});
  CHECK(cloud.Ask(Create(Machine("small"))).empty());
  CHECK(cloud.Used("total") == "requests.cpu=3");
  CHECK(cloud.Ask(Create(Machine("small", "", "m2"))).empty());  // up to the limit
  const Answer refused = cloud.Get(Create(Machine("small", "", "m3")));
  CHECK(refused.code == 403);
  CHECK(refused.reason == "Forbidden");
  CHECK(refused.message ==
        "exceeded quota: total, requested: requests.cpu=2, used: requests.cpu=5, "
        "limited: requests.cpu=5");
  CHECK(cloud.class_reads == 0);
}

TEST_CASE("ironcore admission: a missing class is refused if a quota needs its capabilities",
          "[admission][ironcore]") {
  Cloud cloud;
  cloud.PutQuota("total", {{"requests.cpu", "50"}});
  CHECK(cloud.Ask(Create(Machine("x"))) ==
        "403 failed quota: total: machine class \"x\" not found");
  CHECK(cloud.class_reads == 1);
  CHECK(cloud.Ask(Create(Machine("small"))).empty());
  CHECK(cloud.Ask(Create(Volume("1Gi"), kVolumes)).empty());
  CHECK(cloud.class_reads == 1);
}

TEST_CASE("ironcore admission: classes are not read if no quota depends on them",
          "[admission][ironcore]") {
  Cloud cloud;
  CHECK(cloud.Ask(Create(Machine("x"))).empty());
  cloud.PutQuota("count", {{kMachineCount, "5"}, {"requests.storage", "1Gi"}});
  cloud.PutQuotaOfClass("others", "small", {{"requests.cpu", "1"}});
  // A quota whose limits nobody enforces yet.
  cloud.cluster.Hold(kQuotas);
  cloud.cluster.Put(kQuotas, MakeQuota("new", {{"requests.cpu", "1"}}));
  CHECK(cloud.Ask(Create(Machine("x"))).empty());
  CHECK(cloud.Used("count") == "count/machines.compute.ironcore.dev=1,requests.storage=0");
  CHECK(cloud.class_reads == 0);
  cloud.cluster.Delete(kQuotas, "team-a", "new");
  cloud.cluster.Release(kQuotas);
  cloud.PutQuotaOfClass("x", "x", {{"requests.memory", "1"}});
  CHECK(cloud.Ask(Create(Machine("x"))) == "403 failed quota: x: machine class \"x\" not found");
}

TEST_CASE("ironcore admission: a class that our watch has not shown is read live",
          "[admission][ironcore]") {
  Cloud cloud;
  cloud.PutQuota("total", {{"requests.cpu", "5"}});
  cloud.cluster.Hold(kMachineClasses);
  cloud.PutClass("young", "4", "1Gi");
  cloud.PutClass("younger", "99", "1Gi");
  CHECK(cloud.Ask(Create(Machine("young"))).empty());
  CHECK(cloud.Used("total") == "requests.cpu=4");
  CHECK(cloud.Ask(Create(Machine("younger", "", "m2")))
            .starts_with("403 exceeded quota: total, requested: requests.cpu=99"));
  CHECK(cloud.class_reads == 2);
}

TEST_CASE(
    "ironcore admission: a class of a restored server is read live until all are listed again",
    "[admission][ironcore]") {
  Cloud cloud;
  cloud.PutQuota("total", {{"requests.cpu", "50"}, {"requests.storage", "9Gi"}});
  cloud.cluster.Backup();
  cloud.PutClass("small", "1", "4Gi");
  for (const char* uid : {"a", "b", "c"}) cloud.Store(Volume("1Gi", uid), kVolumes);
  cloud.RunFor(1s);
  REQUIRE(cloud.Used("total") == "requests.cpu=0,requests.storage=3Gi");
  cloud.cluster.PutBack();  // the class has two CPUs again
  cloud.cluster.stall = [](const client::ApiRequest& request) -> base::Duration {
    const bool one = !request.query.empty() && request.query[0].first == "fieldSelector";
    return request.path == kMachineClasses.Path() && !one ? 10s : 0s;
  };
  CHECK(cloud.Ask(Create(Volume("1Gi"), kVolumes)).empty());  // its write shows the restore
  CHECK(cloud.Ask(Create(Machine("small"))).empty());
  CHECK(cloud.class_reads == 1);
  CHECK(cloud.Used("total") == "requests.cpu=2,requests.storage=1Gi");
}

TEST_CASE("ironcore admission: a class that cannot be read is answered as unavailable",
          "[admission][ironcore]") {
  Cloud cloud;
  cloud.PutQuota("total", {{"requests.cpu", "5"}});
  cloud.class_trouble = kRefused;
  const Answer answer = cloud.Get(Create(Machine("x")));
  CHECK(answer.kind == Kind::kUnavailable);
  CHECK(answer.message == "read machine class x: connection refused");
  CHECK(cloud.cluster.writes.empty());
}

TEST_CASE("ironcore admission: a quota that is created during a write needs the class as well",
          "[admission][ironcore]") {
  Cloud cloud;
  cloud.PutQuota("count", {{kMachineCount, "5"}});
  cloud.cluster.Hold(kMachineClasses);
  bool created = false;
  std::size_t reads = 1;
  cloud.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "PATCH" || std::exchange(created, true)) return cloud.CountReads(request);
    json::Value young = MakeQuota("young", {{"requests.cpu", "5"}});
    young.Make({"status"}) = json::Object{{"hard", json::Object{{"requests.cpu", "5"}}},
                                          {"used", json::Object{{"requests.cpu", "0"}}}};
    cloud.cluster.Put(kQuotas, young);
    return base::Error{.code = base::ErrorCode::kTooManyRequests, .message = "slow down"};
  };
  SECTION("a class that exists is charged") {
    cloud.PutClass("x", "4", "1Gi");
    CHECK(cloud.Ask(Create(Machine("x"))).empty());
    CHECK(cloud.Used("young") == "requests.cpu=4");
    reads = 0;  // the classes were listed for the new quota
  }
  SECTION("a class that does not exist is read once") {
    CHECK(cloud.Ask(Create(Machine("x"))) ==
          "403 failed quota: young: machine class \"x\" not found");
  }
  SECTION("a class that cannot be read is unavailable") {
    cloud.class_trouble = kRefused;
    CHECK(cloud.Ask(Create(Machine("x"))) == "503 read machine class x: connection refused");
  }
  CHECK(created);
  CHECK(cloud.class_reads == reads);
}

TEST_CASE("ironcore admission: an invalid capability is refused only if a quota needs it",
          "[admission][ironcore]") {
  Cloud cloud;
  cloud.cluster.Put(kMachineClasses, MakeClass("odd", {{"cpu", "1"}}));
  cloud.PutQuota("cpu", {{"requests.cpu", "5"}});
  CHECK(cloud.Ask(Create(Machine("odd"))).empty());
  CHECK(cloud.Used("cpu") == "requests.cpu=1");
  cloud.PutQuota("memory", {{"requests.memory", "5Gi"}});
  CHECK(cloud.Ask(Create(Machine("odd", "", "m2"))) ==
        "403 failed quota: memory: machine class \"odd\": capabilities[memory]: is missing");
  CHECK(cloud.Used("cpu") == "requests.cpu=1");
}

TEST_CASE("ironcore admission: an update that keeps class and state passes without the class",
          "[admission][ironcore]") {
  Cloud cloud;
  cloud.PutClass("large", "9", "64Gi");
  cloud.Store(Machine("large", "", "old"));
  cloud.PutQuota("total", {{"requests.cpu", "1"}});
  REQUIRE(cloud.Used("total") == "requests.cpu=9");
  json::Value labelled = Machine("x", "Running");
  labelled.Make({"metadata", "labels", "a"}) = "b";
  CHECK(cloud.Ask(cloud.Update(Machine("x", "Running"), labelled)).empty());
  CHECK(cloud.cluster.writes.empty());
  CHECK(cloud.Ask(cloud.Update(Machine("small"), Machine("small"))).empty());
  CHECK(cloud.cluster.writes.empty());
  CHECK(cloud.Ask(cloud.Update(Machine(""), Machine(""))).empty());
  CHECK(cloud.cluster.writes.empty());
  json::Value going = Machine("x");
  going.Make({"metadata", "deletionTimestamp"}) = "2026-01-01T00:00:00Z";
  CHECK(cloud.Ask(cloud.Update(going, going)).empty());
  CHECK(cloud.cluster.writes.empty());
  CHECK(cloud.class_reads == 0);
}

// Possible if the CRD does not make the class immutable.
TEST_CASE("ironcore admission: a changed class is charged to each quota separately",
          "[admission][ironcore]") {
  Cloud cloud;
  cloud.PutClass("large", "16", "64Gi");
  cloud.PutQuotaOfClass("large", "large", {{"requests.cpu", "16"}});
  cloud.PutQuota("total", {{"requests.cpu", "20"}});
  CHECK(cloud.Ask(cloud.Update(Machine("small"), Machine("x"))) ==
        "403 failed quota: total: machine class \"x\" not found");
  CHECK(cloud.Used("total") == "requests.cpu=2");
  CHECK(cloud.Ask(cloud.Update(Machine("small"), Machine("large"))).empty());
  CHECK(cloud.Used("large") == "requests.cpu=16");
  CHECK(cloud.Used("total") == "requests.cpu=16");
  CHECK(cloud.cluster.writes.size() == 2);
  CHECK(cloud.Ask(cloud.Update(Machine("large"), Machine("small"))).empty());
  CHECK(cloud.cluster.writes.empty());
}

TEST_CASE("ironcore admission: a client cannot declare its own machine terminated",
          "[admission][ironcore]") {
  Cloud cloud;
  const std::string forged =
      "403 it cannot be counted: status.state: Terminated is written to the subresource status "
      "only";
  const json::Value terminated = Machine("small", "Terminated");
  CHECK(cloud.Ask(Create(terminated)).empty());  // without a quota it does not matter
  cloud.PutQuota("total", {{"requests.cpu", "5"}});
  CHECK(cloud.Ask(Create(terminated)) == forged);
  CHECK(cloud.Ask(cloud.Update(Machine("small", "Running"), terminated)) == forged);
  CHECK(cloud.Ask(cloud.Update(Machine("small"), terminated)) == forged);
  CHECK(cloud.cluster.writes.empty());
  Review status = cloud.Update(Machine("small", "Running"), terminated);
  status.subresource = "status";
  CHECK(cloud.Ask(status).empty());
  CHECK(cloud.Ask(Create(Machine("small", "Shutdown", "m2"))).empty());
  CHECK(cloud.Used("total") == "requests.cpu=4");
  // A machine that is terminated uses nothing, whatever changes.
  CHECK(cloud.Ask(cloud.Update(terminated, terminated)).empty());
  CHECK(cloud.Ask(cloud.Update(terminated, Machine("small", "Running"))).empty());
  CHECK(cloud.Used("total") == "requests.cpu=2");
}

TEST_CASE("ironcore admission: a volume that grows is charged the difference",
          "[admission][ironcore]") {
  Cloud cloud;
  cloud.Store(Volume("50Gi"), kVolumes);
  cloud.PutQuota("storage", {{"requests.storage", "120Gi"}});
  CHECK(cloud.Ask(cloud.Update(Volume("50Gi"), Volume("70Gi"), kVolumes)).empty());
  CHECK(cloud.Used("storage") == "requests.storage=70Gi");
  CHECK(cloud.Ask(cloud.Update(Volume("20Gi", "v2"), Volume("60Gi", "v2"), kVolumes))
            .starts_with("403 exceeded quota: storage, requested: requests.storage=40Gi"));
  CHECK(cloud.Ask(cloud.Update(Volume("70Gi"), Volume("60Gi"), kVolumes)).empty());
  CHECK(cloud.Ask(Create(Volume("-1Gi"), kVolumes)) ==
        "403 it cannot be counted: spec.resources[storage]: must not be negative");
}

TEST_CASE("ironcore admission: a bucket without a class needs none", "[admission][ironcore]") {
  Cloud cloud;
  cloud.PutQuota("b", {{"requests.iops", "1"}});
  CHECK(cloud.Ask(Create(Object("b", {}), kBuckets)).empty());
  CHECK(cloud.class_reads == 0);
}

TEST_CASE("ironcore admission: count/ limits are decided, too", "[admission][ironcore]") {
  Cloud cloud;
  const api::GroupVersionResource networks{"networking.ironcore.dev", "v1alpha1", "networks"};
  cloud.cluster.Serve(networks, "Network");
  cloud.Store(Object("old", {}), networks);
  cloud.PutQuota("n", {{"count/networks.networking.ironcore.dev", "1"}});
  cloud.RunFor(10s);  // the kind is discovered and listed
  CHECK(cloud.Ask(Create(Object("n", {}), networks)) ==
        "403 exceeded quota: n, requested: count/networks.networking.ironcore.dev=1, used: "
        "count/networks.networking.ironcore.dev=1, limited: "
        "count/networks.networking.ironcore.dev=1");
}

}  // namespace
}  // namespace ironcore_admission_test
