// Kinds that are created, deleted, moved to another version, or not served for a while. The
// controller learns that from discovery.
#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "pkg/quota/object_counter.h"
#include "tests/controllers/quota/controller_fixture.h"

namespace served_kinds_test {

namespace {

using namespace std::chrono_literals;
using fixture::ControllerFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakePod;
using fixture::MakeQuota;

const api::GroupVersionResource kWidgets{"example.com", "v1", "widgets"};
const api::GroupVersionResource kNewWidgets{"example.com", "v2", "widgets"};
constexpr const char* kCount = "count/widgets.example.com";

json::Value Widget(const std::string& name) {
  json::Value object;
  object.Make({"metadata", "name"}) = name;
  object.Make({"metadata", "namespace"}) = "team-a";
  return object;
}

// A kind with one object, and a quota with these limits.
struct OneWidget : ControllerFixture {
  explicit OneWidget(const json::Object& hard) {
    cluster.Serve(kWidgets, "Widget");
    cluster.Put(kWidgets, Widget("a"));
    cluster.Put(kQuotas, MakeQuota("q", hard));
    RunFor(40s);
  }
};

std::string Watched(const ControllerFixture& f) {
  std::string text;
  for (const auto& tracked : f.controller->tracker().Watched()) {
    text += (text.empty() ? "" : " ") + tracked->resource().ToString();
  }
  return text;
}

}  // namespace

TEST_CASE("served kinds: a kind deleted and created again is counted within seconds",
          "[controllers]") {
  OneWidget f({{"pods", "10"}, {kCount, "3"}});
  CHECK(f.Used("q") == "count/widgets.example.com=1,pods=0");

  f.cluster.StopServing(kWidgets);
  f.RunFor(5s);
  CHECK(f.Used("q") == "count/widgets.example.com=1,pods=0");
  CHECK(Watched(f) == "pods.v1");
  f.cluster.Serve(kWidgets, "Widget");
  f.RunFor(5s);
  CHECK(f.Used("q") == "count/widgets.example.com=0,pods=0");
}

TEST_CASE("served kinds: a kind is watched in another version when its version is not served",
          "[controllers]") {
  ControllerFixture f;
  f.cluster.Serve(kWidgets, "Widget");
  f.cluster.Put(kQuotas, MakeQuota("q", {{kCount, "3"}}));
  f.RunFor(40s);
  // A new version changes nothing: the old one is still served.
  f.cluster.Serve(kNewWidgets, "Widget");
  f.cluster.Put(kNewWidgets, Widget("a"));
  f.RunFor(40s);
  CHECK(Watched(f) == kWidgets.ToString());

  f.cluster.StopServing(kWidgets);
  f.RunFor(5s);
  CHECK(Watched(f) == kNewWidgets.ToString());
  CHECK(f.Used("q") == "count/widgets.example.com=1");
}

TEST_CASE("served kinds: a kind that is created again without namespaces is not counted",
          "[controllers]") {
  ControllerFixture f;
  f.cluster.Serve(kWidgets, "Widget");
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "9"}, {kCount, "3"}}));
  f.RunFor(40s);
  REQUIRE(Watched(f) == "pods.v1 " + kWidgets.ToString());
  f.cluster.Serve(kWidgets, "Widget", false);
  f.RunFor(40s);
  CHECK(Watched(f) == "pods.v1");
}

// One of several API servers has just started, or has an old copy of what others serve.
TEST_CASE("served kinds: a kind that can be watched is served, whatever discovery says",
          "[controllers]") {
  OneWidget f({{kCount, "3"}});
  f.cluster.hidden.insert("example.com");
  f.RunFor(5min);
  f.cluster.Put(kWidgets, Widget("b"));
  f.RunFor(1s);
  CHECK(Watched(f) == kWidgets.ToString());
  CHECK(f.Used("q") == "count/widgets.example.com=2");
}

TEST_CASE("served kinds: one answer of discovery does not make a failing kind absent",
          "[controllers]") {
  OneWidget f({{kCount, "3"}});
  // The next connections lead to a server that has just started.
  f.cluster.hidden.insert("example.com");
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("widgets") == std::string::npos) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kNotFound, .message = "", .http_status = 404};
  };
  f.cluster.CutWatches(kWidgets, true);
  f.RunFor(900ms);
  f.cluster.fault = nullptr;
  f.cluster.hidden.clear();
  f.RunFor(30s);
  CHECK(Watched(f) == kWidgets.ToString());
  CHECK(f.Used("q") == "count/widgets.example.com=1");
}

TEST_CASE("served kinds: a stale group keeps its values and delays no other", "[controllers]") {
  ControllerFixture f;
  f.cluster.Serve(kWidgets, "Widget");
  f.cluster.Put(kWidgets, Widget("a"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}, {kCount, "3"}}));
  f.RunFor(1s);
  f.cluster.SetStale("example.com", true);
  f.cluster.Put(kPods, MakePod("p"));
  f.RunFor(90s);
  CHECK(f.Used("q") == "count/widgets.example.com=1,pods=1");
  CHECK(Watched(f) == "pods.v1 " + kWidgets.ToString());
  f.cluster.SetStale("example.com", false);
  f.cluster.Put(kWidgets, Widget("b"));
  f.RunFor(60s);
  CHECK(f.Used("q") == "count/widgets.example.com=2,pods=1");
}

TEST_CASE("served kinds: a group that is stale from the start delays no other", "[controllers]") {
  ControllerFixture f;
  f.cluster.SetStale("example.com", true);
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}, {kCount, "3"}}));
  f.RunFor(2s);
  CHECK(f.Used("q") == "pods=0");
  std::string why;
  CHECK(f.controller->Ready(&why));

  f.cluster.SetStale("example.com", false);
  f.cluster.Serve(kWidgets, "Widget");
  f.RunFor(5s);
  CHECK(f.Used("q") == "count/widgets.example.com=0,pods=0");
}

TEST_CASE("served kinds: a missing kind is looked up once a second", "[controllers]") {
  ControllerFixture f;
  int looks = 0;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    looks += request.path == "/apis" ? 1 : 0;
    return std::nullopt;
  };
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}, {kCount, "3"}}));
  f.RunFor(60s);
  CHECK(looks >= 55);
  CHECK(looks <= 65);
}

TEST_CASE("served kinds: thousands of names of kinds that nobody serves are each asked about once",
          "[controllers]") {
  constexpr std::size_t kNames = 3'000;
  controllers::QuotaControllerOptions options;
  int constrained = 0;
  options.on_constrained = [&constrained] { ++constrained; };
  ControllerFixture f(options);
  std::size_t asked = 0;  // of the evaluators that only count
  f.api.object_counter = [&asked](const api::GroupResource& resource) {
    auto counter = quota::CountAnyKind(resource);
    counter->owns = [&asked, owns = counter->owns](std::string_view name) {
      ++asked;
      return owns(name);
    };
    return counter;
  };
  json::Object hard{{"pods", "10"}};
  for (std::size_t i = 0; i < kNames; ++i)
    hard.Set("count/x" + std::to_string(i) + ".example.com", "5");
  f.cluster.Put(kQuotas, MakeQuota("q", hard));
  f.RunFor(40s);
  CHECK(f.Used("q") == "pods=0");
  CHECK(f.events.said.size() > 10);  // a kind each
  CHECK(asked > kNames);
  CHECK(asked < 100 * kNames);
  CHECK(constrained < 20);
}

}  // namespace served_kinds_test
