#include "controllers/quota/own_reservations.h"

#include <catch2/catch.hpp>

#include "pkg/accounting/timing.h"
#include "pkg/quota/evaluator.h"

namespace own_reservations_test {
namespace {

using controllers::OwnReservations;
using namespace std::chrono_literals;

const quota::Uid kUid = quota::Uid::FromText("1");

struct Fixture {
  Fixture() { widgets.resource = {"example.com", "widgets"}; }
  // Grants a request that starts from this version of the object; "": its creation.
  void Grant(const std::string& version) {
    admission::ReservePlan plan;
    plan.quota.key = {"team-a", "q"};
    admission::Grant grant{.evaluator = &widgets, .uid = kUid};
    grant.usage.Set("count/widgets.example.com", quota::Quantity::FromInt(1));
    grant.version = version;
    grant.number = ++grants;
    plan.grants = {grant};
    accounting::Standing standing{{}, {}};
    auto added = own.AddEntries(now, plan, standing);
    list = std::move(standing.list);  // with the last entry only, so that it does not grow
    own.Commit(now, {.added = std::move(added)});
  }
  void GrantUpdates(int count, base::Duration every) {
    for (int i = 0; i < count; ++i) {
      now += every;
      Grant(std::to_string(1000 + grants));
    }
  }

  quota::Evaluator widgets;
  controllers::Author author{.by = "me"};
  OwnReservations own{author, {}};
  accounting::ReservationList list;
  base::TimePoint now{1h};
  std::uint64_t grants = 0;
};

}  // namespace

TEST_CASE("own reservations: grants are forgotten while their object gets new ones",
          "[controllers]") {
  Fixture f;
  f.GrantUpdates(20, 10s);
  CHECK_FALSE(f.own.Release(kUid, 1));
  CHECK_FALSE(f.own.Release(kUid, 10));
  CHECK(f.own.Release(kUid, 19));
  CHECK(f.own.Release(kUid, 20));
}

TEST_CASE("own reservations: of one object only the latest grants are remembered",
          "[controllers]") {
  Fixture f;
  f.GrantUpdates(10'000, 1ms);
  CHECK_FALSE(f.own.Release(kUid, 1));
  CHECK_FALSE(f.own.Release(kUid, 9'000));
  CHECK(f.own.Release(kUid, 9'990));
  CHECK(f.own.Find(f.now, f.list, kUid, "10999") != nullptr);
}

TEST_CASE("own reservations: the first grant of a creation is known while later ones are",
          "[controllers]") {
  Fixture f;
  f.Grant("");
  f.GrantUpdates(1'000, 100ms);
  CHECK(f.own.Outlasted(f.now, kUid));
  f.now += 10min;
  CHECK(f.own.Outlasted(f.now, kUid));
  // Any later write forgets what is over.
  admission::ReservePlan none;
  accounting::Standing standing{{}, f.list};
  f.own.Commit(f.now, {.added = f.own.AddEntries(f.now, none, standing)});
  CHECK_FALSE(f.own.Outlasted(f.now, kUid));
}

}  // namespace own_reservations_test
