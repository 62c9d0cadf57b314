// Replicas that do not lead: they watch and count, and leave statuses and events to the leader.

#include <catch2/catch.hpp>

#include "tests/controllers/quota/controller_fixture.h"

namespace following_test {

using namespace std::chrono_literals;
using fixture::ControllerFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakePod;
using fixture::MakeQuota;

namespace {

struct Replica : ControllerFixture {
  explicit Replica(std::shared_ptr<bool> leading = std::make_shared<bool>(false))
      : ControllerFixture(Options(leading)), leads(std::move(leading)) {}

  static controllers::QuotaControllerOptions Options(const std::shared_ptr<bool>& leading) {
    controllers::QuotaControllerOptions options;
    options.leading = [leading] { return *leading; };
    return options;
  }
  void Lead() {
    *leads = true;
    controller->OnLeading();
    RunFor(1s);
  }
  std::shared_ptr<bool> leads;
};

}  // namespace

TEST_CASE("following: a replica that does not lead counts and is ready, and writes nothing",
          "[controllers]") {
  Replica f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.cluster.Put(kPods, MakePod("a"));
  f.RunFor(20min);
  std::string why;
  CHECK(f.controller->Ready(&why));
  CHECK(f.controller->quota_book().Quotas("team-a").complete);
  CHECK(f.cluster.writes.empty());
  CHECK(f.recorder.reconciles["following"] > 0);
  CHECK(f.recorder.resyncs == 0);
}

TEST_CASE("following: a new leader makes each due write once", "[controllers]") {
  Replica f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.cluster.Put(kQuotas, MakeQuota("r", {{"secrets", "10"}}));
  f.cluster.Put(kPods, MakePod("a"));
  f.RunFor(1min);
  f.Lead();
  CHECK(f.Used("q") == "pods=1");
  CHECK(f.Used("r") == "secrets=0");
  CHECK(f.cluster.writes.size() == 2);
  f.cluster.Put(kPods, MakePod("b"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=2");
  f.RunFor(10min);
  CHECK(f.recorder.resyncs > 0);
}

TEST_CASE("following: a replica that lost the lease writes nothing", "[controllers]") {
  Replica f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.RunFor(1s);
  f.Lead();
  f.cluster.writes.clear();
  *f.leads = false;
  f.cluster.Put(kPods, MakePod("a"));
  f.RunFor(1min);
  CHECK(f.cluster.writes.empty());
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("following: a retry of a write checks the leadership again", "[controllers]") {
  Replica f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "PATCH") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "away"};
  };
  f.Lead();
  CHECK(f.recorder.reconciles["error"] > 0);
  *f.leads = false;
  f.RunFor(1s);  // work in progress
  f.cluster.fault = nullptr;
  f.cluster.writes.clear();
  f.RunFor(5min);
  CHECK(f.cluster.writes.empty());
  CHECK(f.Used("q").empty());
}

TEST_CASE("following: only the leader sends events, and a new leader reports present problems",
          "[controllers]") {
  Replica f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"nonsense", "10"}}));
  f.RunFor(5min);
  CHECK(f.events.said.empty());
  f.Lead();
  f.RunFor(1s);
  REQUIRE(f.events.said.size() == 1);
  CHECK(f.events.said[0].reason == "UnknownResourceName");
  f.RunFor(10min);
  CHECK(f.events.said.size() == 1);
}

TEST_CASE("following: only the leader repairs external charges", "[controllers]") {
  Replica f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.WriteStatus("q", {{"pods", "10"}}, {{"pods", "0"}});
  f.RunFor(1s);
  f.WriteStatus("q", {{"pods", "10"}}, {{"pods", "1"}});  // charged, never stored
  f.RunFor(30s);
  CHECK(f.Used("q") == "pods=1");
  // A new leader has not asked the server about it yet.
  f.Lead();
  CHECK(f.Used("q") == "pods=1");
  f.RunFor(15s);
  CHECK(f.Used("q") == "pods=0");
}

}  // namespace following_test
