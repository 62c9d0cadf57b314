#include "controllers/quota/events/quota_conditions.h"

#include <catch2/catch.hpp>

#include "pkg/quota/core/core_quota.h"

namespace quota_conditions_test {

using namespace std::chrono_literals;
using controllers::Announcement;
using controllers::Obstacle;
using controllers::QuotaConditions;
using quota::Quantity;
using quota::ResourceList;
using Kind = Obstacle::Kind;
using Texts = std::vector<std::string>;

namespace {

constexpr const char* kWidgets = "count/widgets.example.com";

Obstacle Widgets(Kind kind, std::vector<std::string> names = {kWidgets}) {
  return {kind, "widgets.example.com", std::move(names), "LIST widgets: 403 Forbidden"};
}

struct Fixture {
  Fixture() {
    quota.key = {"team-a", "q"};
    quota.uid = "u1";
    quota.hard = {{"pods", Quantity::FromInt(5)}, {kWidgets, Quantity::FromInt(5)}};
  }
  // The events that are due now.
  Texts Look(const std::vector<Obstacle>& obstacles, const std::vector<std::string>& unknown = {}) {
    return Events(obstacles, {.uncountable = unknown});
  }
  Texts Events(const std::vector<Obstacle>& obstacles, const controllers::Flaws& flaws) {
    Texts texts;
    again = conditions.Look(quota, obstacles, flaws, clock.Now(), server_since,
                            [&](const Announcement& announcement) {
                              if (deaf) return false;
                              texts.push_back(announcement.reason + ": " + announcement.message);
                              type = announcement.type;
                              return true;
                            });
    return texts;
  }
  [[nodiscard]] std::optional<base::Duration> AgainIn() const {
    if (!again) return std::nullopt;
    return *again - clock.Now();
  }

  base::ManualClock clock;
  base::TimePoint server_since{};
  QuotaConditions conditions;
  quota::Quota quota;
  bool deaf = false;
  std::optional<base::TimePoint> again;
  client::EventType type = client::EventType::kNormal;
};

const Texts kStale = {
    "QuotaStale: count/widgets.example.com is stale, status.used keeps what was last known: "
    "LIST widgets: 403 Forbidden"};
const Texts kHealed = {"QuotaHealed: count/widgets.example.com is counted again"};
const Texts kNotServed = {
    "ResourceNotServed: count/widgets.example.com is not counted until the API server serves "
    "widgets.example.com as a namespaced resource that can be listed and watched"};

}  // namespace

TEST_CASE("quota conditions: a healthy quota has no events and takes no memory", "[controllers]") {
  Fixture f;
  CHECK(f.Look({}).empty());
  CHECK_FALSE(f.again);
  CHECK(f.conditions.size() == 0);
}

TEST_CASE("quota conditions: a lasting failure is reported once, and its end once",
          "[controllers]") {
  Fixture f;
  CHECK(f.Look({Widgets(Kind::kRefused)}).empty());
  CHECK(f.AgainIn() == 5s);
  f.clock.Advance(5s);
  CHECK(f.Look({Widgets(Kind::kRefused)}) == kStale);
  CHECK(f.type == client::EventType::kWarning);
  CHECK_FALSE(f.again);
  CHECK(f.conditions.Count() == QuotaConditions::Standings{{{"widgets.example.com", "stale"}, 1}});
  for (int i = 0; i < 5; ++i) {
    f.clock.Advance(10min);
    CHECK(f.Look({Widgets(i % 2 == 0 ? Kind::kSilent : Kind::kRefused)}).empty());
  }
  CHECK(f.Look({Widgets(Kind::kPending)}).empty());  // a first list is in progress
  CHECK(f.Look({}) == kHealed);
  CHECK(f.type == client::EventType::kNormal);
  CHECK(f.Look({}).empty());
  CHECK(f.conditions.size() == 0);
  CHECK(f.conditions.Count().empty());
}

TEST_CASE("quota conditions: a short failure is not reported", "[controllers]") {
  Fixture f;
  for (int i = 0; i < 3; ++i) {
    CHECK(f.Look({Widgets(Kind::kRefused)}).empty());
    f.clock.Advance(4s);
    CHECK(f.Look({Widgets(Kind::kRefused)}).empty());
    CHECK(f.Look({}).empty());
    f.clock.Advance(4s);
  }
}

TEST_CASE("quota conditions: a silent resource is reported later than a failing one",
          "[controllers]") {
  Fixture f;
  CHECK(f.Look({Widgets(Kind::kSilent)}).empty());
  f.clock.Advance(179s);
  CHECK(f.Look({Widgets(Kind::kSilent)}).empty());
  CHECK(f.AgainIn() == 1s);
  f.clock.Advance(1s);
  CHECK(f.Look({Widgets(Kind::kSilent)}) == kStale);
}

TEST_CASE("quota conditions: after an outage of the server each resource gets time for a retry",
          "[controllers]") {
  Fixture f;
  CHECK(f.Look({Widgets(Kind::kRefused)}).empty());
  f.clock.Advance(10min);
  f.server_since = f.clock.Now();
  CHECK(f.Look({Widgets(Kind::kRefused)}).empty());
  CHECK(f.AgainIn() == 15s);
  f.clock.Advance(14s);
  CHECK(f.Look({Widgets(Kind::kSilent)}).empty());
  CHECK(f.AgainIn() == 166s);
  f.clock.Advance(1s);
  CHECK(f.Look({Widgets(Kind::kRefused)}) == kStale);
}

TEST_CASE("quota conditions: an object that cannot be read is reported at once", "[controllers]") {
  Fixture f;
  CHECK(f.Look({Widgets(Kind::kUnreadable)}) == kStale);
  CHECK(f.Look({Widgets(Kind::kUnreadable)}).empty());
  CHECK(f.Look({}) == kHealed);
}

TEST_CASE("quota conditions: a kind that is not served is reported after a while, and its end",
          "[controllers]") {
  Fixture f;
  CHECK(f.Look({Widgets(Kind::kNotServed)}).empty());
  CHECK(f.AgainIn() == 30s);
  f.clock.Advance(30s);
  CHECK(f.Look({Widgets(Kind::kNotServed)}) == kNotServed);
  CHECK(f.conditions.Count() ==
        QuotaConditions::Standings{{{"widgets.example.com", "not-served"}, 1}});
  CHECK(f.Look({}) == kHealed);
}

TEST_CASE("quota conditions: a kind that fails and is then deleted causes an event for each",
          "[controllers]") {
  Fixture f;
  f.Look({Widgets(Kind::kRefused)});
  f.clock.Advance(5s);
  CHECK(f.Look({Widgets(Kind::kRefused)}) == kStale);
  CHECK(f.Look({Widgets(Kind::kNotServed)}).empty());
  f.clock.Advance(30s);
  CHECK(f.Look({Widgets(Kind::kNotServed)}) == kNotServed);
  CHECK(f.Look({}) == kHealed);
}

TEST_CASE("quota conditions: an added name is reported, a removed one is not", "[controllers]") {
  Fixture f;
  f.Look({Widgets(Kind::kUnreadable)});
  f.quota.hard.Set("widgets", Quantity::FromInt(1));
  CHECK(f.Look({Widgets(Kind::kUnreadable, {kWidgets, "widgets"})}) ==
        Texts{"QuotaStale: count/widgets.example.com, widgets are stale, status.used keeps what "
              "was last known: LIST widgets: 403 Forbidden"});
  f.quota.hard.Erase("widgets");
  CHECK(f.Look({Widgets(Kind::kUnreadable)}).empty());
  SECTION("healed") { CHECK(f.Look({}) == kHealed); }
  SECTION("no longer named") {
    f.quota.hard.Erase(kWidgets);
    CHECK(f.Look({}).empty());
    CHECK(f.conditions.size() == 0);
  }
}

TEST_CASE("quota conditions: an event that was not accepted is sent again later", "[controllers]") {
  Fixture f;
  f.deaf = true;
  CHECK(f.Look({Widgets(Kind::kUnreadable)}, {"foo.bar/x"}).empty());
  CHECK(f.AgainIn() == 30s);
  CHECK(f.conditions.Count().empty());
  f.deaf = false;
  CHECK(f.Look({Widgets(Kind::kUnreadable)}, {"foo.bar/x"}).size() == 2);
  f.deaf = true;
  CHECK(f.Look({}).empty());
  CHECK(f.AgainIn() == 30s);
  f.deaf = false;
  CHECK(f.Look({}) == kHealed);
}

TEST_CASE("quota conditions: the state of a quota is deleted with it", "[controllers]") {
  Fixture f;
  f.Look({Widgets(Kind::kUnreadable)});
  f.conditions.Forget("u1");
  CHECK(f.conditions.size() == 0);
  f.quota.uid = "u2";  // another quota of the same name
  CHECK(f.Look({Widgets(Kind::kUnreadable)}) == kStale);
}

TEST_CASE("quota conditions: unknown names are reported once, and again when one is added",
          "[controllers]") {
  Fixture f;
  CHECK(f.Look({}, {"example.com/gpu"}) ==
        Texts{"UnknownResourceName: nothing is counted under example.com/gpu: such a limit has no "
              "effect"});
  CHECK(f.Look({}, {"example.com/gpu"}).empty());
  CHECK(f.Look({}, {"count/events", "example.com/gpu"}).size() == 1);
  CHECK(f.Look({}, {"count/events"}).empty());
  CHECK(f.Look({}, {}).empty());
  CHECK(f.conditions.size() == 0);
}

TEST_CASE("quota conditions: a limit that is lowered below the usage is exceeded",
          "[controllers]") {
  const auto status = [](int hard, std::optional<int> used) {
    quota::Quota made;
    made.status.hard = {{"pods", Quantity::FromInt(hard)}};
    if (used) made.status.used = {{"pods", Quantity::FromInt(*used)}};
    return made;
  };
  const auto became = [](const quota::Quota& before, const quota::Quota& after) {
    return controllers::BecameExceeded(before.status, after);
  };
  const auto exceeded = became(status(10, 5), status(3, 5));
  REQUIRE(exceeded);
  CHECK(exceeded->reason == "QuotaExceeded");
  CHECK(exceeded->message ==
        "the limit lies below what is used, nothing more can be created: pods: used 5, hard 3");
  CHECK(became({}, status(3, 5)));                       // a new quota
  CHECK(became(status(3, std::nullopt), status(3, 5)));  // now known
  CHECK(became(status(3, 5), status(2, 5)));             // further below
  CHECK_FALSE(became(status(10, 5), status(5, 5)));
  CHECK_FALSE(became(status(3, 5), status(4, 5)));  // raised, not enough
  CHECK_FALSE(became(status(3, 3), status(3, 5)));  // usage grew
  CHECK_FALSE(became(status(10, 5), status(3, std::nullopt)));
}

TEST_CASE("quota conditions: the event of a quota in mode Warn does not announce refusals",
          "[controllers]") {
  quota::Quota before;
  quota::Quota after;
  after.status.hard = {{"pods", Quantity::FromInt(3)}};
  after.status.used = {{"pods", Quantity::FromInt(5)}};
  const auto told = [&](quota::ClusterSpec::Enforcement mode) {
    after.cluster.emplace().enforcement = mode;
    return controllers::BecameExceeded(before.status, after)->message;
  };
  CHECK(told(quota::ClusterSpec::Enforcement::kWarn) ==
        "the limit lies below what is used, what exceeds it is admitted with a warning: pods: used "
        "5, hard 3");
  CHECK(told(quota::ClusterSpec::Enforcement::kAudit) ==
        "the limit lies below what is used, what exceeds it is admitted, and noted in the audit "
        "log: pods: used 5, hard 3");
}

TEST_CASE("quota conditions: each cause has a reason of its own", "[controllers]") {
  const auto reason = [](Kind kind) {
    Fixture f;
    (void)f.Look({Widgets(kind)});
    f.clock.Advance(200s);
    (void)f.Look({Widgets(kind)});
    const auto told = f.conditions.ToldOf(f.quota);
    REQUIRE(told.size() == 1);
    return told.front().condition;
  };
  CHECK(reason(Kind::kRefused) == "ListFailed");
  CHECK(reason(Kind::kForbidden) == "ListForbidden");
  CHECK(reason(Kind::kSilent) == "NoAnswer");
  CHECK(reason(Kind::kUnreadable) == "ObjectUnreadable");
  CHECK(reason(Kind::kClassMissing) == "ClassNotFound");
  CHECK(reason(Kind::kNotServed) == "KindNotServed");
}

TEST_CASE("quota conditions: names that were never counted are told apart", "[controllers]") {
  Fixture f;
  Obstacle obstacle = Widgets(Kind::kForbidden, {kWidgets, "widgets"});
  obstacle.held_out = {"widgets"};
  CHECK(f.Look({obstacle}).empty());
  f.clock.Advance(200s);
  CHECK(f.Look({obstacle}) ==
        Texts{"QuotaStale: widgets is not in force until counted for the first time; "
              "count/widgets.example.com is stale, status.used keeps what was last known: LIST "
              "widgets: 403 Forbidden"});
}

TEST_CASE("quota conditions: a quota that is not in force is reported once for each reason",
          "[controllers]") {
  Fixture f;
  const auto look = [&](const std::string& reason, const std::string& message = "m") {
    return f.Events({}, {.not_in_force = {reason, message}});
  };
  CHECK(look("ParentNotFound").empty());
  CHECK(f.AgainIn() == 5s);
  f.clock.Advance(5s);
  f.deaf = true;
  CHECK(look("ParentNotFound").empty());
  CHECK(f.AgainIn() == 30s);
  f.deaf = false;
  CHECK(look("ParentNotFound") ==
        Texts{"ParentNotFound: m; until there is one, only its own limits hold"});
  CHECK(f.type == client::EventType::kWarning);
  CHECK_FALSE(f.again);
  f.clock.Advance(1h);
  CHECK(look("ParentNotFound").empty());
  CHECK(f.conditions.ToldOf(f.quota).empty());  // the condition Ready says it, not Stale
  CHECK(look("GuaranteedExceedsParent").empty());
  f.clock.Advance(5s);
  CHECK(look("GuaranteedExceedsParent", "missing: pods=2") ==
        Texts{"GuaranteedExceedsParent: missing: pods=2"});
  CHECK(look("GuaranteedExceedsParent", "missing: pods=1").empty());
  CHECK(f.Look({}) == Texts{"QuotaHealed: the quota has what is guaranteed to it again"});
  CHECK(f.type == client::EventType::kNormal);
  CHECK(f.conditions.size() == 0);
}

TEST_CASE("quota conditions: a parent that is created right after its child is not reported",
          "[controllers]") {
  Fixture f;
  CHECK(f.Events({}, {.not_in_force = {"ParentNotFound", "m"}}).empty());
  f.clock.Advance(4s);
  CHECK(f.Look({}).empty());
  CHECK(f.conditions.size() == 0);
}

TEST_CASE("quota conditions: the reasons of the tree are read from the condition Ready",
          "[controllers]") {
  const auto reason = [](const std::string& type, const std::string& status,
                         const std::string& said) {
    const json::Value conditions = json::Array{
        json::Object{{"type", type}, {"status", status}, {"reason", said}, {"message", "m"}}};
    return controllers::NotInForceOf(&conditions).reason;
  };
  for (const char* one : {"ParentNotFound", "ParentCycle", "GuaranteedExceedsParent"}) {
    CHECK(reason("Ready", "False", one) == one);
    CHECK(reason("Ready", "True", one).empty());
    CHECK(reason("Stale", "True", one).empty());
  }
  CHECK(reason("Ready", "False", "ListFailed").empty());
  CHECK(controllers::NotInForceOf(nullptr).reason.empty());
}

TEST_CASE("quota conditions: a refused status is reported once, whatever each refusal says",
          "[controllers]") {
  Fixture f;
  const auto look = [&](const std::string& why) { return f.Events({}, {.unwritable = why}); };
  f.deaf = true;
  CHECK(look("denied: used is 1").empty());
  CHECK(f.AgainIn() == 30s);
  f.deaf = false;
  CHECK(look("denied: used is 1") ==
        Texts{"StatusRefused: the API server refuses to write the status of this quota, so its "
              "usage is stale, and what needs it may be refused: denied: used is 1"});
  CHECK(f.type == client::EventType::kWarning);
  CHECK(look("denied: used is 2").empty());
  CHECK_FALSE(f.again);
  CHECK(look("") == Texts{"QuotaHealed: the status of the quota is written again"});
  CHECK(f.type == client::EventType::kNormal);
  CHECK(f.conditions.size() == 0);
  CHECK(look("denied: used is 1").size() == 1);
}

TEST_CASE("conditions: an exempt namespace is reported once, as soon as the event is accepted",
          "[controllers]") {
  Fixture f;
  Texts said;
  const auto look = [&](bool exempt) {
    const Texts texts = f.Events({}, {.exempt = exempt});
    said.insert(said.end(), texts.begin(), texts.end());
    return f.AgainIn();
  };
  CHECK_FALSE(look(false));
  CHECK(f.conditions.size() == 0);
  f.deaf = true;
  CHECK(look(true) == 30s);
  CHECK(f.conditions.size() == 0);
  f.deaf = false;
  CHECK_FALSE(look(true));
  CHECK_FALSE(look(true));
  REQUIRE(said.size() == 1);
  CHECK(said.front().starts_with("QuotaNotEnforced: "));
  f.conditions.Forget("u1");
  CHECK(f.conditions.size() == 0);
}

}  // namespace quota_conditions_test
