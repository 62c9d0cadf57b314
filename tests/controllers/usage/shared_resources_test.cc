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
  [[nodiscard]] std::size_t Lists() const {
    return static_cast<std::size_t>(
        std::ranges::count(cluster.listed, kPath, &client::ApiRequest::path));
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
