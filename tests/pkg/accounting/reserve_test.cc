#include "pkg/accounting/reserve.h"

#include <catch2/catch.hpp>

#include "pkg/quota/saturating.h"
#include "tests/pkg/accounting/accounting_fixture.h"

namespace reserve_test {

using namespace accounting_test;
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
  CHECK(standing.used == Pods(7));  // the other entry stands for it
  CHECK(Withdraw(standing, "a", 2, Object(2)));
  CHECK(standing.used == Pods(6));
  CHECK_FALSE(Withdraw(standing, "a", 2, Object(2)));
}

// Many updates of one object from one version, of which one is stored.
TEST_CASE("reserve: a growth raises used by what is missing, whoever else asked for it",
          "[accounting]") {
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

// It was read when it used 7; by now another write has made that 3, and `used` is recounted.
TEST_CASE("reserve: an entry has no more than it added, whatever version it started from",
          "[accounting]") {
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

TEST_CASE("reserve: who lowers used does not lower what is decided against", "[accounting]") {
  ReservationList list;
  list.used = Pods(8);
  CHECK(Decisive(Pods(3), list) == Pods(8));
  CHECK(Decisive(Pods(9), list) == Pods(9));
  CHECK(Decisive({}, list).empty());
}

TEST_CASE("reserve: what is unassigned is reserved in all", "[accounting]") {
  Standing standing{Pods(1), {}};
  Reserve(standing, {.by = "a", .n = 1, .of = "pods", .usage = Pods(64), .unassigned = 64});
  CHECK(standing.used == Pods(65));
  CHECK(standing.list.Unassigned() == Pods(64));
}

TEST_CASE("reserve: what was granted from an unassigned entry takes its place", "[accounting]") {
  Standing standing{Pods(1), {}};
  Reserve(standing, {.by = "a", .n = 1, .of = "pods", .usage = Pods(64), .unassigned = 64});
  CHECK(Withdraw(standing, "a", 1));
  Reserve(standing, Creation(2, {Object(1), Object(2)}));
  CHECK(standing.used == Pods(3));
  CHECK(standing.list.entries().size() == 1);
  CHECK_FALSE(Withdraw(standing, "a", 1));
}

TEST_CASE("reserve: what somebody has taken out of used is not lowered below nothing",
          "[accounting]") {
  Standing standing{{}, {}};
  Reserve(standing, {.by = "a", .n = 1, .of = "pods", .usage = Pods(64), .unassigned = 64});
  standing.used = Pods(3);
  CHECK(Withdraw(standing, "a", 1));
  CHECK(PodsOf(standing.used) == 0);
}

}  // namespace reserve_test
