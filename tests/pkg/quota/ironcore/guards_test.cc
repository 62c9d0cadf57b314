// Which updates of machines, volumes and buckets can need quota, and which of a request's claims
// are believed. The expressions themselves are tested on a real API server (tests/e2e).

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/pkg/quota/ironcore/ironcore_testing.h"

namespace quota::ironcore::guards_test {
namespace {

struct Restated {
  const char* resource;
  const char* expression;
  std::function<bool(const json::Value& object, const json::Value& old)> holds;
};

bool IsTerminated(const json::Value& object) {
  return object.StringAt({"status", "state"}) == "Terminated";
}

const Restated kMachines = {"machines",
                            "object.?spec.?machineClassRef != oldObject.?spec.?machineClassRef || ("
                            "object.?status.?state.orValue('') == 'Terminated' && "
                            "oldObject.?status.?state.orValue('') != 'Terminated')",
                            [](const json::Value& object, const json::Value& old) {
                              return Differ(object, old, {"spec", "machineClassRef"}) ||
                                     (IsTerminated(object) && !IsTerminated(old));
                            }};

const Restated kVolumes = {
    "volumes",
    "object.?spec.?resources.?storage != oldObject.?spec.?resources.?storage || "
    "object.?spec.?volumeClassRef != oldObject.?spec.?volumeClassRef",
    [](const json::Value& object, const json::Value& old) {
      return Differ(object, old, {"spec", "resources", "storage"}) ||
             Differ(object, old, {"spec", "volumeClassRef"});
    }};

const Restated kBuckets = {"buckets",
                           "object.?spec.?bucketClassRef != oldObject.?spec.?bucketClassRef",
                           [](const json::Value& object, const json::Value& old) {
                             return Differ(object, old, {"spec", "bucketClassRef"});
                           }};

class Drawer {
 public:
  // One that is drawn "" is absent.
  void Put(json::Value& object, std::initializer_list<std::string_view> path,
           const std::vector<std::string>& texts) {
    const std::string& text = texts[random_() % texts.size()];
    if (!text.empty()) object.Make(path) = Json(text);
  }
  json::Value Draw() {
    json::Value object = Json(R"({"metadata":{"name":"o"}})");
    Put(object, {"metadata", "labels"}, {"", R"({"a":"b"})"});
    Put(object, {"metadata", "finalizers"}, {"", R"(["x.io/y"])"});
    for (const char* reference : {"machineClassRef", "volumeClassRef", "bucketClassRef"}) {
      Put(object, {"spec", reference}, {"", R"({"name":"a"})", R"({"name":"b"})", "{}"});
    }
    Put(object, {"spec", "resources", "storage"}, {"", R"("1Gi")", R"("2Gi")", "1073741824"});
    Put(object, {"spec", "power"}, {"", R"("On")", R"("Off")"});
    Put(object, {"status", "state"}, {"", R"("Running")", R"("Terminated")", R"("Error")"});
    return object;
  }

 private:
  std::mt19937 random_{1};
};

// As admission counts both, each class using something of its own.
bool CanNeed(const Evaluator& evaluator, const json::Value& object, const json::Value& old) {
  const auto& admitted = evaluator.guard.facts_of;
  const auto after = admitted ? admitted(object, &old, {}) : evaluator.facts_of(object, {});
  const auto before = evaluator.facts_of(old, {});
  REQUIRE(after.has_value());
  REQUIRE(before.has_value());
  if (after->now.attributes != before->now.attributes) return true;  // another scope
  if (!after->flaw.empty() && after->flaw != before->flaw) return true;
  return after->now.classes != before->now.classes ||
         !Excess(after->now.usage, before->now.usage).empty();
}

void NothingEscapes(const Restated& condition) {
  const Evaluator& evaluator = EvaluatorOf(condition.resource);
  CHECK(evaluator.guard.updates);
  REQUIRE(evaluator.guard.update_condition == condition.expression);
  Drawer draw;
  int needs = 0;
  int spared = 0;
  for (int i = 0; i < 3000; ++i) {
    const json::Value old = draw.Draw();
    const json::Value object = draw.Draw();
    const bool asked = condition.holds(object, old);
    spared += asked ? 0 : 1;
    if (!CanNeed(evaluator, object, old)) continue;
    ++needs;
    INFO(json::Write(old) << " -> " << json::Write(object));
    REQUIRE(asked);
  }
  CHECK(needs > 300);
  CHECK(spared > 100);
}

TEST_CASE("ironcore guards: every update that needs more fulfils its condition",
          "[quota][ironcore]") {
  NothingEscapes(kMachines);
  NothingEscapes(kVolumes);
  NothingEscapes(kBuckets);
}

TEST_CASE("ironcore guards: a machine's own write says nothing of its state", "[quota][ironcore]") {
  const Evaluator& machines = EvaluatorOf("machines");
  const auto machine = [](const std::string& state) {
    return Json(R"({"spec":{"machineClassRef":{"name":"small"}},"status":{"state":")" + state +
                "\"}}");
  };
  const auto classes = [&](const json::Value& object, const json::Value* stored) {
    const auto facts = machines.guard.facts_of(object, stored, {});
    REQUIRE(facts.has_value());
    return std::to_string(facts->now.classes.size()) + (facts->flaw.empty() ? "" : " forged");
  };
  const json::Value running = machine("Running");
  const json::Value terminated = machine("Terminated");
  CHECK(classes(running, nullptr) == "1");
  CHECK(classes(terminated, nullptr) == "1 forged");
  CHECK(classes(running, &running) == "1");
  CHECK(classes(terminated, &running) == "1 forged");
  CHECK(classes(terminated, &terminated) == "0");
  CHECK(classes(running, &terminated) == "0");
}

}  // namespace
}  // namespace quota::ironcore::guards_test
