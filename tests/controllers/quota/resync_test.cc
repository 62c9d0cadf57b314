#include <catch2/catch.hpp>

#include "tests/controllers/quota/controller_fixture.h"

namespace resync_test {

using namespace std::chrono_literals;
using fixture::ControllerFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakePod;
using fixture::MakeQuota;

namespace {

// A controller that has counted one quota and two pods of 100m, and resyncs every minute.
struct CountedFixture : ControllerFixture {
  CountedFixture() : ControllerFixture({.resync_period = 1min}) {
    cluster.Put(kPods, MakePod("a"));
    cluster.Put(kPods, MakePod("b"));
    cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}, {"cpu", "10"}}));
    RunFor(1s);
  }
};

}  // namespace

TEST_CASE("resync: a pod whose creation was never seen is found and counted", "[controllers]") {
  CountedFixture f;
  f.cluster.PutUnseen(kPods, MakePod("lost", "300m"));
  f.RunFor(50s);
  CHECK(f.Used("q") == "cpu=200m,pods=2");
  f.RunFor(30s);
  CHECK(f.Used("q") == "cpu=500m,pods=3");
  CHECK(f.recorder.drift.missing == 1);
  CHECK(f.recorder.drift.objects() == 1);
  CHECK(f.recorder.drift_usage == "count/pods=1,cpu=300m,pods=1,requests.cpu=300m");
}

TEST_CASE("resync: a pod whose deletion was never seen is found and released", "[controllers]") {
  CountedFixture f;
  f.cluster.DeleteUnseen(kPods, "team-a", "a");
  f.RunFor(80s);
  CHECK(f.Used("q") == "cpu=100m,pods=1");
  CHECK(f.recorder.drift.vanished == 1);
  CHECK(f.recorder.drift.objects() == 1);
}

TEST_CASE("resync: a change that was never seen is found", "[controllers]") {
  CountedFixture f;
  f.cluster.PutUnseen(kPods, MakePod("a", "1"));
  f.RunFor(80s);
  CHECK(f.Used("q") == "cpu=1100m,pods=2");
  CHECK(f.recorder.drift.different == 1);
  CHECK(f.recorder.drift.objects() == 1);
}

TEST_CASE("resync: unchanged objects are listed once, as metadata", "[controllers]") {
  CountedFixture f;
  f.cluster.listed.clear();
  f.RunFor(80s);
  REQUIRE(f.recorder.resyncs == 1);
  REQUIRE(f.cluster.listed.size() == 1);
  CHECK(f.cluster.listed[0].accept.find("as=PartialObjectMetadataList") != std::string::npos);
}

TEST_CASE("resync: only objects that differ are read in full", "[controllers]") {
  CountedFixture f;
  f.cluster.PutUnseen(kPods, MakePod("a", "1"));
  f.cluster.listed.clear();
  f.RunFor(80s);
  REQUIRE(f.cluster.listed.size() == 2);
  CHECK(f.cluster.listed[1].path == "/api/v1/namespaces/team-a/pods");
  CHECK(f.cluster.listed[1].query.back() ==
        std::pair<std::string, std::string>("fieldSelector", "metadata.name=a"));
  CHECK(f.recorder.drift.different == 1);
  // The next resync knows its version.
  f.RunFor(66s);
  CHECK(f.recorder.resyncs == 2);
  CHECK(f.cluster.listed.size() == 3);
}

TEST_CASE("resync: if many objects differ, one full list is read", "[controllers]") {
  CountedFixture f;
  for (int i = 0; i < 100; ++i) f.cluster.PutUnseen(kPods, MakePod("p" + std::to_string(i)));
  f.cluster.listed.clear();
  f.RunFor(80s);
  CHECK(f.cluster.listed.size() == 2);
  CHECK(f.recorder.drift.missing == 100);
  CHECK(f.Used("q") == "cpu=10200m,pods=102");
}

TEST_CASE("resync: a lost change that does not affect usage is no drift", "[controllers]") {
  CountedFixture f;
  json::Value pod = MakePod("a");
  pod.Make({"metadata", "labels", "x"}) = "y";
  f.cluster.PutUnseen(kPods, pod);
  f.RunFor(80s);
  CHECK(f.recorder.resyncs == 1);
  CHECK(f.recorder.drift.objects() == 0);
  CHECK(f.Used("q") == "cpu=200m,pods=2");
}

TEST_CASE("resync: an object that is deleted before its read is left to its events",
          "[controllers]") {
  CountedFixture f;
  f.cluster.PutUnseen(kPods, MakePod("a", "1"));
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("/namespaces/") != std::string::npos) {
      f.cluster.Delete(kPods, "team-a", "a");
    }
    return std::nullopt;
  };
  f.RunFor(80s);
  CHECK(f.recorder.resyncs == 1);
  CHECK(f.recorder.drift.objects() == 0);
  CHECK(f.Used("q") == "cpu=100m,pods=1");
}

TEST_CASE("resync: resources take turns over the period", "[controllers]") {
  CountedFixture f;
  f.cluster.Put(kQuotas, MakeQuota("r", {{"secrets", "10"}, {"count/deployments.apps", "10"}}));
  f.RunFor(1s);
  std::vector<std::pair<std::string, base::TimePoint>> listed;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    const bool watch = !request.query.empty() && request.query.front().first == "watch";
    // After a silent watch the reflector requests one object, to learn the server's version.
    const bool one = !request.query.empty() &&
                     request.query.front() == std::pair<std::string, std::string>("limit", "1");
    if (!watch && !one && request.verb == "GET" && request.path != "/api" &&
        request.path != "/apis" && request.path != "/version") {
      listed.emplace_back(request.path, f.scheduler.Now());
    }
    return std::nullopt;
  };
  f.RunFor(5min);
  REQUIRE(listed.size() >= 6);
  std::set<std::string> paths;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    if (i < 3) paths.insert(listed[i].first);
    if (i == 0) continue;
    CHECK(listed[i].second - listed[i - 1].second >= 20s);
    CHECK(listed[i].second - listed[i - 1].second <= 23s);
  }
  CHECK(paths.size() == 3);
  CHECK(f.recorder.resyncs >= 2);
}

TEST_CASE("resync: a watch that lags is no drift", "[controllers]") {
  CountedFixture f;
  f.RunFor(55s);
  f.cluster.Hold(kPods);
  f.cluster.Put(kPods, MakePod("c"));
  f.cluster.Delete(kPods, "team-a", "a");
  // The resync comes 60 to 66 seconds after the start and settles for three.
  while (f.cluster.lists < 3) f.RunFor(100ms);
  f.cluster.Release(kPods);
  f.RunFor(30s);
  CHECK(f.recorder.resyncs == 1);
  CHECK(f.recorder.drift.objects() == 0);
  CHECK(f.Used("q") == "cpu=200m,pods=2");
}

TEST_CASE("resync: a list that fails changes nothing and is retried", "[controllers]") {
  CountedFixture f;
  f.cluster.PutUnseen(kPods, MakePod("lost"));
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    const bool watch = !request.query.empty() && request.query.front().first == "watch";
    if (request.path != "/api/v1/pods" || watch) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "503"};
  };
  f.RunFor(80s);
  CHECK(f.Used("q") == "cpu=200m,pods=2");
  CHECK(f.recorder.failed_resyncs == 1);
  f.cluster.fault = nullptr;
  f.RunFor(80s);
  CHECK(f.Used("q") == "cpu=300m,pods=3");
}

}  // namespace resync_test
