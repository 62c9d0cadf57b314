// Which bindings count, and their replicas, components, names and priority classes.

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "pkg/json/projection.h"
#include "pkg/quota/count_name.h"
#include "pkg/quota/ledger.h"
#include "pkg/quota/quota.h"
#include "tests/pkg/quota/karmada/sample_bindings.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::karmada::resourcebindings {

Evaluator MakeEvaluator();

namespace {

const Evaluator kEvaluator = MakeEvaluator();

ObjectFacts FactsOf(const std::string& binding) {
  const auto facts = kEvaluator.facts_of(Json(binding), {});
  REQUIRE(facts.has_value());
  return *facts;
}

ObjectFacts OfSpec(const std::string& spec) { return FactsOf(R"({"spec":)" + spec + "}"); }

// The usage in a quota with this selector, without the names that need discovery.
std::string Usage(const ObjectFacts& facts, const ScopeSelector& selector = {},
                  const std::vector<std::string>& names = {"cpu", "memory", "pods"}) {
  Ledger ledger;
  ledger.Set("team-a", {1}, facts);
  const auto sum = ledger.Sum({.ns = "team-a"}, selector, kEvaluator.scopes, names);
  REQUIRE(sum.has_value());
  return sum->ToString();
}

ScopeSelector OfClass(ScopeOperator op, std::vector<std::string> classes = {}) {
  return {{.scope = "PriorityClass", .op = op, .values = ScopeValues(std::move(classes))}};
}

TEST_CASE("bindings: a deployment divided over two clusters counts once", "[quota][karmada]") {
  const ObjectFacts facts = FactsOf(sample::kDeployment);
  CHECK(Usage(facts, {}, {"cpu", "example.com/fpga", "memory", "pods"}) ==
        "cpu=1500m,example.com/fpga=3,memory=3Gi,pods=3");
  CHECK(Usage(facts, {}, {"requests.cpu", "requests.example.com/fpga", "requests.memory"}) ==
        "requests.cpu=1500m,requests.example.com/fpga=3,requests.memory=3Gi");
  CHECK(facts.flaw.empty());
}

TEST_CASE("bindings: a resource whose domain has no dot is counted, too", "[quota][karmada]") {
  const ObjectFacts facts = FactsOf(R"({"spec":{"replicas":3,"replicaRequirements":
      {"resourceRequest":{"rdma/hca":"2","count/pods":"1"}}}})");
  CHECK(Usage(facts, {}, {"count/pods", "rdma/hca", "requests.rdma/hca"}) ==
        "count/pods=0,rdma/hca=6,requests.rdma/hca=6");
}

TEST_CASE("bindings: components are one set in each cluster, and one before they are placed",
          "[quota][karmada]") {
  json::Value binding = Json(sample::kFlink);
  const auto usage = [&] { return Usage(FactsOf(json::Write(binding))); };
  CHECK(usage() == "cpu=9,memory=18Gi,pods=5");
  binding.Make({"spec"}).AsObject()->Set("clusters", Json(R"([{"name":"a"},{"name":"b"}])"));
  CHECK(usage() == "cpu=18,memory=36Gi,pods=10");
  binding.Make({"spec"}).AsObject()->Erase("clusters");
  CHECK(usage() == "cpu=9,memory=18Gi,pods=5");
  // If a cluster has more replicas than wanted now, they count until it has scaled down.
  binding.Make({"spec"}).AsObject()->Set(
      "clusters",
      Json(R"([{"name":"a","components":[{"name":"taskmanager","replicas":6}]},{"name":"b"}])"));
  CHECK(usage() == "cpu=22,memory=44Gi,pods=12");
  // Fields beside components do not belong to them.
  binding.Make({"spec", "replicas"}) = 100;
  binding.Make({"spec", "replicaRequirements", "resourceRequest", "cpu"}) = "9";
  CHECK(usage() == "cpu=22,memory=44Gi,pods=12");
}

TEST_CASE("bindings: each component has its own priority class", "[quota][karmada]") {
  const ObjectFacts facts = FactsOf(sample::kFlink);
  CHECK(Usage(facts, OfClass(ScopeOperator::kIn, {"middle"})) == "cpu=1,memory=2Gi,pods=1");
  CHECK(Usage(facts, OfClass(ScopeOperator::kNotIn, {"middle"})) == "cpu=8,memory=16Gi,pods=4");
  CHECK(Usage(facts, OfClass(ScopeOperator::kExists)) == "cpu=9,memory=18Gi,pods=5");
  CHECK(Usage(facts, OfClass(ScopeOperator::kDoesNotExist)) == "cpu=0,memory=0,pods=0");
  // All expressions must match the same component.
  ScopeSelector both = OfClass(ScopeOperator::kNotIn, {"middle"});
  both.push_back(OfClass(ScopeOperator::kIn, {"middle", "low"}).front());
  CHECK(Usage(facts, both) == "cpu=8,memory=16Gi,pods=4");
  both.push_back(OfClass(ScopeOperator::kIn, {"middle"}).front());
  CHECK(Usage(facts, both) == "cpu=0,memory=0,pods=0");
}

TEST_CASE("bindings: a single template has its priority class", "[quota][karmada]") {
  const ObjectFacts middle = FactsOf(sample::kDeployment);
  const ObjectFacts none = OfSpec(R"({"replicas":2})");
  const std::string all = "cpu=1500m,memory=3Gi,pods=3";
  const std::string nothing = "cpu=0,memory=0,pods=0";
  CHECK(Usage(middle, OfClass(ScopeOperator::kIn, {"high", "middle"})) == all);
  CHECK(Usage(middle, OfClass(ScopeOperator::kNotIn, {"middle"})) == nothing);
  CHECK(Usage(middle, OfClass(ScopeOperator::kExists)) == all);
  CHECK(Usage(middle, OfClass(ScopeOperator::kDoesNotExist)) == nothing);
  CHECK(Usage(none, OfClass(ScopeOperator::kIn, {"middle"})) == nothing);
  CHECK(Usage(none, OfClass(ScopeOperator::kNotIn, {"middle"})) == "cpu=0,memory=0,pods=2");
  CHECK(Usage(none, OfClass(ScopeOperator::kExists)) == nothing);
  CHECK(Usage(none, OfClass(ScopeOperator::kDoesNotExist)) == "cpu=0,memory=0,pods=2");
}

TEST_CASE("bindings: a service and a secret count once, wherever they go", "[quota][karmada]") {
  const std::vector<std::string> names = {"pods", "secrets", "services"};
  const ObjectFacts service = FactsOf(sample::kService);
  CHECK(Usage(service, {}, names) == "pods=0,secrets=0,services=1");
  // The replicas of the workload that needs it are not its own.
  CHECK(Usage(FactsOf(sample::kSecret), {}, names) == "pods=0,secrets=1,services=0");
  for (const auto op : {ScopeOperator::kExists, ScopeOperator::kDoesNotExist}) {
    CHECK(Usage(service, OfClass(op), names) == "pods=0,secrets=0,services=0");
  }
  const auto of = [&](const std::string& version, const std::string& kind) {
    return Usage(
        OfSpec(R"({"resource":{"apiVersion":")" + version + R"(","kind":")" + kind + R"("}})"), {},
        names);
  };
  CHECK(of("serving.knative.dev/v1", "Service") == "pods=0,secrets=0,services=0");
  CHECK(of("multicluster.x-k8s.io/v1alpha1", "ServiceImport") == "pods=0,secrets=0,services=0");
  CHECK(of("v1", "ConfigMap") == "pods=0,secrets=0,services=0");
}

TEST_CASE("bindings: a suspended binding that is placed nowhere counts only as an object",
          "[quota][karmada]") {
  json::Value job = Json(sample::kJob);
  CHECK(Usage(FactsOf(json::Write(job))) == "cpu=0,memory=0,pods=0");
  CHECK(FactsOf(json::Write(job)).now.classes == std::vector<ClassUnits>{{"Job.batch", 1}});
  job.Make({"spec", "suspension", "scheduling"}) = false;
  CHECK(Usage(FactsOf(json::Write(job))) == "cpu=500m,memory=24576m,pods=2");
  // Placed before it was suspended: it still runs.
  job.Make({"spec", "suspension", "scheduling"}) = true;
  job.Make({"spec", "clusters"}) = Json(R"([{"name":"a","replicas":2}])");
  CHECK(Usage(FactsOf(json::Write(job))) == "cpu=500m,memory=24576m,pods=2");
  CHECK(Usage(OfSpec(R"({"replicas":2,"suspension":{"dispatching":true}})")) ==
        "cpu=0,memory=0,pods=2");
  json::Value service = Json(sample::kService);
  service.Make({"spec"}).AsObject()->Erase("clusters");
  service.Make({"spec", "suspension", "scheduling"}) = true;
  CHECK(Usage(FactsOf(json::Write(service)), {}, {"services"}) == "services=1");
}

TEST_CASE("bindings: the larger of wanted and placed replicas counts", "[quota][karmada]") {
  struct Row {
    const char* replicas;
    const char* clusters;
    const char* pods;
  };
  const Row rows[] = {
      {"3", "[2,1]", "3"},  {"3", "[3,3]", "6"},  {"10", "[2,1]", "10"}, {"3", "[8]", "8"},
      {"3", "[]", "3"},     {"0", "[0,0]", "0"},  {"-2", "[]", "0"},     {"2", "[-5,3]", "3"},
      {"null", "[4]", "4"}, {"3", "[null]", "3"},
  };
  for (const Row& row : rows) {
    json::Array clusters;
    const json::Value replicas = Json(row.clusters);
    for (const json::Value& one : *replicas.AsArray()) {
      clusters.emplace_back(json::Object{{"name", "c"}, {"replicas", one}});
    }
    json::Value spec = json::Object{{"replicas", Json(row.replicas)}};
    spec.Make({"clusters"}) = std::move(clusters);
    INFO(json::Write(spec));
    CHECK(Usage(OfSpec(json::Write(spec)), {}, {"pods"}) == std::string("pods=") + row.pods);
  }
}

TEST_CASE("bindings: a failover changes nothing, and old copies that drain do not count",
          "[quota][karmada]") {
  json::Value binding = Json(sample::kDeployment);
  const ObjectFacts before = FactsOf(json::Write(binding));
  binding.Make({"spec", "clusters"}) = Json(R"([{"name":"member3","replicas":3}])");
  binding.Make({"spec", "gracefulEvictionTasks"}) =
      Json(R"([{"fromCluster":"member1","reason":"x","producer":"y","replicas":2}])");
  CHECK(FactsOf(json::Write(binding)).now == before.now);
}

TEST_CASE("bindings: quantities are exact, whatever their notation", "[quota][karmada]") {
  const auto usage = [](const std::string& requests) {
    return Usage(
        OfSpec(R"({"replicas":3,"replicaRequirements":{"resourceRequest":)" + requests + "}}"));
  };
  CHECK(usage(R"({"cpu":2,"memory":"0.5"})") == "cpu=6,memory=1500m,pods=3");
  CHECK(usage(R"({"cpu":"1e3","memory":"12288m"})") == "cpu=3e3,memory=36864m,pods=3");
  CHECK(usage(R"({"memory":"512Mi","ephemeral-storage":"1Gi","hugepages-2Mi":"2Mi"})") ==
        "cpu=0,memory=1536Mi,pods=3");
  CHECK(usage("null") == "cpu=0,memory=0,pods=3");
  CHECK(Usage(OfSpec(R"({"replicas":3})")) == "cpu=0,memory=0,pods=3");
  CHECK(Usage(OfSpec("{}")) == "cpu=0,memory=0,pods=0");
  CHECK(Usage(FactsOf("{}")) == "cpu=0,memory=0,pods=0");
}

TEST_CASE("bindings: an invalid amount counts as nothing and is reported", "[quota][karmada]") {
  struct Row {
    const char* spec;
    const char* usage;
    const char* flaw;
  };
  const Row rows[] = {
      {R"({"replicas":2,"replicaRequirements":{"resourceRequest":{"cpu":"-1","memory":"1Gi"}}})",
       "cpu=0,memory=2Gi,pods=2",
       "spec.replicaRequirements.resourceRequest[cpu]: must not be negative"},
      {R"({"replicas":2,"replicaRequirements":{"resourceRequest":{"cpu":"abc","memory":"1Gi"}}})",
       "cpu=0,memory=2Gi,pods=2", "spec.replicaRequirements.resourceRequest[cpu]: "},
      {R"({"replicas":2,"replicaRequirements":{"resourceRequest":{"cpu":true}}})",
       "cpu=0,memory=0,pods=2",
       "spec.replicaRequirements.resourceRequest[cpu]: must be a quantity, not boolean"},
      {R"({"replicas":2147483648})", "cpu=0,memory=0,pods=0",
       "spec.replicas: must be a whole number of at most 2147483647"},
      {R"({"replicas":1.5})", "cpu=0,memory=0,pods=0", "spec.replicas: must be a whole number"},
      {R"({"clusters":[{"replicas":1},{"replicas":99999999999}]})", "cpu=0,memory=0,pods=1",
       "spec.clusters[1].replicas: must be"},
      {R"({"components":[{"name":"a","replicas":1},
           {"name":"b","replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":"-2"}}}]})",
       "cpu=0,memory=0,pods=2",
       "spec.components[1].replicaRequirements.resourceRequest[cpu]: must not be negative"},
  };
  for (const Row& row : rows) {
    INFO(row.spec);
    const ObjectFacts facts = OfSpec(row.spec);
    CHECK(Usage(facts) == row.usage);
    CHECK(facts.flaw.starts_with(row.flaw));
    CHECK(facts.flaw.empty() == false);
  }
}

TEST_CASE("bindings: an amount of any magnitude counts", "[quota][karmada]") {
  const ObjectFacts large = OfSpec(
      R"({"replicas":2000000000,"replicaRequirements":{"resourceRequest":{"memory":"7Ei"}}})");
  CHECK(Usage(large) == "cpu=0,memory=16140901064495857664G,pods=2G");
  CHECK(large.flaw.empty());
  const ObjectFacts huge =
      OfSpec(R"({"replicas":2,"replicaRequirements":{"resourceRequest":{"cpu":"1e400"}}})");
  CHECK(Usage(huge) == "cpu=1e30,memory=0,pods=2");
  CHECK(huge.flaw.empty());
}

TEST_CASE("bindings: the propagated kind is one unit of a class", "[quota][karmada]") {
  const auto classes = [](const std::string& resource) {
    return OfSpec(R"({"resource":)" + resource + "}").now.classes;
  };
  CHECK(FactsOf(sample::kDeployment).now.classes ==
        std::vector<ClassUnits>{{"Deployment.apps", 1}});
  CHECK(FactsOf(sample::kSecret).now.classes == std::vector<ClassUnits>{{"Secret", 1}});
  CHECK(classes(R"({"apiVersion":"a.b.example.com/v1beta1","kind":"Thing"})") ==
        std::vector<ClassUnits>{{"Thing.a.b.example.com", 1}});
  CHECK(classes(R"({"apiVersion":"v1"})").empty());
  CHECK(classes("{}").empty());
  REQUIRE(kEvaluator.classes.has_value());
  CHECK(kEvaluator.classes->usage_of_kind({"apps", "deployments"}) ==
        List({{"count/deployments.apps", "1"}}));
}

TEST_CASE("bindings: the evaluator owns its names and no others", "[quota][karmada]") {
  for (const char* name : {"cpu", "memory", "requests.cpu", "requests.memory", "pods", "services",
                           "secrets", "example.com/fpga", "requests.example.com/fpga",
                           "nvidia.com/gpu", "rdma/hca", "requests.rdma/hca", "count/pods",
                           "count/deployments.apps", "count/flinkdeployments.flink.apache.org"}) {
    INFO(name);
    CHECK(kEvaluator.owns(name));
  }
  for (const char* name : {"limits.cpu",
                           "limits.memory",
                           "limits.example.com/fpga",
                           "limits.rdma/hca",
                           "configmaps",
                           "services.nodeports",
                           "persistentvolumeclaims",
                           "requests.storage",
                           "resourcequotas",
                           "ephemeral-storage",
                           "requests.ephemeral-storage",
                           "hugepages-2Mi",
                           "count/",
                           "count/pods.",
                           "count/a/b",
                           "example.com/",
                           "/fpga",
                           "requests.count/pods",
                           "requests.pods",
                           "requests.requests.cpu",
                           "requests.requests.example.com/fpga",
                           "requests.requests.rdma/hca",
                           "requests.limits.rdma/hca",
                           "gold.storageclass.storage.k8s.io/requests.storage",
                           "gpu.deviceclass.resource.k8s.io/devices",
                           ""}) {
    INFO(name);
    CHECK_FALSE(kEvaluator.owns(name));
  }
}

// Restates the update_condition in C++, so that random bindings can test it. The expression itself
// is tested on a real API server.
bool CanNeedMore(const json::Value& object, const json::Value& old) {
  const auto differ = [&](std::initializer_list<std::string_view> path) {
    const json::Value* now = object.At(path);
    const json::Value* before = old.At(path);
    if (now == nullptr || before == nullptr) return now != before;
    return !(*now == *before);
  };
  return differ({"spec", "replicas"}) ||
         differ({"spec", "replicaRequirements", "resourceRequest"}) ||
         differ({"spec", "replicaRequirements", "priorityClassName"}) ||
         differ({"spec", "components"}) || differ({"spec", "clusters"}) ||
         differ({"spec", "suspension", "scheduling"}) ||
         differ({"spec", "resource", "apiVersion"}) || differ({"spec", "resource", "kind"});
}

std::string Drawn(std::mt19937& random, std::initializer_list<const char*> choices) {
  const auto at = std::uniform_int_distribution<std::size_t>(0, choices.size() - 1)(random);
  return *(choices.begin() + at);
}

json::Value RandomBinding(std::mt19937& random) {
  return Json(
      R"({"metadata":{"uid":"u","labels":)" + Drawn(random, {"{}", R"({"a":"b"})"}) +
      R"(},"spec":{"resource":)" +
      Drawn(random, {R"({"apiVersion":"v1","kind":"Service","resourceVersion":"1"})",
                     R"({"apiVersion":"v1","kind":"Service","resourceVersion":"2"})",
                     R"({"apiVersion":"apps/v1","kind":"Deployment"})"}) +
      R"(,"replicas":)" + Drawn(random, {"0", "1", "3"}) + R"(,"replicaRequirements":)" +
      Drawn(random, {"{}", R"({"resourceRequest":{"cpu":"1"}})",
                     R"({"resourceRequest":{"cpu":"2"},"priorityClassName":"high"})",
                     R"({"resourceRequest":{"cpu":"1"},"nodeClaim":{"nodeSelector":{"a":"b"}}})"}) +
      R"(,"components":)" +
      Drawn(random, {"[]", R"([{"name":"a","replicas":1}])",
                     R"([{"name":"a","replicas":2,"replicaRequirements":{
                          "resourceRequest":{"cpu":"1"},"priorityClassName":"low"}}])"}) +
      R"(,"clusters":)" +
      Drawn(random, {"[]", R"([{"name":"m1","replicas":3}])",
                     R"([{"name":"m2","replicas":2},{"name":"m1","replicas":2}])"}) +
      R"(,"suspension":)" +
      Drawn(random, {"{}", R"({"scheduling":true})", R"({"dispatching":true})"}) +
      R"(},"status":)" + Drawn(random, {"{}", R"({"schedulerObservedGeneration":2})"}) + "}");
}

TEST_CASE("bindings: every update that changes usage meets the condition", "[quota][karmada]") {
  std::mt19937 random(17);
  int silent = 0;
  for (int i = 0; i < 20000; ++i) {
    const json::Value old = RandomBinding(random);
    const json::Value object = RandomBinding(random);
    if (CanNeedMore(object, old)) continue;
    ++silent;
    INFO(json::Write(old) << "\n" << json::Write(object));
    REQUIRE(kEvaluator.facts_of(object, {})->now == kEvaluator.facts_of(old, {})->now);
  }
  CHECK(silent > 20);
}

TEST_CASE("bindings: the listed fields are enough", "[quota][karmada]") {
  const json::Projection projection(kEvaluator.fields);
  for (const char* binding :
       {sample::kDeployment, sample::kFlink, sample::kService, sample::kSecret, sample::kJob}) {
    const auto projected = json::ParseProjected(binding, projection);
    REQUIRE(projected.has_value());
    CHECK(kEvaluator.facts_of(*projected, {})->now == FactsOf(binding).now);
    const auto skimmed = json::Skim(binding, projection);
    REQUIRE(skimmed.has_value());
    CHECK(kEvaluator.facts_of(*skimmed, {})->now == FactsOf(binding).now);
  }
}

}  // namespace
}  // namespace quota::karmada::resourcebindings
