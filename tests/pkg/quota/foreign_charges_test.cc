#include "pkg/quota/foreign_charges.h"

#include "tests/pkg/quota/quota_testing.h"

namespace quota::foreign_charges_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ResourceList Pods(const char* count) { return List({{"pods", count}}); }

TEST_CASE("foreign charges: an increase is held until its time is over", "[quota]") {
  base::ManualClock clock;
  ForeignCharges charges{seconds(10)};
  CHECK(charges.Held(clock.Now()).empty());
  CHECK_FALSE(charges.NextExpiry().has_value());

  charges.OnForeignWrite(clock.Now(), List({{"pods", "3"}, {"cpu", "2"}}),
                         List({{"pods", "5"}, {"cpu", "2"}}), List({{"pods", "3"}, {"cpu", "2"}}));
  CHECK(charges.Held(clock.Now()) == List({{"pods", "2"}}));
  CHECK(charges.NextExpiry() == clock.Now() + seconds(10));
  clock.Advance(milliseconds(9'999));
  CHECK(charges.Held(clock.Now()) == List({{"pods", "2"}}));
  CHECK(charges.TakeExpired() == 0);
  clock.Advance(milliseconds(1));
  CHECK(charges.Held(clock.Now()).empty());
  CHECK_FALSE(charges.NextExpiry().has_value());
  CHECK(charges.TakeExpired() == 1);
  CHECK(charges.TakeExpired() == 0);
}

TEST_CASE("foreign charges: a hold that changes is that of what is held already", "[quota]") {
  base::ManualClock clock;
  ForeignCharges charges{seconds(10)};
  charges.OnForeignWrite(clock.Now(), {}, Pods("2"), {});
  charges.SetHold(seconds(38));
  CHECK(charges.NextExpiry() == clock.Now() + seconds(38));
  clock.Advance(seconds(30));
  CHECK(charges.Held(clock.Now()) == Pods("2"));
  charges.SetHold(seconds(9));
  CHECK(charges.Held(clock.Now()).empty());
}

TEST_CASE("foreign charges: objects that appear use them up, the oldest first", "[quota]") {
  base::ManualClock clock;
  ForeignCharges charges{seconds(10)};
  charges.OnForeignWrite(clock.Now(), {}, List({{"pods", "1"}, {"cpu", "500m"}}), {});
  clock.Advance(seconds(1));
  charges.OnForeignWrite(clock.Now(), List({{"pods", "1"}, {"cpu", "500m"}}),
                         List({{"pods", "3"}, {"cpu", "1500m"}}), {});
  CHECK(charges.Held(clock.Now()) == List({{"pods", "3"}, {"cpu", "1500m"}}));

  charges.OnAppeared(List({{"pods", "1"}, {"cpu", "500m"}, {"memory", "1Gi"}}));
  CHECK(charges.Held(clock.Now()) == List({{"pods", "2"}, {"cpu", "1"}}));
  CHECK(charges.NextExpiry() == clock.Now() + seconds(10));  // the first one is used up
  charges.OnAppeared(List({{"pods", "7"}, {"cpu", "7"}}));
  CHECK(charges.Held(clock.Now()).empty());
  CHECK(charges.TakeExpired() == 0);  // used up is not expired
}

TEST_CASE(
    "foreign charges: what expired while a watch was behind is used up before younger charges",
    "[quota]") {
  base::ManualClock clock;
  ForeignCharges charges{seconds(10)};
  charges.OnForeignWrite(clock.Now(), {}, Pods("2"), {});
  clock.Advance(seconds(12));
  charges.KeepOverdue({"pods"});
  charges.OnForeignWrite(clock.Now(), Pods("2"), Pods("5"), {});
  charges.KeepOverdue({"pods"});
  CHECK(charges.Held(clock.Now()) == Pods("3"));

  // The watch goes on.
  charges.OnAppeared(Pods("1"));
  CHECK(charges.Held(clock.Now()) == Pods("3"));
  SECTION("of the rest, the younger is used up") {
    charges.OnAppeared(Pods("2"));
    CHECK(charges.Held(clock.Now()) == Pods("2"));
  }
  SECTION("while another name is behind, this one is not") {
    charges.KeepOverdue({"cpu"});
    charges.OnAppeared(Pods("1"));
    CHECK(charges.Held(clock.Now()) == Pods("2"));
  }
  SECTION("when it has caught up, nothing is overdue") {
    charges.KeepOverdue({});
    charges.OnAppeared(Pods("1"));
    CHECK(charges.Held(clock.Now()) == Pods("2"));
  }
}

TEST_CASE("foreign charges: what is overdue excuses no increase", "[quota]") {
  base::ManualClock clock;
  ForeignCharges charges{seconds(10)};
  charges.OnForeignWrite(clock.Now(), {}, Pods("2"), {});
  clock.Advance(seconds(12));
  CHECK(charges.Held(clock.Now()).empty());
  charges.OnForeignWrite(clock.Now(), {}, Pods("3"), {});
  CHECK(charges.Held(clock.Now()) == Pods("3"));
  // They are renewed, by one another and not by what is overdue.
  charges.OnForeignWrite(clock.Now(), {}, Pods("3"), {});
  CHECK(charges.Held(clock.Now()) == Pods("3"));
  charges.OnAppeared(Pods("2"));
  CHECK(charges.Held(clock.Now()) == Pods("3"));
}

TEST_CASE("foreign charges: what our own charges left unseen is overdue, too", "[quota]") {
  base::ManualClock clock;
  ForeignCharges charges{seconds(10)};
  charges.OnExpired(Pods("1"));
  charges.OnExpired(Pods("1"));
  charges.OnForeignWrite(clock.Now(), {}, Pods("3"), {});
  charges.OnAppeared(Pods("2"));
  CHECK(charges.Held(clock.Now()) == Pods("3"));
  charges.OnAppeared(Pods("2"));
  CHECK(charges.Held(clock.Now()) == Pods("1"));
}

TEST_CASE("foreign charges: no more is held than is missing from what was counted", "[quota]") {
  base::ManualClock clock;
  ForeignCharges charges{seconds(10)};
  SECTION("the object was seen before the charge for it") {
    charges.OnForeignWrite(clock.Now(), List({{"pods", "3"}}), List({{"pods", "4"}}),
                           List({{"pods", "4"}}));
    CHECK(charges.Held(clock.Now()).empty());
  }
  SECTION("a decrease is no charge") {
    charges.OnForeignWrite(clock.Now(), List({{"pods", "9"}}), List({{"pods", "5"}}), {});
    CHECK(charges.Held(clock.Now()).empty());
  }
  SECTION("what is already held is not held twice") {
    // Another writer repeats the sum of its own count and the same unseen object.
    charges.OnForeignWrite(clock.Now(), List({{"pods", "3"}}), List({{"pods", "4"}}),
                           List({{"pods", "3"}}));
    charges.OnForeignWrite(clock.Now(), List({{"pods", "3"}}), List({{"pods", "4"}}),
                           List({{"pods", "3"}}));
    CHECK(charges.Held(clock.Now()) == List({{"pods", "1"}}));
  }
}

TEST_CASE("foreign charges: what may be for charges that are known is held as long as a new one",
          "[quota]") {
  base::ManualClock clock;
  ForeignCharges charges{seconds(10)};
  const ResourceList counted = List({{"pods", "3"}});
  charges.OnForeignWrite(clock.Now(), counted, List({{"pods", "6"}}), counted);
  CHECK(charges.Held(clock.Now()) == List({{"pods", "3"}}));
  // Who made the charges lets go of them, and charges two others.
  clock.Advance(seconds(8));
  charges.OnForeignWrite(clock.Now(), List({{"pods", "6"}}), counted, counted);
  charges.OnForeignWrite(clock.Now(), counted, List({{"pods", "5"}}), counted);
  CHECK(charges.Held(clock.Now()) == List({{"pods", "3"}}));
  clock.Advance(seconds(2));
  CHECK(charges.Held(clock.Now()) == List({{"pods", "2"}}));
  CHECK(charges.AnyExpired());
  CHECK(charges.TakeExpired() == 1);
  CHECK_FALSE(charges.AnyExpired());
  clock.Advance(seconds(8));
  CHECK(charges.Held(clock.Now()).empty());
}

TEST_CASE("foreign charges: a write that is noticed late is not taken for what came after it",
          "[quota]") {
  base::ManualClock clock;
  ForeignCharges charges{seconds(10)};
  const ResourceList counted = List({{"pods", "1"}});
  const ResourceList held = charges.Held(clock.Now());
  const ResourceList first = List({{"pods", "2"}});
  charges.OnForeignWrite(clock.Now(), first, List({{"pods", "3"}}), counted);
  SECTION("both are held") {
    charges.OnForeignWrite(clock.Now(), counted, first, counted, &held);
    CHECK(charges.Held(clock.Now()) == List({{"pods", "2"}}));
  }
  SECTION("noticed now, it may be the same") {
    charges.OnForeignWrite(clock.Now(), counted, first, counted);
    CHECK(charges.Held(clock.Now()) == List({{"pods", "1"}}));
  }
}

TEST_CASE("foreign charges: a count that is behind excuses no increase", "[quota]") {
  base::ManualClock clock;
  ForeignCharges charges{seconds(10)};
  const ResourceList stale = List({{"pods", "30"}});
  // Two pods went, which our watch has not shown; then one came, and another.
  charges.OnForeignWrite(clock.Now(), stale, List({{"pods", "28"}}), stale);
  charges.OnForeignWrite(clock.Now(), List({{"pods", "28"}}), List({{"pods", "29"}}), stale);
  CHECK(charges.Held(clock.Now()) == List({{"pods", "1"}}));
  charges.OnForeignWrite(clock.Now(), List({{"pods", "29"}}), List({{"pods", "30"}}), stale);
  CHECK(charges.Held(clock.Now()) == List({{"pods", "2"}}));

  // Once they are seen the count is right again, and what it has above `used` is known.
  charges.OnShrunk(List({{"pods", "2"}}));
  charges.OnForeignWrite(clock.Now(), List({{"pods", "30"}}), List({{"pods", "31"}}),
                         List({{"pods", "29"}}));
  CHECK(charges.Held(clock.Now()) == List({{"pods", "2"}}));
}

TEST_CASE("foreign charges: a count is not behind for longer than the hold", "[quota]") {
  base::ManualClock clock;
  ForeignCharges charges{seconds(10)};
  charges.OnForeignWrite(clock.Now(), List({{"pods", "5"}}), List({{"pods", "3"}}),
                         List({{"pods", "5"}}));
  clock.Advance(seconds(10));
  charges.OnForeignWrite(clock.Now(), List({{"pods", "3"}}), List({{"pods", "5"}}),
                         List({{"pods", "5"}}));
  CHECK(charges.Held(clock.Now()).empty());
}

TEST_CASE("foreign charges: many in a short time stay few entries and expire on time", "[quota]") {
  base::ManualClock clock;
  ForeignCharges charges{seconds(10)};
  ResourceList used;
  for (int i = 1; i <= 1000; ++i) {
    const ResourceList before = used;
    used.Set("pods", Quantity::FromInt(i));
    charges.OnForeignWrite(clock.Now(), before, used, {});
    clock.Advance(milliseconds(1));
  }
  CHECK(charges.Held(clock.Now()) == List({{"pods", "1000"}}));
  // The first left the clock 1 s ago: within 10 s of the last, all are gone, in some ten steps.
  int steps = 0;
  while (const auto next = charges.NextExpiry()) {
    clock.Set(*next);
    const ResourceList held = charges.Held(clock.Now());
    CHECK(held.Get("pods") < Q("1000"));
    ++steps;
  }
  CHECK(steps <= 11);
}

}  // namespace
}  // namespace quota::foreign_charges_test
