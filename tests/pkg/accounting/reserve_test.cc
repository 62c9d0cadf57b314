#include "pkg/accounting/reserve.h"

#include <catch2/catch.hpp>

#include "tests/pkg/accounting/accounting_fixture.h"

namespace reserve_test {

using namespace accounting_test;
using accounting::Assign;
using accounting::Decisive;
using accounting::Reserve;
using accounting::Rise;
using accounting::Standing;
using accounting::Withdraw;

TEST_CASE("reserve: a creation raises used once, however often it is reserved", "[accounting]") {
  Standing standing{Pods(5), {}};
  Reserve(standing, Creation(1, {Object(1), Object(2)}));
  CHECK(standing.used == Pods(7));
  Reserve(standing, Creation(2, {Object(2)}));
  CHECK(standing.used == Pods(7));
  CHECK(Withdraw(standing, "a", 1, Object(2)));
  CHECK(standing.used == Pods(7));  // the other entry still covers it
  CHECK(Withdraw(standing, "a", 2, Object(2)));
  CHECK(standing.used == Pods(6));
  CHECK_FALSE(Withdraw(standing, "a", 2, Object(2)));
}

// Many updates of one object from the same version. Only one is stored.
TEST_CASE("reserve: a growth raises used by the amount that no entry covers", "[accounting]") {
  Standing standing{Pods(7), {}};
  Reserve(standing, Growth(1, Object(1), 10, "20", 7));
  CHECK(standing.used == Pods(10));
  // Another write changed something else meanwhile, and the API server asks again.
  Reserve(standing, Growth(2, Object(1), 10, "21", 7));
  CHECK(standing.used == Pods(10));
  CHECK(Withdraw(standing, "a", 1, Object(1)));
  CHECK(standing.used == Pods(10));
  CHECK(Withdraw(standing, "a", 2, Object(1)));
  CHECK(standing.used == Pods(7));
}

// The update was read when the object used 7. Then another write changed that to 3, and `used` was
// recounted.
TEST_CASE("reserve: an entry covers at most what it added, from any version", "[accounting]") {
  Standing standing{Pods(3), {}};
  Reserve(standing, Growth(1, Object(1), 10, "20", 7));
  CHECK(standing.used == Pods(6));
  Reserve(standing, Growth(2, Object(1), 6, "21", 3));
  CHECK(standing.used == Pods(6));
  Reserve(standing, Growth(3, Object(1), 10, "21", 3));
  CHECK(standing.used == Pods(10));
  CHECK(Withdraw(standing, "a", 1, Object(1)));
  CHECK(standing.used == Pods(10));
  FakeView view;
  view.Show(21, Object(1), 3);
  Settle(standing.list, view);
  CHECK(standing.list.entries().size() == 2);
  CHECK(PodsOf(accounting::Outstanding(standing.list, view)) == 7);
}

TEST_CASE("reserve: an external lowering of used does not change decisions", "[accounting]") {
  ReservationList list;
  list.used = Pods(8);
  CHECK(Decisive(Pods(3), list) == Pods(8));
  CHECK(Decisive(Pods(9), list) == Pods(9));
  CHECK(Decisive({}, list).empty());
}

TEST_CASE("reserve: an unassigned entry is reserved in full", "[accounting]") {
  Standing standing{Pods(1), {}};
  Reserve(standing, {.by = "a", .n = 1, .of = "pods", .usage = Pods(64), .unassigned = 64});
  CHECK(standing.used == Pods(65));
  CHECK(standing.list.Unassigned() == Pods(64));
}

TEST_CASE("reserve: a grant replaces its part of an unassigned entry", "[accounting]") {
  Standing standing{Pods(1), {}};
  Reserve(standing, {.by = "a", .n = 1, .of = "pods", .usage = Pods(64), .unassigned = 64});
  CHECK(Withdraw(standing, "a", 1));
  Assign(standing, Creation(2, {Object(1), Object(2)}));
  CHECK(standing.used == Pods(3));
  CHECK(standing.list.entries().size() == 1);
  CHECK_FALSE(Withdraw(standing, "a", 1));
}

// The object is created with 2 from the unassigned entry and stored. Another process, which has
// seen it, then reserves its growth from 2 to 5.
TEST_CASE("reserve: a grant that was updated keeps its part of the entry", "[accounting]") {
  Standing standing{Pods(1), {}};
  Reserve(standing, {.by = "a", .n = 1, .of = "pods", .usage = Pods(4), .unassigned = 4});
  Reservation growth = Growth(1, Object(1), 5, "20", 2);
  growth.by = "b";
  Reserve(standing, growth);
  CHECK(standing.used == Pods(8));
  CHECK(Withdraw(standing, "a", 1));
  Reservation creation = Creation(2, {Object(1)});
  creation.usage = Pods(2);
  Assign(standing, creation);
  CHECK(standing.used == Pods(6));  // 1 of others, 5 of the object
}

TEST_CASE("reserve: a grant that another call reserved too is assigned once", "[accounting]") {
  Standing standing{Pods(1), {}};
  Reserve(standing, {.by = "a", .n = 1, .of = "pods", .usage = Pods(4), .unassigned = 4});
  Reservation repeated = Creation(1, {Object(1)});
  repeated.by = "b";
  Reserve(standing, repeated);
  CHECK(Withdraw(standing, "a", 1));
  Assign(standing, Creation(2, {Object(1)}));
  CHECK(standing.used == Pods(2));
}

TEST_CASE("reserve: a withdrawal does not lower used below zero", "[accounting]") {
  Standing standing{{}, {}};
  Reserve(standing, {.by = "a", .n = 1, .of = "pods", .usage = Pods(64), .unassigned = 64});
  standing.used = Pods(3);
  CHECK(Withdraw(standing, "a", 1));
  CHECK(PodsOf(standing.used) == 0);
}

}  // namespace reserve_test
