// ClusterQuotas in the output of `check` and `why`.
#include <catch2/catch.hpp>

#include "pkg/inspect/check_view.h"
#include "pkg/inspect/gangs.h"
#include "pkg/inspect/why.h"
#include "pkg/quota/core/core_quota.h"

namespace cluster_fit_test {

using Catch::Matchers::Contains;
using inspect::FitBook;
using inspect::Forest;

quota::Quota Make(const std::string& name, const std::string& spec, const std::string& hard,
                  const std::string& used) {
  const auto object = json::Parse(
      R"({"metadata": {"name": ")" + name +
      R"(", "uid": "1", "resourceVersion": "1", "generation": 1}, "spec": {)" + spec +
      R"("hard": )" + hard + R"(}, "status": {"hard": )" + hard + R"(, "used": )" + used + "}}");
  return quota::ParseQuota(*object, {.reservations_in_status = true, .cluster = true}).value();
}

// 5 of 10 pods are used. 3 of the free ones are promised to team-b.
Forest Company(const std::string& mode = "Deny") {
  const std::string enforcement = R"("enforcement": ")" + mode + R"(", )";
  std::vector<quota::Quota> quotas;
  quotas.push_back(Make("company", enforcement, R"({"pods": "10"})", R"({"pods": "5"})"));
  quotas.push_back(Make("team-a", R"("parent": "company",
      "namespaceSelector": {"matchLabels": {"team": "a"}}, )",
                        R"({"pods": "8"})", R"({"pods": "4"})"));
  quotas.push_back(Make("team-b", R"("parent": "company", "guaranteed": {"pods": "4"},
      "namespaceSelector": {"matchLabels": {"team": "b"}}, )",
                        R"({"pods": "6"})", R"({"pods": "1"})"));
  return Forest(std::move(quotas));
}

inspect::Reached In(const Forest& forest, const char* team) {
  const json::Value labels = json::Object{{"team", team}};
  return forest.ReachOf(&labels);
}

quota::Quota Own() {
  return *quota::ParseQuota(*json::Parse(R"({"metadata": {"name": "own", "namespace": "a",
      "uid": "1", "resourceVersion": "1"}, "spec": {"hard": {"pods": "20"}},
      "status": {"hard": {"pods": "20"}, "used": {"pods": "0"}}})"));
}

// Checks `count` new pods.
FitBook Ask(inspect::Reached reached, std::int64_t count, const std::string& group = "") {
  static const quota::QuotaApi api = quota::CoreQuotaApi();
  const auto pods = std::ranges::find_if(api.evaluators, [](const quota::Evaluator& evaluator) {
    return evaluator.resource.resource == "pods";
  });
  FitBook book({Own()}, std::move(reached));
  const inspect::Counter counter{.evaluator = &*pods};
  inspect::Piece piece;
  piece.of = {"deployment", "apps", "web"};
  piece.object = *json::Parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p",
      "namespace": "a"}, "spec": {"containers": [{"name": "c"}]}})");
  if (!group.empty()) piece.object.Make({"spec", "schedulingGroup", "podGroupName"}) = group;
  piece.count = count;
  REQUIRE(book.Add(counter, piece, {}).has_value());
  return book;
}

std::string Check(const FitBook& book) {
  const std::vector<inspect::CheckedSpace> spaces{{"a", book}};
  return inspect::PrintTable(inspect::CheckTable(spaces), {.titles = false}) +
         inspect::CheckVerdict({.spaces = spaces, .notes = {}, .server = {}});
}

TEST_CASE("check: ClusterQuotas follow the namespace's quotas, the nearest first", "[inspect]") {
  CHECK(Check(Ask(In(Company(), "a"), 2)) ==
        "own                    pods   0   2   2   20   yes\n"
        "clusterquota/team-a    pods   4   2   6   8    yes\n"
        "clusterquota/company   pods   5   2   7   10   yes\n"
        "Yes: all of it fits.\n");
  CHECK(Check(Ask(In(Company(), "c"), 2)) ==
        "own   pods   0   2   2   20   yes\n"
        "Yes: all of it fits.\n");
}

TEST_CASE("check: a guarantee of others is not free, and the text says so", "[inspect]") {
  CHECK(Check(Ask(In(Company(), "a"), 3)) ==
        "own                    pods   0   3   3   20   yes\n"
        "clusterquota/team-a    pods   4   3   7   8    yes\n"
        "clusterquota/company   pods   5   3   8   10   no, lacks 1\n"
        "exceeded cluster quota: company (above team-a), requested: pods=3, used: pods=5, limited: "
        "pods=10, guaranteed to others: pods=3\n"
        "No: 1 of 3 limits would be exceeded.\n");
  // The guaranteed amount is free for its owner.
  CHECK(Ask(In(Company(), "b"), 5).Fits());
  CHECK_FALSE(Ask(In(Company(), "b"), 6).Fits());
}

TEST_CASE("check: a guarantee of others is not there for a gang", "[inspect]") {
  const inspect::PodGroups groups{
      {"train", *json::Parse(R"({"spec": {"schedulingPolicy": {"gang": {"minCount": 4}}}})")}};
  const auto gangs = inspect::ShortGangs(Ask(In(Company(), "a"), 4, "train"), groups);
  REQUIRE(gangs.size() == 1);
  CHECK(gangs.front().asked == 4);
  CHECK(gangs.front().fit == 2);
  CHECK(inspect::ShortGangs(Ask(In(Company(), "b"), 4, "train"), groups).empty());
  CHECK(inspect::ShortGangs(Ask(In(Company("Warn"), "a"), 4, "train"), groups).empty());
}

TEST_CASE("check: a quota in mode Warn warns and refuses nothing", "[inspect]") {
  const FitBook book = Ask(In(Company("Warn"), "a"), 3);
  CHECK(book.Fits());
  CHECK_THAT(Check(book),
             Contains("clusterquota/company   pods   5   3   8   10   lacks 1, would warn\n"
                      "would warn: exceeded cluster quota: company (above team-a), ") &&
                 Contains("Yes: nothing is refused, but quotas in mode Warn or Audit would be "
                          "exceeded.\n"));
  const inspect::Checked checked{.spaces = {{"a", book}}, .notes = {}, .server = {}};
  CHECK_THAT(json::Write(inspect::CheckValue(checked)),
             Contains(R"("mode":"Warn")") && Contains(R"("fits":true)"));
  CHECK_THAT(inspect::CheckJunit(checked), Contains(R"(failures="0")"));
}

TEST_CASE("check: a quota that is exceeded refuses what replaces something, in admission's words",
          "[inspect]") {
  static const quota::QuotaApi api = quota::CoreQuotaApi();
  const auto pods = std::ranges::find_if(api.evaluators, [](const quota::Evaluator& evaluator) {
    return evaluator.resource.resource == "pods";
  });
  const inspect::Counter counter{.evaluator = &*pods};
  Forest full = Company();
  full.Charge("company", {{"pods", *quota::Quantity::Parse("7")}});
  FitBook book({}, In(full, "b"));
  inspect::Piece pod;
  pod.of = {"statefulset", "apps", "db"};
  pod.object = *json::Parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p",
      "namespace": "b"}, "spec": {"containers": [{"name": "c"}]}})");
  const std::string text =
      "exceeded cluster quota: company (above team-b), requested: pods=1, used: pods=11, limited: "
      "pods=10, guaranteed to others: pods=3\n";
  SECTION("by a rollout") {
    const inspect::Rollout rollout{
        .of = pod.of, .each = {pod}, .fresh = 2, .old = {{.objects = {pod.object}, .count = 2}}};
    const auto counter_of = [&](const json::Value&) { return &counter; };
    REQUIRE(book.Add(counter_of, rollout, {}).has_value());
  }
  SECTION("by a hook") {
    inspect::Piece old = pod;
    old.gone = true;
    REQUIRE(book.Add(counter, old, {}).has_value());
    REQUIRE(book.Add(counter, pod, {}).has_value());
  }
  const inspect::Checked checked{.spaces = {{"b", book}}};
  CHECK_THAT(inspect::CheckVerdict(checked), Contains(text));
  CHECK_THAT(json::Write(inspect::CheckValue(checked)), Contains("\"refusals\":"));
}

TEST_CASE("check: the needs of one namespace are charged before the next is checked", "[inspect]") {
  Forest forest = Company();
  const FitBook first = Ask(In(forest, "a"), 2);
  for (std::size_t i = 0; i < first.quotas().size(); ++i) {
    if (first.quotas()[i].cluster) forest.Charge(first.quotas()[i].key.name, first.Asked()[i]);
  }
  CHECK_FALSE(Ask(In(forest, "a"), 1).Fits());
  CHECK(Ask(In(forest, "b"), 3).Fits());
}

TEST_CASE("why: ClusterQuotas say what is lacking, in admission's words", "[inspect]") {
  const FitBook fit({Own()}, In(Company(), "a"));
  const quota::ResourceList one{{"pods", *quota::Quantity::Parse("1")}};
  const inspect::Demand demand{.of = {one, one, one}, .objections = {}};
  const auto some = inspect::Explain({"job", "batch", "j"}, 3, 0, fit, demand);
  CHECK_FALSE(some.Refused());
  CHECK_THAT(
      inspect::WhyText(some, {}),
      Contains("  cluster quota team-a    pods 4/8, fits\n"
               "  cluster quota company   pods 5/10, 5 free, 3 guaranteed to others, lacks 1 "
               "for all\n"));
  Forest full = Company();
  full.Charge("company", {{"pods", *quota::Quantity::Parse("2")}});
  const FitBook none({Own()}, In(full, "a"));
  auto answer = inspect::Explain({"job", "batch", "j"}, 3, 0, none, demand);
  CHECK(answer.Refused());
  answer.room = inspect::RoomFor(answer, {{"company", "pods", {}, true}});
  CHECK_THAT(inspect::WhyText(answer, {}),
             Contains("← refuses\nthe next is refused: exceeded cluster quota: company (above "
                      "team-a), requested: pods=1, used: pods=7, limited: pods=10, guaranteed to "
                      "others: pods=3\nroom: raise pods of cluster quota company to 13\n"));
  CHECK_THAT(inspect::WhyText(inspect::Explain({"job", "batch", "j"}, 3, 3, none, demand), {}),
             Contains("← would refuse another\nit has what it wants, so nothing is refused now; "
                      "another pod would be refused: exceeded cluster quota: company (above "));
}

TEST_CASE("why: a quota in mode Warn refuses nothing", "[inspect]") {
  Forest full = Company("Audit");
  full.Charge("company", {{"pods", *quota::Quantity::Parse("9")}});
  const FitBook fit({}, In(full, "a"));
  const quota::ResourceList one{{"pods", *quota::Quantity::Parse("1")}};
  const auto answer = inspect::Explain({"job", "batch", "j"}, 1, 0, fit, {.of = {one, one}});
  CHECK_FALSE(answer.Refused());
  CHECK_THAT(inspect::WhyText(answer, {}), Contains("← would audit\n"));
}

}  // namespace cluster_fit_test
