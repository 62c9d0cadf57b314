// Whose list of reservations a quota has: a copy of another quota's, one that somebody invented,
// and one of a later version.

#include "pkg/accounting/timing.h"
#include "tests/controllers/quota/charging_fixture.h"

namespace list_owner_test {

using namespace std::chrono_literals;
using fixture::ChargingFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakePod;
using fixture::MakeQuota;
using fixture::PodWithUid;

namespace {

const std::string kAnnotation(quota::kReservations);

std::string TextOf(ChargingFixture& f, const std::string& name = "q") {
  return std::string(
      f.cluster.Find(kQuotas, "team-a", name)->StringAt({"metadata", "annotations", kAnnotation}));
}

void SetText(ChargingFixture& f, const std::string& text) {
  json::Value quota = *f.cluster.Find(kQuotas, "team-a", "q");
  quota.Make({"metadata", "annotations", kAnnotation}) = text;
  f.cluster.Put(kQuotas, std::move(quota));
}

std::string UidOf(ChargingFixture& f) {
  return std::string(f.cluster.Find(kQuotas, "team-a", "q")->StringAt({"metadata", "uid"}));
}

accounting::ReservationList ListOf(ChargingFixture& f) {
  return accounting::ReservationList::Parse(TextOf(f), UidOf(f)).value();
}

// A list of the quota as its owner may write it with kubectl.
std::string Forged(ChargingFixture& f, const std::string& members) {
  return R"({"format":1,"uid":")" + UidOf(f) + "\"," + members + "}";
}

struct Limited : ChargingFixture {
  Limited() {
    cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
    cluster.Put(kPods, MakePod("stored"));
    RunFor(1s);
  }
};

}  // namespace

TEST_CASE("list owner: thirty copies of a quota are true at once, and nothing is listed",
          "[controllers]") {
  Limited f;
  CHECK(f.Admits(PodWithUid("a")));
  json::Value copy = *f.cluster.Find(kQuotas, "team-a", "q");
  auto list = ListOf(f);
  list.floor["pods"] = "9000000";  // the cluster that it comes from is older
  list.used = {{"pods", quota::Quantity::FromInt(4)}};
  copy.Make({"metadata", "annotations", kAnnotation}) = list.Print();
  copy.Make({"metadata"}).AsObject()->Erase("uid");
  copy.AsObject()->Erase("status");
  const std::size_t lists = f.cluster.lists;
  const std::size_t watches = f.cluster.watches;
  for (int i = 0; i < 30; ++i) {
    copy.Make({"metadata", "name"}) = "copy-" + std::to_string(i);
    f.cluster.Put(kQuotas, copy);
  }
  f.RunFor(3s);
  for (int i = 0; i < 30; ++i) {
    const std::string name = "copy-" + std::to_string(i);
    CHECK(f.Hard(name) == "pods=5");
    CHECK(f.Used(name) == "pods=1");
    CHECK(TextOf(f, name).find(UidOf(f)) == std::string::npos);  // it was overwritten
  }
  CHECK(f.Used("q") == "pods=2");
  CHECK(f.cluster.lists == lists);
  CHECK(f.cluster.watches == watches);
}

TEST_CASE("list owner: a quota that is created again with its old list starts anew",
          "[controllers]") {
  Limited f;
  CHECK(f.Admits(PodWithUid("a")));
  json::Value again = *f.cluster.Find(kQuotas, "team-a", "q");
  again.Make({"metadata"}).AsObject()->Erase("uid");
  again.AsObject()->Erase("status");
  f.cluster.Delete(kQuotas, "team-a", "q");
  f.cluster.Put(kQuotas, again);
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=1");
  CHECK(ListOf(f).entries().empty());
}

TEST_CASE("list owner: another quota's list does not replace the list that has reservations",
          "[controllers]") {
  Limited f;
  CHECK(f.Admits(PodWithUid("a")));
  SetText(f, R"({"format":1,"uid":"another","writes":3,"used":{"pods":"0"}})");
  f.RunFor(1s);
  CHECK(ListOf(f).Names(quota::Uid::FromText("uid-of-a")));
  CHECK(f.Used("q") == "pods=2");
}

TEST_CASE("list owner: a forged floor disturbs its quota only", "[controllers]") {
  Limited f;
  f.cluster.Put(kQuotas, MakeQuota("other", {{"pods", "5"}}));
  CHECK(f.Admits(PodWithUid("a")));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(5s);
  const std::size_t lists = f.cluster.lists;
  const std::size_t watches = f.cluster.watches;
  std::uint64_t floor = 9'000'000;
  for (int i = 0; i < 10; ++i) {
    SetText(f, Forged(f, R"("writes":9,"used":{"pods":"2"},"floor":{"pods":")" +
                             std::to_string(++floor) + "\"}"));
    f.RunFor(2600ms);
  }
  // One question about the namespace for each forged floor.
  CHECK(f.cluster.lists - lists <= 10);
  CHECK(f.cluster.watches - watches <= 1);  // one may have ended by itself
  f.cluster.Delete(kPods, "team-a", "a");
  f.RunFor(100ms);
  CHECK(f.Used("other") == "pods=1");
  f.RunFor(3s);
  CHECK(f.Used("q") == "pods=1");
  CHECK(f.Admits(PodWithUid("b")));
}

// Another replica keeps the larger of two floors. So it cannot say how far its own watch was when
// it dropped the entry of an object that ours has not shown.
TEST_CASE("list owner: under a forged floor an object that others have seen still counts",
          "[controllers]") {
  Limited f;
  const std::string floor = R"("floor":{"pods":"9000000"})";
  CHECK(f.Admits(PodWithUid("a")));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(5s);
  SetText(f, Forged(f, R"("writes":9,"used":{"pods":"2"},)" + floor));
  f.RunFor(5s);
  CHECK(ListOf(f).floor.at("pods") != "9000000");
  f.cluster.Hold(kPods);
  f.cluster.Put(kPods, PodWithUid("b"));
  const bool rewritten = GENERATE(true, false);
  if (!rewritten) SetText(f, Forged(f, R"("writes":9,"used":{"pods":"2"},)" + floor));
  json::Value quota = *f.cluster.Find(kQuotas, "team-a", "q");
  quota.Make({"metadata", "annotations", kAnnotation}) =
      Forged(f, R"("writes":20,"used":{"pods":"3"},)" + floor);
  quota.Make({"status", "used", "pods"}) = "3";
  f.cluster.Put(kQuotas, std::move(quota));
  for (int i = 0; i < 9; ++i) {
    f.RunFor(1s);
    CHECK(f.Used("q") == "pods=3");
  }
  f.cluster.Release(kPods);
  f.cluster.Delete(kPods, "team-a", "a");
  f.RunFor(3s);
  CHECK(f.Used("q") == "pods=2");
  CHECK(ListOf(f).floor.at("pods") != "9000000");
}

TEST_CASE("list owner: forged entries count until nobody has their objects", "[controllers]") {
  Limited f;
  CHECK(f.Admits(PodWithUid("a")));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(5s);
  SetText(f, Forged(f, R"("reservations":[{"by":"x","n":1,"usage":{"pods":"2"},"shape":1}],)"
                       R"("writes":10,"used":{"pods":"2"})"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=4");
  f.RunFor(20s);
  CHECK(f.Used("q") == "pods=2");
}

TEST_CASE("list owner: members of a later version survive our writes", "[controllers]") {
  Limited f;
  CHECK(f.Admits(PodWithUid("a")));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(5s);
  SetText(f, Forged(f, R"("reservations":[{"by":"x","n":1,"usage":{"pods":"1"},"of":"pods",)"
                       R"("objects":"AAAAAAAAAAE","shape":[1]}],)"
                       R"("writes":9,"used":{"pods":"3"},"pool":{"size":3})"));
  f.RunFor(1s);
  CHECK(f.Admits(PodWithUid("b")));
  CHECK(TextOf(f).find(R"("shape":[1])") != std::string::npos);
  CHECK(TextOf(f).find(R"("pool":{"size":3})") != std::string::npos);
  CHECK(f.Used("q") == "pods=4");
}

TEST_CASE("list owner: a list of a later format is left alone until nobody writes it",
          "[controllers]") {
  Limited f;
  CHECK(f.Admits(PodWithUid("a")));
  const auto later = [&](int number) {
    return R"({"format":2,"uid":")" + UidOf(f) + R"(","number":)" + std::to_string(number) + "}";
  };
  f.cluster.Put(kQuotas, MakeQuota("other", {{"pods", "5"}}));
  SetText(f, later(1));
  f.RunFor(1s);
  const std::size_t writes = f.cluster.writes.size();
  // A later version runs and writes.
  for (int number = 2; number < 6; ++number) {
    f.RunFor(20s);
    SetText(f, later(number));
  }
  f.Review(PodWithUid("b"));
  f.RunFor(6s);
  REQUIRE(f.answers.back().has_value());
  CHECK(f.answers.back()->code == 503);
  CHECK(f.answers.back()->message.find("is written by a later version") != std::string::npos);
  CHECK(TextOf(f) == later(5));
  CHECK(f.Used("q") == "pods=2");
  // The other quota may have been written: its grant was withdrawn.
  for (std::size_t i = writes; i < f.cluster.writes.size(); ++i) {
    CHECK(f.cluster.writes[i].path.find("/q/") == std::string::npos);
  }
  controllers::Accounts::Tally tally;
  while (f.controller->accounts().Count(tally)) continue;
  CHECK(tally.later == 1);

  // It is gone: what it granted counts until the server says that it is not stored.
  f.RunFor(accounting::kLaterFormat - 7s);
  CHECK(TextOf(f) == later(5));
  f.RunFor(2s);
  CHECK(f.Used("q") == "pods=2");
  CHECK(f.Admits(PodWithUid("c")));
  CHECK(f.Used("q") == "pods=3");
  CHECK(ListOf(f).Names(quota::Uid::FromText("uid-of-c")));
  f.cluster.Put(kPods, PodWithUid("c"));
  f.RunFor(30s);
  CHECK(f.Used("q") == "pods=2");
}

}  // namespace list_owner_test
