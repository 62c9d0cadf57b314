// Quantities against k8s.io/apimachinery's: parsing, printing, sums, rounding, order.

#include <catch2/catch.hpp>
#include <compare>
#include <iostream>
#include <optional>
#include <string>

#include "tests/differential/comparison.h"
#include "tests/differential/random_quantities.h"
#include "tests/differential/settings.h"

namespace differential::quantities_test {
namespace {

using quantity::Quantity;

std::string RandomQuestion(Random& random) {
  const auto times = static_cast<std::int64_t>(random.Below(2001)) - 1000;
  return json::Write(json::Object{{"left", RandomQuantityText(random)},
                                  {"right", RandomQuantityText(random)},
                                  {"times", times}});
}

class QuantityComparison : public Comparison {
 public:
  void Compare(const json::Value& question, const json::Value& answer) {
    const auto left = Parse(question, answer, "left");
    const auto right = Parse(question, answer, "right");
    if (!left || !right) return;
    const auto times = question.At({"times"})->AsInt64();
    REQUIRE(times.has_value());
    CompareResult("sum", left->Add(*right), question, answer);
    CompareResult("difference", left->Sub(*right), question, answer);
    CompareResult("product", left->Mul(*times), question, answer);
    CompareResult("wholeUp", left->RoundUpToInteger(), question, answer);
    CompareResult("milliUp", left->RoundUpToMilli(), question, answer);
    const auto order = *left <=> *right;
    const int ours = std::is_lt(order) ? -1 : (std::is_gt(order) ? 1 : 0);
    if (answer.At({"order"})->AsInt64() != ours) Differ("order of " + json::Write(question));
  }

 private:
  // nullopt if there is nothing to compute.
  std::optional<Quantity> Parse(const json::Value& question, const json::Value& answer,
                                const std::string& side) {
    const std::string text(question.StringAt({side}));
    const std::string_view refused = answer.StringAt({side + "Error"});
    const auto ours = Quantity::Parse(text);
    if (refused.empty() && ExponentWraps(text)) {
      CheckWrapped(text, ours);
      return std::nullopt;
    }
    if (!refused.empty()) {
      if (ours || ours.error().message != refused) {
        Differ("'" + text + "': ours " + (ours ? ours->ToString() : ours.error().message) +
               ", upstream " + std::string(refused));
      }
      return std::nullopt;
    }
    CompareResult(side, *ours, question, answer);
    if (!ours->IsSaturated()) return *ours;
    return std::nullopt;
  }

  void CheckWrapped(const std::string& text, const base::Result<Quantity>& ours) {
    departures.Add(Departure::kExponentWraps);
    const bool refused = !ours && ours.error().message.starts_with("unable to parse numeric part");
    const bool extreme =
        ours && (ours->IsSaturated() || (ours->nanos() >= -1 && ours->nanos() <= 1));
    if (!refused && !extreme) Differ("'" + text + "' with an exponent beyond 32 bits");
  }

  void CompareResult(const std::string& name, const Quantity& ours, const json::Value& question,
                     const json::Value& answer) {
    CompareAmount(name + " of " + json::Write(question), ours, *answer.At({name}));
  }
};

TEST_CASE("quantities: random texts and sums are the same as upstream's", "[differential]") {
  Random random(TheSettings().seed);
  QuantityComparison comparison;
  AskAll(
      TheSettings().count, [&] { return RandomQuestion(random); },
      [&](const std::string& question, const json::Value& answer) {
        const auto asked = json::Parse(question);
        REQUIRE(asked.has_value());
        comparison.Compare(*asked, answer);
      });
  std::cout << "quantities: " << TheSettings().count
            << " pairs; departures: " << comparison.departures.ToString() << std::endl;
  INFO(comparison.first_differences());
  CHECK(comparison.differences() == 0);
}

// A text as our status writes have it.
std::string PrintedText(Random& random) {
  for (;;) {
    const auto first = Quantity::Parse(RandomQuantityText(random));
    const auto second = Quantity::Parse(RandomQuantityText(random));
    if (!first || !second) continue;
    const auto times = static_cast<std::int64_t>(random.Below(2001)) - 1000;
    return first->Mul(times).Add(*second).ToString();
  }
}

TEST_CASE("quantities: an API server that stores what we print stores the number",
          "[differential]") {
  Random random(TheSettings().seed + 1);
  QuantityComparison comparison;
  AskAll(
      TheSettings().count,
      [&] {
        return json::Write(json::Object{
            {"left", PrintedText(random)}, {"right", PrintedText(random)}, {"times", 1}});
      },
      [&](const std::string& question, const json::Value& answer) {
        const auto asked = json::Parse(question);
        REQUIRE(asked.has_value());
        for (const char* side : {"left", "right"}) {
          // The text that upstream stores, read again.
          const auto ours = Quantity::Parse(asked->StringAt({side}));
          const auto theirs = Quantity::Parse(answer.StringAt({side, "text"}));
          if (!ours || !theirs || *ours != *theirs) {
            comparison.Differ(json::Write(*asked) + ": " + json::Write(answer));
          }
        }
      });
  INFO(comparison.first_differences());
  CHECK(comparison.differences() == 0);
}

}  // namespace
}  // namespace differential::quantities_test
