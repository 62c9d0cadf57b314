#include "controllers/quota/quota_conditions.h"

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
    Texts texts;
    again = conditions.Look(quota, obstacles, unknown, clock.Now(), server_since,
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

TEST_CASE("quota conditions: a healthy quota says nothing and costs nothing", "[controllers]") {
  Fixture f;
  CHECK(f.Look({}).empty());
  CHECK_FALSE(f.again);
  CHECK(f.conditions.size() == 0);
}

TEST_CASE("quota conditions: trouble that lasts is said once, and once that it is over",
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

TEST_CASE("quota conditions: trouble that passes is not worth a word", "[controllers]") {
  Fixture f;
  for (int i = 0; i < 3; ++i) {
    CHECK(f.Look({Widgets(Kind::kRefused)}).empty());
    f.clock.Advance(4s);
    CHECK(f.Look({Widgets(Kind::kRefused)}).empty());
    CHECK(f.Look({}).empty());
    f.clock.Advance(4s);
  }
}

TEST_CASE("quota conditions: silence of one resource is waited for longer", "[controllers]") {
  Fixture f;
  CHECK(f.Look({Widgets(Kind::kSilent)}).empty());
  f.clock.Advance(179s);
  CHECK(f.Look({Widgets(Kind::kSilent)}).empty());
  CHECK(f.AgainIn() == 1s);
  f.clock.Advance(1s);
  CHECK(f.Look({Widgets(Kind::kSilent)}) == kStale);
}

TEST_CASE("quota conditions: after the server was away everything is tried again first",
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

TEST_CASE("quota conditions: an object that cannot be read is said at once", "[controllers]") {
  Fixture f;
  CHECK(f.Look({Widgets(Kind::kUnreadable)}) == kStale);
  CHECK(f.Look({Widgets(Kind::kUnreadable)}).empty());
  CHECK(f.Look({}) == kHealed);
}

TEST_CASE("quota conditions: a kind that is not served is said after a while, and when it is",
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

TEST_CASE("quota conditions: a kind that is broken and then deleted is said to be each",
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

TEST_CASE("quota conditions: a name that joins is said, one that leaves is not", "[controllers]") {
  Fixture f;
  f.Look({Widgets(Kind::kUnreadable)});
  f.quota.hard.Set("widgets", Quantity::FromInt(1));
  CHECK(f.Look({Widgets(Kind::kUnreadable, {kWidgets, "widgets"})}) ==
        Texts{"QuotaStale: count/widgets.example.com, widgets are stale, status.used keeps what "
              "was last known: LIST widgets: 403 Forbidden"});
  f.quota.hard.Erase("widgets");
  CHECK(f.Look({Widgets(Kind::kUnreadable)}).empty());
  SECTION("healed") { CHECK(f.Look({}) == kHealed); }
  SECTION("no longer named at all") {
    f.quota.hard.Erase(kWidgets);
    CHECK(f.Look({}).empty());
    CHECK(f.conditions.size() == 0);
  }
}

TEST_CASE("quota conditions: what was not taken is said again later", "[controllers]") {
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

TEST_CASE("quota conditions: what a quota was told goes with it", "[controllers]") {
  Fixture f;
  f.Look({Widgets(Kind::kUnreadable)});
  f.conditions.Forget("u1");
  CHECK(f.conditions.size() == 0);
  f.quota.uid = "u2";  // another quota of the same name
  CHECK(f.Look({Widgets(Kind::kUnreadable)}) == kStale);
}

TEST_CASE("quota conditions: an unknown name is said once, and again when another joins",
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

TEST_CASE("quota conditions: names that core can never count", "[controllers]") {
  ResourceList hard;
  for (const char* name :
       {"pods", "requests.cpu", "requests.example.com/gpu", "example.com/gpu", "count/events",
        "count/widgets.example.com", "gold.storageclass.storage.k8s.io/requests.storage", "podz"}) {
    hard.Set(name, Quantity::FromInt(1));
  }
  CHECK(controllers::UncountableNames(quota::CoreQuotaApi(), hard) ==
        Texts{"count/events", "example.com/gpu", "podz"});
}

TEST_CASE("quota conditions: a limit that falls below what is used is exceeded", "[controllers]") {
  const auto status = [](int hard, std::optional<int> used) {
    quota::QuotaStatus made;
    made.hard = {{"pods", Quantity::FromInt(hard)}};
    if (used) made.used = {{"pods", Quantity::FromInt(*used)}};
    return made;
  };
  const auto exceeded = controllers::BecameExceeded(status(10, 5), status(3, 5));
  REQUIRE(exceeded);
  CHECK(exceeded->reason == "QuotaExceeded");
  CHECK(exceeded->message ==
        "the limit lies below what is used, nothing more can be created: pods: used 5, hard 3");
  CHECK(controllers::BecameExceeded({}, status(3, 5)));                       // a new quota
  CHECK(controllers::BecameExceeded(status(3, std::nullopt), status(3, 5)));  // now known
  CHECK(controllers::BecameExceeded(status(3, 5), status(2, 5)));             // further below
  CHECK_FALSE(controllers::BecameExceeded(status(10, 5), status(5, 5)));
  CHECK_FALSE(controllers::BecameExceeded(status(3, 5), status(4, 5)));  // raised, not enough
  CHECK_FALSE(controllers::BecameExceeded(status(3, 3), status(3, 5)));  // usage grew
  CHECK_FALSE(controllers::BecameExceeded(status(10, 5), status(3, std::nullopt)));
}

TEST_CASE("conditions: that a namespace is exempt is said once, when it can be", "[controllers]") {
  Fixture f;
  Texts said;
  const auto look = [&](bool exempt) {
    return f.conditions.LookAtExemption(f.quota, exempt, f.clock.Now(),
                                        [&](const Announcement& announcement) {
                                          if (f.deaf) return false;
                                          said.push_back(announcement.reason);
                                          return true;
                                        });
  };
  CHECK_FALSE(look(false));
  CHECK(f.conditions.size() == 0);
  f.deaf = true;
  CHECK(look(true) == f.clock.Now() + 30s);
  CHECK(f.conditions.size() == 0);
  f.deaf = false;
  CHECK_FALSE(look(true));
  CHECK_FALSE(look(true));
  CHECK(said == Texts{"QuotaNotEnforced"});
  f.conditions.Forget("u1");
  CHECK(f.conditions.size() == 0);
}

}  // namespace quota_conditions_test
