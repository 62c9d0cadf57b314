// Charges while watches are closed, are being opened, or lag.

#include "tests/controllers/quota/charging_fixture.h"

namespace charging_gaps_test {

using namespace std::chrono_literals;
using fixture::ChargingFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakePod;
using fixture::MakeQuota;
using fixture::PodWithUid;

namespace {

json::Value PodOfCpu(const std::string& cpu) {
  json::Value pod = MakePod("a", cpu);
  pod.Make({"metadata", "uid"}) = "uid-of-a";
  return pod;
}

// Ends the watch. The server answers the next watch after this time.
void OpenSlowly(ChargingFixture& f, const api::GroupVersionResource& resource,
                base::Duration takes) {
  f.cluster.stall = [path = resource.Path(), takes](const client::ApiRequest& request) {
    return request.path == path ? takes : base::Duration(0);
  };
  f.cluster.CutWatches(resource);
  f.RunFor(2s);
}

}  // namespace

TEST_CASE("charging: charges are held while their objects cannot be watched", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "1"}}));
  f.RunFor(1s);
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (!request.path.ends_with("/pods")) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "", .http_status = 503};
  };
  f.cluster.CutWatches(kPods);
  f.RunFor(100ms);
  CHECK(f.Admits(PodWithUid("a")));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(1min);
  CHECK(f.Used("q") == "pods=1");
  CHECK_FALSE(f.Admits(PodWithUid("b")));
  f.cluster.fault = nullptr;
  f.RunFor(1min);
  CHECK(f.Used("q") == "pods=1");
  f.cluster.Delete(kPods, "team-a", "a");
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("charging: an object stored during a watch gap settles no later charge",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.RunFor(1s);
  OpenSlowly(f, kPods, 25s);
  SECTION("our own charge for it expired") { CHECK(f.Admits(PodWithUid("a"))); }
  SECTION("another replica's charge for it expired") {
    f.WriteStatus("q", {{"pods", "5"}}, {{"pods", "1"}});
  }
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(21s);
  REQUIRE(f.Used("q") == "pods=1");
  f.WriteStatus("q", {{"pods", "5"}}, {{"pods", "2"}});  // another replica charges a second one
  f.RunFor(14'800ms);
  CHECK(f.Used("q") == "pods=2");
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=1");
}

TEST_CASE("charging: a new quota is enforced while quotas cannot be watched", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("gone", {{"pods", "0"}}));
  f.RunFor(1s);
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path != kQuotas.Path()) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "", .http_status = 503};
  };
  f.cluster.CutWatches(kQuotas);
  f.RunFor(1s);
  REQUIRE_FALSE(f.controller->quota_book().Quotas("team-a").complete);
  f.cluster.Delete(kQuotas, "team-a", "gone");
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "1"}}));
  f.WriteStatus("q", {{"pods", "1"}}, {{"pods", "0"}});  // as another replica does
  CHECK(f.Admits(PodWithUid("a")));
  CHECK_FALSE(f.Admits(PodWithUid("b")));
  CHECK(f.answers.back()->message ==
        "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1");
}

TEST_CASE("charging: charges are held while a watch is being opened", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "1"}}));
  f.RunFor(1s);
  OpenSlowly(f, kPods, 30s);
  CHECK(f.Admits(PodWithUid("a")));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(20s);
  CHECK(f.Used("q") == "pods=1");
  f.RunFor(20s);
  CHECK(f.Used("q") == "pods=1");
  f.cluster.Delete(kPods, "team-a", "a");
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("charging: a new quota is enforced while the watch of quotas is being opened",
          "[controllers]") {
  ChargingFixture f;
  f.RunFor(1s);
  OpenSlowly(f, kQuotas, 30s);
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "0"}}));
  f.WriteStatus("q", {{"pods", "0"}}, {{"pods", "0"}});  // as another replica does
  CHECK_FALSE(f.Admits(PodWithUid("a")));
}

TEST_CASE("charging: a new process holds the earlier charges of others", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.Stop();
  f.WriteStatus("q", {{"pods", "5"}}, {{"pods", "3"}});
  f.Start();
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=3");
  f.cluster.Put(kPods, PodWithUid("b"));
  f.RunFor(2s);
  CHECK(f.Used("q") == "pods=3");
  f.RunFor(10s);
  CHECK(f.Used("q") == "pods=2");
}

TEST_CASE("charging: a growth from a version that the watch has not shown is held",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"cpu", "1"}}));
  f.cluster.Put(kPods, PodOfCpu("600m"));
  f.RunFor(1s);
  f.cluster.Hold(kPods);
  f.cluster.Put(kPods, PodOfCpu("400m"));
  CHECK(f.Resizes(*f.cluster.Find(kPods, "team-a", "a"), "500m"));
  CHECK(f.Used("q") == "cpu=700m");
  f.cluster.Release(kPods);
  f.RunFor(1s);
  CHECK(f.Used("q") == "cpu=500m");
  f.cluster.Put(kPods, PodOfCpu("500m"));
  f.RunFor(3s);
  CHECK(f.Used("q") == "cpu=500m");
  CHECK(f.Reserved() == 0);
}

TEST_CASE("charging: events of older versions do not end a reservation", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"cpu", "1"}}));
  f.RunFor(1s);
  f.cluster.Hold(kPods);
  CHECK(f.Admits(PodOfCpu("800m")));
  f.cluster.Put(kPods, PodOfCpu("800m"));
  f.cluster.Put(kPods, PodOfCpu("100m"));
  CHECK(f.Resizes(*f.cluster.Find(kPods, "team-a", "a"), "400m"));
  f.cluster.Release(kPods);  // shows 800m, then 100m
  f.RunFor(1s);
  CHECK(f.Used("q") == "cpu=400m");
  f.cluster.Put(kPods, PodOfCpu("400m"));
  f.RunFor(3s);
  CHECK(f.Used("q") == "cpu=400m");
  CHECK(f.Reserved() == 0);
}

}  // namespace charging_gaps_test
