// Names that facts lack, because no quota limited them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>

#include "tests/controllers/quota/devices_fixture.h"

namespace facts_reader_test {

namespace {

using namespace std::chrono_literals;
using fixture::ControllerFixture;
using fixture::DeviceClass;
using fixture::kClaims;
using fixture::kClasses;
using fixture::kGpu;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakePod;
using fixture::MakeQuota;
using fixture::ServeDevices;

constexpr int kMany = 200;  // names that do not fit into what facts keep without a limit
const std::string kLast = "requests.example.com/r199";

json::Value PodOfManyNames(const std::string& name, const std::string& ns = "team-a") {
  json::Value pod = MakePod(name, "100m", ns);
  std::vector<json::Member> requests;
  requests.reserve(kMany);
  for (int i = 0; i < kMany; ++i) requests.emplace_back("example.com/r" + std::to_string(i), "1");
  (*pod.Make({"spec", "containers"}).AsArray())[0].Make({"resources", "requests"}) =
      json::Object::FromMembers(std::move(requests));
  return pod;
}

struct Counted : ControllerFixture {
  Counted() : ControllerFixture({.resync_period = 0s}) {
    ServeDevices(*this);
    cluster.Put(kPods, PodOfManyNames("many"));
    cluster.Put(kPods, MakePod("plain"));
    cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
    cluster.Put(kQuotas, MakeQuota("other", {{"pods", "10"}, {"cpu", "10"}}));
    RunFor(5s);
    CHECK(Used("q") == "pods=2");
    cluster.listed.clear();
  }
  ~Counted() { cluster.ForgetFunctions(); }
  std::ptrdiff_t ListsOfPods() const {
    return std::ranges::count_if(cluster.listed, [](const client::ApiRequest& request) {
      return request.path.ends_with("/pods");
    });
  }
  void LimitLast() { cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}, {kLast, "10"}})); }
};

}  // namespace

TEST_CASE("unread names: a new limit on a name that was left out is counted by one list",
          "[controllers]") {
  Counted f;
  f.LimitLast();
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=2," + kLast + "=1");
  CHECK(f.ListsOfPods() == 1);
  CHECK(f.recorder.drift.objects() == 0);
  // From now on events bring it.
  f.cluster.Put(kPods, PodOfManyNames("more"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=3," + kLast + "=2");
  CHECK(f.ListsOfPods() == 1);
}

TEST_CASE("unread names: while the objects are read, the name is unknown and no other is disturbed",
          "[controllers]") {
  Counted f;
  f.cluster.stall = [](const client::ApiRequest& request) -> base::Duration {
    const bool watch = std::ranges::any_of(
        request.query, [](const auto& option) { return option.first == "watch"; });
    return request.path.ends_with("/pods") && !watch ? 40s : 0s;
  };
  f.LimitLast();
  f.cluster.Put(kPods, MakePod("second"));
  f.RunFor(1s);
  CHECK(f.Used("other") == "cpu=200m,pods=3");
  CHECK(f.Used("q").find(kLast) == std::string::npos);
  f.RunFor(35s);  // longer than a first count waits
  CHECK(f.Used("q") == "pods=3");
  f.RunFor(20s);
  CHECK(f.Used("q") == "pods=3," + kLast + "=1");
}

TEST_CASE("unread names: a read that fails is done again", "[controllers]") {
  Counted f;
  int failures = 3;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (!request.path.ends_with("/pods") || failures-- <= 0) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "no list"};
  };
  f.LimitLast();
  f.RunFor(2s);
  CHECK(f.Used("q").find(kLast) == std::string::npos);
  f.RunFor(2min);
  CHECK(f.Used("q") == "pods=2," + kLast + "=1");
}

TEST_CASE("unread names: events and relists during the read are counted once", "[controllers]") {
  Counted f;
  f.LimitLast();
  SECTION("objects change") {
    f.cluster.Put(kPods, PodOfManyNames("more"));
    f.cluster.Delete(kPods, "team-a", "many");
  }
  SECTION("the watch is late") {
    f.cluster.Hold(kPods);
    f.cluster.Put(kPods, PodOfManyNames("more"));
    f.cluster.Delete(kPods, "team-a", "many");
    f.RunFor(500ms);
    f.cluster.Release(kPods);
  }
  SECTION("the history expires") {
    f.cluster.Put(kPods, PodOfManyNames("more"));
    f.cluster.Delete(kPods, "team-a", "many");
    f.cluster.CutWatches(kPods, true);
  }
  f.RunFor(1min);
  CHECK(f.Used("q") == "pods=2," + kLast + "=1");
}

TEST_CASE("unread names: a name that all facts have costs no list", "[controllers]") {
  ControllerFixture f({.resync_period = 0s});
  f.cluster.Put(kPods, MakePod("plain"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.RunFor(5s);
  f.cluster.listed.clear();
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}, {"cpu", "10"}, {kLast, "10"}}));
  f.RunFor(5s);
  CHECK(f.Used("q") == "cpu=100m,pods=1," + kLast + "=0");
  CHECK(f.cluster.listed.empty());
}

TEST_CASE("unread names: a name that was limited before is left out and read again",
          "[controllers]") {
  Counted f;
  f.LimitLast();
  f.RunFor(5s);
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.cluster.Put(kPods, PodOfManyNames("more"));
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=3");
  f.LimitLast();
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=3," + kLast + "=2");
}

TEST_CASE("unread names: a class that claims refer to matters later", "[controllers]") {
  Counted f;
  json::Array requests;
  for (int i = 0; i < kMany; ++i) {
    requests.push_back(
        json::Object{{"name", "r" + std::to_string(i)},
                     {"exactly", json::Object{{"deviceClassName", "class" + std::to_string(i)},
                                              {"allocationMode", "ExactCount"},
                                              {"count", 2}}}});
  }
  json::Value claim = json::Object{
      {"metadata", json::Object{{"name", "c"}, {"namespace", "team-a"}}},
      {"spec", json::Object{{"devices", json::Object{{"requests", std::move(requests)}}}}}};
  f.cluster.Put(kClaims, std::move(claim));
  f.cluster.Put(kClasses, DeviceClass("class0", "example.com/fpga"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{kGpu, "10"}, {"requests.example.com/fpga", "10"}}));
  f.RunFor(5s);
  CHECK(f.Used("q") == "requests.example.com/fpga=2,requests.example.com/gpu=0");
  f.cluster.Put(kClasses, DeviceClass("class99", "example.com/gpu"));
  f.RunFor(10s);
  CHECK(f.Used("q") == "requests.example.com/fpga=2,requests.example.com/gpu=2");
  f.cluster.Put(kClasses, DeviceClass("class150", "example.com/gpu"));
  f.RunFor(10s);
  CHECK(f.Used("q") == "requests.example.com/fpga=2,requests.example.com/gpu=4");
}

}  // namespace facts_reader_test
