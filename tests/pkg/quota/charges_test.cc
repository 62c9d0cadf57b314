#include "pkg/quota/charges.h"

#include <algorithm>
#include <map>
#include <random>

#include "tests/pkg/quota/quota_testing.h"

namespace quota::charges_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Uid kPod{1, 1};
const Uid kOther{1, 2};

// All of it was added to `used`.
Charge Whole(ResourceList amount) { return {amount, amount}; }

TEST_CASE("charges: what is granted is outstanding until the watch shows it", "[quota]") {
  base::ManualClock clock;
  Charges charges{seconds(10)};
  charges.Grant(clock.Now(), kPod, Whole(List({{"pods", "1"}, {"cpu", "500m"}})), nullptr, "");
  CHECK(charges.Outstanding() == List({{"pods", "1"}, {"cpu", "500m"}}));

  const ResourceList seen = List({{"pods", "1"}, {"cpu", "500m"}, {"memory", "1Gi"}});
  CHECK(charges.OnSeen(kPod, {}, &seen) == List({{"memory", "1Gi"}}));
  CHECK(charges.Outstanding().empty());
  CHECK(charges.size() == 0);
}

TEST_CASE("charges: the same object is charged once, however often it is asked for", "[quota]") {
  base::ManualClock clock;
  Charges charges{seconds(10)};
  for (int call = 0; call < 5; ++call) {
    charges.Grant(clock.Now(), kPod, Whole(List({{"cpu", "2"}})), nullptr, "");
  }
  CHECK(charges.Outstanding() == List({{"cpu", "2"}}));
  REQUIRE(charges.Covering(clock.Now(), kPod, "") != nullptr);
  CHECK(charges.Covering(clock.Now(), kPod, "")->amount == List({{"cpu", "2"}}));
  CHECK(charges.Covering(clock.Now(), kOther, "") == nullptr);

  charges.Grant(clock.Now(), kPod, Whole(List({{"cpu", "1"}, {"memory", "1Gi"}})), nullptr, "");
  CHECK(charges.Outstanding() == List({{"cpu", "2"}, {"memory", "1Gi"}}));
}

TEST_CASE("charges: versions before the one that was asked about do not use a charge up",
          "[quota]") {
  base::ManualClock clock;
  Charges charges{seconds(10)};
  const ResourceList created = List({{"cpu", "8"}});
  const ResourceList shrunk = List({{"cpu", "1"}});
  const ResourceList grown = List({{"cpu", "4"}});
  charges.Grant(clock.Now(), kPod, Whole(created), nullptr, "");
  SECTION("a call about a stored version is answered by it") {
    REQUIRE(charges.Covering(clock.Now(), kPod, "17") != nullptr);
    charges.Cover(clock.Now(), kPod, "17");
    charges.Cover(clock.Now(), kPod, "9");  // late, of an older version
    CHECK(charges.AskedAbout(kPod) == "17");
    charges.OnSeen(kPod, {}, &created, false);
    CHECK(charges.Outstanding().empty());
    charges.OnSeen(kPod, created, &shrunk, false);
    CHECK(charges.Outstanding() == List({{"cpu", "7"}}));  // 4 of them are to come
    charges.OnSeen(kPod, shrunk, &grown, true);
    CHECK(charges.size() == 0);
  }
  SECTION("a call that needed more") {
    charges.Grant(clock.Now(), kPod, {List({{"cpu", "9"}}), List({{"cpu", "1"}}), created}, nullptr,
                  "17");
    charges.OnSeen(kPod, {}, &created, false);
    charges.OnSeen(kPod, created, &shrunk, false);
    CHECK(charges.Outstanding() == List({{"cpu", "8"}}));
  }
  SECTION("no call since its creation") {
    CHECK(charges.AskedAbout(kPod).empty());
    charges.OnSeen(kPod, {}, &created, false);
    CHECK(charges.size() == 0);
  }
}

TEST_CASE("charges: of an object that is stored only the growth is outstanding", "[quota]") {
  base::ManualClock clock;
  Charges charges{seconds(10)};
  const ResourceList stored = List({{"cpu", "1"}});
  charges.Grant(clock.Now(), kPod, Whole(List({{"cpu", "3"}})), &stored, "");
  CHECK(charges.Outstanding() == List({{"cpu", "2"}}));

  SECTION("an older version that comes late changes nothing") {
    CHECK(charges.OnSeen(kPod, stored, &stored).empty());
    CHECK(charges.Outstanding() == List({{"cpu", "2"}}));
  }
  SECTION("part of the way") {
    const ResourceList more = List({{"cpu", "2"}});
    CHECK(charges.OnSeen(kPod, stored, &more).empty());
    CHECK(charges.Outstanding() == List({{"cpu", "1"}}));
  }
  SECTION("beyond what was granted") {
    const ResourceList most = List({{"cpu", "7"}});
    CHECK(charges.OnSeen(kPod, stored, &most) == List({{"cpu", "4"}}));
    CHECK(charges.size() == 0);
  }
  SECTION("what is stored already is no charge at all") {
    Charges others{seconds(10)};
    others.Grant(clock.Now(), kPod, Whole(stored), &stored, "");
    CHECK(others.size() == 0);
  }
}

TEST_CASE("charges: what was decided against a version that used more is worth what it added",
          "[quota]") {
  base::ManualClock clock;
  Charges charges{seconds(10)};
  const ResourceList seen = List({{"cpu", "3"}});
  charges.Grant(clock.Now(), kPod, {List({{"cpu", "10"}}), List({{"cpu", "3"}})}, &seen, "");
  CHECK(charges.Outstanding() == List({{"cpu", "3"}}));
  // What was lacking is charged with the next call.
  charges.Grant(clock.Now(), kPod, {List({{"cpu", "10"}}), List({{"cpu", "4"}})}, &seen, "");
  CHECK(charges.Outstanding() == List({{"cpu", "7"}}));
  CHECK(charges.OnSeen(kPod, seen, &seen).empty());
  CHECK(charges.Outstanding() == List({{"cpu", "7"}}));
}

TEST_CASE("charges: an object that is never stored is free again after the hold", "[quota]") {
  base::ManualClock clock;
  Charges charges{seconds(10)};
  charges.Grant(clock.Now(), kPod, Whole(List({{"pods", "1"}})), nullptr, "");
  CHECK(charges.NextExpiry() == clock.Now() + seconds(10));
  clock.Advance(milliseconds(9'999));
  CHECK(charges.Expire(clock.Now()).charges == 0);
  CHECK(charges.Outstanding() == List({{"pods", "1"}}));
  clock.Advance(milliseconds(1));
  CHECK(charges.Expire(clock.Now()).charges == 1);
  CHECK(charges.Outstanding().empty());
  CHECK_FALSE(charges.NextExpiry().has_value());
}

TEST_CASE("charges: what expired is said, less what was seen of it", "[quota]") {
  base::ManualClock clock;
  Charges charges{seconds(10)};
  const ResourceList seen = List({{"pods", "1"}, {"cpu", "1"}});
  charges.Grant(clock.Now(), kPod,
                {List({{"pods", "1"}, {"cpu", "4"}}), List({{"cpu", "3"}}), seen}, &seen, "");
  charges.Grant(clock.Now(), kOther, Whole(List({{"pods", "1"}, {"cpu", "2"}})), nullptr, "");
  clock.Advance(seconds(10));
  const ExpiredCharges expired = charges.Expire(clock.Now());
  CHECK(expired.charges == 2);
  CHECK(expired.unseen == List({{"pods", "1"}, {"cpu", "5"}}));
  CHECK(charges.Expire(clock.Now()).unseen.empty());
}

TEST_CASE("charges: a charge covers calls for two seconds only", "[quota]") {
  base::ManualClock clock;
  Charges charges{seconds(10)};
  charges.Grant(clock.Now(), kPod, Whole(List({{"pods", "1"}})), nullptr, "");
  clock.Advance(seconds(2));
  CHECK(charges.Covering(clock.Now(), kPod, "") != nullptr);
  clock.Advance(milliseconds(1));
  CHECK(charges.Covering(clock.Now(), kPod, "") == nullptr);

  charges.Grant(clock.Now(), kPod, Whole(List({{"pods", "1"}})), nullptr, "");
  CHECK(charges.Covering(clock.Now(), kPod, "") != nullptr);
  CHECK(charges.Outstanding() == List({{"pods", "1"}}));
  clock.Advance(seconds(9));
  CHECK(charges.Expire(clock.Now()).charges == 0);  // the hold starts with the newest grant
  clock.Advance(seconds(1));
  CHECK(charges.Expire(clock.Now()).charges == 1);
}

TEST_CASE("charges: a hold that changes is that of what is held already", "[quota]") {
  base::ManualClock clock;
  Charges charges{seconds(10)};
  charges.Grant(clock.Now(), kPod, Whole(List({{"pods", "1"}})), nullptr, "");
  charges.SetHold(seconds(38));
  clock.Advance(seconds(37));
  CHECK(charges.Expire(clock.Now()).charges == 0);
  charges.SetHold(seconds(9));
  CHECK(charges.Expire(clock.Now()).charges == 1);
}

TEST_CASE("charges: a hold is as long as the slowest webhook and what comes after it", "[quota]") {
  CHECK(HoldFor(seconds(0)) == seconds(9));
  CHECK(HoldFor(seconds(10)) == seconds(18));
  CHECK(HoldFor(seconds(30)) == seconds(40));
}

TEST_CASE("charges: an object that nobody ever sees is charged for twice the hold at most",
          "[quota]") {
  base::ManualClock clock;
  Charges charges{seconds(10)};
  const ResourceList pod = List({{"pods", "1"}});
  const auto ask = [&](const ResourceList* seen) {
    charges.Grant(clock.Now(), kPod, Whole(List({{"pods", "2"}})), seen, "");
  };
  ask(nullptr);
  SECTION("asked for all the time") {
    for (int i = 0; i < 6; ++i) {
      clock.Advance(seconds(3));
      CHECK(charges.Expire(clock.Now()).charges == 0);
      ask(nullptr);
    }
    clock.Advance(seconds(2));
    CHECK(charges.Expire(clock.Now()).charges == 1);
  }
  SECTION("unless it is stored") {
    charges.OnSeen(kPod, {}, &pod);
    for (int i = 0; i < 20; ++i) {
      clock.Advance(seconds(3));
      ask(&pod);
      CHECK(charges.Expire(clock.Now()).charges == 0);
    }
  }
}

TEST_CASE("charges: growth that is seen uses up what was added for it", "[quota]") {
  base::ManualClock clock;
  Charges charges{seconds(10)};
  const auto cpu = [](const char* amount) { return List({{"cpu", amount}}); };
  // Asked for and never stored; then it shrinks, and grows by another call.
  ResourceList seen = cpu("5");
  charges.Grant(clock.Now(), kPod, {cpu("6"), cpu("1"), cpu("5")}, &seen, "");
  ResourceList stored = cpu("2");
  charges.OnSeen(kPod, seen, &stored);
  REQUIRE(charges.Covering(clock.Now(), kPod, "") != nullptr);
  CHECK(PaidFor(*charges.Covering(clock.Now(), kPod, ""), stored) == cpu("3"));
  charges.Grant(clock.Now(), kPod, {cpu("4"), cpu("1"), cpu("2")}, &stored, "");
  CHECK(PaidFor(*charges.Covering(clock.Now(), kPod, ""), stored) == cpu("4"));

  SECTION("by the watch") {
    const ResourceList now = cpu("4");
    charges.OnSeen(kPod, stored, &now);
    CHECK(PaidFor(*charges.Covering(clock.Now(), kPod, ""), now) == cpu("4"));
    SECTION("and stays used up when it shrinks again") {
      charges.OnSeen(kPod, now, &stored);
      CHECK(PaidFor(*charges.Covering(clock.Now(), kPod, ""), stored) == cpu("2"));
    }
  }
  SECTION("by the next call, before the watch shows it") {
    CHECK(PaidFor(*charges.Covering(clock.Now(), kPod, ""), cpu("3")) == cpu("4"));
    charges.Grant(clock.Now(), kPod, {cpu("6"), cpu("2"), cpu("3")}, &stored, "");
    CHECK(PaidFor(*charges.Covering(clock.Now(), kPod, ""), cpu("3")) == cpu("6"));
    CHECK(PaidFor(*charges.Covering(clock.Now(), kPod, ""), cpu("6")) == cpu("6"));
  }
}

TEST_CASE("charges: what is too old to cover a call covers none after a later grant", "[quota]") {
  base::ManualClock clock;
  Charges charges{seconds(10)};
  const ResourceList stored = List({{"cpu", "5"}});
  const auto grant = [&](const char* amount, const char* added) {
    charges.Grant(clock.Now(), kPod, {List({{"cpu", amount}}), List({{"cpu", added}}), stored},
                  &stored, "");
  };
  grant("6", "1");
  clock.Advance(seconds(1));
  grant("7", "1");  // on top of the first, which others take back 10 s after it
  clock.Advance(milliseconds(1'001));
  CHECK(charges.Covering(clock.Now(), kPod, "") == nullptr);
  grant("7", "2");
  REQUIRE(charges.Covering(clock.Now(), kPod, "") != nullptr);
  CHECK(charges.Covering(clock.Now(), kPod, "")->added == List({{"cpu", "2"}}));
  CHECK(charges.Outstanding() == List({{"cpu", "2"}}));
}

TEST_CASE("charges: a released charge is gone at once", "[quota]") {
  base::ManualClock clock;
  Charges charges{seconds(10)};
  charges.Grant(clock.Now(), kPod, Whole(List({{"pods", "1"}})), nullptr, "", 1);
  charges.Grant(clock.Now(), kOther, Whole(List({{"pods", "1"}})), nullptr, "", 2);
  charges.Release(kPod, 1);
  CHECK(charges.Outstanding() == List({{"pods", "1"}}));
  clock.Advance(seconds(10));
  CHECK(charges.Expire(clock.Now()).charges == 1);
}

TEST_CASE("charges: what an earlier call was granted survives the refusal of a later one",
          "[quota]") {
  base::ManualClock clock;
  Charges charges{seconds(10)};
  charges.Grant(clock.Now(), kPod, Whole(List({{"cpu", "1"}})), nullptr, "", 1);
  SECTION("that may still be answered by it") {}
  SECTION("that is too old to answer others") { clock.Advance(seconds(3)); }
  charges.Grant(clock.Now(), kPod, Whole(List({{"cpu", "3"}})), nullptr, "", 2);
  charges.Release(kPod, 2);
  CHECK(charges.Outstanding() == List({{"cpu", "1"}}));
  charges.Release(kPod, 1);  // others may rely on it meanwhile
  CHECK(charges.Outstanding() == List({{"cpu", "1"}}));
}

TEST_CASE("charges: what another call was answered by since is not released", "[quota]") {
  base::ManualClock clock;
  Charges charges{seconds(10)};
  charges.Grant(clock.Now(), kPod, Whole(List({{"cpu", "1"}})), nullptr, "", 1);
  SECTION("by the same charge") {
    CHECK(charges.Cover(clock.Now(), kPod, "") == 1);
    charges.Release(kPod, 1);
    CHECK(charges.Outstanding() == List({{"cpu", "1"}}));
  }
  SECTION("until that gives it up, too") {
    CHECK(charges.Cover(clock.Now(), kPod, "") == 1);
    charges.Release(kPod, 1);
    charges.Release(kPod, 1);
    CHECK(charges.size() == 0);
  }
  SECTION("by more on top of it") {
    charges.Grant(clock.Now(), kPod, Whole(List({{"cpu", "3"}})), nullptr, "", 2);
    charges.Release(kPod, 1);
    CHECK(charges.Outstanding() == List({{"cpu", "3"}}));
  }
  SECTION("nor the same twice") {
    charges.Release(kPod, 1);
    charges.Release(kPod, 1);
    CHECK(charges.size() == 0);
  }
  clock.Advance(seconds(10));
  charges.Expire(clock.Now());
  CHECK(charges.size() == 0);
}

TEST_CASE("charges: growth without a charge is somebody else's", "[quota]") {
  Charges charges{seconds(10)};
  const ResourceList now = List({{"cpu", "3"}, {"pods", "1"}});
  CHECK(charges.OnSeen(kPod, List({{"cpu", "1"}, {"pods", "1"}}), &now) == List({{"cpu", "2"}}));
  CHECK(charges.OnSeen(kPod, now, nullptr).empty());
}

TEST_CASE("charges: a sum that does not fit leaves no mark behind", "[quota]") {
  base::ManualClock clock;
  Charges charges{seconds(10)};
  const ResourceList vast = List({{"cpu", "150000000000000000000000000000"}});
  charges.Grant(clock.Now(), kPod, Whole(vast), nullptr, "");
  charges.Grant(clock.Now(), kOther, Whole(vast), nullptr, "");
  CHECK(charges.Outstanding() == vast);
  charges.OnGone(kPod);
  CHECK(charges.Outstanding() == vast);
  charges.OnGone(kOther);
  CHECK(charges.Outstanding().empty());
  charges.Grant(clock.Now(), kPod, Whole(List({{"cpu", "1"}})), nullptr, "");
  CHECK(charges.Outstanding() == List({{"cpu", "1"}}));
}

TEST_CASE("charges: once others lowered used, a charge covers only the version it was granted for",
          "[quota]") {
  base::ManualClock clock;
  Charges charges(seconds(10));
  const auto cpu = [](const char* amount) { return List({{"cpu", amount}}); };
  const ResourceList stored = cpu("4");
  charges.Grant(clock.Now(), kPod, {cpu("6"), cpu("2"), stored}, &stored, "7");
  CHECK(charges.Covering(clock.Now(), kPod, "8") != nullptr);
  charges.OnLoweredByOthers();
  CHECK(charges.Covering(clock.Now(), kPod, "7") != nullptr);
  CHECK(charges.Covering(clock.Now(), kPod, "8") == nullptr);
  // What is granted then begins anew, on top of what is stored.
  charges.Grant(clock.Now(), kPod, {cpu("6"), cpu("2"), stored}, &stored, "8");
  const Charge* const anew = charges.Covering(clock.Now(), kPod, "9");
  REQUIRE(anew != nullptr);
  CHECK(PaidFor(*anew, stored) == cpu("6"));
  CHECK(charges.Outstanding() == cpu("2"));
}

TEST_CASE("charges: outstanding is what brute force says, whatever happens", "[quota]") {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  base::ManualClock clock;
  Charges charges{seconds(10)};
  struct Model {
    std::int64_t amount = 0;
    std::int64_t seen = 0;
    bool shown = false;
    base::TimePoint first;
    base::TimePoint granted;
  };
  std::map<Uid, Model> model;
  std::map<Uid, std::int64_t> stored;
  for (int step = 0; step < 20'000; ++step) {
    const Uid uid{0, static_cast<std::uint64_t>(below(5))};
    const std::int64_t cpu = 1 + below(9);
    const ResourceList usage{{"cpu", Quantity::FromInt(cpu)}};
    const auto held = model.find(uid);
    switch (below(4)) {
      case 0: {
        const bool exists = stored.contains(uid);
        const ResourceList seen{{"cpu", Quantity::FromInt(exists ? stored[uid] : 0)}};
        const std::int64_t added = 1 + below(static_cast<int>(cpu));
        charges.Grant(clock.Now(), uid, {usage, {{"cpu", Quantity::FromInt(added)}}},
                      exists ? &seen : nullptr, "");
        Model& entry = model[uid];
        if (held == model.end()) entry.first = clock.Now();
        if (exists) entry.seen = stored[uid];
        entry.shown = entry.shown || exists;
        const std::int64_t paid = std::min(cpu, std::max(entry.amount, entry.seen) + added);
        entry.amount = std::max(entry.amount, paid);
        const bool renewed = entry.shown || clock.Now() - entry.first <= seconds(10);
        if (renewed) entry.granted = clock.Now();
        if (entry.seen >= entry.amount) model.erase(uid);
        break;
      }
      case 1: {
        const ResourceList before{{"cpu", Quantity::FromInt(stored[uid])}};
        charges.OnSeen(uid, before, &usage);
        stored[uid] = cpu;
        if (held != model.end()) {
          held->second.seen = cpu;
          held->second.shown = true;
          if (cpu >= held->second.amount) model.erase(held);
        }
        break;
      }
      case 2:
        if (below(4) != 0) break;
        charges.OnGone(uid);
        stored.erase(uid);
        if (held != model.end()) model.erase(held);
        break;
      default:
        clock.Advance(milliseconds(below(3'000)));
    }
    charges.Expire(clock.Now());
    std::erase_if(model, [&](const auto& entry) {
      return clock.Now() - entry.second.granted >= seconds(10);
    });
    std::int64_t outstanding = 0;
    for (const auto& [id, entry] : model) {
      outstanding += std::max<std::int64_t>(0, entry.amount - entry.seen);
    }
    REQUIRE(charges.size() == model.size());
    REQUIRE(charges.Outstanding().Get("cpu") == Quantity::FromInt(outstanding));
  }
}

}  // namespace
}  // namespace quota::charges_test
