#include "controllers/usage/shared_resources.h"

#include <algorithm>

#include "tests/controllers/quota/cluster_charging_fixture.h"

namespace shared_resources_test {
namespace {

using namespace fixture;
using namespace std::chrono_literals;

constexpr std::string_view kPath = "/api/v1/pods";

struct SharedFixture : Clustered {
  SharedFixture() {
    PutNamespace("team-a", "a");
    cluster.Put(kPods, MakePod("first"));
  }
  // Without those of one object, by which a reflector learns the server's version.
  [[nodiscard]] std::size_t Lists() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(cluster.listed, [](const client::ApiRequest& request) {
          const bool one = std::ranges::count(request.query, std::pair<std::string, std::string>(
                                                                 "limit", "1")) > 0;
          return request.path == kPath && !one;
        }));
  }
  // A pod whose container "a" gets what "b" gives back. It counts 400m up to Kubernetes 1.36, and
  // 300m since.
  void PutSwapping(const std::string& name) {
    json::Value pod = MakePod(name);
    const auto container = [](const char* of, const char* cpu) {
      return json::Object{{"name", of},
                          {"resources", json::Object{{"requests", json::Object{{"cpu", cpu}}}}}};
    };
    pod.Make({"spec", "containers"}) = json::Array{container("a", "200m"), container("b", "100m")};
    pod.Make({"status", "containerStatuses"}) =
        json::Array{container("a", "100m"), container("b", "200m")};
    cluster.Put(kPods, std::move(pod));
  }
  // Ends the controller of ClusterQuotas.
  void StopSecond() {
    running.Cancel();
    RunFor(10s);
    controller2.reset();
  }
};

}  // namespace

TEST_CASE("shared resources: quotas of both APIs cost one list and one watch", "[controllers]") {
  SharedFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.Put(ClusterQuota("all-of-a", "a", {{"pods", "10"}}));
  f.RunFor(1s);
  CHECK(f.Lists() == 1);
  CHECK(f.controller->tracker().Find({"", "pods"}) == f.controller2->tracker().Find({"", "pods"}));
  f.cluster.Put(kPods, MakePod("second"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=2");
  CHECK(f.UsedOf("all-of-a") == "2");
}

TEST_CASE("shared resources: a quota of another API is counted from what is listed",
          "[controllers]") {
  SharedFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.RunFor(1min);
  f.Put(ClusterQuota("all-of-a", "a", {{"pods", "10"}}));
  f.RunFor(1s);
  CHECK(f.UsedOf("all-of-a") == "1");
  CHECK(f.Lists() == 1);
  std::string why;
  CHECK(f.controller2->Ready(&why));
}

TEST_CASE("shared resources: objects are read again for a name that only the other API limits",
          "[controllers]") {
  SharedFixture f;
  json::Value pod = MakePod("many");
  json::Object requests{{"cpu", "1"}};
  for (int i = 0; i < 100; ++i) requests.Set("example.com/r" + std::to_string(i), "3");
  (*pod.AsObject()->Find("spec")->AsObject()->Find("containers")->AsArray())[0].Make(
      {"resources", "requests"}) = std::move(requests);
  f.cluster.Put(kPods, std::move(pod));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.RunFor(1s);
  f.Put(ClusterQuota("all-of-a", "a", {{"requests.example.com/r99", "10"}}));
  f.RunFor(10s);
  CHECK(f.UsedOf("all-of-a", "requests.example.com/r99") == "3");
}

TEST_CASE("shared resources: other rules of the server read them once for all quota APIs",
          "[controllers]") {
  SharedFixture f;
  f.cluster.minor = 37;
  f.PutSwapping("swaps");
  f.cluster.Put(kQuotas, MakeQuota("q", {{"cpu", "10"}}));
  f.Put(ClusterQuota("all-of-a", "a", {{"cpu", "10"}}));
  f.RunFor(12min);                     // the fixture began with a server of 1.36
  REQUIRE(f.Used("q") == "cpu=400m");  // with the 100m of the first pod
  REQUIRE(f.UsedOf("all-of-a", "cpu") == "400m");
  const std::size_t before = f.Lists();
  f.cluster.minor = 36;
  f.RunFor(1min);  // both ask what the server serves, and no resync is due
  CHECK(f.Used("q") == "cpu=500m");
  CHECK(f.UsedOf("all-of-a", "cpu") == "500m");
  CHECK(f.Lists() == before + 1);
}

TEST_CASE("shared resources: what is read later counts by the server's rules of then",
          "[controllers]") {
  SharedFixture f;
  f.cluster.minor = 37;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"secrets", "10"}}));
  f.RunFor(12min);
  f.PutSwapping("swaps");
  f.Put(ClusterQuota("all-of-a", "a", {{"cpu", "10"}}));
  f.RunFor(1s);
  CHECK(f.UsedOf("all-of-a", "cpu") == "400m");
  CHECK(f.Lists() == 1);
}

TEST_CASE("shared resources: they stay while one of two quota APIs uses them", "[controllers]") {
  SharedFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.Put(ClusterQuota("all-of-a", "a", {{"pods", "10"}, {"cpu", "5"}}));
  f.RunFor(1s);
  SECTION("the engine of the second ends") {
    f.StopSecond();
    f.cluster.Put(kPods, MakePod("second"));
    f.RunFor(1s);
    CHECK(f.Used("q") == "pods=2");
  }
  SECTION("quotas of the first name them no more") {
    f.cluster.Put(kQuotas, MakeQuota("q", {{"secrets", "10"}}));
    f.RunFor(90s);  // longer than it is kept, shorter than until a resync
    f.cluster.Put(kPods, MakePod("second"));
    f.RunFor(1s);
    CHECK(f.UsedOf("all-of-a") == "2");
    CHECK(f.UsedOf("all-of-a", "cpu") == "200m");
    f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
    f.RunFor(1s);
    CHECK(f.Used("q") == "pods=2");
  }
  CHECK(f.Lists() == 1);
}

TEST_CASE("shared resources: nobody who uses them ends their watch", "[controllers]") {
  SharedFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.Put(ClusterQuota("all-of-a", "a", {{"pods", "10"}}));
  f.RunFor(1s);
  f.cluster.Delete(kQuotas, "team-a", "q");
  f.cluster.Delete(f.quotas.resource, "", "all-of-a");
  f.RunFor(90s);
  CHECK(f.controller->tracker().Watched().empty());
  CHECK(f.controller2->tracker().Watched().empty());
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.RunFor(1s);
  CHECK(f.Lists() == 2);
  CHECK(f.Used("q") == "pods=1");
}

TEST_CASE("shared resources: a resync lists them once", "[controllers]") {
  SharedFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.Put(ClusterQuota("all-of-a", "a", {{"pods", "10"}}));
  f.RunFor(1s);
  f.cluster.PutUnseen(kPods, MakePod("lost"));
  const int resyncs = f.recorder.resyncs;
  const auto ended = [&] { return f.recorder.resyncs - resyncs; };  // of both quota APIs
  while (ended() < 2) f.RunFor(10s);
  CHECK(f.recorder.drift.missing == 1);
  CHECK(f.Used("q") == "pods=2");
  CHECK(f.UsedOf("all-of-a") == "2");
}

}  // namespace shared_resources_test
