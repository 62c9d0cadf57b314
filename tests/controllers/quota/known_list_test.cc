#include "controllers/quota/known_list.h"

#include <catch2/catch.hpp>

#include "pkg/accounting/timing.h"

namespace known_list_test {
namespace {

using accounting::Reservation;
using accounting::ReservationList;
using namespace std::chrono_literals;

const std::string kUid = "4e1b2d6a-0000-4000-8000-000000000001";
constexpr base::TimePoint kNow{1h};

ReservationList ListOf(const std::vector<std::pair<std::string, std::uint64_t>>& entries) {
  ReservationList list;
  list.owner = kUid;
  for (const auto& [by, n] : entries) {
    Reservation entry{.by = by, .n = n, .of = "pods"};
    entry.usage.Set("pods", *quota::Quantity::Parse("1"));
    entry.objects = {quota::Uid::FromText(by + std::to_string(n))};
    list.Add(std::move(entry));
  }
  return list;
}

std::string Later(const std::string& more = "") {
  return R"({"format":99,"uid":")" + kUid + "\"" + more + "}";
}

struct Known {
  void Take(const std::string& text, base::TimePoint now = kNow) { list.Take(now, text, kUid); }
  [[nodiscard]] std::string Entries() const {
    std::string all;
    for (const Reservation& entry : list.known().entries()) {
      all += entry.by + std::to_string(entry.n) + " ";
    }
    return all;
  }

  controllers::Author author{.by = "me", .n = 7};
  controllers::KnownList list{author};
};

TEST_CASE("known list: a quota without a list has none", "[controllers]") {
  Known known;
  known.Take("");
  CHECK(known.list.Find() == nullptr);
  CHECK(known.list.known().entries().empty());
  CHECK_FALSE(known.list.lost());
}

TEST_CASE("known list: a list that vanishes with reservations is lost, and kept", "[controllers]") {
  const std::string text = GENERATE(as<std::string>(), "", "{", "a note of somebody");
  Known known;
  known.Take(ListOf({{"me", 7}, {"other", 1}}).Print());
  REQUIRE(known.Entries() == "me7 other1 ");
  known.Take(text);
  CHECK(known.list.lost());
  CHECK(known.Entries() == "me7 other1 ");
  CHECK(known.list.rejected().empty() == text.empty());
  known.list.TakeOurs(ListOf({{"me", 7}}));
  CHECK_FALSE(known.list.lost());
  CHECK(known.list.rejected().empty());
  CHECK(known.Entries() == "me7 ");
}

TEST_CASE("known list: a list without reservations may vanish", "[controllers]") {
  Known known;
  known.Take(ListOf({}).Print());
  REQUIRE(known.list.Find() != nullptr);
  known.Take("");
  CHECK_FALSE(known.list.lost());
  CHECK(known.list.Find() == nullptr);
}

TEST_CASE("known list: entries in our name that we have not written are not taken",
          "[controllers]") {
  Known known;
  known.Take(ListOf({{"me", 7}, {"other", 1}}).Print());
  known.Take(ListOf({{"me", 8}, {"other", 2}}).Print());
  CHECK(known.list.lost());
  CHECK_FALSE(known.list.rejected().empty());
  CHECK(known.Entries() == "other2 me7 other1 ");
}

TEST_CASE("known list: a list of a later version is left alone until it stays the same",
          "[controllers]") {
  Known known;
  known.Take(ListOf({{"me", 7}}).Print());
  known.Take(Later());
  CHECK(known.list.later_until() == kNow + accounting::kLaterFormat);
  CHECK_FALSE(known.list.lost());
  CHECK(known.Entries().empty());
  known.Take(Later(), kNow + 1s);
  CHECK(known.list.later_until() == kNow + accounting::kLaterFormat);
  known.Take(Later(R"(,"more":1)"), kNow + 2s);
  CHECK(known.list.later_until() == kNow + 2s + accounting::kLaterFormat);
  known.Take(ListOf({{"other", 3}}).Print(), kNow + 3s);
  CHECK_FALSE(known.list.later_until());
  CHECK(known.Entries() == "other3 ");
}

TEST_CASE("known list: what came after a restored state is forgotten", "[controllers]") {
  Known known;
  known.Take(ListOf({{"me", 7}}).Print());
  known.list.OnRestored();
  known.Take("");
  CHECK(known.list.Find() == nullptr);
  CHECK_FALSE(known.list.lost());
}

TEST_CASE("known list: a repaired list is stored by the next write", "[controllers]") {
  Known known;
  known.Take(ListOf({{"me", 7}}).Print());
  known.list.OnRepaired();
  CHECK(known.list.lost());
  known.list.TakeOurs(known.list.known());
  CHECK_FALSE(known.list.lost());
}

}  // namespace
}  // namespace known_list_test
