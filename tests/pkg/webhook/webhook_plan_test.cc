#include "pkg/webhook/webhook_plan.h"

#include <algorithm>
#include <string>
#include <vector>

#include "pkg/http/certificate.h"
#include "pkg/webhook/certificate_keyring.h"
#include "pkg/webhook/ownership.h"
#include "pkg/webhook/stored_configuration.h"
#include "tests/pkg/webhook/webhook_testing.h"

namespace webhook::webhook_plan_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const api::GroupResource kSecrets{"", "secrets"};

// A plan, the time, and a server that stores each write.
class Planned {
 public:
  explicit Planned(WebhookPlanOptions options = {.configuration = ByService(),
                                                 .quota_apis = {"core"}})
      : plan(std::move(options)) {}

  void Want(const std::vector<GuardedResource>& wanted) { plan.SetWanted(now, "core", wanted); }
  void Trust(const std::string& pem) { plan.SetCaBundle(now, pem); }
  void Show(const json::Value& configuration) {
    live = Shown(configuration, std::to_string(++version));
    plan.OnLive(now, &live);
  }
  void ShowNothing() { plan.OnLive(now, nullptr); }
  void Pass(base::Duration time) {
    now += time;
    plan.Advance(now);
  }
  // Performs the next write; false if there is none.
  bool Write() {
    const auto write = plan.Next();
    if (!write) return false;
    json::Value stored = write->create ? write->body : live;
    if (!write->create) stored.Make({"webhooks"}) = *write->body.At({"webhooks"});
    Show(stored);
    return true;
  }
  // Rules and CA bundle are set and stored, and have propagated.
  void Settle(const std::vector<GuardedResource>& wanted) {
    Want(wanted);
    Trust("PEM");
    ShowNothing();
    REQUIRE(Write());
    Pass(seconds(1));
    REQUIRE(plan.Missing().empty());
  }
  [[nodiscard]] std::vector<GuardedResource> Guards() const { return GuardedBy(live); }

  base::TimePoint now{std::chrono::hours(1)};
  WebhookPlan plan;
  json::Value live;
  int version = 10;
};

}  // namespace

TEST_CASE("webhook plan: writes nothing before rules, CA bundle and server are known",
          "[admission]") {
  Planned p;
  CHECK(p.plan.Missing() == "the stored configuration is not known yet");
  p.ShowNothing();
  CHECK(p.plan.Missing() == "there is no certificate yet");
  p.Want({Counted("secrets")});
  CHECK_FALSE(p.plan.Next());
  p.Trust("PEM");
  REQUIRE(p.plan.Next());
  CHECK(p.plan.Next()->create);
  CHECK(p.plan.Missing() == "rules of 1 resources are not stored yet, one is secrets");
}

TEST_CASE("webhook plan: without a rule no object is created", "[admission]") {
  Planned p;
  p.Trust("PEM");
  p.ShowNothing();
  CHECK(p.plan.Missing() == "quotas of core are not listed yet");
  p.Want({});
  CHECK_FALSE(p.plan.Next());
  CHECK(p.plan.Missing().empty());
}

TEST_CASE("webhook plan: a rule counts as stored after it has propagated", "[admission]") {
  Planned p;
  p.Want({Counted("secrets")});
  p.Trust("PEM");
  p.ShowNothing();
  REQUIRE(p.Write());
  CHECK_FALSE(p.plan.Next());
  REQUIRE(p.plan.NextDeadline() == p.now + milliseconds(500));
  p.Pass(milliseconds(499));
  CHECK_FALSE(p.plan.Stored("core", kSecrets, "team-a"));
  CHECK_FALSE(p.plan.TakeChanged());
  p.Pass(milliseconds(1));
  CHECK(p.plan.Stored("core", kSecrets, "team-a"));
  CHECK(p.plan.TakeChanged());
  CHECK_FALSE(p.plan.TakeChanged());
  CHECK_FALSE(p.plan.NextDeadline());
  CHECK_FALSE(p.plan.Stored("karmada", kSecrets, "team-a"));
  CHECK_FALSE(p.plan.Stored("core", {"", "pods"}, "team-a"));
}

TEST_CASE("webhook plan: an unwanted rule is removed after the grace period", "[admission]") {
  Planned p;
  p.Settle({Counted("secrets"), Pods()});
  p.Want({Pods()});
  CHECK_FALSE(p.plan.Next());
  p.Pass(seconds(29));
  CHECK(p.plan.Stored("core", kSecrets, "team-a"));
  CHECK_FALSE(p.plan.Next());
  p.Pass(seconds(1));
  CHECK_FALSE(p.plan.Stored("core", kSecrets, "team-a"));  // before it is removed
  CHECK(p.plan.TakeChanged());
  REQUIRE(p.Write());
  CHECK(p.Guards() == std::vector<GuardedResource>{Pods()});
}

TEST_CASE("webhook plan: a rule that is wanted again in time changes nothing", "[admission]") {
  Planned p;
  p.Settle({Counted("secrets"), Pods()});
  p.Want({Pods()});
  p.Pass(seconds(20));
  p.Want({Counted("secrets"), Pods()});
  p.Pass(seconds(600));
  CHECK(p.plan.Stored("core", kSecrets, "team-a"));
  CHECK_FALSE(p.plan.Next());
}

TEST_CASE("webhook plan: a label key counts as stored after it has propagated", "[admission]") {
  Planned p;
  p.Settle({Labelled(Counted("secrets"), {"team"})});
  const auto stored = [&](std::set<std::string, std::less<>> keys) {
    return p.plan.Stored("core", kSecrets, {.all_but = false, .label_keys = std::move(keys)});
  };
  CHECK(stored({"team"}));
  CHECK(stored({}));
  CHECK_FALSE(stored({"env", "team"}));
  CHECK_FALSE(p.plan.Stored("core", kSecrets, Namespaces{}));
  CHECK_FALSE(p.plan.Stored("core", kSecrets, "shop"));
  // Whatever labels a namespace has.
  CHECK(p.plan.MaySelect("core", kSecrets, "shop"));
  CHECK_FALSE(p.plan.MaySelect("core", {"", "pods"}, "shop"));
  p.Want({Labelled(Counted("secrets"), {"env", "team"})});
  REQUIRE(p.Write());
  CHECK_FALSE(p.plan.Next());
  CHECK_FALSE(stored({"env", "team"}));
  CHECK(stored({"team"}));
  p.Pass(milliseconds(500));
  CHECK(stored({"env", "team"}));
  p.Want({Labelled(Counted("secrets"), {"env"}, {"shop"})});
  REQUIRE(p.Write());
  p.Pass(milliseconds(500));
  CHECK(p.plan.Stored("core", kSecrets, "shop"));
  CHECK(stored({"team"}));
  p.Pass(seconds(30));
  CHECK_FALSE(stored({"team"}));
  REQUIRE(p.Write());
  CHECK(p.Guards() ==
        std::vector<GuardedResource>{Labelled(Counted("secrets"), {"env"}, {"shop"})});
  CHECK(p.plan.Missing().empty());
}

TEST_CASE("webhook plan: more label keys than a configuration can have are all namespaces",
          "[admission]") {
  std::set<std::string, std::less<>> keys;
  for (std::size_t i = 0; i < kMostLabelKeys; ++i) keys.insert("key-" + std::to_string(i));
  Planned p;
  p.Settle({Labelled(Counted("secrets"), keys)});
  const auto stored = [&](const std::set<std::string, std::less<>>& of) {
    return p.plan.Stored("core", kSecrets, {.all_but = false, .label_keys = of});
  };
  CHECK(stored(keys));
  const auto fewer = keys;
  keys.insert("one-more");
  p.Want({Labelled(Counted("secrets"), keys)});
  CHECK(stored(fewer));
  CHECK_FALSE(stored({"one-more"}));
  REQUIRE(p.Write());
  CHECK(p.Guards() == std::vector<GuardedResource>{Counted("secrets")});
  p.Pass(milliseconds(500));
  CHECK(stored(keys));
  CHECK(stored(fewer));
  p.Pass(seconds(60));
  CHECK(stored(fewer));
  CHECK_FALSE(p.plan.Next());
  p.Want({Labelled(Counted("secrets"), fewer)});
  CHECK(stored(fewer));
  p.Pass(seconds(30));
  REQUIRE(p.Write());
  CHECK(p.Guards() == std::vector<GuardedResource>{Labelled(Counted("secrets"), fewer)});
  CHECK_FALSE(p.plan.Next());
}

TEST_CASE("webhook plan: rules for all namespaces that an earlier version stored are narrowed",
          "[admission]") {
  Planned p;
  p.Trust("PEM");
  p.Show(DesiredConfiguration(ByService(), {Counted("secrets")}, "PEM"));
  p.Pass(milliseconds(500));
  CHECK(p.plan.Stored("core", kSecrets, Namespaces{}));
  p.Want({Labelled(Counted("secrets"), {"team"})});
  CHECK_FALSE(p.plan.Next());
  p.Pass(milliseconds(500));
  const Namespaces team{.all_but = false, .label_keys = {"team"}};
  CHECK(p.plan.Stored("core", kSecrets, team));
  p.Pass(seconds(30));
  REQUIRE(p.Write());
  CHECK(p.Guards() == std::vector<GuardedResource>{Labelled(Counted("secrets"), {"team"})});
  CHECK(p.plan.Stored("core", kSecrets, team));
  // Another replica of that version writes them again.
  p.Show(DesiredConfiguration(ByService(), {Counted("secrets")}, "PEM"));
  CHECK_FALSE(p.plan.Next());
}

TEST_CASE("webhook plan: without rules the object stays, with no webhooks", "[admission]") {
  Planned p;
  p.Settle({Counted("secrets")});
  p.Want({});
  p.Pass(seconds(30));
  REQUIRE(p.Write());
  CHECK(p.live.At({"webhooks"})->AsArray()->empty());
  CHECK_FALSE(p.plan.Next());
}

TEST_CASE("webhook plan: a restart removes no rule before the quotas are listed", "[admission]") {
  Planned p;
  p.Trust("PEM");
  p.Show(DesiredConfiguration(ByService(), {Counted("secrets"), Pods()}, "PEM"));
  p.Pass(seconds(3600));
  CHECK_FALSE(p.plan.Next());
  CHECK(p.plan.Stored("core", kSecrets, "team-a"));
  p.Want({Pods()});
  p.Pass(seconds(29));
  CHECK_FALSE(p.plan.Next());
  p.Pass(seconds(1));
  REQUIRE(p.Write());
  CHECK(p.Guards() == std::vector<GuardedResource>{Pods()});
}

TEST_CASE("webhook plan: a rule that another replica wants is not removed", "[admission]") {
  Planned p;
  p.Settle({Pods()});
  p.Show(DesiredConfiguration(ByService(), {Counted("secrets"), Pods()}, "PEM"));
  CHECK_FALSE(p.plan.Next());
  p.Pass(seconds(5));
  p.Want({Counted("secrets"), Pods()});
  p.Pass(seconds(600));
  CHECK_FALSE(p.plan.Next());
  CHECK(p.plan.Stored("core", kSecrets, "team-a"));
}

TEST_CASE("webhook plan: rules of a quota API that is no longer enforced are removed",
          "[admission]") {
  Planned p;
  p.Settle({Pods()});
  p.Show(
      DesiredConfiguration(ByService(), {Pods(), Counted("machines", "x.io", "ironcore")}, "PEM"));
  CHECK_FALSE(p.plan.Next());
  p.Pass(seconds(30));
  REQUIRE(p.Write());
  CHECK(p.Guards() == std::vector<GuardedResource>{Pods()});
}

TEST_CASE("webhook plan: a rule with a new condition is not the one that is stored",
          "[admission]") {
  Planned p;
  GuardedResource guarded = Counted("secrets");
  p.Settle({guarded});
  REQUIRE(p.plan.Stored("core", kSecrets, "team-a"));
  guarded.updates = true;
  guarded.update_condition = "object.spec != oldObject.spec";
  p.Want({guarded});
  CHECK(p.plan.TakeChanged());
  CHECK_FALSE(p.plan.Stored("core", kSecrets, "team-a"));
  REQUIRE(p.Write());
  p.Pass(seconds(1));
  CHECK(p.plan.Stored("core", kSecrets, "team-a"));
}

TEST_CASE("webhook plan: a rule whose condition is left out for its length is stored",
          "[admission]") {
  Planned p;
  std::vector<GuardedResource> wanted;
  for (int i = 10; i < 70; ++i) {
    GuardedResource one = Counted("kind" + std::to_string(i));
    one.updates = true;
    one.update_condition = std::to_string(i) + std::string(16'000, 'c');
    wanted.push_back(std::move(one));
  }
  p.Settle(wanted);
  for (const GuardedResource& one : wanted) CHECK(p.plan.Stored("core", one.resource, "team-a"));
  CHECK_FALSE(p.plan.Next());
  const std::vector<GuardedResource> read = p.Guards();
  CHECK(std::ranges::any_of(read, [](const auto& one) { return one.update_condition.empty(); }));
}

TEST_CASE("webhook plan: somebody's change is repaired", "[admission]") {
  Planned p;
  p.Settle({Counted("secrets"), Pods()});
  SECTION("deleted") {
    p.ShowNothing();
    REQUIRE(p.plan.Next());
    CHECK(p.plan.Next()->create);
  }
  SECTION("opened") {
    json::Value changed = p.live;
    WebhookAt(changed, 0).Make({"failurePolicy"}) = "Ignore";
    p.Show(changed);
    CHECK(p.plan.Next()->body.StringAt({"metadata", "resourceVersion"}) ==
          std::to_string(p.version));
  }
  SECTION("emptied") {
    json::Value changed = p.live;
    changed.Make({"webhooks"}) = json::Array{};
    p.Show(changed);
  }
  CHECK(p.plan.Stored("core", kSecrets, "team-a"));  // a manual change does not affect status.hard
  REQUIRE(p.Write());
  CHECK_FALSE(p.plan.Next());
  CHECK(p.Guards().size() == 2);
}

TEST_CASE("webhook plan: a rule that calls another address does not count", "[admission]") {
  Planned p;
  p.Want({Counted("secrets")});
  p.Trust("PEM");
  ConfigurationOptions elsewhere = ByService();
  elsewhere.endpoint = AdmissionUrl{.host = "127.0.0.1", .port = 1, .path = ""};
  p.Show(DesiredConfiguration(elsewhere, {Counted("secrets")}, "PEM"));
  p.Pass(seconds(60));
  CHECK_FALSE(p.plan.Stored("core", kSecrets, "team-a"));
  REQUIRE(p.Write());
  p.Pass(seconds(1));
  CHECK(p.plan.Stored("core", kSecrets, "team-a"));
}

TEST_CASE("webhook plan: somebody else's object is left alone and reported", "[admission]") {
  Planned p;
  p.Want({Counted("secrets")});
  p.Trust("PEM");
  json::Value foreign = DesiredConfiguration(ByService(), {Counted("secrets")}, "PEM");
  foreign.Make({"metadata", "labels", "app.kubernetes.io/managed-by"}) = "Helm";
  p.Show(foreign);
  p.Pass(seconds(60));
  CHECK(p.plan.IsForeign());
  CHECK_FALSE(p.plan.Next());
  CHECK_FALSE(p.plan.Stored("core", kSecrets, "team-a"));
  CHECK(p.plan.Missing() ==
        "an object of this name does not carry the label "
        "app.kubernetes.io/managed-by=quota-controller-manager and is left alone");
  p.ShowNothing();
  CHECK(p.Write());
}

TEST_CASE("webhook plan: another installation's object is left alone and its owner reported",
          "[admission]") {
  ConfigurationOptions ours = ByService();
  ours.installation = "quota-system/quota";
  ConfigurationOptions theirs = ByService();
  theirs.installation = "other/quota";
  const auto now = base::TimePoint(seconds(100));
  WebhookPlan plan({.configuration = ours, .quota_apis = {"core"}});
  plan.SetWanted(now, "core", {Counted("secrets")});
  plan.SetCaBundle(now, "PEM");
  const json::Value others = Shown(DesiredConfiguration(theirs, {Counted("secrets")}, "PEM"), "1");
  plan.OnLive(now, &others);
  plan.Advance(now + seconds(60));
  CHECK(plan.IsForeign());
  CHECK(plan.OtherInstallation() == "other/quota");
  CHECK_FALSE(plan.Next());
  CHECK_FALSE(plan.Stored("core", kSecrets, "team-a"));
  CHECK(plan.Missing() ==
        "it belongs to the installation other/quota, and this is quota-system/quota: only one of "
        "them can enforce in a cluster. Remove the other one with --uninstall");
  plan.OnLive(now, nullptr);
  const auto write = plan.Next();
  REQUIRE(write);
  CHECK(write->create);
  CHECK(InstallationOf(write->body) == "quota-system/quota");
}

TEST_CASE("webhook plan: an object of ours without an installation is claimed", "[admission]") {
  ConfigurationOptions ours = ByService();
  ours.installation = "quota-system/quota";
  const auto now = base::TimePoint(seconds(100));
  WebhookPlan plan({.configuration = ours, .quota_apis = {"core"}});
  plan.SetWanted(now, "core", {});
  plan.SetCaBundle(now, "PEM");
  const json::Value unclaimed = Shown(DesiredConfiguration(ByService(), {}, "PEM"), "1");
  plan.OnLive(now, &unclaimed);
  CHECK_FALSE(plan.IsForeign());
  const auto write = plan.Next();
  REQUIRE(write);
  CHECK_FALSE(write->create);
  CHECK(InstallationOf(write->body) == "quota-system/quota");
  const json::Value claimed = Shown(DesiredConfiguration(ours, {}, "PEM"), "2");
  plan.OnLive(now, &claimed);
  CHECK_FALSE(plan.Next());
}

TEST_CASE("webhook plan: a rule is stored for the namespaces that it names", "[admission]") {
  Planned p;
  p.Settle({In(Counted("secrets"), {"a"})});
  CHECK(p.plan.Stored("core", kSecrets, "a"));
  CHECK_FALSE(p.plan.Stored("core", kSecrets, "b"));
  p.Want({In(Counted("secrets"), {"a", "b"})});
  CHECK(p.plan.Missing() == "rules of 1 resources are not stored yet, one is secrets");
  REQUIRE(p.Write());
  CHECK_FALSE(p.plan.Stored("core", kSecrets, "b"));
  p.Pass(milliseconds(500));
  CHECK(p.plan.Stored("core", kSecrets, "b"));
  CHECK(p.plan.TakeChanged());
  CHECK(p.plan.Missing().empty());
}

TEST_CASE("webhook plan: an unwanted namespace is removed after the grace period", "[admission]") {
  Planned p;
  p.Settle({In(Counted("secrets"), {"a", "b"})});
  p.Want({In(Counted("secrets"), {"a"})});
  CHECK_FALSE(p.plan.Next());
  p.Pass(seconds(29));
  CHECK(p.plan.Stored("core", kSecrets, "b"));
  p.Pass(seconds(1));
  CHECK_FALSE(p.plan.Stored("core", kSecrets, "b"));
  REQUIRE(p.Write());
  CHECK(p.Guards() == std::vector<GuardedResource>{In(Counted("secrets"), {"a"})});
}

TEST_CASE("webhook plan: all limits hold while the selector changes to all and back",
          "[admission]") {
  Planned p;
  p.Settle({Counted("secrets")});
  p.Want({In(Counted("secrets"), {"a"})});
  p.Pass(seconds(1));
  CHECK(p.plan.Stored("core", kSecrets, "a"));
  CHECK_FALSE(p.plan.Next());
  p.Pass(seconds(30));
  CHECK(p.plan.Stored("core", kSecrets, "a"));
  REQUIRE(p.Write());
  CHECK(p.Guards() == std::vector<GuardedResource>{In(Counted("secrets"), {"a"})});
  CHECK_FALSE(p.plan.Stored("core", kSecrets, "b"));
  p.Want({Counted("secrets")});
  REQUIRE(p.Write());
  CHECK(p.Guards() == std::vector<GuardedResource>{Counted("secrets")});
  CHECK(p.plan.Stored("core", kSecrets, "a"));
  p.Pass(seconds(1));
  CHECK(p.plan.Stored("core", kSecrets, "b"));
}

TEST_CASE("webhook plan: an unwanted rule that another replica removed is not restored",
          "[admission]") {
  Planned p;
  p.Settle({In(Counted("secrets"), {"a", "b"}), Pods()});
  p.Want({In(Counted("secrets"), {"a"})});
  p.Show(DesiredConfiguration(ByService(), {In(Counted("secrets"), {"a"})}, "PEM"));
  CHECK_FALSE(p.plan.Next());
  CHECK_FALSE(p.plan.Stored("core", kSecrets, "b"));
  CHECK_FALSE(p.plan.Stored("core", {"", "pods"}, "a"));
  p.Show(DesiredConfiguration(ByService(), {}, "PEM"));
  CHECK(p.plan.Next());  // a wanted rule is restored
}

TEST_CASE("webhook plan: a rule does not count in a namespace that is excluded in addition",
          "[admission]") {
  Planned p;
  p.Want({In(Counted("secrets"), {"a", "b"})});
  p.Trust("PEM");
  ConfigurationOptions sparing = ByService();
  sparing.exempt_namespaces.emplace_back("b");
  p.Show(DesiredConfiguration(sparing, {Counted("secrets")}, "PEM"));
  p.Pass(seconds(1));
  CHECK(p.plan.Stored("core", kSecrets, "a"));
  CHECK_FALSE(p.plan.Stored("core", kSecrets, "b"));
}

TEST_CASE("webhook plan: break-glass removes the webhooks and keeps the limits shown",
          "[admission]") {
  Planned p;
  p.Settle({Counted("secrets")});
  p.live.Make({"metadata", "annotations", kBreakGlassAnnotation}) = "true";
  p.Show(p.live);
  CHECK(p.plan.IsOpen());
  REQUIRE(p.Write());
  CHECK(AsksNobody(p.live));
  CHECK(p.plan.Missing().find("all requests pass") == 0);
  CHECK(p.plan.Stored("core", kSecrets, "a"));
  p.Want({Counted("secrets"), Pods()});
  p.Pass(seconds(60));
  CHECK_FALSE(p.plan.Next());
  CHECK_FALSE(p.plan.Stored("core", {"", "pods"}, "a"));
  SECTION("it is mended") {
    p.live.Make({"metadata"}).AsObject()->Erase("annotations");
    p.Show(p.live);
    REQUIRE(p.Write());
    CHECK(p.Guards().size() == 2);
  }
  SECTION("it is deleted, and stays away") {
    p.ShowNothing();
    CHECK_FALSE(p.plan.Next());
  }
}

TEST_CASE("webhook plan: a duration breaks the glass for so long", "[admission]") {
  Planned p;
  p.Settle({Counted("secrets")});
  const auto annotate = [&](const char* lasts) {
    p.live.Make({"metadata", "annotations", kBreakGlassAnnotation}) = "true";
    p.live.Make({"metadata", "annotations", kBreakGlassForAnnotation}) = lasts;
    p.live.Make({"webhooks"}) = json::Array();
    p.Show(p.live);
  };
  const auto is_taken_back = [&] {
    if (p.plan.IsOpen()) return false;
    const auto write = p.plan.Next();
    REQUIRE(write);
    const auto is_removed = [&](std::string_view annotation) {
      const json::Value* taken = write->body.At({"metadata", "annotations", annotation});
      return taken != nullptr && taken->IsNull();
    };
    return is_removed(kBreakGlassAnnotation) && is_removed(kBreakGlassForAnnotation);
  };
  const base::TimePoint begun = p.now;
  annotate("5m");
  CHECK(p.plan.IsOpen());
  CHECK_FALSE(p.plan.Next());
  CHECK(p.plan.NextDeadline() == begun + std::chrono::minutes(5));
  p.Pass(seconds(299));
  CHECK(p.plan.IsOpen());
  CHECK_FALSE(p.plan.Next());
  SECTION("it is over") {
    p.Pass(seconds(1));
    CHECK(is_taken_back());
    CHECK(p.plan.NextDeadline() == std::nullopt);
    p.live.Make({"metadata"}).AsObject()->Erase("annotations");
    REQUIRE(p.Write());
    CHECK(p.Guards() == std::vector<GuardedResource>{Counted("secrets")});
    CHECK_FALSE(p.plan.Next());
  }
  SECTION("it is broken again") {
    annotate("5m0s (version 7)");
    p.Pass(seconds(299));
    CHECK(p.plan.IsOpen());
    p.Pass(seconds(1));
    CHECK(is_taken_back());
  }
  SECTION("the annotation is taken back even if no rule is wanted") {
    p.Want({});
    p.Pass(seconds(31));
    CHECK(is_taken_back());
  }
  SECTION("meanwhile the object was deleted") {
    p.ShowNothing();
    CHECK_FALSE(p.plan.Next());
    p.Pass(seconds(1));
    REQUIRE(p.plan.Next());
    CHECK(p.plan.Next()->create);
  }
  SECTION("meanwhile somebody changed something else") {
    p.live.Make({"metadata", "annotations", "other"}) = "x";
    p.Show(p.live);
    p.Pass(seconds(1));
    CHECK(is_taken_back());
  }
  SECTION("an admin ends it, and the next one has no duration") {
    p.live.Make({"metadata", "annotations"}).AsObject()->Erase(kBreakGlassAnnotation);
    p.Show(p.live);
    CHECK(is_taken_back());
  }
  SECTION("an admin makes it last") {
    p.live.Make({"metadata", "annotations"}).AsObject()->Erase(kBreakGlassForAnnotation);
    p.Show(p.live);
    p.Pass(std::chrono::hours(100));
    CHECK(p.plan.IsOpen());
    CHECK_FALSE(p.plan.Next());
  }
  SECTION("an admin makes it last longer") {
    p.now += std::chrono::hours(24 * 365);  // the end is beyond what a time point can say
    annotate("2555555h");
    p.Pass(std::chrono::hours(100));
    CHECK(p.plan.IsOpen());
  }
  SECTION("the new duration is none") {
    annotate(GENERATE("0", "-1h", "soon"));
    p.Pass(std::chrono::hours(100));
    CHECK(p.plan.IsOpen());
    CHECK_FALSE(p.plan.Next());
  }
}

TEST_CASE("webhook plan: what the API server does not ask about is known", "[admission]") {
  Planned p;
  using Resources = std::set<api::GroupResource>;
  const auto unasked = [&] {
    const auto known = p.plan.UnaskedOf("core");
    REQUIRE(known.has_value());
    return *known;
  };
  CHECK_FALSE(p.plan.UnaskedOf("core").has_value());
  p.Want({Counted("secrets")});
  CHECK_FALSE(p.plan.UnaskedOf("core").has_value());
  p.Trust("PEM");
  p.ShowNothing();
  CHECK(unasked().resources == Resources{kSecrets});
  REQUIRE(p.Write());
  CHECK(unasked().resources.empty());
  CHECK(unasked().why.empty());
  CHECK_FALSE(p.plan.UnaskedOf("cluster").has_value());
  p.Want({Counted("secrets"), Pods()});
  CHECK(unasked().resources == Resources{{"", "pods"}});
  REQUIRE(p.Write());
  CHECK(unasked().resources.empty());
  p.Pass(seconds(1));
  const json::Value right = p.live;
  SECTION("the webhooks are removed") {
    p.live.Make({"webhooks"}) = json::Array();
    p.Show(p.live);
    CHECK(unasked().resources == Resources{{"", "pods"}, kSecrets});
    CHECK(p.plan.Stored("core", kSecrets, "a"));  // the name stays in status.hard
  }
  SECTION("the object is deleted") {
    p.ShowNothing();
    CHECK(unasked().resources == Resources{{"", "pods"}, kSecrets});
  }
  SECTION("the webhooks call somebody else") {
    for (json::Value& webhook : *p.live.Make({"webhooks"}).AsArray()) {
      webhook.Make({"clientConfig", "service", "name"}) = "other";
    }
    p.Show(p.live);
    CHECK(unasked().resources.size() == 2);
  }
  SECTION("the glass is broken") {
    p.live.Make({"metadata", "annotations", kBreakGlassAnnotation}) = "true";
    p.Show(p.live);
    CHECK(unasked().why.starts_with("all requests pass because of the annotation"));
  }
  SECTION("it is somebody else's") {
    p.live.Make({"metadata", "labels"}) = json::Object();
    p.Show(p.live);
    CHECK(unasked().why.starts_with("an object of this name does not carry the label"));
  }
  p.Show(right);
  CHECK(unasked().why.empty());
  CHECK(unasked().resources.empty());
}

TEST_CASE("webhook plan: the object stays empty while the leader only counts", "[admission]") {
  Planned p;
  p.Settle({Counted("secrets")});
  json::Value emptied = p.live;
  emptied.Make({"webhooks"}) = json::Array();
  emptied.Make({"metadata", "annotations", kCountingAnnotation}) = "counting";
  p.plan.SetLeader("counting");
  p.Show(emptied);
  CHECK(p.plan.IsOpen());
  CHECK_FALSE(p.plan.Next());
  CHECK(p.plan.Missing() == "all requests pass because the leader counting enforces nothing");
  p.plan.SetLeader("another");
  p.Pass(seconds(1));
  CHECK_FALSE(p.plan.IsOpen());
  const auto write = p.plan.Next();
  REQUIRE(write);
  CHECK(write->body.At({"metadata", "annotations", kCountingAnnotation})->IsNull());
}

TEST_CASE("webhook plan: an owner is added to the present ones", "[admission]") {
  Planned p;
  p.Settle({Counted("secrets")});
  const json::Value ours = Json(R"({"apiVersion":"rbac.authorization.k8s.io/v1",
      "kind":"ClusterRole","name":"quota","uid":"new"})");
  p.live.Make({"metadata", "ownerReferences"}) = Json(R"([{"kind":"Other","name":"x","uid":"1"},
               {"kind":"ClusterRole","name":"quota","uid":"old"}])");
  p.Show(p.live);
  CHECK_FALSE(p.plan.Next());
  p.plan.SetOwner(ours);
  const auto write = p.plan.Next();
  REQUIRE(write);
  json::Array owners = *write->body.At({"metadata", "ownerReferences"})->AsArray();
  REQUIRE(owners.size() == 2);
  CHECK(owners[0] == ours);
  CHECK(owners[1].StringAt({"kind"}) == "Other");
  p.live.Make({"metadata", "ownerReferences"}) = std::move(owners);
  p.Show(p.live);
  CHECK_FALSE(p.plan.Next());
}

TEST_CASE("webhook plan: the first rule waits for Begin()", "[admission]") {
  Planned p;
  p.plan.WaitToBegin();
  p.Want({Counted("secrets")});
  p.Trust("PEM");
  SECTION("there is no object") { p.ShowNothing(); }
  SECTION("there is an empty one") { p.Show(DesiredConfiguration(ByService(), {}, "")); }
  SECTION("others are asked already") {
    p.Show(DesiredConfiguration(ByService(), {Pods()}, "PEM"));
    CHECK(p.plan.Next());
    return;
  }
  p.Pass(seconds(60));
  CHECK_FALSE(p.plan.Next());
  p.plan.Begin();
  CHECK(p.plan.Next());
}

TEST_CASE("webhook plan: a certificate that the stored bundle does not trust is reported",
          "[admission]") {
  const auto ca = http::MakeCertificate({.common_name = "ca", .is_ca = true});
  const auto other = http::MakeCertificate({.common_name = "other", .is_ca = true});
  REQUIRE(ca.has_value());
  REQUIRE(other.has_value());
  const auto leaf = http::MakeCertificate({.hosts = {"quota.svc"}, .issuer = &*ca});
  REQUIRE(leaf.has_value());
  Planned p;
  p.ShowNothing();
  CHECK(p.plan.WhyNotTrusted(leaf->cert_pem).empty());
  const auto show = [&](const std::string& bundle) {
    p.Show(DesiredConfiguration(ByService(), {Counted("secrets")}, bundle));
    return p.plan.WhyNotTrusted(leaf->cert_pem);
  };
  CHECK(show(ca->cert_pem).empty());
  CHECK(show(other->cert_pem + ca->cert_pem).empty());
  CHECK(show("").empty());
  CHECK(show(other->cert_pem).find("its caBundle does not trust our certificate") == 0);
}

TEST_CASE("webhook plan: the CA of another daemon is told from other changes", "[admission]") {
  Planned p;
  p.Settle({Counted("secrets")});
  const base::WallTime now = base::RealClock().WallNow();
  const auto theirs = CarryOut(CertificateAction::kStartOver, {}, {"localhost"}, {now, now}, {});
  const auto strange = http::MakeCertificate({.common_name = "evil", .is_ca = true});
  const auto show = [&](const std::string& bundle) {
    json::Value shown = DesiredConfiguration(ByService(), {Counted("secrets")}, bundle);
    p.Show(shown);
    return p.plan.HasOtherDaemonsCa();
  };
  CHECK_FALSE(show("PEM"));
  CHECK(p.plan.IsCaBundleStored("PEM"));
  CHECK_FALSE(show("OTHER"));
  CHECK_FALSE(p.plan.IsCaBundleStored("PEM"));
  CHECK(p.plan.Next());
  CHECK_FALSE(show(strange->cert_pem));
  CHECK_FALSE(show(theirs->ca_pem + strange->cert_pem));
  CHECK_FALSE(show(""));
  CHECK(show(theirs->ca_pem));
  json::Value more = DesiredConfiguration(ByService(), {Counted("secrets")}, theirs->ca_pem);
  WebhookAt(more, 0).Make({"failurePolicy"}) = "Ignore";
  p.Show(more);
  CHECK_FALSE(p.plan.HasOtherDaemonsCa());
  p.Trust("OTHER");
  p.Show(DesiredConfiguration(ByService(), {Counted("secrets")}, "OTHER"));
  CHECK_FALSE(p.plan.Next());
}

TEST_CASE("webhook plan: an older version of the object changes nothing", "[admission]") {
  Planned p;
  p.Settle({Counted("secrets")});
  p.Want({Counted("secrets"), Pods()});
  const json::Value before = p.live;
  REQUIRE(p.Write());
  p.plan.OnLive(p.now, &before);
  CHECK_FALSE(p.plan.Next());
}

TEST_CASE("webhook plan: a name that no rule can contain delays nothing", "[admission]") {
  Planned p;
  p.Settle({Counted("secrets"), Counted("*"), Counted("Kind", "X.io")});
  CHECK_FALSE(p.plan.Stored("core", {"", "*"}, "team-a"));
}

}  // namespace webhook::webhook_plan_test
