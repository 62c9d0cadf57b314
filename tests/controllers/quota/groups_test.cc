// Quotas over many namespaces: how their groups are added to the ledgers, and live reads for them.

#include <catch2/catch.hpp>

#include "controllers/quota/asker.h"
#include "controllers/quota/own_reservations.h"
#include "controllers/quota/questions.h"
#include "controllers/usage/quota_view.h"
#include "pkg/accounting/reserve.h"
#include "tests/controllers/quota/groups_fixture.h"

namespace groups_test {

using namespace std::chrono_literals;
using controllers::Obstacle;
using controllers::OwnReservations;
using controllers::QuotaView;
using fixture::kPods;
using fixture::kSecrets;
using fixture::MakeSecret;
using groups_fixture::Labels;
using groups_fixture::Pod;
using groups_fixture::QuotaOf;
using groups_fixture::TrackerFixture;
using groups_fixture::UidOf;

TEST_CASE("groups: all ledgers know them, also ledgers that are added later", "[controllers]") {
  TrackerFixture f;
  f.cluster.Put(kPods, Pod("a", "team-a"));
  f.cluster.Put(kPods, Pod("b", "team-b"));
  f.cluster.Put(kPods, Pod("c", "team-c"));
  f.cluster.Put(kSecrets, MakeSecret("s", "team-b"));
  const quota::Quota own = QuotaOf({"team-a", "q"}, {"pods"});
  f.Track(own);
  f.tracker.SetGroups("team-a", {"red"});
  f.tracker.SetGroups("team-b", {"blue", "red"});
  f.Track(f.red);  // now secrets are watched
  CHECK(f.Used(f.red) == "pods=2,secrets=1");
  CHECK(f.Used(own) == "pods=1");
  f.cluster.Put(kPods, Pod("d", "team-b"));
  f.RunFor(1s);
  CHECK(f.Used(f.red) == "pods=3,secrets=1");
  f.tracker.SetGroups("team-b", {"blue"});
  CHECK(f.Used(f.red) == "pods=1,secrets=0");
  CHECK(f.Used(QuotaOf({"", "blue"}, {"pods"})) == "pods=2");
  f.tracker.SetGroups("team-b", {});
  CHECK(f.Used(QuotaOf({"", "blue"}, {"pods"})) == "pods=0");
}

TEST_CASE("groups: all names of a quota over namespaces are unknown until all labels are known",
          "[controllers]") {
  TrackerFixture f;
  Labels labels;
  f.usage.SetLabels(&labels);
  f.cluster.Put(kPods, Pod("a", "team-a"));
  f.tracker.SetGroups("team-a", {"red"});
  f.Track(f.red);
  const quota::Quota own = QuotaOf({"team-a", "q"}, {"pods"});
  CHECK(f.Used(f.red) == "pods=1,secrets=0");

  labels.incomplete = Obstacle{.kind = Obstacle::Kind::kPending, .resource = "namespaces"};
  auto count = f.usage.Count(f.red, 1s);
  CHECK(count.observed.used.empty());
  CHECK(count.observed.unknown == std::vector<std::string>{"pods", "secrets"});
  CHECK(count.pending);
  CHECK(count.trouble.empty());
  CHECK(f.Used(own) == "pods=1");

  labels.incomplete->kind = Obstacle::Kind::kRefused;
  labels.incomplete->why = "namespaces cannot be listed: forbidden";
  count = f.usage.Count(f.red, 1s);
  CHECK_FALSE(count.pending);
  CHECK(count.trouble == "namespaces cannot be listed: forbidden");
  REQUIRE(count.obstacles.size() == 1);
  CHECK(count.obstacles[0].names == std::vector<std::string>{"pods", "secrets"});

  labels.incomplete.reset();
  labels.behind = f.scheduler.Now() + 10s;
  count = f.usage.Count(f.red, 1s);
  CHECK(count.observed.used.ToString() == "pods=1,secrets=0");
  CHECK(count.observed.partial == std::vector<std::string>{"pods", "secrets"});
  CHECK(count.behind_until == labels.behind);
  CHECK(f.usage.BehindUntil(f.red) == labels.behind);
  CHECK(f.usage.BehindUntil(own) < labels.behind);
}

TEST_CASE("groups: an object is looked for in the namespace that its entry names",
          "[controllers]") {
  TrackerFixture f;
  f.tracker.SetGroups("team-a", {"red"});
  f.tracker.SetGroups("team-b", {"red"});
  f.Track(f.red);
  f.cluster.Put(kPods, Pod("a", "team-a"));
  const std::string last = f.cluster.Put(kPods, Pod("b", "team-b"));
  f.RunFor(1s);
  const QuotaView view(f.usage, f.red);
  CHECK(view.HasShown({"pods", "team-a", UidOf("a")}));
  CHECK_FALSE(view.HasShown({"pods", "team-b", UidOf("a")}));
  CHECK_FALSE(view.HasShown({"pods", "", UidOf("a")}));
  CHECK(view.Observed({"pods", "team-b", UidOf("b")}).Get("pods") == quota::Quantity::FromInt(1));
  CHECK(view.Observed({"pods", "team-a", UidOf("b")}).empty());
  CHECK_FALSE(view.IsPast({"pods", "team-b", UidOf("b")}, last));
  CHECK(view.HasShownVersion({"pods", "team-b", UidOf("b")}, last));

  const quota::Quota own = QuotaOf({"team-a", "q"}, {"pods"});
  const QuotaView of_own(f.usage, own);
  CHECK(of_own.HasShown({"pods", "", UidOf("a")}));
  CHECK_FALSE(of_own.HasShown({"pods", "", UidOf("b")}));
}

// The watch of objects may be ahead of the watch of namespaces. The sum of the quota does not have
// the object then, so the entry of its creation must stay open.
TEST_CASE("groups: an object in a namespace that was not shown counts as not shown",
          "[controllers]") {
  TrackerFixture f;
  f.Track(f.red);
  f.cluster.Put(kPods, Pod("b", "team-b"));
  f.RunFor(1s);
  Labels labels;
  labels.hidden = "team-b";
  f.usage.SetLabels(&labels);
  const QuotaView view(f.usage, f.red);
  const accounting::ObjectRef object{.of = "pods", .ns = "team-b", .uid = UidOf("b")};
  CHECK_FALSE(view.HasShown(object));
  CHECK_FALSE(view.IsPast(object, "1"));
  CHECK_FALSE(view.HasShownVersion(object, "1"));
  CHECK(view.Observed(object).empty());
  labels.hidden.clear();
  CHECK(view.HasShown(object));
  CHECK(view.Observed(object).Get("pods") == quota::Quantity::FromInt(1));
}

TEST_CASE("groups: objects are read live in the namespaces of their entries", "[controllers]") {
  using Lists = std::map<std::string, std::set<std::string>>;
  TrackerFixture f;
  f.Track(f.red);
  const quota::ResourceList one{{"pods", quota::Quantity::FromInt(1)}};
  accounting::ReservationList list;
  const auto add = [&](std::uint64_t n, std::string ns, const std::string& name) {
    list.Add({.by = "me",
              .n = n,
              .of = "pods",
              .ns = std::move(ns),
              .usage = one,
              .objects = {UidOf(name)}});
  };
  add(1, "team-a", "a");
  add(2, "team-b", "b");
  f.RunFor(1min);  // the lists of the watches are older than the holds
  const auto due = [&](const quota::Quota& quota) {
    accounting::FirstSeen first_seen;
    first_seen.See(f.scheduler.Now() - 20s, list);
    controllers::Questions questions;
    return questions.Due(f.scheduler.Now(), &list, first_seen, {}, {.usual = 10s},
                         QuotaView(f.usage, quota));
  };
  const auto lists = [&](const quota::Quota& quota) {
    Lists asked;
    for (const auto& [resource, wanted] : due(quota).lists) asked[resource] = wanted.namespaces;
    return asked;
  };
  const quota::Quota other = QuotaOf({"team-c", "q"}, {"pods"});
  CHECK(lists(f.red) == Lists{{"pods", {"team-a", "team-b"}}});
  CHECK(lists(other) == Lists{{"pods", {"team-c"}}});
  CHECK(due(f.red).collections.empty());
  list.Add({.by = "me", .n = 3, .of = "pods", .usage = one, .unassigned = 1});
  CHECK(due(f.red).collections == std::vector<std::string>{"pods"});
  list.Add({.by = "me", .n = 4, .usage = one});
  CHECK(due(f.red).collections == std::vector<std::string>{"pods"});
  quota::ResourceList both = one;
  both.Set("secrets", quota::Quantity::FromInt(1));
  list.Add({.by = "me", .n = 5, .usage = both});
  CHECK(due(f.red).collections == std::vector<std::string>{"pods", "secrets"});
  for (std::uint64_t n = 6; n < 101; ++n) add(n, "team-" + std::to_string(n), "of many");
  CHECK(due(f.red).ends.empty());
  CHECK(lists(f.red) == Lists{{"pods", {}}, {"secrets", {}}});
}

TEST_CASE("groups: of the listed objects only those of entries are kept", "[controllers]") {
  TrackerFixture f;
  f.Track(f.red);
  f.cluster.Put(kPods, Pod("a", "team-a"));
  f.cluster.Put(kPods, Pod("b", "team-b"));
  f.cluster.Put(kPods, Pod("c", "team-b"));
  f.RunFor(1s);
  const controllers::TrackingContext context{
      .executor = f.io.get_executor(), .scheduler = &f.scheduler, .client = &f.cluster};
  controllers::Asker asker(context, f.tracker);
  const auto ask = [&](controllers::Lists about) {
    f.cluster.listed.clear();
    controllers::Asker::Told told;
    f.running.Spawn("ask", [&, about]() -> base::Task<void> {
      std::map<std::string, controllers::Lists> lists{{"pods", about}};
      told = co_await asker.Ask(std::move(lists), 10s);
    });
    f.RunFor(1s);
    CHECK(told.trouble == "");
    return told.answers["pods"];
  };
  const auto paths = [&] {
    std::vector<std::string> asked;
    for (const client::ApiRequest& request : f.cluster.listed) asked.push_back(request.path);
    return asked;
  };
  using Paths = std::vector<std::string>;
  const auto two = ask(
      {.resource = kPods, .namespaces = {"team-a", "team-b"}, .objects = {UidOf("b"), UidOf("d")}});
  CHECK(paths() == Paths{"/api/v1/namespaces/team-a/pods", "/api/v1/namespaces/team-b/pods"});
  REQUIRE(two.objects.size() == 1);
  CHECK(two.objects.at(UidOf("b")).ns == "team-b");

  f.cluster.Hold(kPods);
  const std::string unshown = f.cluster.Put(kPods, Pod("d", "team-a"));
  const auto all = ask({.resource = kPods, .namespaces = {}, .objects = {}, .whole = true});
  CHECK(paths() == Paths{"/api/v1/pods"});
  CHECK(all.objects.empty());
  CHECK(all.unshown == unshown);
  f.cluster.Release(kPods);
  f.RunFor(1s);
  CHECK(ask({.resource = kPods, .namespaces = {}, .objects = {}, .whole = true}).unshown == "");

  const auto version = ask({.resource = kPods, .namespaces = {}, .objects = {}});
  CHECK(version.version == unshown);
  REQUIRE(f.cluster.listed.size() == 1);
  const auto& query = f.cluster.listed.front().query;
  CHECK(std::ranges::find(query, std::pair<std::string, std::string>("limit", "1")) != query.end());
}

TEST_CASE("groups: creations in one namespace share an entry", "[controllers]") {
  TrackerFixture f;
  const quota::Evaluator* any = &*f.api.evaluators.begin();
  const quota::ResourceList one{{"pods", quota::Quantity::FromInt(1)}};
  const auto plan_of = [&](const quota::Quota& quota) {
    admission::ReservePlan plan{.quota = quota, .grants = {}};
    for (const std::string name : {"a1", "a2", "b1"}) {
      plan.grants.push_back({.evaluator = any,
                             .ns = "team-" + name.substr(0, 1),
                             .uid = UidOf(name),
                             .usage = one,
                             .stored = {},
                             .added = one,
                             .version = {}});
    }
    return plan;
  };
  controllers::Author author{.by = "me"};
  accounting::Standing standing;
  OwnReservations own(author, {});
  own.AddEntries({}, plan_of(f.red), standing);
  REQUIRE(standing.list.entries().size() == 2);
  CHECK(standing.list.entries()[0].ns == "team-a");
  CHECK(standing.list.entries()[0].objects.size() == 2);
  CHECK(standing.list.entries()[1].ns == "team-b");
  CHECK(standing.used.Get("pods") == quota::Quantity::FromInt(3));

  accounting::Standing of_one;
  own.AddEntries({}, plan_of(QuotaOf({"team-a", "q"}, {"pods"})), of_one);
  REQUIRE(of_one.list.entries().size() == 1);
  CHECK(of_one.list.entries()[0].ns.empty());
}

}  // namespace groups_test
