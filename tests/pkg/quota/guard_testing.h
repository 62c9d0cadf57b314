#pragma once

// Tests of a guard's update_condition: random updates show that none that can need quota escapes
// it. The condition is CEL, so the test restates it in C++; the expression itself is tested on a
// real API server (tests/e2e/webhook_rules_test.cc).

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "pkg/quota/evaluator.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota {

struct Restated {
  const char* expression;
  std::function<bool(const json::Value& object, const json::Value& old)> holds;
};

// Draws members at random; "" means absent.
class Drawer {
 public:
  void Put(json::Value& object, std::initializer_list<std::string_view> path,
           const std::vector<std::string>& texts) {
    const std::string& text = texts[random_() % texts.size()];
    if (!text.empty()) object.Make(path) = Json(text);
  }

 private:
  std::mt19937 random_{1};
};

// True if the object uses more units of a class than before. What a unit uses is not known here.
inline bool NeedsMoreUnits(const Facts& after, const Facts& before) {
  return !std::ranges::all_of(after.classes, [&](const ClassUnits& units) {
    return std::ranges::any_of(before.classes, [&](const ClassUnits& held) {
      return held.name == units.name && held.units >= units.units;
    });
  });
}

// True if admission would charge the update. It computes the facts of both states as admission
// does.
inline bool CanNeedMore(const Evaluator& evaluator, const json::Value& object,
                        const json::Value& old) {
  const auto& admitted = evaluator.guard.facts_of;
  const auto after = admitted ? admitted(object, &old, {}) : evaluator.facts_of(object, {});
  const auto before = evaluator.facts_of(old, {});
  REQUIRE(after.has_value());
  REQUIRE(before.has_value());
  if (after->now.attributes != before->now.attributes) return true;  // another scope
  if (!after->flaw.empty() && after->flaw != before->flaw) return true;
  return NeedsMoreUnits(after->now, before->now) ||
         !Excess(after->now.usage, before->now.usage).empty();
}

inline void NothingEscapes(const Evaluator& evaluator, const Restated& condition,
                           const std::function<json::Value(Drawer&)>& draw_one) {
  CHECK(evaluator.guard.updates);
  REQUIRE(evaluator.guard.update_condition == condition.expression);
  Drawer draw;
  int needs = 0;
  int spared = 0;
  for (int i = 0; i < 5000; ++i) {
    const json::Value old = draw_one(draw);
    const json::Value object = draw_one(draw);
    const bool asked = condition.holds(object, old);
    spared += asked ? 0 : 1;
    if (!CanNeedMore(evaluator, object, old)) continue;
    ++needs;
    INFO(json::Write(old) << " -> " << json::Write(object));
    REQUIRE(asked);
  }
  CHECK(needs > 500);
  CHECK(spared > 20);
}

}  // namespace quota
