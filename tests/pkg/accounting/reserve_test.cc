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
  Reserve(standing, Creation(1, {Object(1), Object(2)}), {});
  CHECK(standing.used == Pods(7));
  Reserve(standing, Creation(2, {Object(2)}), {});
  CHECK(standing.used == Pods(7));
  CHECK(Withdraw(standing, "a", 1, Object(2), {}));
  CHECK(standing.used == Pods(7));  // the other entry stands for it
  CHECK(Withdraw(standing, "a", 2, Object(2), {}));
  CHECK(standing.used == Pods(6));
  CHECK_FALSE(Withdraw(standing, "a", 2, Object(2), {}));
}

// The object is stored with 7, and 10 are asked for; then somebody makes it 3, and the API server
// asks again, from 3 to 10: what is listed covers it as long as it is listed.
TEST_CASE("reserve: an older entry covers a call from a later version while it is listed",
          "[accounting]") {
  Standing standing{Pods(7), {}};
  Reserve(standing, Growth(1, Object(1), 10, "20"), Pods(7));
  CHECK(standing.used == Pods(10));
  Reserve(standing, Growth(2, Object(1), 10, "21"), Pods(3));
  CHECK(standing.used == Pods(10));
  FakeView view;
  view.Show(21, Object(1), 3);
  Settle(standing.list, view);
  CHECK(standing.list.entries().size() == 1);
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
  Reserve(standing, {.by = "a", .n = 1, .of = "pods", .usage = Pods(64), .unassigned = 64}, {});
  CHECK(standing.used == Pods(65));
  CHECK(standing.list.Unassigned() == Pods(64));
}

TEST_CASE("reserve: what was granted from an unassigned entry takes its place", "[accounting]") {
  Standing standing{Pods(1), {}};
  Reserve(standing, {.by = "a", .n = 1, .of = "pods", .usage = Pods(64), .unassigned = 64}, {});
  CHECK(Withdraw(standing, "a", 1));
  Reserve(standing, Creation(2, {Object(1), Object(2)}), {});
  CHECK(standing.used == Pods(3));
  CHECK(standing.list.entries().size() == 1);
  CHECK_FALSE(Withdraw(standing, "a", 1));
}

TEST_CASE("reserve: what somebody has taken out of used is not lowered below nothing",
          "[accounting]") {
  Standing standing{{}, {}};
  Reserve(standing, {.by = "a", .n = 1, .of = "pods", .usage = Pods(64), .unassigned = 64}, {});
  standing.used = Pods(3);
  CHECK(Withdraw(standing, "a", 1));
  CHECK(PodsOf(standing.used) == 0);
}

}  // namespace reserve_test
