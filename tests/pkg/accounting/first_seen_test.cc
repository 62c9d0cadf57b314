#include "pkg/accounting/first_seen.h"

#include <catch2/catch.hpp>

#include "tests/pkg/accounting/accounting_fixture.h"

namespace first_seen_test {

using namespace accounting_test;
using std::chrono_literals::operator""s;

TEST_CASE("first seen: an entry keeps its time until it leaves the list", "[accounting]") {
  accounting::FirstSeen seen;
  const base::TimePoint begin{};
  ReservationList list;
  list.Add(Creation(1, {Object(1)}));
  seen.See(begin, list);
  list.Add(Creation(2, {Object(2)}));
  seen.See(begin + 3s, list);
  CHECK(seen.Of(*list.Find("a", 1)) == begin);
  CHECK(seen.Of(*list.Find("a", 2)) == begin + 3s);
  CHECK(seen.Oldest() == begin);
  const Reservation first = *list.Find("a", 1);
  list.Remove("a", 1);
  seen.See(begin + 4s, list);
  CHECK_FALSE(seen.Of(first).has_value());
  CHECK(seen.Oldest() == begin + 3s);
}

}  // namespace first_seen_test
