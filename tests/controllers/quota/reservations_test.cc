// The stored list of reservations: its entries, and the effects of a start, a silent watch, and
// damage.

#include "tests/controllers/quota/charging_fixture.h"

namespace reservations_test {

using namespace std::chrono_literals;
using fixture::ChargingFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakePod;
using fixture::MakeQuota;
using fixture::PodWithUid;

namespace {

std::string TextOf(ChargingFixture& f) {
  const std::string name(quota::kReservations);
  return std::string(
      f.cluster.Find(kQuotas, "team-a", "q")->StringAt({"metadata", "annotations", name}));
}

void SetText(ChargingFixture& f, const std::string& text) {
  json::Value quota = *f.cluster.Find(kQuotas, "team-a", "q");
  quota.Make({"metadata", "annotations", std::string(quota::kReservations)}) = text;
  f.cluster.Put(kQuotas, std::move(quota));
}

const std::vector<std::string> kDamaged{"{", "[]", R"({"used":{"pods":"-1"}})", ""};

std::string UidOf(ChargingFixture& f) {
  return std::string(f.cluster.Find(kQuotas, "team-a", "q")->StringAt({"metadata", "uid"}));
}

struct Limited : ChargingFixture {
  Limited() {
    cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
    RunFor(1s);
  }
};

}  // namespace

TEST_CASE("reservations: without admission a quota has no list", "[controllers]") {
  Limited f;
  f.cluster.Put(kPods, MakePod("a"));
  f.RunFor(1s);
  f.cluster.Delete(kPods, "team-a", "a");
  f.WriteStatus("q", {{"pods", "5"}}, {{"pods", "3"}});
  f.RunFor(30s);
  CHECK(f.Used("q") == "pods=0");
  CHECK(TextOf(f).empty());
}

TEST_CASE("reservations: an entry stays until its object was shown", "[controllers]") {
  Limited f;
  CHECK(f.Admits(PodWithUid("a")));
  const auto list = accounting::ReservationList::Parse(TextOf(f), UidOf(f));
  REQUIRE(list.has_value());
  REQUIRE(list->entries().size() == 1);
  CHECK(list->entries()[0].of == "pods");
  CHECK(list->Names(quota::Uid::FromText("uid-of-a")));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(3s);
  const auto after = accounting::ReservationList::Parse(TextOf(f), UidOf(f));
  REQUIRE(after.has_value());
  CHECK(after->entries().empty());
  CHECK(after->floor.contains("pods"));
}

TEST_CASE("reservations: a new process continues with the stored reservations", "[controllers]") {
  Limited f;
  CHECK(f.Admits(PodWithUid("gone")));
  f.cluster.Put(kPods, PodWithUid("gone"));
  f.RunFor(3s);
  CHECK(f.Admits(PodWithUid("coming")));
  f.Stop();
  f.cluster.Delete(kPods, "team-a", "gone");
  f.Start();
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=1");
  SECTION("the object is stored") {
    f.cluster.Put(kPods, PodWithUid("coming"));
    f.RunFor(20s);
    CHECK(f.Used("q") == "pods=1");
  }
  SECTION("the object is never stored") {
    f.RunFor(13s);
    CHECK(f.Used("q") == "pods=1");
    f.RunFor(3s);
    CHECK(f.Used("q") == "pods=0");
  }
}

TEST_CASE("reservations: before an entry expires, its object is read live", "[controllers]") {
  Limited f;
  f.cluster.Hold(kPods);
  CHECK(f.Admits(PodWithUid("stored")));
  CHECK(f.Admits(PodWithUid("never stored")));
  f.cluster.Put(kPods, PodWithUid("stored"));
  f.RunFor(1min);
  CHECK(f.Used("q") == "pods=1");
  SECTION("no entry ends while the server does not answer") {
    f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (!request.path.ends_with("/pods")) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kUnavailable, .message = "", .http_status = 503};
    };
    CHECK(f.Admits(PodWithUid("another")));
    f.RunFor(1min);
    CHECK(f.Used("q") == "pods=2");
    f.cluster.fault = nullptr;
    f.RunFor(20s);
    CHECK(f.Used("q") == "pods=1");
  }
  f.cluster.Release(kPods);
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=1");
}

TEST_CASE("reservations: a watch that does not show a stored object is opened anew",
          "[controllers]") {
  Limited f;
  f.cluster.Silence(kPods);
  CHECK(f.Admits(PodWithUid("stored")));
  f.cluster.Put(kPods, PodWithUid("stored"));
  f.RunFor(5s);
  const std::size_t lists = f.cluster.lists;
  f.RunFor(15s);
  CHECK(f.cluster.lists == lists + 1);  // the question; the watch continues without a list
  f.cluster.Delete(kPods, "team-a", "stored");
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=0");
  SECTION("once in a while, if it stays silent") {
    f.cluster.Hold(kPods);
    CHECK(f.Admits(PodWithUid("another")));
    f.cluster.Put(kPods, PodWithUid("another"));
    f.RunFor(15s);
    const std::size_t watches = f.cluster.watches;
    f.RunFor(1min);
    CHECK(f.cluster.watches - watches <= 6);
    CHECK(f.Used("q") == "pods=1");
  }
}

TEST_CASE("reservations: a list that was damaged is stored again", "[controllers]") {
  Limited f;
  CHECK(f.Admits(PodWithUid("a")));
  SetText(f, GENERATE(from_range(kDamaged)));
  f.RunFor(1s);
  const auto list = accounting::ReservationList::Parse(TextOf(f), UidOf(f));
  REQUIRE(list.has_value());
  CHECK(list->Names(quota::Uid::FromText("uid-of-a")));
  CHECK(f.Used("q") == "pods=1");
  CHECK(f.Admits(PodWithUid("b")));
  CHECK(f.Used("q") == "pods=2");
  f.cluster.Put(kPods, PodWithUid("b"));
  f.RunFor(20s);
  CHECK(f.Used("q") == "pods=1");
}

TEST_CASE(
    "reservations: a new process ignores a damaged list and holds its amount as an external charge",
    "[controllers]") {
  Limited f;
  CHECK(f.Admits(PodWithUid("a")));
  f.Stop();
  SetText(f, GENERATE(from_range(kDamaged)));
  f.Start();
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=1");
  f.RunFor(20s);
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("reservations: a list that was removed without reservations is not stored again",
          "[controllers]") {
  Limited f;
  CHECK(f.Admits(PodWithUid("a")));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(3s);
  SetText(f, "");
  f.RunFor(30s);
  CHECK(TextOf(f).empty());
  f.cluster.Delete(kPods, "team-a", "a");
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=0");
  CHECK(TextOf(f).empty());
}

TEST_CASE("reservations: a list that is removed in a tight loop is stored at the rate of recounts",
          "[controllers]") {
  Limited f;
  CHECK(f.Admits(PodWithUid("a")));
  const std::size_t before = f.cluster.writes.size();
  for (int i = 0; i < 1000; ++i) {
    SetText(f, "");
    f.RunFor(5ms);
  }
  // 40 in a row, and then one in 55 ms.
  CHECK(f.cluster.writes.size() - before > 40);
  CHECK(f.cluster.writes.size() - before <= 40 + 5000 / 55 + 1);
  CHECK(f.Used("q") == "pods=1");
}

}  // namespace reservations_test
