// Rules that several quota APIs share, as the plan stores them.

#include "pkg/webhook/shared_rules.h"

#include "pkg/webhook/stored_configuration.h"
#include "pkg/webhook/webhook_plan.h"
#include "tests/pkg/webhook/webhook_testing.h"

namespace webhook::shared_rules_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using Guards = std::vector<GuardedResource>;

const api::GroupResource kSecrets{"", "secrets"};

GuardedResource Of(const std::string& quota_api, GuardedResource guarded) {
  guarded.quota_api = quota_api;
  return guarded;
}

GuardedResource Both(std::set<std::string, std::less<>> names,
                     std::set<std::string, std::less<>> keys) {
  GuardedResource guarded = Of("cluster.core", In(Counted("secrets"), std::move(names)));
  guarded.namespaces.label_keys = std::move(keys);
  return guarded;
}

// A plan for two quota APIs, and a server that stores each write.
class Planned {
 public:
  Planned() : plan({.configuration = ByService(), .quota_apis = {"core", "cluster"}}) {
    plan.SetCaBundle(now, "PEM");
  }

  void Want(const std::string& quota_api, Guards wanted) {
    for (GuardedResource& one : wanted) one.quota_api = quota_api;
    plan.SetWanted(now, quota_api, wanted);
  }
  void Show(const json::Value& configuration) {
    live = Shown(configuration, std::to_string(++version));
    plan.OnLive(now, &live);
  }
  void Pass(base::Duration time) {
    now += time;
    plan.Advance(now);
  }
  // Performs all writes and lets them propagate. Returns their number.
  int Settle() {
    int writes = 0;
    for (; const auto write = plan.Next(); ++writes) {
      REQUIRE(writes < 3);
      json::Value stored = write->create ? write->body : live;
      if (!write->create) stored.Make({"webhooks"}) = *write->body.At({"webhooks"});
      Show(stored);
    }
    Pass(milliseconds(500));
    return writes;
  }
  [[nodiscard]] Guards Stored() const { return GuardedBy(live); }

  base::TimePoint now{std::chrono::hours(1)};
  WebhookPlan plan;
  json::Value live;
  int version = 10;
};

// Secrets of namespace "a" by core, and of those with the label "team" by cluster.
Planned Sharing() {
  Planned p;
  p.plan.OnLive(p.now, nullptr);
  p.Want("core", {In(Counted("secrets"), {"a"})});
  p.Want("cluster", {Labelled(Counted("secrets"), {"team"})});
  REQUIRE(p.Settle() == 1);
  return p;
}

}  // namespace

TEST_CASE("shared rules: what two quota APIs want is stored once, in a webhook of both",
          "[admission]") {
  const Planned p = Sharing();
  CHECK(p.Stored() == Guards{Both({"a"}, {"team"})});
  CHECK(p.plan.Missing().empty());
  CHECK(p.plan.Stored("core", kSecrets, "a"));
  CHECK_FALSE(p.plan.Stored("core", kSecrets, {.all_but = false, .label_keys = {"team"}}));
  CHECK(p.plan.Stored("cluster", kSecrets, {.all_but = false, .label_keys = {"team"}}));
  for (const char* quota_api : {"core", "cluster"}) {
    CHECK(p.plan.UnaskedOf(quota_api)->resources.empty());
  }
}

// Each namespace is selected by one webhook, so that it gets one review.
TEST_CASE("shared rules: a namespace of both quota APIs is asked about once", "[admission]") {
  const Planned p = Sharing();
  const json::Array& webhooks = *p.live.At({"webhooks"})->AsArray();
  REQUIRE(webhooks.size() == 2);
  const auto selector = [&](std::size_t i) {
    return json::Write(*webhooks[i].At({"namespaceSelector", "matchExpressions"}));
  };
  CHECK(selector(0).find(R"("operator":"In","values":["a"])") != std::string::npos);
  CHECK(selector(1).find(R"({"key":"team","operator":"Exists"})") != std::string::npos);
  CHECK(selector(1).find(R"("operator":"NotIn","values":["a",)") != std::string::npos);
}

TEST_CASE("shared rules: a quota API that asks for something else has a rule of its own",
          "[admission]") {
  Planned p;
  p.plan.OnLive(p.now, nullptr);
  p.Want("core", {In(Pods(), {"a"})});
  p.Want("cluster", {In(Counted("pods"), {"a"})});
  p.Settle();
  CHECK(p.Stored() == Guards{In(Of("cluster", Counted("pods")), {"a"}), In(Pods(), {"a"})});
}

TEST_CASE("shared rules: all limits hold while the first quota API leaves and comes back",
          "[admission]") {
  Planned p = Sharing();
  const Namespaces team{.all_but = false, .label_keys = {"team"}};
  p.Want("core", {});
  p.Pass(seconds(30));
  CHECK(p.Settle() == 1);
  CHECK(p.Stored() == Guards{Of("cluster", Labelled(Counted("secrets"), {"team"}))});
  CHECK(p.plan.Stored("cluster", kSecrets, team));
  CHECK(p.plan.UnaskedOf("cluster")->resources.empty());
  p.Want("core", {In(Counted("secrets"), {"b"})});
  CHECK(p.plan.Stored("cluster", kSecrets, team));
  CHECK(p.Settle() == 1);
  CHECK(p.Stored() == Guards{Both({"b"}, {"team"})});
  CHECK(p.plan.Stored("core", kSecrets, "b"));
  CHECK(p.plan.Stored("cluster", kSecrets, team));
  CHECK(p.plan.UnaskedOf("cluster")->resources.empty());
}

TEST_CASE("shared rules: places of the second quota API go after their own grace period",
          "[admission]") {
  Planned p = Sharing();
  p.Want("cluster", {});
  p.Pass(seconds(29));
  CHECK(p.Settle() == 0);
  p.Pass(seconds(1));
  CHECK(p.Settle() == 1);
  CHECK(p.Stored() == Guards{In(Counted("secrets"), {"a"})});
}

TEST_CASE("shared rules: a restart removes nothing before the quota API that may want it has told",
          "[admission]") {
  Planned p;
  p.Show(DesiredConfiguration(ByService(), {Both({"a", "gone"}, {"team"})}, "PEM"));
  p.Want("core", {In(Counted("secrets"), {"a"})});
  p.Pass(seconds(3600));
  CHECK(p.Settle() == 0);
  CHECK(p.plan.MaySelect("cluster", kSecrets, "shop"));
  p.Want("cluster", {Labelled(Counted("secrets"), {"team"})});
  CHECK(p.plan.Stored("cluster", kSecrets, {.all_but = false, .label_keys = {"team"}}));
  p.Pass(seconds(29));
  CHECK(p.Settle() == 0);
  CHECK(p.Stored() == Guards{Both({"a", "gone"}, {"team"})});
  p.Pass(seconds(1));
  CHECK(p.Settle() == 1);
  CHECK(p.Stored() == Guards{Both({"a"}, {"team"})});
  p.Pass(seconds(3600));
  CHECK(p.Settle() == 0);
}

TEST_CASE("shared rules: a place that another replica wants may be of each quota API",
          "[admission]") {
  Planned p;
  p.plan.OnLive(p.now, nullptr);
  p.Want("core", {In(Counted("secrets"), {"a"})});
  p.Want("cluster", {});
  REQUIRE(p.Settle() == 1);
  CHECK_FALSE(p.plan.MaySelect("cluster", kSecrets, "shop"));
  p.Show(DesiredConfiguration(ByService(), {Both({"a"}, {"team"})}, "PEM"));
  CHECK(p.Settle() == 0);
  CHECK(p.plan.MaySelect("cluster", kSecrets, "shop"));
  CHECK(p.plan.MaySelect("core", kSecrets, "shop"));
}

TEST_CASE("shared rules: rules that would name too many namespaces together stay apart",
          "[admission]") {
  Planned p;
  p.plan.OnLive(p.now, nullptr);
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < kMostNamespaces; ++i) names.insert("a" + std::to_string(i));
  p.Want("core", {In(Counted("secrets"), names)});
  p.Want("cluster", {In(Counted("secrets"), {"b", "c"})});
  CHECK(p.Settle() == 1);
  CHECK(p.Stored() ==
        Guards{In(Of("cluster", Counted("secrets")), {"b", "c"}), In(Counted("secrets"), names)});
  CHECK(p.plan.Missing().empty());
  p.Pass(seconds(60));
  p.Show(p.live);
  CHECK(p.Settle() == 0);
  names.erase("a7");
  p.Want("core", {In(Counted("secrets"), names)});
  p.Want("cluster", {In(Counted("secrets"), {"b"})});
  p.Pass(seconds(30));
  CHECK(p.Settle() == 1);
  names.insert("b");
  CHECK(p.Stored() == Guards{Both(names, {})});
  CHECK(p.plan.Stored("core", kSecrets, "a8"));
  CHECK(p.plan.Stored("cluster", kSecrets, "b"));
}

TEST_CASE("shared rules: the rules of an earlier version become one", "[admission]") {
  Planned p;
  const Guards apart{In(Counted("secrets"), {"a"}),
                     Of("cluster", Labelled(Counted("secrets"), {"team"}))};
  p.Show(DesiredConfiguration(ByService(), apart, "PEM"));
  CHECK(p.Settle() == 1);
  CHECK(p.Stored() == Guards{Both({"a"}, {"team"})});
  p.Want("core", {apart[0]});
  p.Want("cluster", {apart[1]});
  p.Pass(seconds(60));
  CHECK(p.Settle() == 0);
  CHECK(p.plan.Missing().empty());
}

TEST_CASE("shared rules: the name of a webhook tells its quota APIs", "[admission]") {
  CHECK(Together({"core", "cluster"}) == "cluster.core");
  CHECK(QuotaApisIn("cluster.core") == std::vector<std::string>{"cluster", "core"});
  CHECK(QuotaApisIn("core") == std::vector<std::string>{"core"});
}

}  // namespace webhook::shared_rules_test
