#include "pkg/inspect/tree_view.h"

#include <catch2/catch.hpp>

namespace tree_view_test {

using Catch::Matchers::Contains;
using inspect::Forest;

// `spec` and `status` are the members of these objects, without braces.
quota::Quota Make(const std::string& name, const std::string& spec, const std::string& status) {
  const auto object = json::Parse(R"({"metadata": {"name": ")" + name +
                                  R"(", "uid": "1", "resourceVersion": "1", "generation": 2},
      "spec": {)" + spec + R"(}, "status": {)" +
                                  status + "}}");
  return quota::ParseQuota(*object, {.reservations_in_status = true, .cluster = true}).value();
}

// The conditions of a quota without problems.
std::string Counted(const std::string& hard, const std::string& used, const std::string& more) {
  return R"("observedGeneration": 2, "hard": )" + hard + R"(, "used": )" + used +
         R"(, "conditions": [{"type": "Ready", "status": "True", "reason": "Counted"},
             {"type": "Stale", "status": "False", "reason": "Current"}])" +
         more;
}

Forest Company() {
  std::vector<quota::Quota> quotas;
  quotas.push_back(Make("company", R"("hard": {"pods": "100", "requests.cpu": "50"})",
                        Counted(R"({"pods": "100", "requests.cpu": "50"})",
                                R"({"pods": "60", "requests.cpu": "5"})", R"(, "namespaces": 3)")));
  quotas.push_back(Make("team-a", R"("parent": "company", "hard": {"pods": "80"},
      "namespaceSelector": {"matchLabels": {"team": "a"}})",
                        Counted(R"({"pods": "80"})", R"({"pods": "55"})",
                                R"(, "namespaces": 2, "available": {"pods": "20"})")));
  quotas.push_back(Make("team-b", R"("parent": "company", "hard": {"pods": "40"},
      "guaranteed": {"pods": "25"}, "enforcement": "Warn",
      "namespaceSelector": {"matchLabels": {"team": "b"}})",
                        Counted(R"({"pods": "40"})", R"({"pods": "5"})", R"(, "namespaces": 1)")));
  quotas.push_back(Make("stray", R"("parent": "nobody", "hard": {"pods": "1"})", ""));
  return Forest(std::move(quotas));
}

std::string Print(const Forest& forest, const inspect::TreeChoice& choice,
                  const inspect::TreeStyle& style) {
  return inspect::PrintTable(inspect::TreeTable(forest, inspect::TreeOf(forest, choice), style),
                             {});
}

TEST_CASE("tree: quotas are listed below their parents, with available amounts", "[inspect]") {
  CHECK(
      Print(Company(), {}, {}) ==
      "QUOTA       RESOURCE       USED/HARD   USED%   AVAILABLE   GUARANTEED   NAMESPACES   MODE   "
      "STATE\n"
      "company     pods           60/100      60%     40          -            3            Deny   "
      "Ready\n"
      "│           requests.cpu   5/50        10%     45          -\n"
      "├─ team-a   pods           55/80       68%     20          -            2            Deny   "
      "Ready\n"
      "└─ team-b   pods           5/40        12%     35          25           1            Warn   "
      "Ready\n"
      "stray       pods           -/1         -       -           -            -            Deny   "
      "ParentNotFound, not counted yet\n");
}

TEST_CASE("tree: available amounts without status.available are computed from the tree",
          "[inspect]") {
  Forest forest = Company();
  // 40 are free in company, of which team-b is promised 20.
  std::vector<quota::Quota> quotas;
  for (const std::string& name : forest.Names()) {
    quotas.push_back(*forest.Find(name));
    quotas.back().further_status.Erase("available");
  }
  const Forest silent(std::move(quotas));
  CHECK(silent.AvailableOf("team-a").Get("pods").ToString() == "20");
}

TEST_CASE("tree: a subtree is shown wide and without line drawing", "[inspect]") {
  const Forest forest = Company();
  CHECK_THAT(Print(forest, {.top = "team-b"}, {.unicode = false}),
             Contains("\nteam-b   pods") && !Contains("company"));
  const std::string way =
      Print(forest, {.only = std::vector<std::string>{"team-a", "company"}}, {.unicode = false});
  CHECK_THAT(way, Contains("\n|           requests.cpu") && Contains("\n`- team-a   pods") &&
                      !Contains("team-b") && !Contains("stray"));
  CHECK_THAT(Print(forest, {.top = "stray"}, {.wide = true}),
             Contains("SCOPES   WHY\n") && Contains("<none>   ") && Contains("nobody"));
}

TEST_CASE("tree: an outdated status and conditions are shown", "[inspect]") {
  std::vector<quota::Quota> quotas;
  quotas.push_back(Make("old", R"("hard": {"pods": "5"})",
                        R"("observedGeneration": 1, "hard": {"pods": "5"}, "used": {"pods": "7"},
      "conditions": [{"type": "Ready", "status": "False", "reason": "ListFailed",
                      "message": "no pods"},
                     {"type": "Stale", "status": "True", "reason": "ListFailed",
                      "message": "no pods"},
                     {"type": "OverLimit", "status": "True", "message": "more is used"},
                     {"type": "Exempt", "status": "True", "message": "nothing is refused"}])"));
  const Forest forest(std::move(quotas));
  const std::string text = Print(forest, {}, {.wide = true});
  CHECK_THAT(text, Contains("status of an older spec, ListFailed, Stale, OverLimit") &&
                       Contains("no pods; more is used; nothing is refused\n") &&
                       !Contains("Exempt") && Contains("7/5"));
  CHECK(inspect::WhyUncertain(*forest.Find("old")) == "its status is of an older spec");
}

TEST_CASE("tree: a name that is not in force does not make the status outdated", "[inspect]") {
  const auto stored = [](const char* hard) {
    std::vector<quota::Quota> quotas;
    quotas.push_back(
        Make("q", R"("hard": {"pods": "5", "secrets": "1"})",
             R"("observedGeneration": 2, "hard": )" + std::string(hard) +
                 R"(, "used": {"pods": "2"}, "conditions": [{"type": "Stale", "status": "True",
                 "reason": "ListForbidden", "message": "secrets is not in force"}])"));
    quotas.back().cluster->generation = 2;
    const Forest forest(std::move(quotas));
    return inspect::WhyUncertain(*forest.Find("q"));
  };
  CHECK(stored(R"({"pods": "5"})") == "secrets is not in force");
  CHECK(stored(R"({"pods": "4"})") == "its status is of an older spec");
}

// The definition's default, which a quota has before the first count.
TEST_CASE("tree: an observedGeneration of -1 says nothing about the status", "[inspect]") {
  const auto stored = [](const char* generation) {
    std::vector<quota::Quota> quotas;
    quotas.push_back(Make("q", R"("hard": {"pods": "5"})",
                          R"("observedGeneration": )" + std::string(generation) +
                              R"(, "hard": {"pods": "5"}, "used": {"pods": "2"})"));
    quotas.back().cluster->generation = 2;
    const Forest forest(std::move(quotas));
    return inspect::WhyUncertain(*forest.Find("q"));
  };
  CHECK(stored("-1").empty());
  CHECK(stored("1") == "its status is of an older spec");
}

TEST_CASE("tree: quotas in a cycle are roots with the state ParentCycle", "[inspect]") {
  std::vector<quota::Quota> quotas;
  quotas.push_back(Make("a", R"("parent": "b", "hard": {"pods": "5"})", ""));
  quotas.push_back(Make("b", R"("parent": "a")", ""));
  const std::string text = Print(Forest(std::move(quotas)), {}, {});
  CHECK_THAT(text, Contains("\na ") && Contains("\nb       <none>") && Contains("ParentCycle"));
}

TEST_CASE("tree: the document is flat, in the order of the tree", "[inspect]") {
  const Forest forest = Company();
  const auto entries = inspect::TreeOf(forest, {.top = "company"});
  CHECK(json::Write(inspect::TreeValue(forest, entries)) ==
        R"({"apiVersion":"cli.quota-controller-manager.io/v1alpha1",)"
        R"("kind":"ClusterQuotaTree","items":[)"
        R"({"name":"company","depth":0,"mode":"Deny","namespaces":3,"state":["Ready"],)"
        R"("messages":[],"resources":[)"
        R"({"resource":"pods","hard":"100","used":"60","available":"40"},)"
        R"({"resource":"requests.cpu","hard":"50","used":"5","available":"45"}]},)"
        R"({"name":"team-a","depth":1,"mode":"Deny","parent":"company","namespaces":2,)"
        R"("state":["Ready"],"messages":[],"resources":[)"
        R"({"resource":"pods","hard":"80","used":"55","available":"20"}]},)"
        R"({"name":"team-b","depth":1,"mode":"Warn","parent":"company","namespaces":1,)"
        R"("state":["Ready"],"messages":[],"resources":[)"
        R"({"resource":"pods","hard":"40","used":"5","available":"35","guaranteed":"25"}]}]})");
  CHECK(inspect::TreeNames(entries) ==
        "clusterquota.quota-controller-manager.io/company\n"
        "clusterquota.quota-controller-manager.io/team-a\n"
        "clusterquota.quota-controller-manager.io/team-b\n");
}

}  // namespace tree_view_test
