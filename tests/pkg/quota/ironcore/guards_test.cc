// The updates of machines, volumes and buckets that can need quota, and the fields of a request
// that are believed. The expressions themselves are tested on a real API server (tests/e2e).

#include <string>
#include <vector>

#include "tests/pkg/quota/guard_testing.h"
#include "tests/pkg/quota/ironcore/ironcore_testing.h"

namespace quota::ironcore::guards_test {
namespace {

const Restated kMachines = {
    "object.?spec != oldObject.?spec && ("
    "object.?spec.?machineClassRef.?name != oldObject.?spec.?machineClassRef.?name || "
    "[object, oldObject].exists(o, type(o.?spec.?machineClassRef.orValue({})) != map || "
    "type(o.?spec.orValue({})) != map)) || object.?status != oldObject.?status && ("
    "object.?status.?state != oldObject.?status.?state || "
    "[object, oldObject].exists(o, type(o.?status.orValue({})) != map))",
    [](const json::Value& object, const json::Value& old) {
      return Differ(object, old, {"spec", "machineClassRef", "name"}) ||
             Differ(object, old, {"status", "state"});
    }};

const Restated kVolumes = {
    "object.?spec != oldObject.?spec && ("
    "object.?spec.?resources.?storage != oldObject.?spec.?resources.?storage || "
    "object.?spec.?volumeClassRef.?name != oldObject.?spec.?volumeClassRef.?name || "
    "[object, oldObject].exists(o, type(o.?spec.?resources.orValue({})) != map || "
    "type(o.?spec.?volumeClassRef.orValue({})) != map || type(o.?spec.orValue({})) != map))",
    [](const json::Value& object, const json::Value& old) {
      return Differ(object, old, {"spec", "resources", "storage"}) ||
             Differ(object, old, {"spec", "volumeClassRef", "name"});
    }};

const Restated kBuckets = {
    "object.?spec != oldObject.?spec && ("
    "object.?spec.?bucketClassRef.?name != oldObject.?spec.?bucketClassRef.?name || "
    "[object, oldObject].exists(o, type(o.?spec.?bucketClassRef.orValue({})) != map || "
    "type(o.?spec.orValue({})) != map))",
    [](const json::Value& object, const json::Value& old) {
      return Differ(object, old, {"spec", "bucketClassRef", "name"});
    }};

json::Value DrawObject(Drawer& draw) {
  json::Value object = Json(R"({"metadata":{"name":"o"}})");
  draw.Put(object, {"metadata", "labels"}, {"", R"({"a":"b"})"});
  draw.Put(object, {"metadata", "finalizers"}, {"", R"(["x.io/y"])"});
  for (const char* reference : {"machineClassRef", "volumeClassRef", "bucketClassRef"}) {
    draw.Put(object, {"spec", reference}, {"", R"({"name":"a"})", R"({"name":"b"})", "{}"});
  }
  draw.Put(object, {"spec", "resources", "storage"}, {"", R"("1Gi")", R"("2Gi")", "1073741824"});
  draw.Put(object, {"spec", "power"}, {"", R"("On")", R"("Off")"});
  draw.Put(object, {"status", "state"}, {"", R"("Running")", R"("Terminated")", R"("Error")"});
  return object;
}

TEST_CASE("ironcore guards: every update that needs more meets the condition",
          "[quota][ironcore]") {
  NothingEscapes(EvaluatorOf("machines"), kMachines, DrawObject);
  NothingEscapes(EvaluatorOf("volumes"), kVolumes, DrawObject);
  NothingEscapes(EvaluatorOf("buckets"), kBuckets, DrawObject);
}

TEST_CASE("ironcore guards: a state in the write of a machine is not believed",
          "[quota][ironcore]") {
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
