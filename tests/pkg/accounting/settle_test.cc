#include "pkg/accounting/settle.h"

#include <catch2/catch.hpp>

#include "pkg/accounting/reserve.h"
#include "tests/pkg/accounting/accounting_fixture.h"

namespace settle_test {

using namespace accounting_test;
using accounting::DropObserved;
using accounting::IsBehind;
using accounting::IsOpen;
using accounting::Outstanding;
using accounting::Settle;

TEST_CASE("settle: a creation is open until its object was shown, even if it is deleted",
          "[accounting]") {
  const Reservation entry = Creation(1, {Object(1)});
  FakeView view;
  CHECK(IsOpen(entry, Object(1), view));
  view.Show(5, Object(1), 1);
  CHECK_FALSE(IsOpen(entry, Object(1), view));
  view.Show(6, Object(1), 0, true);
  CHECK_FALSE(IsOpen(entry, Object(1), view));
  view.follows = false;
  CHECK(IsOpen(entry, Object(1), view));
}

TEST_CASE("settle: a growth is open until a later version was shown", "[accounting]") {
  const Reservation entry = Growth(1, Object(1), 5, "10");
  FakeView view;
  view.Show(10, Object(1), 2);
  CHECK(IsOpen(entry, Object(1), view));
  ReservationList list;
  list.Add(entry);
  CHECK(Outstanding(list, view) == Pods(3));  // two of the five are observed
  view.Show(11, Object(1), 5);
  CHECK_FALSE(IsOpen(entry, Object(1), view));
}

TEST_CASE("settle: an object is searched in the namespace of its entry", "[accounting]") {
  FakeView view;
  view.ns = "team-b";
  view.Show(11, Object(1), 2);
  Reservation created = Creation(1, {Object(1)}, 5);
  Reservation grown = Growth(2, Object(1), 5, "10");
  for (const std::string ns : {"team-a", ""}) {
    created.ns = grown.ns = ns;
    CHECK(IsOpen(created, Object(1), view));
    CHECK(IsOpen(grown, Object(1), view));
    ReservationList list;
    list.Add(grown);
    CHECK(Outstanding(list, view) == Pods(5));  // nothing is observed there
  }
  created.ns = grown.ns = "team-b";
  CHECK_FALSE(IsOpen(created, Object(1), view));
  CHECK_FALSE(IsOpen(grown, Object(1), view));
  grown.from = "11";
  ReservationList list;
  list.Add(grown);
  CHECK(Outstanding(list, view) == Pods(3));
}

TEST_CASE("settle: an unassigned entry is removed when its resource is not counted any more",
          "[accounting]") {
  ReservationList list;
  list.Add({.by = "a", .n = 1, .of = "pods", .usage = Pods(4), .unassigned = 4});
  list.Add({.by = "a", .n = 2, .of = "ignored", .usage = Pods(8), .unassigned = 8});
  list.Add({.by = "a", .n = 3, .usage = Pods(16)});  // merged, so it has no resource
  const FakeView view;
  CHECK(Outstanding(list, view) == Pods(20));
  Settle(list, view);
  CHECK(list.entries().size() == 2);
  CHECK(list.Find("a", 2) == nullptr);
}

TEST_CASE("settle: without a recount, an entry stays until all of its amounts are observed",
          "[accounting]") {
  ReservationList list;
  list.Add(Creation(1, {Object(1), Object(2)}));
  list.Add(Growth(2, Object(3), 5, "10"));
  FakeView view;
  view.Show(11, Object(3), 2);  // the growth from version 10 met a conflict
  view.Show(12, Object(1), 1);
  view.Show(13, Object(2), 0, true);
  DropObserved(list, view);
  REQUIRE(list.entries().size() == 2);
  CHECK(list.entries()[0].objects == std::vector{Object(2)});
  CHECK(list.Names(Object(3)));
  CHECK(list.floor == std::map<std::string, std::string>{{"pods", "13"}});
  view.Show(14, Object(3), 5);
  DropObserved(list, view);
  CHECK_FALSE(list.Names(Object(3)));
  Settle(list, view);
  CHECK(list.entries().empty());
}

TEST_CASE("settle: settled entries are removed, and the floor records the seen versions",
          "[accounting]") {
  ReservationList list;
  list.Add(Creation(1, {Object(1), Object(2)}));
  list.Add(Creation(2, {Object(3)}));
  FakeView view;
  view.Show(7, Object(1), 1);
  view.Show(9, Object(3), 1);
  Settle(list, view);
  CHECK(list.entries().size() == 1);
  CHECK(list.entries().front().objects == std::vector<Uid>{Object(2)});
  CHECK(list.floor.at("pods") == "9");
  CHECK_FALSE(IsBehind(list, view));
  FakeView older;
  older.Show(7, Object(1), 1);
  CHECK(IsBehind(list, older));
  Settle(list, older);
  CHECK(list.floor.at("pods") == "9");
}

TEST_CASE("settle: the floor covers the versions that another process may have seen",
          "[accounting]") {
  ReservationList list;
  CHECK_FALSE(IsWithinFloor(list, "pods", "8"));
  list.floor["pods"] = "9";
  CHECK(IsWithinFloor(list, "pods", "8"));
  CHECK(IsWithinFloor(list, "pods", "9"));
  CHECK_FALSE(IsWithinFloor(list, "pods", "10"));
  CHECK_FALSE(IsWithinFloor(list, "pods", ""));
  CHECK_FALSE(IsWithinFloor(list, "secrets", "8"));
}

TEST_CASE("settle: entries for objects that the quota does not count are settled", "[accounting]") {
  Reservation entry = Creation(1, {Object(1)});
  entry.of = "ignored";
  CHECK_FALSE(IsOpen(entry, Object(1), FakeView()));
}

namespace {

// A server, two views of it that lag, and requests that are stored at any time, or never. After
// each reservation or recount by either view, `used` is at least the stored usage.
class Race {
 public:
  explicit Race(std::uint64_t seed) : random_(seed) {}

  void Step() {
    switch (random_() % 6) {
      case 0:
        return Ask();
      case 1:
        return Store();
      case 2:
        return Delete();
      case 3:
        return Show(views_[random_() % 2]);
      case 4:
        return Recount(views_[random_() % 2]);
      default:
        return Tidy(views_[random_() % 2]);
    }
  }
  std::int64_t Used() const { return PodsOf(standing_.used); }
  std::int64_t Stored() const {
    std::int64_t sum = 0;
    for (const auto& [uid, object] : stored_) sum += object.usage;
    return sum;
  }
  // All events were shown, and no request is in progress.
  std::int64_t AtRest() {
    asked_.clear();
    while (views_[0].next < history_.size()) Show(views_[0]);
    Recount(views_[0]);
    return PodsOf(standing_.used) - PodsOf(Outstanding(standing_.list, views_[0].view));
  }

 private:
  struct StoredObject {
    std::uint64_t version = 0;
    std::int64_t usage = 0;
  };
  struct Asked {
    Uid uid;
    std::uint64_t from = 0;
    std::int64_t to = 0;
  };
  struct Lagging {
    FakeView view;
    std::size_t next = 0;
  };
  struct Event {
    std::uint64_t version;
    Uid uid;
    std::int64_t usage;
    bool gone;
  };

  void Ask() {
    const Uid uid = Object(random_() % 5 + (random_() % 3 == 0 ? 5 * generation_ : 0));
    const auto at = stored_.find(uid);
    if (at == stored_.end() && used_up_.contains(uid)) return;  // uids are not used twice
    const std::int64_t to = 1 + static_cast<std::int64_t>(random_() % 9);
    // The API server may have read the object before its last store.
    const auto before = before_.find(uid);
    const bool late = before != before_.end() && random_() % 4 == 0;
    const StoredObject read = late                  ? before->second
                              : at == stored_.end() ? StoredObject()
                                                    : at->second;
    const std::uint64_t from = read.version;
    const std::int64_t now = read.usage;
    if (to > now || from == 0) {
      Reservation entry = from == 0
                              ? Creation(++n_, {uid}, to)
                              : Growth(++n_, uid, to, std::to_string(from), std::min(now, to));
      accounting::Reserve(standing_, std::move(entry));
    }
    asked_.push_back({uid, from, to});
  }
  void Store() {
    if (asked_.empty()) return;
    const std::size_t at = random_() % asked_.size();
    const Asked asked = asked_[at];
    asked_.erase(asked_.begin() + static_cast<std::ptrdiff_t>(at));
    const auto held = stored_.find(asked.uid);
    const std::uint64_t now = held == stored_.end() ? 0 : held->second.version;
    if (now != asked.from || (now == 0 && used_up_.contains(asked.uid))) return;
    used_up_.insert(asked.uid);
    if (held != stored_.end()) before_[asked.uid] = held->second;
    stored_[asked.uid] = {++version_, asked.to};
    history_.push_back({version_, asked.uid, asked.to, false});
  }
  void Delete() {
    if (stored_.empty()) return;
    auto at = stored_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_() % stored_.size()));
    history_.push_back({++version_, at->first, 0, true});
    stored_.erase(at);
    ++generation_;
  }
  void Show(Lagging& lagging) {
    if (lagging.next >= history_.size()) return;
    const Event& event = history_[lagging.next++];
    lagging.view.Show(event.version, event.uid, event.usage, event.gone);
  }
  void Recount(Lagging& lagging) {
    if (IsBehind(standing_.list, lagging.view)) return;
    const std::int64_t open = PodsOf(Outstanding(standing_.list, lagging.view));
    Settle(standing_.list, lagging.view);
    RaiseFloor(standing_.list, {"pods"}, lagging.view);
    standing_.used = Pods(lagging.view.Sum() + open);
  }
  void Tidy(Lagging& lagging) { Settle(standing_.list, lagging.view); }

  std::mt19937_64 random_;
  accounting::Standing standing_{Pods(0), {}};
  std::map<Uid, StoredObject> stored_;
  std::map<Uid, StoredObject> before_;  // the version before that
  std::set<Uid> used_up_;
  std::vector<Event> history_;
  std::vector<Asked> asked_;
  Lagging views_[2];
  std::uint64_t version_ = 1;
  std::uint64_t n_ = 0;
  std::uint64_t generation_ = 1;
};

}  // namespace

TEST_CASE("settle: used is at least the stored usage after any reservation, cleanup or recount",
          "[accounting]") {
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    Race race(seed);
    for (int step = 0; step < 150; ++step) {
      race.Step();
      INFO("seed " << seed << " step " << step);
      REQUIRE(race.Used() >= race.Stored());
    }
    CHECK(race.AtRest() == race.Stored());
  }
}

}  // namespace settle_test
