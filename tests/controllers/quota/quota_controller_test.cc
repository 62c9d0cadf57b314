#include "controllers/quota/quota_controller.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "tests/controllers/quota/controller_fixture.h"

using namespace std::chrono_literals;
using fixture::ControllerFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::kSecrets;
using fixture::MakePod;
using fixture::MakeQuota;
using fixture::MakeSecret;

TEST_CASE("quota controller: a new quota gets a counted status", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kPods, MakePod("a", "100m"));
  f.cluster.Put(kPods, MakePod("b", "250m"));
  f.cluster.Put(kPods, MakePod("elsewhere", "1", "team-b"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}, {"cpu", "2"}, {"secrets", "5"}}));
  f.RunFor(1s);
  CHECK(f.Used("q") == "cpu=350m,pods=2,secrets=0");
  CHECK(f.Hard("q") == "cpu=2,pods=10,secrets=5");
  CHECK(f.cluster.writes.size() == 1);
}

TEST_CASE("quota controller: used follows an object that is created, changed and deleted",
          "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}, {"cpu", "2"}}));
  f.RunFor(1s);
  f.cluster.Put(kPods, MakePod("a", "100m"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "cpu=100m,pods=1");
  json::Value pod = *f.cluster.Find(kPods, "team-a", "a");
  pod.Make({"status", "phase"}) = "Succeeded";
  f.cluster.Put(kPods, pod);
  f.RunFor(1s);
  CHECK(f.Used("q") == "cpu=0,pods=0");
  f.cluster.Put(kPods, MakePod("b", "300m"));
  f.RunFor(1s);
  f.cluster.Delete(kPods, "team-a", "b");
  f.RunFor(1s);
  CHECK(f.Used("q") == "cpu=0,pods=0");
}

TEST_CASE("quota controller: the first change is written without a delay", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.cluster.Put(kPods, MakePod("a"));
  f.RunFor(1s);
  f.cluster.Delete(kPods, "team-a", "a");
  f.scheduler.RunUntilIdle();
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("quota controller: separate changes are each written at once", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "1000"}}));
  f.RunFor(1s);
  for (int i = 1; i <= 30; ++i) {
    f.cluster.Put(kPods, MakePod("p" + std::to_string(i)));
    f.RunFor(5ms);  // further apart than the events that a watch reads together
    CHECK(f.Used("q") == "pods=" + std::to_string(i));
  }
}

TEST_CASE("quota controller: lasting churn costs at most twenty writes a second", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "100000"}}));
  f.RunFor(1s);
  f.cluster.writes.clear();
  for (int i = 0; i < 5000; ++i) {
    f.cluster.Put(kPods, MakePod("p" + std::to_string(i)));
    f.RunFor(2ms);
  }
  CHECK(f.cluster.writes.size() <= 10 * 20 + 40);
  CHECK(f.cluster.writes.size() >= 100);
  f.RunFor(100ms);
  CHECK(f.Used("q") == "pods=5k");
}

TEST_CASE("quota controller: a changed hard or selector is counted again", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kPods, MakePod("low"));
  json::Value high = MakePod("high");
  high.Make({"spec", "priorityClassName"}) = "high";
  f.cluster.Put(kPods, high);
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.RunFor(1s);
  REQUIRE(f.Used("q") == "pods=2");

  json::Value quota = *f.cluster.Find(kQuotas, "team-a", "q");
  quota.Make({"spec", "hard"}) = json::Object{{"pods", "1"}, {"cpu", "3"}};
  f.cluster.Put(kQuotas, quota);
  f.RunFor(1s);
  CHECK(f.Hard("q") == "cpu=3,pods=1");
  CHECK(f.Used("q") == "cpu=200m,pods=2");

  quota = *f.cluster.Find(kQuotas, "team-a", "q");
  json::Object expression{
      {"scopeName", "PriorityClass"}, {"operator", "In"}, {"values", json::Array{"high"}}};
  quota.Make({"spec", "scopeSelector"}) =
      json::Object{{"matchExpressions", json::Array{std::move(expression)}}};
  f.cluster.Put(kQuotas, quota);
  f.RunFor(1s);
  CHECK(f.Used("q") == "cpu=100m,pods=1");
}

TEST_CASE("quota controller: a new name enters the status together with its count",
          "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kSecrets, MakeSecret("s"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.RunFor(1s);
  f.cluster.writes.clear();
  json::Value quota = *f.cluster.Find(kQuotas, "team-a", "q");
  quota.Make({"spec", "hard"}) = json::Object{{"pods", "10"}, {"secrets", "5"}};
  f.cluster.Put(kQuotas, quota);
  f.RunFor(2s);
  CHECK(f.Used("q") == "pods=0,secrets=1");
  CHECK(f.cluster.writes.size() == 1);
}

TEST_CASE("quota controller: a status changed by another writer is repaired", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kPods, MakePod("a"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.RunFor(1s);
  SECTION("lowered") {
    f.WriteStatus("q", {{"pods", "10"}}, {{"pods", "0"}});
    f.RunFor(1s);
    CHECK(f.Used("q") == "pods=1");
  }
  SECTION("raised: held for 15 s as a charge, then repaired") {
    f.WriteStatus("q", {{"pods", "10"}}, {{"pods", "7"}});
    f.RunFor(14s);
    CHECK(f.Used("q") == "pods=7");
    f.RunFor(2s);
    CHECK(f.Used("q") == "pods=1");
  }
  SECTION("hard changed") {
    f.WriteStatus("q", {{"pods", "99"}}, {{"pods", "1"}});
    f.RunFor(1s);
    CHECK(f.Hard("q") == "pods=10");
  }
  SECTION("wiped") {
    json::Value object = *f.cluster.Find(kQuotas, "team-a", "q");
    object.AsObject()->Erase("status");
    f.cluster.Put(kQuotas, object);
    f.RunFor(1s);
    CHECK(f.Used("q") == "pods=1");
  }
}

TEST_CASE("quota controller: a charge is kept until its object is seen", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.RunFor(1s);
  f.cluster.writes.clear();
  f.cluster.Hold(kPods);
  f.WriteStatus("q", {{"pods", "10"}}, {{"pods", "1"}});  // as the API server's plugin charges
  f.cluster.Put(kPods, MakePod("a"));
  f.RunFor(2s);
  CHECK(f.Used("q") == "pods=1");
  f.cluster.Release(kPods);
  f.RunFor(20s);
  CHECK(f.Used("q") == "pods=1");
  CHECK(f.cluster.writes.empty());
}

TEST_CASE("quota controller: an unseen charge after our own write is held", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kPods, MakePod("a"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.RunFor(1s);
  // While the answer to a lowering is on its way, others charge the same amount again. The
  // controller sees that only in a list.
  f.cluster.patch_answer_delay = 2s;
  f.cluster.Hold(kQuotas);
  f.cluster.CutWatches(kQuotas, true);
  f.cluster.Delete(kPods, "team-a", "a");
  f.RunFor(50ms);
  REQUIRE(f.Used("q") == "pods=0");
  f.WriteStatus("q", {{"pods", "10"}}, {{"pods", "1"}});
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=1");
  f.cluster.Release(kQuotas);
  f.RunFor(15s);
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("quota controller: an object seen before its charge is not counted twice",
          "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.RunFor(1s);
  f.cluster.Hold(kQuotas);
  f.WriteStatus("q", {{"pods", "10"}}, {{"pods", "1"}});
  f.cluster.Put(kPods, MakePod("a"));
  f.RunFor(10ms);  // the pod is seen; our guarded write conflicts and is decided again
  f.cluster.Release(kQuotas);
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=1");
}

TEST_CASE("quota controller: nothing is written without a change", "[controllers]") {
  ControllerFixture f({.resync_period = 10s});
  f.cluster.Put(kPods, MakePod("a"));
  f.cluster.Put(kQuotas,
                MakeQuota("q", {{"pods", "10"}, {"secrets", "3"}, {"example.com/x", "1"}}));
  f.RunFor(1s);
  f.cluster.writes.clear();
  json::Value labelled = *f.cluster.Find(kQuotas, "team-a", "q");
  labelled.Make({"metadata", "labels", "a"}) = "b";
  f.cluster.Put(kQuotas, labelled);
  json::Value pod = *f.cluster.Find(kPods, "team-a", "a");
  pod.Make({"metadata", "labels", "a"}) = "b";
  f.cluster.Put(kPods, pod);
  f.RunFor(10min);
  CHECK(f.recorder.resyncs >= 50);
  CHECK(f.cluster.writes.empty());
}

TEST_CASE("quota controller: an unknown name is absent, never zero", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kPods, MakePod("a"));
  f.cluster.Put(kSecrets, MakeSecret("s"));
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path != "/api/v1/pods") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kMalformed, .message = "not readable"};
  };
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}, {"secrets", "3"}}));
  f.RunFor(1min);
  CHECK(f.Used("q") == "secrets=1");  // pods stay absent
  CHECK(f.Hard("q") == "pods=10,secrets=3");
  f.cluster.fault = nullptr;
  f.RunFor(2min);
  CHECK(f.Used("q") == "pods=1,secrets=1");
}

TEST_CASE("quota controller: a resource that cannot be listed after a restart keeps its value",
          "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kPods, MakePod("a"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}, {"secrets", "3"}}));
  f.RunFor(1s);
  f.Stop();
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path != "/api/v1/pods") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "503", .http_status = 503};
  };
  f.cluster.Put(kSecrets, MakeSecret("s"));
  f.Start();
  f.RunFor(1min);
  CHECK(f.Used("q") == "pods=1,secrets=1");
}

TEST_CASE("quota controller: a name is lowered once its watch caught up, whatever another one does",
          "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kPods, MakePod("a"));
  f.cluster.Put(kSecrets, MakeSecret("s"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}, {"secrets", "3"}}));
  f.RunFor(1s);
  std::set<std::string> failing{"/api/v1/pods", "/api/v1/secrets"};
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (!failing.contains(request.path)) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "503", .http_status = 503};
  };
  f.cluster.CutWatches(kPods);
  f.cluster.CutWatches(kSecrets);
  f.RunFor(5s);
  failing.erase("/api/v1/pods");
  f.cluster.Delete(kPods, "team-a", "a");
  f.RunFor(2min);
  CHECK(f.Used("q") == "pods=0,secrets=1");
}

TEST_CASE("quota controller: names of an object that cannot be read keep their value",
          "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"cpu", "10"}, {"pods", "9"}, {"secrets", "3"}}));
  f.cluster.Put(kQuotas, MakeQuota("other", {{"cpu", "10"}}, "team-b"));
  f.cluster.Put(kPods, MakePod("a", "100m"));
  f.RunFor(1s);
  f.cluster.Put(kPods, MakePod("b", "many"));
  f.cluster.Put(kPods, MakePod("c", "2", "team-b"));
  f.cluster.Put(kSecrets, MakeSecret("s"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "cpu=100m,pods=2,secrets=1");
  CHECK(f.Used("other", "team-b") == "cpu=2");
  f.cluster.Delete(kPods, "team-a", "b");
  f.cluster.Put(kPods, MakePod("c", "1"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "cpu=1100m,pods=2,secrets=1");
}

TEST_CASE("quota controller: a name that cannot be read affects no other", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("bad", {{"pods", "a lot"}, {"secrets", "3"}}));
  f.cluster.Put(kQuotas, MakeQuota("good", {{"pods", "10"}}));
  f.RunFor(1s);
  CHECK(f.Used("good") == "pods=0");
  CHECK(f.Used("bad") == "secrets=0");
  CHECK(f.controller->store().broken() == 1);
  f.cluster.Put(kSecrets, MakeSecret("s"));
  f.RunFor(1s);
  CHECK(f.Used("bad") == "secrets=1");
  f.cluster.Put(kQuotas, MakeQuota("bad", {{"pods", "2"}, {"secrets", "3"}}));
  f.RunFor(1s);
  CHECK(f.Used("bad") == "pods=0,secrets=1");
  CHECK(f.controller->store().broken() == 0);
}

TEST_CASE("quota controller: a status that cannot be read is replaced at once", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}, {"secrets", "3"}}));
  f.cluster.Put(kPods, MakePod("a"));
  f.RunFor(1s);
  for (const char* status :
       {R"({"hard":{"pods":"10","secrets":"3"},"used":{"pods":"garbage","secrets":"0"}})",
        R"({"hard":{"pods":"x","secrets":"3"},"used":{"pods":"-1","secrets":"0","gone":[]}})",
        R"({"hard":{"pods":"99","secrets":"1e30"},"used":{"pods":"0","secrets":"0"}})",
        R"({"hard":"all","used":7})", R"({"hard":{"pods":"10"},"used":{"pods":"-1e99"}})"}) {
    INFO(status);
    json::Value quota = *f.cluster.Find(kQuotas, "team-a", "q");
    quota.AsObject()->Set("status", *json::Parse(status));
    f.cluster.Put(kQuotas, quota);
    f.RunFor(2s);
    CHECK(f.Used("q") == "pods=1,secrets=0");
    CHECK(f.Hard("q") == "pods=10,secrets=3");
    const std::size_t writes = f.cluster.writes.size();
    f.RunFor(1min);
    CHECK(f.cluster.writes.size() == writes);
  }
}

TEST_CASE("quota controller: a conflict is decided again, never forced", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.RunFor(1s);
  f.cluster.Hold(kQuotas);
  json::Value labelled = *f.cluster.Find(kQuotas, "team-a", "q");
  labelled.Make({"metadata", "labels", "a"}) = "b";
  f.cluster.Put(kQuotas, labelled);
  f.cluster.Put(kPods, MakePod("a"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=1");
  CHECK(f.cluster.Find(kQuotas, "team-a", "q")->StringAt({"metadata", "labels", "a"}) == "b");
}

TEST_CASE("quota controller: a quota that is created again starts with a new status",
          "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kPods, MakePod("a"));
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.RunFor(1s);
  f.cluster.Delete(kQuotas, "team-a", "q");
  f.RunFor(1s);
  f.cluster.Delete(kPods, "team-a", "a");
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=0");
  CHECK(f.Hard("q") == "pods=5");
}

TEST_CASE("quota controller: only resources that a quota names are watched", "[controllers]") {
  ControllerFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}, {"count/deployments.apps", "3"}}));
  f.RunFor(1s);
  CHECK(f.controller->tracker().Watched().size() == 2);
  CHECK(f.cluster.lists == 3);  // including the list of quotas
  CHECK(f.Used("q") == "count/deployments.apps=0,pods=0");
  f.cluster.Delete(kQuotas, "team-a", "q");
  f.RunFor(5min);
  CHECK(f.controller->tracker().Watched().empty());
}

TEST_CASE("quota controller: the name of a kind is absent until the kind is served",
          "[controllers]") {
  ControllerFixture f;
  const api::GroupVersionResource widgets{"example.com", "v1", "widgets"};
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}, {"count/widgets.example.com", "3"}}));
  f.RunFor(3s);
  CHECK(f.Used("q") == "pods=0");
  f.cluster.Serve(widgets, "Widget");
  f.RunFor(5s);
  CHECK(f.Used("q") == "count/widgets.example.com=0,pods=0");
}

TEST_CASE("quota controller: ready once every named resource is listed or failing",
          "[controllers]") {
  ControllerFixture f;
  std::string why;
  f.RunFor(1s);
  CHECK(f.controller->Ready(&why));
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path != "/apis" && request.path != "/api") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "away"};
  };
  f.Stop();
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.Start();
  f.RunFor(1s);
  CHECK_FALSE(f.controller->Ready(&why));
  CHECK(why == "resources that quotas of core name are still being listed");
  f.cluster.fault = nullptr;
  f.RunFor(2min);
  CHECK(f.controller->Ready(&why));
}
