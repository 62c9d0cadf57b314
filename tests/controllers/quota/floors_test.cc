// The floors of a list of reservations: what they cover, and what happens if they are not reached.

#include <catch2/catch.hpp>

#include "controllers/quota/questions.h"
#include "controllers/usage/quota_view.h"
#include "tests/controllers/quota/groups_fixture.h"

namespace floors_test {

using namespace std::chrono_literals;
using controllers::QuotaView;
using fixture::kPods;
using groups_fixture::Labels;
using groups_fixture::Pod;
using groups_fixture::QuotaOf;
using groups_fixture::TrackerFixture;

TEST_CASE("floors: the floor includes all namespaces and their labels", "[controllers]") {
  TrackerFixture f;
  f.Track(f.red);
  f.cluster.Put(kPods, Pod("a", "team-a"));
  const std::string in_b = f.cluster.Put(kPods, Pod("b", "team-b"));
  f.RunFor(1s);
  const quota::Quota own = QuotaOf({"team-a", "q"}, {"pods"});
  CHECK(QuotaView(f.usage, own).Newest("pods") == in_b);
  const QuotaView view(f.usage, f.red);
  CHECK(view.Newest("pods") == in_b);
  CHECK(view.Reaches("pods", in_b));
  CHECK_FALSE(view.Follows("namespaces"));
  CHECK(view.floor_resources() == std::vector<std::string>{"pods", "secrets"});

  Labels labels;
  f.usage.SetLabels(&labels);
  CHECK(view.floor_resources() == std::vector<std::string>{"pods", "secrets", "namespaces"});
  CHECK(view.resources() == std::vector<std::string>{"pods", "secrets"});
  CHECK(view.Served("namespaces") == controllers::kNamespaces);
  accounting::ReservationList list;
  accounting::RaiseFloor(list, view.floor_resources(), view);
  CHECK(list.floor == std::map<std::string, std::string>{{"namespaces", "50"}, {"pods", in_b}});
  CHECK_FALSE(accounting::IsBehind(list, view));
  labels.newest = "49";
  CHECK(accounting::IsBehind(list, view));
  CHECK(QuotaView(f.usage, own).floor_resources() == std::vector<std::string>{"pods"});
}

TEST_CASE("floors: a floor is asked about once it was not reached for long", "[controllers]") {
  TrackerFixture f;
  f.Track(f.red);
  f.cluster.Put(kPods, Pod("a", "team-a"));
  f.RunFor(1s);
  const QuotaView view(f.usage, f.red);
  controllers::Questions questions;
  accounting::ReservationList list;
  list.floor["pods"] = "1000000";
  const auto floors = [&] {
    return questions.Due(f.scheduler.Now(), &list, {}, {}, {.usual = 10s}, view).floors;
  };
  CHECK(floors().empty());
  f.RunFor(1s);
  SECTION("the list stays") {
    CHECK(floors().empty());
    f.RunFor(1s);
    CHECK(floors() == std::vector<std::string>{"pods"});
  }
  SECTION("the quota has no list meanwhile") {
    questions.OnList(nullptr);
    f.RunFor(1s);
    questions.OnList(&list);
    CHECK(floors().empty());
    f.RunFor(2s);
    CHECK(floors() == std::vector<std::string>{"pods"});
  }
}

TEST_CASE("floors: a void floor is replaced by what the server has", "[controllers]") {
  TrackerFixture f;
  f.Track(f.red);
  f.RunFor(1s);
  Labels labels;
  labels.count = 1'001;
  f.usage.SetLabels(&labels);
  const QuotaView view(f.usage, f.red);
  controllers::Questions questions;
  accounting::ReservationList list;
  list.floor = {{"namespaces", "1000000"}, {"pods", "1000000"}, {"secrets", "1000000"}};
  const auto due = [&] {
    return questions.Due(f.scheduler.Now(), &list, {}, {}, {.usual = 10s}, view);
  };
  (void)due();
  f.RunFor(2s);
  const controllers::Question question = due();
  REQUIRE(question.floors == std::vector<std::string>{"namespaces", "pods", "secrets"});
  CHECK_FALSE(question.lists.at("namespaces").whole);  // too many
  CHECK(question.lists.at("pods").whole);
  const controllers::Answers answers{{"namespaces", {.version = "60"}},
                                     {"pods", {.version = "60", .newest = "55"}},
                                     {"secrets", {.version = "60"}}};
  const auto take = [&](bool same) {
    return questions
        .Take(f.scheduler.Now(), question, answers, f.scheduler.Now(), &list, same, view)
        .replaced;
  };
  using Floor = std::map<std::string, std::string>;
  SECTION("as it was asked about") {
    CHECK(take(true));
    CHECK(list.floor == Floor{{"namespaces", "60"}, {"pods", "55"}});
    CHECK_FALSE(take(true));
  }
  SECTION("the list was written meanwhile") {
    CHECK_FALSE(take(false));
    CHECK(list.floor.size() == 3);
  }
  SECTION("the server has reached one of them, and the watch lags") {
    list.floor["pods"] = "58";
    CHECK(take(true));
    CHECK(list.floor == Floor{{"namespaces", "60"}, {"pods", "58"}});
  }
}

}  // namespace floors_test
