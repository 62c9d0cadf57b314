#include "pkg/webhook/webhook_keeper.h"

#include <boost/asio/io_context.hpp>
#include <optional>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/webhook/certificate_keyring.h"
#include "pkg/webhook/stored_configuration.h"
#include "tests/fake/captured_log.h"
#include "tests/fake/fake_cluster.h"
#include "tests/pkg/webhook/webhook_testing.h"

namespace webhook::webhook_keeper_test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kName = "quota-controller-manager";
const api::GroupResource kSecrets{"", "secrets"};

// A fake cluster that also accepts creations and counts the writes.
class Server final : public client::ApiClient {
 public:
  Server(base::Scheduler& scheduler, fake::FakeCluster& cluster)
      : scheduler_(scheduler), cluster_(cluster) {}

  base::Task<base::Result<client::ApiResponse>> Do(client::ApiRequest request) override {
    if (request.verb == "GET") co_return co_await cluster_.Do(std::move(request));
    ++writes;
    if (refusal) co_return *refusal;
    if (request.verb != "POST") {
      auto stored = co_await cluster_.Do(std::move(request));
      co_await scheduler_.Sleep(answers_after);
      co_return stored;
    }
    if (cluster_.Find(kWebhookConfigurations, "", kName) != nullptr) {
      co_return base::Error{.code = base::ErrorCode::kAlreadyExists, .message = "exists"};
    }
    cluster_.Put(kWebhookConfigurations, Json(request.body));
    co_return client::ApiResponse{
        .status = 201, .body = json::Write(*cluster_.Find(kWebhookConfigurations, "", kName))};
  }
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(
      client::ApiRequest request) override {
    return cluster_.Stream(std::move(request));
  }

  std::optional<base::Error> refusal;
  base::Duration answers_after{};  // the watch shows a write before its answer does
  int writes = 0;

 private:
  base::Scheduler& scheduler_;
  fake::FakeCluster& cluster_;
};

// The CA that a daemon makes.
std::string CaOf(const std::string& whose) {
  static std::map<std::string, std::string> made;
  std::string& pem = made[whose];
  if (pem.empty()) {
    const base::WallTime now = base::RealClock().WallNow();
    pem = CarryOut(CertificateAction::kStartOver, {}, {"localhost"}, {now, now}, {})->ca_pem;
  }
  return pem;
}

struct Listener final : StoredRulesListener {
  void OnStoredRules() override { ++changes; }
  int changes = 0;
};

class EventList final : public client::EventRecorder {
 public:
  bool Record(client::Event event) override {
    recorded.push_back(std::move(event));
    return true;
  }
  std::vector<client::Event> recorded;
};

class KeeperFixture {
 protected:
  KeeperFixture() { cluster.Serve(kWebhookConfigurations, "ValidatingWebhookConfiguration"); }
  ~KeeperFixture() {
    running.Cancel();
    scheduler.RunFor(60s);
  }

  std::unique_ptr<WebhookKeeper> NewKeeper(WebhookKeeperOptions options = {}) {
    std::string installation = options.plan.configuration.installation;
    options.plan.configuration = ByService();
    options.plan.configuration.installation = std::move(installation);
    options.plan.quota_apis = {"core"};
    return std::make_unique<WebhookKeeper>(io.get_executor(), scheduler, server, listener, options);
  }
  WebhookKeeper& Start(WebhookKeeperOptions options = {}) {
    keepers.push_back(NewKeeper(std::move(options)));
    WebhookKeeper* keeper = keepers.back().get();
    running.Spawn("keeper", [keeper] { return keeper->Run(); });
    scheduler.RunUntilIdle();
    return *keeper;
  }
  // Rules and CA bundle are set and stored.
  WebhookKeeper& Settled(std::vector<GuardedResource> wanted) {
    WebhookKeeper& keeper = Start();
    keeper.SetWanted("core", std::move(wanted));
    keeper.SetCaBundle("PEM");
    scheduler.RunFor(2s);
    REQUIRE(Why(keeper).empty());
    return keeper;
  }
  [[nodiscard]] const json::Value* Live() const {
    return cluster.Find(kWebhookConfigurations, "", kName);
  }
  [[nodiscard]] std::vector<GuardedResource> Guards() const {
    return Live() == nullptr ? std::vector<GuardedResource>() : GuardedBy(*Live());
  }
  static std::string Why(const WebhookKeeper& keeper) {
    std::string why;
    const bool ready = keeper.Ready(&why);
    CHECK(ready == why.empty());
    return why;
  }
  // Somebody edits the object by hand.
  void Edit(const std::string& policy) {
    json::Value edited = *Live();
    WebhookAt(edited, 0).Make({"failurePolicy"}) = policy;
    cluster.Put(kWebhookConfigurations, edited);
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
  Server server{scheduler, cluster};
  Listener listener;
  std::vector<std::unique_ptr<WebhookKeeper>> keepers;
  base::TaskGroup running{io.get_executor()};
};

}  // namespace

TEST_CASE_METHOD(KeeperFixture, "webhook keeper: writes a burst of changes once", "[admission]") {
  WebhookKeeper& keeper = Start();
  keeper.SetCaBundle("PEM");
  for (int i = 0; i < 50; ++i) {
    std::vector<GuardedResource> wanted{Pods()};
    for (int kind = 0; kind < i; ++kind) wanted.push_back(Counted("k" + std::to_string(kind)));
    keeper.SetWanted("core", wanted);
    scheduler.RunFor(1ms);
  }
  scheduler.RunFor(200ms);
  CHECK(server.writes == 1);
  CHECK(Guards().size() == 50);
  CHECK_FALSE(keeper.Stored("core", {"", "pods"}, "team-a"));
  scheduler.RunFor(1s);
  CHECK(keeper.Stored("core", {"", "pods"}, "team-a"));
  CHECK(listener.changes == 1);
  CHECK(Why(keeper).empty());
}

TEST_CASE_METHOD(KeeperFixture, "webhook keeper: a correct object is not written again",
                 "[admission]") {
  WebhookKeeper& keeper = Settled({Counted("secrets")});
  keeper.SetWanted("core", {Counted("secrets")});
  keeper.SetCaBundle("PEM");
  scheduler.RunFor(1h);
  CHECK(server.writes == 1);
}

TEST_CASE_METHOD(KeeperFixture, "webhook keeper: a later rule is an update", "[admission]") {
  WebhookKeeper& keeper = Settled({Counted("secrets")});
  keeper.SetWanted("core", {Counted("secrets"), Pods()});
  scheduler.RunFor(1s);
  CHECK(server.writes == 2);
  CHECK(Guards().size() == 2);
  CHECK(keeper.Stored("core", {"", "pods"}, "team-a"));
}

TEST_CASE_METHOD(KeeperFixture,
                 "webhook keeper: a repair emits an event, a change of our own does not",
                 "[admission]") {
  EventList events;
  WebhookKeeper& keeper = Start({.events = &events});
  keeper.SetWanted("core", {Counted("secrets")});
  keeper.SetCaBundle("PEM");
  scheduler.RunFor(2s);
  keeper.SetWanted("core", {Counted("secrets"), Pods()});
  scheduler.RunFor(2s);
  CHECK(events.recorded.empty());
  Edit("Ignore");
  scheduler.RunFor(5s);
  REQUIRE(events.recorded.size() == 1);
  const client::Event& event = events.recorded[0];
  CHECK(event.about.kind == "ValidatingWebhookConfiguration");
  CHECK(event.about.name == kName);
  CHECK_FALSE(event.about.uid.empty());
  CHECK(event.reason == "WebhookConfigurationRestored");
  CHECK(event.message.find("It was changed by somebody else") == 0);
  cluster.Delete(kWebhookConfigurations, "", kName);
  scheduler.RunFor(5s);
  REQUIRE(events.recorded.size() == 2);
  CHECK(events.recorded[1].message.find("It was deleted by somebody else") == 0);
}

TEST_CASE_METHOD(KeeperFixture,
                 "webhook keeper: a repair emits an event even if the watch shows it first",
                 "[admission]") {
  EventList events;
  WebhookKeeper& keeper = Start({.events = &events});
  keeper.SetWanted("core", {Counted("secrets")});
  keeper.SetCaBundle("PEM");
  scheduler.RunFor(2s);
  server.answers_after = 100ms;
  Edit("Ignore");
  scheduler.RunFor(5s);
  CHECK(events.recorded.size() == 1);
  CHECK(server.writes == 2);
}

TEST_CASE_METHOD(KeeperFixture,
                 "webhook keeper: an object deleted before its write is answered is created again",
                 "[admission]") {
  WebhookKeeper& keeper = Settled({Counted("secrets")});
  server.answers_after = 1s;
  Edit("Ignore");
  scheduler.RunFor(500ms);
  REQUIRE(server.writes == 2);
  cluster.Delete(kWebhookConfigurations, "", kName);
  scheduler.RunFor(10s);
  REQUIRE(Live() != nullptr);
  CHECK(Guards().size() == 1);
  CHECK(Why(keeper).empty());
}

TEST_CASE_METHOD(KeeperFixture, "webhook keeper: one of several replicas reports a repair",
                 "[admission]") {
  EventList events;
  for (int i = 0; i < 3; ++i) {
    WebhookKeeper& keeper = Start({.events = &events});
    keeper.SetWanted("core", {Counted("secrets")});
    keeper.SetCaBundle("PEM");
  }
  scheduler.RunFor(5s);
  Edit("Ignore");
  scheduler.RunFor(10s);
  CHECK(events.recorded.size() == 1);
}

TEST_CASE_METHOD(KeeperFixture, "webhook keeper: two installations do not overwrite each other",
                 "[admission]") {
  WebhookKeeperOptions first;
  first.plan.configuration.installation = "a/quota";
  WebhookKeeperOptions second;
  second.plan.configuration.installation = "b/quota";
  WebhookKeeper& winner = Start(first);
  winner.SetWanted("core", {Counted("secrets")});
  winner.SetCaBundle("PEM A");
  scheduler.RunFor(2s);
  CHECK(Why(winner).empty());
  const int writes = server.writes;
  WebhookKeeper& other = Start(second);
  other.SetWanted("core", {Counted("secrets"), Pods()});
  other.SetCaBundle("PEM B");
  scheduler.RunFor(5min);
  CHECK(server.writes == writes);
  CHECK(other.IsAnothers());
  CHECK_FALSE(winner.IsAnothers());
  CHECK_FALSE(other.Stored("core", kSecrets, "team-a"));
  CHECK(Why(other).find("it belongs to the installation a/quota") != std::string::npos);
  CHECK(Why(winner).empty());
}

TEST_CASE_METHOD(KeeperFixture, "webhook keeper: manual changes are repaired in seconds",
                 "[admission]") {
  WebhookKeeper& keeper = Settled({Counted("secrets")});
  SECTION("edited") { Edit("Ignore"); }
  SECTION("deleted") { cluster.Delete(kWebhookConfigurations, "", kName); }
  SECTION("edited while the watch was away") {
    cluster.PutUnseen(kWebhookConfigurations, [&] {
      json::Value edited = *Live();
      edited.Make({"webhooks"}) = json::Array{};
      return edited;
    }());
    cluster.CutWatches(kWebhookConfigurations, true);
  }
  SECTION("deleted while the watch was away") {
    cluster.DeleteUnseen(kWebhookConfigurations, "", kName);
    cluster.CutWatches(kWebhookConfigurations, true);
  }
  scheduler.RunFor(5s);
  REQUIRE(Live() != nullptr);
  CHECK(SameConfiguration(*Live(), DesiredConfiguration(ByService(), {Counted("secrets")}, "PEM")));
  CHECK(keeper.Stored("core", kSecrets, "team-a"));
  CHECK(Why(keeper).empty());
}

TEST_CASE_METHOD(KeeperFixture, "webhook keeper: retries when the API server rejects a write",
                 "[admission]") {
  WebhookKeeper& keeper = Start();
  server.refusal = base::Error{.code = base::ErrorCode::kForbidden, .message = "no right"};
  keeper.SetWanted("core", {Counted("secrets")});
  keeper.SetCaBundle("PEM");
  scheduler.RunFor(5min);
  CHECK(server.writes > 5);
  CHECK(server.writes < 25);
  CHECK(Why(keeper) ==
        "webhook configuration quota-controller-manager: rules of 1 resources are not stored yet, "
        "one is secrets: no right");
  CHECK_FALSE(keeper.Stored("core", kSecrets, "team-a"));
  server.refusal.reset();
  scheduler.RunFor(60s);
  CHECK(keeper.Stored("core", kSecrets, "team-a"));
  CHECK(Why(keeper).empty());
}

TEST_CASE_METHOD(KeeperFixture, "webhook keeper: two replicas agree and stop writing",
                 "[admission]") {
  WebhookKeeper& one = Start();
  WebhookKeeper& other = Start();
  for (WebhookKeeper* keeper : {&one, &other}) {
    keeper->SetWanted("core", {Counted("secrets"), Pods()});
    keeper->SetCaBundle("PEM");
  }
  scheduler.RunFor(5s);
  CHECK(one.Stored("core", kSecrets, "team-a"));
  CHECK(other.Stored("core", kSecrets, "team-a"));
  const int writes = server.writes;
  CHECK(writes <= 3);
  // The watch of one of them lags.
  one.SetWanted("core", {Counted("secrets"), Pods(), Counted("configmaps")});
  scheduler.RunFor(10s);
  other.SetWanted("core", {Counted("secrets"), Pods(), Counted("configmaps")});
  scheduler.RunFor(10min);
  CHECK(server.writes == writes + 1);
  CHECK(Guards().size() == 3);
}

TEST_CASE_METHOD(KeeperFixture, "webhook keeper: replicas that cannot agree slow down",
                 "[admission]") {
  WebhookKeeper& one = Start();
  WebhookKeeper& other = Start();
  one.SetWanted("core", {Counted("secrets")});
  other.SetWanted("core", {Counted("secrets")});
  one.SetCaBundle(CaOf("one"));
  other.SetCaBundle(CaOf("other"));
  scheduler.RunFor(1min);
  const int writes = server.writes;
  CHECK(writes > 2);
  scheduler.RunFor(10min);
  CHECK(server.writes - writes < 60);
}

TEST_CASE_METHOD(KeeperFixture,
                 "webhook keeper: an object that is edited again and again is in force",
                 "[admission]") {
  Settled({Counted("secrets")});
  const json::Value right = *Live();
  const auto how = GENERATE(0, 1, 2, 3, 4, 5);
  CAPTURE(how);
  const auto weaken = [&] {
    if (how == 4) return cluster.Delete(kWebhookConfigurations, "", kName);
    json::Value edited = Live() == nullptr ? right : *Live();
    if (how == 0) edited.Make({"webhooks"}) = json::Value();
    if (edited.ArrayAt({"webhooks"}).empty() && how != 0) edited = right;
    if (how == 1) WebhookAt(edited, 0).Make({"failurePolicy"}) = "Ignore";
    if (how == 2) WebhookAt(edited, 0).Make({"clientConfig", "caBundle"}) = "b3RoZXI=";
    if (how == 3) {
      WebhookAt(edited, 0).Make({"namespaceSelector", "matchLabels"}) = json::Object{{"a", "b"}};
    }
    if (how == 5) WebhookAt(edited, 0).Make({"rules"}) = json::Array();
    cluster.Put(kWebhookConfigurations, edited);
  };
  server.answers_after = 5ms;
  int in_force = 0;
  for (int edit = 0; edit < 200; ++edit) {
    weaken();
    for (int look = 0; look < 10; ++look) {
      scheduler.RunFor(10ms);
      const bool is_right = Live() != nullptr && SameConfiguration(*Live(), right);
      in_force += is_right ? 1 : 0;
    }
  }
  CHECK(in_force > 1600);  // of 2000
  CHECK(server.writes <= 202);
  weaken();
  scheduler.RunFor(1s);
  REQUIRE(Live() != nullptr);
  CHECK(SameConfiguration(*Live(), right));
}

TEST_CASE_METHOD(KeeperFixture, "webhook keeper: an edit between a read and a write costs no wait",
                 "[admission]") {
  Settled({Counted("secrets")});
  const json::Value right = *Live();
  // Every write meets a conflict, because the object changes again before it arrives.
  cluster.patch_delay = 20ms;
  for (int edit = 0; edit < 300; ++edit) {
    Edit(edit % 2 == 0 ? "Ignore" : "Nonsense");
    scheduler.RunFor(15ms);
  }
  scheduler.RunFor(1s);
  CHECK(SameConfiguration(*Live(), right));
}

TEST_CASE_METHOD(KeeperFixture,
                 "webhook keeper: a fight without end is slow, and is repaired within a second",
                 "[admission]") {
  Settled({Counted("secrets")});
  const json::Value right = *Live();
  for (int edit = 0; edit < 12000; ++edit) {
    Edit("Ignore");
    scheduler.RunFor(100ms);
  }
  const int writes = server.writes;
  for (int edit = 0; edit < 600; ++edit) {
    Edit("Ignore");
    scheduler.RunFor(100ms);
  }
  CHECK(server.writes - writes <= 130);  // two a second
  CHECK(server.writes - writes >= 100);
  Edit("Ignore");
  scheduler.RunFor(1s);
  CHECK(SameConfiguration(*Live(), right));
}

TEST_CASE_METHOD(KeeperFixture,
                 "webhook keeper: a weakening is repaired at once beside a daemon with its own CA",
                 "[admission]") {
  WebhookKeeper& one = Start();
  WebhookKeeper& other = Start();
  const std::string theirs = CaOf("theirs");
  one.SetWanted("core", {Counted("secrets")});
  other.SetWanted("core", {Counted("secrets")});
  one.SetCaBundle(CaOf("ours"));
  other.SetCaBundle(theirs);
  scheduler.RunFor(10min);  // both wait long by now
  json::Value edited = *Live();
  edited.Make({"webhooks"}) = json::Value();
  cluster.Put(kWebhookConfigurations, edited);
  scheduler.RunFor(1s);
  CHECK(Guards().size() == 1);
}

TEST_CASE_METHOD(KeeperFixture,
                 "webhook keeper: somebody else's object is neither changed nor used",
                 "[admission]") {
  json::Value foreign = DesiredConfiguration(ByService(), {Counted("secrets")}, "PEM");
  foreign.Make({"metadata", "labels"}) = json::Object();
  cluster.Put(kWebhookConfigurations, foreign);
  WebhookKeeper& keeper = Start();
  keeper.SetWanted("core", {Counted("secrets")});
  keeper.SetCaBundle("PEM");
  scheduler.RunFor(1min);
  CHECK(server.writes == 0);
  CHECK_FALSE(keeper.Stored("core", kSecrets, "team-a"));
  CHECK(Why(keeper).find("is left alone") != std::string::npos);
  cluster.Delete(kWebhookConfigurations, "", kName);
  scheduler.RunFor(5s);
  CHECK(keeper.Stored("core", kSecrets, "team-a"));
}

TEST_CASE_METHOD(
    KeeperFixture,
    "webhook keeper: a server that was restored to an earlier state gets its rules again",
    "[admission]") {
  WebhookKeeper& keeper = Settled({In(Counted("secrets"), {"a"})});
  cluster.Backup();
  const bool shown = GENERATE(true, false);
  if (!shown) cluster.Hold(kWebhookConfigurations);  // the watch is at the version of the backup
  const std::vector<GuardedResource> wanted = {In(Counted("secrets"), {"a", "b"})};
  keeper.SetWanted("core", wanted);
  scheduler.RunFor(2s);
  REQUIRE(Guards() == wanted);
  REQUIRE(keeper.Stored("core", kSecrets, "b"));
  cluster.fault = [](const client::ApiRequest&) {
    return std::optional(base::Error{.code = base::ErrorCode::kUnavailable, .message = "away"});
  };
  cluster.PutBack();
  REQUIRE(Guards() != wanted);
  scheduler.RunFor(5s);
  cluster.ForgetFunctions();
  cluster.Release(kWebhookConfigurations);
  scheduler.RunFor(1min);
  CHECK(Guards() == wanted);
  scheduler.RunFor(2s);
  CHECK(Why(keeper).empty());
  CHECK(keeper.Stored("core", kSecrets, "b"));
}

TEST_CASE_METHOD(KeeperFixture, "webhook keeper: a list that began before a write changes nothing",
                 "[admission]") {
  WebhookKeeper& keeper = Settled({Counted("secrets")});
  const json::Value before = *Live();
  cluster.Hold(kWebhookConfigurations);
  keeper.BeginList();
  keeper.SetWanted("core", {Counted("secrets"), Pods()});
  scheduler.RunFor(2s);
  const int writes = server.writes;
  const bool listed = GENERATE(true, false);
  if (listed) keeper.Upsert(before);
  keeper.EndList();
  cluster.Release(kWebhookConfigurations);
  scheduler.RunFor(1min);
  CHECK(server.writes == writes);
  CHECK(Guards().size() == 2);
  CHECK(Why(keeper).empty());
}

TEST_CASE_METHOD(KeeperFixture, "webhook keeper: one that leaves its installation does nothing",
                 "[admission]") {
  const fake::CapturedLog log;
  WebhookKeeper& keeper = Settled({Counted("secrets")});
  const int writes = server.writes;
  keeper.Leave();
  cluster.Delete(kWebhookConfigurations, "", kName);
  scheduler.RunFor(5s);  // would not end if the keeper did not wait
  CHECK(server.writes == writes);
  CHECK(log.With("is repaired").empty());
}

TEST_CASE_METHOD(KeeperFixture, "webhook keeper: objects of other names do not matter",
                 "[admission]") {
  json::Value other = DesiredConfiguration(ByService(), {Counted("secrets")}, "PEM");
  other.Make({"metadata", "name"}) = "other";
  cluster.Put(kWebhookConfigurations, other);
  WebhookKeeper& keeper = Settled({Pods()});
  cluster.Delete(kWebhookConfigurations, "", "other");
  scheduler.RunFor(1min);
  CHECK(keeper.Stored("core", {"", "pods"}, "team-a"));
  CHECK(server.writes == 1);
}

TEST_CASE_METHOD(KeeperFixture, "webhook keeper: the first rule waits until a replica is reachable",
                 "[admission]") {
  bool answers = false;
  keepers.push_back(NewKeeper());
  WebhookKeeper& keeper = *keepers.back();
  keeper.BeginWhen([&] { return answers; });
  running.Spawn("keeper", [&keeper] { return keeper.Run(); });
  keeper.SetWanted("core", {Counted("secrets")});
  keeper.SetCaBundle("PEM");
  scheduler.RunFor(1min);
  CHECK(server.writes == 0);
  answers = true;
  scheduler.RunFor(4s);
  answers = false;
  scheduler.RunFor(4s);
  answers = true;
  scheduler.RunFor(5s);
  CHECK(server.writes == 0);
  scheduler.RunFor(3s);
  CHECK(keeper.Stored("core", kSecrets, "team-a"));
  answers = false;  // rules are stored, so later ones do not wait
  keeper.SetWanted("core", {Counted("secrets"), Pods()});
  scheduler.RunFor(1s);
  CHECK(Guards().size() == 2);
}

TEST_CASE_METHOD(KeeperFixture,
                 "webhook keeper: a created object is owned by the present ClusterRole",
                 "[admission]") {
  const api::GroupVersionResource roles{"rbac.authorization.k8s.io", "v1", "clusterroles"};
  cluster.Serve(roles, "ClusterRole", false);
  const auto put_role = [&](const std::string& uid) {
    json::Value role;
    role.Make({"metadata", "name"}) = "quota";
    role.Make({"metadata", "uid"}) = uid;
    cluster.Put(roles, role);
  };
  const auto owner = [&]() -> std::string {
    const json::Value* owners =
        Live() == nullptr ? nullptr : Live()->At({"metadata", "ownerReferences"});
    return owners == nullptr ? "" : std::string(owners->AsArray()->at(0).StringAt({"uid"}));
  };
  const auto start = [&]() -> WebhookKeeper& {
    WebhookKeeper& keeper = Start({.owner_roles = {"absent", "quota"}});
    keeper.SetWanted("core", {Counted("secrets")});
    keeper.SetCaBundle("PEM");
    scheduler.RunFor(2s);
    return keeper;
  };
  SECTION("there is none") {
    CHECK(Why(start()).empty());
    CHECK(owner().empty());
  }
  SECTION("the object is written once") {
    put_role("one");
    start();
    CHECK(owner() == "one");
    CHECK(server.writes == 1);
    scheduler.RunFor(1h);
    CHECK(server.writes == 1);
  }
  SECTION("it is deleted and created again") {
    put_role("one");
    WebhookKeeper& keeper = start();
    CHECK(owner() == "one");
    cluster.Delete(roles, "", "quota");
    cluster.Delete(kWebhookConfigurations, "", kName);
    scheduler.RunFor(1min);
    CHECK(Live() == nullptr);  // the installation is being deleted
    CHECK(Why(keeper).find("the ClusterRole that owns it was deleted") != std::string::npos);
    put_role("two");
    scheduler.RunFor(2min);
    CHECK(owner() == "two");
    CHECK(Why(keeper).empty());
  }
  SECTION("somebody creates the object without an owner, and the ClusterRole is new") {
    put_role("one");
    WebhookKeeper& keeper = start();
    cluster.Delete(roles, "", "quota");
    put_role("two");
    json::Value bare = *Live();
    bare.Make({"metadata"}).AsObject()->Erase("ownerReferences");
    cluster.Put(kWebhookConfigurations, bare);
    scheduler.RunFor(10s);
    CHECK(owner() == "two");
    CHECK(Why(keeper).empty());
  }
}

TEST_CASE_METHOD(KeeperFixture,
                 "webhook keeper: does nothing if an admin maintains the configuration",
                 "[admission]") {
  WebhookKeeper& keeper = Start({.manage = false});
  keeper.SetWanted("core", {Counted("secrets")});
  keeper.SetCaBundle("PEM");
  scheduler.RunFor(1h);
  CHECK(server.writes == 0);
  CHECK(cluster.lists == 0);
  CHECK(keeper.Stored("core", kSecrets, "team-a"));
  CHECK(Why(keeper).empty());
}

}  // namespace webhook::webhook_keeper_test
