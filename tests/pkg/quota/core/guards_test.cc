// What admission needs from the core evaluators: which updates can need quota, and what pods must
// specify. The fixtures of "must specify" are those of kubernetes v1.36.3,
// pkg/quota/v1/evaluator/core/pods_test.go.

#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "pkg/json/projection.h"
#include "pkg/quota/core/core_quota.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::guards_test {
namespace {

const Evaluator& EvaluatorOf(const std::string& resource) {
  static const QuotaApi api = CoreQuotaApi();
  for (const Evaluator& evaluator : api.evaluators) {
    if (evaluator.resource.resource == resource) return evaluator;
  }
  throw std::runtime_error("no evaluator of " + resource);
}

std::string Missing(const std::string& spec, const std::vector<std::string>& names) {
  return EvaluatorOf("pods").guard.constraints(Json(R"({"spec":)" + spec + "}"), names);
}

const char* const kTwo = R"({
  "initContainers":[{"name":"dummy","resources":{"requests":{"cpu":"1m"},"limits":{"cpu":"2m"}}}],
  "containers":[{"name":"b"},{"name":"a","resources":{"requests":{"memory":"0"}}}]})";

// A guard's update_condition again in C++, so that random objects can test it. The expression
// itself is tested on a real API server (tests/e2e/webhook_rules_test.cc).
struct Restated {
  const char* expression;
  std::function<bool(const json::Value& object, const json::Value& old)> holds;
};

const Restated kPods = {
    "has(object.spec.activeDeadlineSeconds) != has(oldObject.spec.activeDeadlineSeconds)",
    [](const json::Value& object, const json::Value& old) {
      return (object.At({"spec", "activeDeadlineSeconds"}) == nullptr) !=
             (old.At({"spec", "activeDeadlineSeconds"}) == nullptr);
    }};

const Restated kServices = {
    "object.spec.?type.orValue('') in ['LoadBalancer', 'NodePort'] && ("
    "object.spec.?type != oldObject.spec.?type || object.spec.?ports != oldObject.spec.?ports || "
    "object.spec.?allocateLoadBalancerNodePorts != oldObject.spec.?allocateLoadBalancerNodePorts)",
    [](const json::Value& object, const json::Value& old) {
      const std::string_view type = object.StringAt({"spec", "type"});
      return (type == "LoadBalancer" || type == "NodePort") &&
             (Differ(object, old, {"spec", "type"}) || Differ(object, old, {"spec", "ports"}) ||
              Differ(object, old, {"spec", "allocateLoadBalancerNodePorts"}));
    }};

const Restated kClaims = {
    "object.spec.?resources.?requests.?storage != oldObject.spec.?resources.?requests.?storage || "
    "object.spec.?storageClassName != oldObject.spec.?storageClassName || "
    "object.spec.?volumeAttributesClassName != oldObject.spec.?volumeAttributesClassName || "
    "object.metadata.?annotations[?'volume.beta.kubernetes.io/storage-class'] != "
    "oldObject.metadata.?annotations[?'volume.beta.kubernetes.io/storage-class']",
    [](const json::Value& object, const json::Value& old) {
      return Differ(object, old, {"spec", "resources", "requests", "storage"}) ||
             Differ(object, old, {"spec", "storageClassName"}) ||
             Differ(object, old, {"spec", "volumeAttributesClassName"}) ||
             Differ(object, old,
                    {"metadata", "annotations", "volume.beta.kubernetes.io/storage-class"});
    }};

// Draws members at random; "" means absent.
class Drawer {
 public:
  explicit Drawer(unsigned seed) : random_(seed) {}
  std::size_t Below(std::size_t bound) { return random_() % bound; }
  void Put(json::Value& object, std::initializer_list<std::string_view> path,
           const std::vector<std::string>& texts) {
    const std::string& text = texts[Below(texts.size())];
    if (!text.empty()) object.Make(path) = Json(text);
  }

 private:
  std::mt19937 random_;
};

json::Value DrawService(Drawer& draw) {
  json::Value service = Json(R"({"metadata":{},"spec":{}})");
  draw.Put(service, {"metadata", "labels"}, {"", R"({"a":"b"})"});
  draw.Put(service, {"spec", "type"},
           {"", R"("ClusterIP")", R"("NodePort")", R"("LoadBalancer")", R"("ExternalName")"});
  draw.Put(service, {"spec", "allocateLoadBalancerNodePorts"}, {"", "true", "false"});
  draw.Put(service, {"spec", "ports"},
           {"", "[]", R"([{"port":80}])", R"([{"port":80,"nodePort":30080}])",
            R"([{"port":80},{"port":81,"nodePort":30081}])"});
  return service;
}

json::Value DrawClaim(Drawer& draw) {
  json::Value claim = Json(R"({"metadata":{"annotations":{}},"spec":{},
      "status":{"allocatedResources":{"storage":"15Gi"},
                "currentVolumeAttributesClassName":"silver"}})");
  draw.Put(claim, {"metadata", "annotations", "volume.beta.kubernetes.io/storage-class"},
           {"", "", R"("")", R"("gold")"});
  draw.Put(claim, {"metadata", "annotations", "note"}, {"", R"("x")"});
  draw.Put(claim, {"spec", "storageClassName"}, {"", R"("gold")", R"("silver")"});
  draw.Put(claim, {"spec", "volumeAttributesClassName"}, {"", R"("gold")", R"("silver")"});
  draw.Put(claim, {"spec", "volumeName"}, {"", R"("pv")"});
  draw.Put(claim, {"spec", "resources", "requests", "storage"},
           {"", R"("10Gi")", R"("20Gi")", R"("30Gi")"});
  return claim;
}

// What an update of the pod itself may change.
json::Value DrawPod(Drawer& draw) {
  json::Value pod = Json(R"({"metadata":{},"status":{"qosClass":"Burstable"},
      "spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}})");
  draw.Put(pod, {"metadata", "labels"}, {"", R"({"a":"b"})"});
  draw.Put(pod, {"metadata", "finalizers"}, {"", R"(["x.io/y"])"});
  draw.Put(pod, {"spec", "tolerations"}, {"", R"([{"operator":"Exists"}])"});
  draw.Put(pod, {"spec", "activeDeadlineSeconds"}, {"", "1", "60"});
  return pod;
}

bool CanNeed(const Evaluator& evaluator, const json::Value& object, const json::Value& old) {
  const auto after = evaluator.facts_of(object, base::WallTime());
  const auto before = evaluator.facts_of(old, base::WallTime());
  REQUIRE(after.has_value());
  REQUIRE(before.has_value());
  if (after->now.attributes != before->now.attributes) return true;  // another scope
  for (const auto& [name, amount] : after->now.usage) {
    if (before->now.usage.Get(name) < amount) return true;
  }
  return false;
}

void NothingEscapes(const std::string& resource, const Restated& condition,
                    const std::function<json::Value(Drawer&)>& draw_one) {
  const Evaluator& evaluator = EvaluatorOf(resource);
  CHECK(evaluator.guard.updates);
  REQUIRE(evaluator.guard.update_condition == condition.expression);
  Drawer draw(1);
  int needs = 0;
  int spared = 0;
  for (int i = 0; i < 5000; ++i) {
    const json::Value old = draw_one(draw);
    const json::Value object = draw_one(draw);
    const bool asked = condition.holds(object, old);
    spared += asked ? 0 : 1;
    if (!CanNeed(evaluator, object, old)) continue;
    ++needs;
    INFO(json::Write(old) << " -> " << json::Write(object));
    REQUIRE(asked);
  }
  CHECK(needs > 500);
  CHECK(spared > 20);
}

}  // namespace

TEST_CASE("guards: pods must state cpu and memory where they are limited, in every container",
          "[quota][core]") {
  CHECK(Missing(R"({"initContainers":[{"name":"dummy","resources":{"requests":{"cpu":"1m"}}}]})",
                {"memory"}) == "must specify memory for: dummy");
  CHECK(Missing(kTwo, {"cpu", "memory", "pods"}) ==
        "must specify cpu for: a,b; memory for: b,dummy");
  CHECK(Missing(kTwo, {"requests.memory", "requests.cpu"}) ==
        "must specify requests.cpu for: a,b; requests.memory for: b,dummy");
  CHECK(Missing(kTwo, {"limits.cpu", "limits.memory"}) ==
        "must specify limits.cpu for: a,b; limits.memory for: a,b,dummy");
}

TEST_CASE("guards: resources and containers are named in order", "[quota][core]") {
  const std::string two = R"({"containers":[{"name":"foo"},{"name":"bar"}]})";
  CHECK(Missing(two, {"memory"}) == "must specify memory for: bar,foo");
  CHECK(Missing(two, {"memory", "cpu"}) == "must specify cpu for: bar,foo; memory for: bar,foo");
}

TEST_CASE("guards: containers of one name are named once", "[quota][core]") {
  CHECK(Missing(R"({"containers":[{"name":"a"}],"initContainers":[{"name":"a"}]})", {"cpu"}) ==
        "must specify cpu for: a");
}

TEST_CASE("guards: nothing but cpu and memory is ever required", "[quota][core]") {
  CHECK(Missing(kTwo, {"pods", "count/pods", "ephemeral-storage", "requests.ephemeral-storage",
                       "hugepages-2Mi", "requests.example.com/gpu"}) == "");
  CHECK(Missing(kTwo, {}) == "");
  CHECK(Missing("{}", {"cpu"}) == "");
}

TEST_CASE("guards: a pod with resources of its own need not state them in containers",
          "[quota][core]") {
  const auto with = [](const std::string& resources) {
    return Missing(R"({"containers":[{"name":"a"}],"resources":)" + resources + "}", {"memory"});
  };
  CHECK(with(R"({"requests":{"cpu":"1"}})") == "");
  CHECK(with(R"({"limits":{"hugepages-2Mi":"4Mi"}})") == "");
  CHECK(with(R"({"requests":{"ephemeral-storage":"1Gi"}})") == "must specify memory for: a");
  CHECK(with("{}") == "must specify memory for: a");
}

TEST_CASE("guards: a null amount is a zero, and a zero is stated", "[quota][core]") {
  CHECK(Missing(R"({"containers":[{"name":"a","resources":{
                    "requests":{"cpu":null,"memory":"0"}}}]})",
                {"cpu", "memory"})
            .empty());
}

TEST_CASE("guards: overhead states nothing", "[quota][core]") {
  CHECK(Missing(R"({"containers":[{"name":"a"}],"overhead":{"cpu":"1"}})", {"cpu"}) ==
        "must specify cpu for: a");
}

TEST_CASE("guards: the fields that constraints read are decoded", "[quota][core]") {
  const Evaluator& pods = EvaluatorOf("pods");
  std::vector<std::string> fields = pods.fields;
  fields.insert(fields.end(), pods.guard.fields.begin(), pods.guard.fields.end());
  const json::Projection projection(fields);
  const auto pod = json::ParseProjected(std::string(R"({"spec":)") + kTwo + "}", projection);
  REQUIRE(pod.has_value());
  CHECK(pods.guard.constraints(*pod, {"cpu", "memory"}) ==
        "must specify cpu for: a,b; memory for: b,dummy");
}

TEST_CASE("guards: every update that needs more fulfils its condition", "[quota][core]") {
  NothingEscapes("services", kServices, DrawService);
  NothingEscapes("persistentvolumeclaims", kClaims, DrawClaim);
  NothingEscapes("pods", kPods, DrawPod);
}

TEST_CASE("guards: of what is only counted, no update can need more", "[quota][core]") {
  for (const char* resource :
       {"configmaps", "secrets", "replicationcontrollers", "resourcequotas", "resourceclaims"}) {
    INFO(resource);
    const Guard& guard = EvaluatorOf(resource).guard;
    CHECK_FALSE(guard.updates);
    CHECK(guard.subresources.empty());
    CHECK(guard.constraints == nullptr);
  }
  CHECK(EvaluatorOf("pods").guard.subresources == std::vector<std::string>{"resize"});
}

}  // namespace quota::guards_test
