// Device claims beside the pods that they were made for: the sum of a ledger against upstream's own
// evaluator, which looks at each claim and its pod.

#include <catch2/catch.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "pkg/api/time.h"
#include "pkg/quota/ledger.h"
#include "tests/differential/comparison.h"
#include "tests/differential/core_evaluators.h"
#include "tests/differential/random_requests.h"
#include "tests/differential/settings.h"

namespace differential::tied_claims_test {
namespace {

const std::vector<std::string> kNames = {"count/resourceclaims.resource.k8s.io",
                                         "gold.deviceclass.resource.k8s.io/devices",
                                         "requests.deviceclass.resource.kubernetes.io/a.b",
                                         "requests.deviceclass.resource.kubernetes.io/gold",
                                         "requests.deviceclass.resource.kubernetes.io/gpu",
                                         "requests.example.com/gpu",
                                         "requests.vendor.io/fpga"};

class ClaimComparison : public Comparison {
 public:
  void Compare(const std::string& text, const json::Value& answer) {
    const json::Value question = *json::Parse(text);
    quota::Ledger pods;
    quota::Ledger claims;
    const bool read = Fill(question, "claims", {"resource.k8s.io", "resourceclaims"}, claims) &&
                      Fill(question, "pods", {"", "pods"}, pods);
    if (!read) return;
    const quota::Beside beside{.classes = &classes_, .owners = &pods};
    const auto sum = claims.Sum({.ns = "n"}, {}, {}, kNames, beside);
    const auto alone = claims.Sum({.ns = "n"}, {}, {}, kNames, {.classes = &classes_});
    if (!sum || !alone) return Differ("no sum of " + text);
    shared += *sum == *alone ? 0 : 1;
    const std::string of_text = " of " + text;
    for (const auto& [name, amount] : *sum) {
      const json::Value* theirs = answer.At({"sum", name});
      // Upstream leaves out a name that no claim uses.
      if (theirs == nullptr && amount.IsZero()) continue;
      if (theirs == nullptr) return Differ(name + of_text + " only here");
      CompareAmount(name + of_text, amount, *theirs);
    }
  }

  std::size_t shared = 0;  // questions in which a claim shares the usage of its pod

 private:
  // False if upstream's evaluator departs.
  bool Fill(const json::Value& question, std::string_view field, const api::GroupResource& resource,
            quota::Ledger& ledger) {
    const base::WallTime now = *api::ParseTime("2024-05-02T00:00:00Z");
    for (const json::Value& object : question.ArrayAt({field})) {
      auto facts = EvaluatorOf(resource).facts_of(object, {.now = now, .rules = UpstreamRules()});
      REQUIRE(facts.has_value());
      if (HasManyDevices(facts->now.usage)) {
        departures.Add(Departure::kManyDevices);
        return false;
      }
      const auto uid = quota::Uid::FromText(object.StringAt({"metadata", "uid"}));
      ledger.Set("n", uid, std::move(*facts));
    }
    return true;
  }

  quota::ClassTable classes_ = DeviceClasses(EvaluatorOf({"resource.k8s.io", "resourceclaims"}));
};

TEST_CASE("device claims: what pods share with their claims is what upstream says",
          "[differential]") {
  Random random(TheSettings().seed);
  ClaimComparison comparison;
  const std::size_t count = TheSettings().count / 4;
  AskAll(
      count, [&] { return json::Write(RandomClaimsOfPods(random)); },
      [&](const std::string& question, const json::Value& answer) {
        comparison.Compare(question, answer);
      });
  std::cout << "device claims beside pods: " << count << " namespaces, shared in "
            << comparison.shared << "; departures: " << comparison.departures.ToString()
            << std::endl;
  INFO(comparison.first_differences());
  CHECK(comparison.differences() == 0);
  CHECK(comparison.shared > count / 50);
}

}  // namespace
}  // namespace differential::tied_claims_test
