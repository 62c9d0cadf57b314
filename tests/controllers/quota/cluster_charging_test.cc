// Requests that ClusterQuotas limit: the controller as admission's book, with a real admitter,
// beside a fake cluster.

#include <catch2/catch.hpp>
#include <deque>

#include "pkg/admission/joint_admitter.h"
#include "pkg/quota/cluster/cluster_quota.h"
#include "tests/controllers/quota/controller_fixture.h"

namespace cluster_charging_test {
namespace {

using namespace fixture;
using namespace std::chrono_literals;
using Kind = admission::Answer::Kind;

const api::GroupVersionResource kNamespaces{"", "v1", "namespaces"};

json::Value Namespace(const std::string& name, const std::string& team) {
  return json::Object{
      {"metadata", json::Object{{"name", name}, {"labels", json::Object{{"team", team}}}}}};
}

// A quota over the namespaces of a team; "": over none of its own.
json::Value ClusterQuota(const std::string& name, const std::string& team, json::Object hard,
                         const std::string& parent = "") {
  json::Object spec{{"hard", std::move(hard)}};
  if (!team.empty()) {
    spec.Set("namespaceSelector", json::Object{{"matchLabels", json::Object{{"team", team}}}});
  }
  if (!parent.empty()) spec.Set("parent", parent);
  return json::Object{{"metadata", json::Object{{"name", name}}}, {"spec", std::move(spec)}};
}

class Batches final : public admission::Observer {
 public:
  void OnDecision(std::string_view, std::string_view, base::Duration) override {}
  void OnWarning(std::string_view) override {}
  void OnBatch(std::string_view, std::size_t, std::size_t made) override { writes += made; }
  void OnConflict(std::string_view) override { ++conflicts; }
  void OnReservationsExpired(std::string_view, std::size_t) override {}
  std::size_t writes = 0;
  std::size_t conflicts = 0;
};

// Beside the controller of core there is one of ClusterQuotas.
struct Clustered : ControllerFixture {
  Clustered() {
    cluster.Serve(kNamespaces, "Namespace", false);
    cluster.Serve(quotas.resource, quotas.kind, false);
    controllers::TrackingContext context{.executor = io.get_executor(),
                                         .scheduler = &scheduler,
                                         .client = &cluster,
                                         .events = &events};
    context.name = quotas.name;
    controllers::QuotaControllerOptions options;
    options.seed = 1;
    options.leading = [this] { return leads; };
    options.crowd.crowd = 1'000'000;  // no bursts
    controller2.emplace(context, quotas, *served, recorder, options);
    running.Spawn("cluster", [this] { return controller2->Run(); });
    admission::QuotaAdmitterOptions admitter_options;
    admitter_options.exempt_namespaces = {"exempt"};
    core_admitter.emplace(io.get_executor(), scheduler, api, controller->quota_book(),
                          controller->object_book(), batches);
    admitter.emplace(io.get_executor(), scheduler, quotas, controller2->quota_book(),
                     controller2->object_book(), batches, admitter_options);
    joint.emplace(io.get_executor(), *admitter,
                  std::vector<admission::QuotaAdmitter*>{&*core_admitter, &*admitter});
  }
  ~Clustered() {
    running.Cancel();
    calls.Spawn("stop core", [this] { return core_admitter->Stop(); });
    calls.Spawn("stop", [this] { return admitter->Stop(); });
    RunFor(1min);
  }

  void Put(const json::Value& quota) { cluster.Put(quotas.resource, quota); }
  void PutNamespace(const std::string& name, const std::string& team) {
    cluster.Put(kNamespaces, Namespace(name, team));
  }
  // The answer, once there is one.
  std::optional<admission::Answer>& Ask(const std::string& ns, const std::string& name) {
    json::Value pod = MakePod(name, "1", ns);
    pod.Make({"metadata", "uid"}) = "uid-of-" + ns + name;
    admission::Review review{.uid = "call",
                             .resource = {"", "v1", "pods"},
                             .subresource = "",
                             .operation = admission::Operation::kCreate,
                             .ns = ns,
                             .name = name,
                             .object = std::move(pod)};
    auto& answer = answers.emplace_back();
    calls.Spawn("call", [this, &answer, review = std::move(review)]() -> base::Task<void> {
      co_await base::DeferCancellation();
      const base::TimePoint deadline = scheduler.Now() + 5s;
      admission::Answer given = co_await joint->Admit(review, deadline);
      answer = std::move(given);
    });
    return answer;
  }
  const admission::Answer& Get(const std::string& ns, const std::string& name) {
    auto& answer = Ask(ns, name);
    RunFor(100ms);
    REQUIRE(answer.has_value());
    return *answer;
  }
  [[nodiscard]] std::string UsedOf(const std::string& name,
                                   const std::string& what = "pods") const {
    const json::Value* quota = cluster.Find(quotas.resource, "", name);
    return std::string(quota->StringAt({"status", "used", what}));
  }
  [[nodiscard]] std::size_t Count(Kind kind) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        answers, [&](const auto& answer) { return answer && answer->kind == kind; }));
  }

  bool leads = true;
  quota::QuotaApi quotas = quota::ClusterQuotaApi();
  Batches batches;
  std::optional<controllers::QuotaController> controller2;
  std::optional<admission::QuotaAdmitter> core_admitter;
  std::optional<admission::QuotaAdmitter> admitter;
  std::optional<admission::JointAdmitter> joint;
  base::TaskGroup running{io.get_executor()};
  base::TaskGroup calls{io.get_executor()};
  std::deque<std::optional<admission::Answer>> answers;
};

TEST_CASE("cluster charging: a creation fits in all quotas on its way up", "[quota]") {
  Clustered f;
  f.PutNamespace("a-prod", "a");
  f.PutNamespace("b-prod", "b");
  f.Put(ClusterQuota("company", "", {{"pods", "3"}}));
  f.Put(ClusterQuota("team-a", "a", {{"pods", "2"}}, "company"));
  f.Put(ClusterQuota("team-b", "b", {{"pods", "2"}}, "company"));
  f.RunFor(1s);
  CHECK(f.Get("a-prod", "p1").kind == Kind::kAllowed);
  CHECK(f.Get("a-prod", "p2").kind == Kind::kAllowed);
  CHECK(f.UsedOf("team-a") == "2");
  CHECK(f.UsedOf("company") == "2");
  const admission::Answer own = f.Get("a-prod", "p3");
  CHECK(own.kind == Kind::kRefused);
  CHECK(own.code == 403);
  CHECK(own.message ==
        "exceeded cluster quota: team-a, requested: pods=1, used: pods=2, limited: pods=2");
  CHECK(f.Get("b-prod", "p1").kind == Kind::kAllowed);
  CHECK(f.Get("b-prod", "p2").message ==
        "exceeded cluster quota: company (above team-b), requested: pods=1, used: pods=3, "
        "limited: pods=3");
  CHECK(f.UsedOf("team-b") == "1");
  CHECK(f.UsedOf("company") == "3");
  CHECK(f.Get("other", "p1").kind == Kind::kAllowed);
}

TEST_CASE("cluster charging: what a sibling is guaranteed stays free", "[quota]") {
  Clustered f;
  f.PutNamespace("a-prod", "a");
  f.PutNamespace("b-prod", "b");
  f.Put(ClusterQuota("company", "", {{"pods", "3"}}));
  f.Put(ClusterQuota("team-a", "a", {{"pods", "3"}}, "company"));
  json::Value team_b = ClusterQuota("team-b", "b", {{"pods", "2"}}, "company");
  team_b.Make({"spec", "guaranteed"}) = json::Object{{"pods", "2"}};
  f.Put(team_b);
  f.RunFor(1s);
  CHECK(f.Get("a-prod", "p1").kind == Kind::kAllowed);
  CHECK(f.Get("a-prod", "p2").message ==
        "exceeded cluster quota: company (above team-a), requested: pods=1, used: pods=1, "
        "limited: pods=3, guaranteed to others: pods=2");
  CHECK(f.Get("b-prod", "p1").kind == Kind::kAllowed);
  CHECK(f.Get("b-prod", "p2").kind == Kind::kAllowed);
  CHECK(f.UsedOf("company") == "3");
}

TEST_CASE("cluster charging: in one batch, too, a sibling's guarantee stays free", "[quota]") {
  Clustered f;
  f.PutNamespace("a-prod", "a");
  f.PutNamespace("b-prod", "b");
  f.Put(ClusterQuota("company", "", {{"pods", "10"}}));
  f.Put(ClusterQuota("team-a", "a", {{"pods", "10"}}, "company"));
  json::Value team_b = ClusterQuota("team-b", "b", {{"pods", "6"}}, "company");
  team_b.Make({"spec", "guaranteed"}) = json::Object{{"pods", "4"}};
  f.Put(team_b);
  f.RunFor(1s);
  for (int i = 0; i < 8; ++i) {
    f.Ask("a-prod", "p" + std::to_string(i));
    if (i < 4) f.Ask("b-prod", "p" + std::to_string(i));
  }
  f.RunFor(1s);
  CHECK(f.UsedOf("team-a") == "6");
  CHECK(f.UsedOf("team-b") == "4");
  CHECK(f.UsedOf("company") == "10");
}

TEST_CASE("cluster charging: many namespaces under one quota share its writes", "[quota]") {
  Clustered f;
  for (int i = 0; i < 100; ++i) f.PutNamespace("ns" + std::to_string(i), "a");
  f.Put(ClusterQuota("company", "", {{"pods", "500"}}));
  f.Put(ClusterQuota("team-a", "a", {{"pods", "500"}}, "company"));
  f.RunFor(1s);
  f.cluster.patch_answer_delay = 4ms;
  for (int i = 0; i < 64; ++i) f.Ask("ns" + std::to_string(i), "p");
  f.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 64);
  CHECK(f.UsedOf("team-a") == "64");
  CHECK(f.UsedOf("company") == "64");
  CHECK(f.batches.conflicts == 0);
  CHECK(f.batches.writes <= 4);  // two batches, two quotas
}

TEST_CASE("cluster charging: a namespace that is not known yet is read live", "[quota]") {
  Clustered f;
  f.Put(ClusterQuota("team-a", "a", {{"pods", "1"}}));
  f.PutNamespace("first", "a");
  f.RunFor(1s);
  CHECK(f.Get("first", "p").kind == Kind::kAllowed);
  f.cluster.Hold(kNamespaces);
  f.PutNamespace("second", "a");
  f.PutNamespace("third", "b");
  CHECK(f.Get("second", "p").message ==
        "exceeded cluster quota: team-a, requested: pods=1, used: pods=1, limited: pods=1");
  CHECK(f.Get("third", "p").kind == Kind::kAllowed);
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    const http::Query& query = request.query;
    const bool reads = std::ranges::any_of(
        query, [](const auto& one) { return one.second == "metadata.name=fourth"; });
    if (!reads) return {};
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "away"};
  };
  f.PutNamespace("fourth", "b");
  const admission::Answer unread = f.Get("fourth", "p");
  CHECK(unread.kind == Kind::kUnavailable);
  CHECK(unread.message.find("read namespace fourth: away") != std::string::npos);
}

TEST_CASE("cluster charging: while namespaces cannot be followed, labels are read live",
          "[quota]") {
  Clustered f;
  f.Put(ClusterQuota("team-a", "a", {{"pods", "5"}}));
  f.Put(ClusterQuota("team-b", "b", {{"pods", "0"}}));
  f.PutNamespace("ns", "a");
  f.RunFor(1s);
  CHECK(f.Get("ns", "p1").kind == Kind::kAllowed);
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    const bool watches =
        std::ranges::any_of(request.query, [](const auto& one) { return one.first == "watch"; });
    if (!watches || !request.path.ends_with("/namespaces")) return {};
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "no watch"};
  };
  f.cluster.CutWatches(kNamespaces);
  f.RunFor(10s);
  f.PutNamespace("ns", "b");
  CHECK(f.Get("ns", "p2").message ==
        "exceeded cluster quota: team-b, requested: pods=1, used: pods=0, limited: pods=0");
}

TEST_CASE("cluster charging: what came with a relabelled namespace counts at once", "[quota]") {
  Clustered f;
  f.Put(ClusterQuota("team-a", "a", {{"pods", "5"}}));
  f.Put(ClusterQuota("team-b", "b", {{"pods", "3"}}));
  f.PutNamespace("ns", "a");
  f.PutNamespace("b-prod", "b");
  for (int i = 0; i < 3; ++i) f.cluster.Put(kPods, MakePod("p" + std::to_string(i), "1", "ns"));
  f.RunFor(2s);
  REQUIRE(f.UsedOf("team-a") == "3");
  REQUIRE(f.UsedOf("team-b") == "0");
  f.leads = false;  // whoever keeps the statuses has yet to write
  f.PutNamespace("ns", "b");
  f.RunFor(100ms);
  CHECK(f.UsedOf("team-b") == "0");
  CHECK(f.Get("b-prod", "p").message ==
        "exceeded cluster quota: team-b, requested: pods=1, used: pods=3, limited: pods=3");
}

TEST_CASE("cluster charging: what was never stored is free again", "[quota]") {
  Clustered f;
  f.PutNamespace("a-prod", "a");
  f.Put(ClusterQuota("team-a", "a", {{"pods", "2"}}));
  f.RunFor(1s);
  CHECK(f.Get("a-prod", "p1").kind == Kind::kAllowed);
  f.RunFor(18s);
  CHECK(f.UsedOf("team-a") == "0");
  CHECK(f.Get("a-prod", "p2").kind == Kind::kAllowed);
  CHECK(f.UsedOf("team-a") == "1");
  CHECK(f.Get("a-prod", "p3").kind == Kind::kAllowed);
  CHECK(f.UsedOf("team-a") == "2");
}

TEST_CASE("cluster charging: a quota that is only tried admits, counts and says so", "[quota]") {
  Clustered f;
  f.PutNamespace("a-prod", "a");
  json::Value quota = ClusterQuota("team-a", "a", {{"pods", "1"}});
  quota.Make({"spec", "enforcement"}) = "Warn";
  f.Put(quota);
  f.RunFor(1s);
  CHECK(f.Get("a-prod", "p1").would_refuse.empty());
  const admission::Answer second = f.Get("a-prod", "p2");
  CHECK(second.kind == Kind::kAllowed);
  REQUIRE(second.would_refuse.size() == 1);
  CHECK(second.would_refuse[0].quota_api == "cluster");
  CHECK(second.would_refuse[0].would.message ==
        "exceeded cluster quota: team-a, requested: pods=1, used: pods=1, limited: pods=1");
  CHECK(f.UsedOf("team-a") == "2");
}

TEST_CASE("cluster charging: in an exempt namespace nothing is refused", "[quota]") {
  Clustered f;
  f.PutNamespace("exempt", "a");
  f.Put(ClusterQuota("team-a", "a", {{"pods", "0"}}));
  f.RunFor(1s);
  CHECK(f.Get("exempt", "p").kind == Kind::kAllowed);
}

TEST_CASE("cluster charging: beside quotas of the namespace it is all of them or none", "[quota]") {
  Clustered f;
  f.PutNamespace("team-a", "a");
  f.cluster.Put(kQuotas, MakeQuota("own", {{"pods", "10"}}));
  f.Put(ClusterQuota("cluster", "a", {{"pods", "1"}}));
  f.RunFor(1s);
  CHECK(f.Get("team-a", "p1").kind == Kind::kAllowed);
  CHECK(f.Get("team-a", "p2").kind == Kind::kRefused);
  CHECK(f.Used("own") == "pods=1");
  CHECK(f.UsedOf("cluster") == "1");
}

}  // namespace
}  // namespace cluster_charging_test
