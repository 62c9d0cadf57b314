#include "pkg/admission/refusal_reporter.h"

#include <catch2/catch.hpp>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "tests/fake/fake_cluster.h"

namespace refusal_reporter_test {

namespace {

using std::chrono_literals::operator""s;

class Recorder final : public client::EventRecorder {
 public:
  bool Record(client::Event event) override {
    messages.push_back(event.message);
    if (event.about.kind != "ResourceQuota") {
      on_owners.push_back(event.about.ns + " " + event.about.kind + " " + event.about.name + " " +
                          event.about.uid + ": " + event.message);
    }
    return !full;
  }
  std::vector<std::string> messages;
  std::vector<std::string> on_owners;
  bool full = false;
};

struct Fixture {
  Fixture() {
    running.Spawn("refusals", [this] { return reporter.Run(); });
    scheduler.RunUntilIdle();
  }
  ~Fixture() { Stop(); }
  void Stop() {
    running.Cancel();
    scheduler.RunFor(1s);
  }
  void Refuse(const std::string& message, std::optional<admission::Owner> owner = std::nullopt,
              const std::string& ns = "team-a") {
    reporter.Report({.api_version = "v1", .kind = "ResourceQuota"}, {.quota = {"team-a", "q"},
                                                                     .ns = ns,
                                                                     .quota_uid = "u",
                                                                     .exceeded = {},
                                                                     .owner = std::move(owner),
                                                                     .message = message});
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  Recorder recorder;
  fake::FakeCluster cluster{scheduler};
  admission::RefusalReporter reporter{scheduler, recorder, cluster};
  base::TaskGroup running{io.get_executor()};
};

using Texts = std::vector<std::string>;

const api::GroupVersionResource kReplicaSets{"apps", "v1", "replicasets"};

admission::Owner Web() {
  return {.api_version = "apps/v1", .kind = "ReplicaSet", .name = "web-1", .uid = "u-web-1"};
}

// The ReplicaSet web-1 of the Deployment web.
struct Deployed : Fixture {
  Deployed() {
    cluster.Serve(kReplicaSets, "ReplicaSet");
    cluster.Put(kReplicaSets, ReplicaSet(true));
  }
  static json::Value ReplicaSet(bool controlled) {
    json::Object owner{{"apiVersion", "apps/v1"},
                       {"kind", "Deployment"},
                       {"name", "web"},
                       {"uid", "u-web"},
                       {"controller", controlled}};
    return json::Object{
        {"metadata", json::Object{{"name", "web-1"},
                                  {"namespace", "team-a"},
                                  {"uid", "u-web-1"},
                                  {"ownerReferences", json::Array{std::move(owner)}}}}};
  }
};

}  // namespace

TEST_CASE("refusal events: the first is recorded before Report() returns, then one a minute",
          "[admission]") {
  Fixture f;
  f.Refuse("a");
  CHECK(f.recorder.messages == Texts{"a"});
  f.Refuse("b");
  f.Refuse("c");
  f.scheduler.RunFor(59s);
  CHECK(f.recorder.messages.size() == 1);
  f.scheduler.RunFor(2s);
  CHECK(f.recorder.messages == Texts{"a", "refused 2 requests within a minute, the last one: c"});
  f.scheduler.RunFor(600s);
  CHECK(f.recorder.messages.size() == 2);
  f.Refuse("d");
  CHECK(f.recorder.messages.back() == "d");
}

TEST_CASE("refusal events: the Deployment of the ReplicaSet has them, too, once a minute",
          "[admission]") {
  Deployed f;
  f.Refuse("a", Web());
  CHECK(f.recorder.on_owners == Texts{"team-a ReplicaSet web-1 u-web-1: a"});
  f.scheduler.RunFor(1s);
  CHECK(f.recorder.on_owners.back() == "team-a Deployment web u-web: a");
  f.Refuse("b", Web());
  f.Refuse("c", Web());
  f.scheduler.RunFor(60s);
  CHECK(f.cluster.lists == 1);  // asked once
  CHECK(
      f.recorder.on_owners ==
      Texts{"team-a ReplicaSet web-1 u-web-1: a", "team-a Deployment web u-web: a",
            "team-a ReplicaSet web-1 u-web-1: refused 2 requests within a minute, the last one: c",
            "team-a Deployment web u-web: refused 2 requests within a minute, the last one: c"});
}

TEST_CASE("refusal events: an owner without a workload that can be read has only its own",
          "[admission]") {
  Deployed f;
  admission::Owner owner = Web();
  std::string ns = "team-a";
  std::size_t lists = 1;
  SECTION("it is not the object of this name") { owner.uid = "u-other"; }
  SECTION("it is in another namespace") { ns = "team-b"; }
  SECTION("it does not exist") { owner.name = "db-1"; }
  SECTION("nothing controls it") { f.cluster.Put(kReplicaSets, Deployed::ReplicaSet(false)); }
  SECTION("no workload owns its kind") {
    owner.kind = "StatefulSet";
    lists = 0;
  }
  SECTION("its kind is of another group") {
    owner.api_version = "example.com/v1";
    lists = 0;
  }
  SECTION("its name cannot be that of an object") {
    owner.name = "web-1,metadata.namespace=x";
    lists = 0;
  }
  f.Refuse("a", owner, ns);
  f.scheduler.RunFor(1s);
  f.Refuse("b", owner, ns);
  f.scheduler.RunFor(1s);
  CHECK(f.cluster.lists == lists);
  for (const std::string& said : f.recorder.on_owners) {
    CHECK(said.find("Deployment") == std::string::npos);
  }
}

TEST_CASE("refusal events: without the right to list ReplicaSets no further one is asked for",
          "[admission]") {
  Deployed f;
  std::size_t asked = 0;
  f.cluster.fault = [&](const client::ApiRequest&) -> std::optional<base::Error> {
    ++asked;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "no right"};
  };
  for (int i = 0; i < 5; ++i) {
    admission::Owner owner = Web();
    owner.uid = "u-" + std::to_string(i);
    f.Refuse("a", owner);
    f.scheduler.RunFor(1s);
  }
  CHECK(asked == 1);
  CHECK(f.recorder.on_owners.size() == 5);
  f.scheduler.RunFor(600s);
  f.cluster.fault = nullptr;
  f.Refuse("b", Web());
  f.scheduler.RunFor(1s);
  CHECK(f.recorder.on_owners.back() == "team-a Deployment web u-web: b");
}

TEST_CASE("refusal events: invented owners cause few reads", "[admission]") {
  Deployed f;
  for (int i = 0; i < 1'000; ++i) {
    admission::Owner owner = Web();
    owner.uid = "u-" + std::to_string(i);
    f.Refuse("a", owner);
  }
  f.scheduler.RunFor(60s);
  CHECK(f.cluster.lists == 64);
}

TEST_CASE("refusal events: a full queue only loses events", "[admission]") {
  Fixture f;
  f.recorder.full = true;
  f.Refuse("a");
  f.recorder.full = false;
  f.Refuse("b");
  f.scheduler.RunFor(61s);
  CHECK(f.recorder.messages == Texts{"a", "b"});
}

TEST_CASE("refusal events: gathered refusals are recorded when the daemon stops", "[admission]") {
  Fixture f;
  f.Refuse("a");
  f.Refuse("b");
  f.Stop();
  CHECK(f.recorder.messages == Texts{"a", "b"});
}

}  // namespace refusal_reporter_test
