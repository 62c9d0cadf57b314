// What tools that wait for a ClusterQuota (Flux, Argo CD's plugins, kpt) make of its conditions:
// the answer of kstatus, the library that they use.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "controllers/quota/events/status_conditions.h"
#include "tests/differential/settings.h"
#include "tests/differential/upstream.h"

namespace differential::waiting_test {
namespace {

using controllers::QuotaCondition;

// The quota with this status, in its second generation.
std::string QuestionOf(json::Object status) {
  const json::Object quota{{"apiVersion", "quota-controller-manager.io/v1alpha1"},
                           {"kind", "ClusterQuota"},
                           {"metadata", json::Object{{"name", "q"}, {"generation", 2}}},
                           {"status", std::move(status)}};
  return json::Write(json::Object{{"waiting", quota}});
}

std::string QuestionAbout(const QuotaCondition& ready, std::int64_t observed = 2) {
  std::vector<QuotaCondition> conditions{ready, {"Stale", !ready.holds, "R", "m"}};
  for (QuotaCondition& one : controllers::ProgressOf(ready)) conditions.push_back(std::move(one));
  return QuestionOf({{"observedGeneration", observed},
                     {"conditions", controllers::WithConditions(nullptr, conditions, observed,
                                                                "2026-01-01T00:00:00Z")}});
}

}  // namespace

TEST_CASE("waiting: a tool ends when the quota is ready, and when it never will be",
          "[differential]") {
  struct Case {
    std::string question;
    std::string wanted;
  };
  const std::vector<Case> cases{
      {QuestionAbout({"Ready", true, "Counted", "m"}), "Current"},
      {QuestionAbout({"Ready", true, "SelectsNothing", "m"}), "Current"},
      {QuestionAbout({"Ready", false, "NotCountedYet", "m"}), "InProgress"},
      {QuestionAbout({"Ready", false, "ParentNotFound", "m"}), "Failed"},
      {QuestionAbout({"Ready", false, "NotEnforced", "m"}), "Failed"},
      {QuestionAbout({"Ready", false, "ListFailed", "m"}), "Failed"},
      {QuestionAbout({"Ready", true, "Counted", "m"}, 1), "InProgress"},
      // Before the first count: the default of the definition.
      {QuestionOf({{"observedGeneration", -1}}), "InProgress"},
  };
  Upstream upstream(TheSettings().upstream);
  for (const Case& one : cases) {
    INFO(one.question);
    const json::Value answer = upstream.Ask({one.question}).front();
    INFO(json::Write(answer));
    CHECK(answer.StringAt({"waiting"}) == one.wanted);
  }
}

}  // namespace differential::waiting_test
