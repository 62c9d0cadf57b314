// The sample of a UsageDefinition for ResourceBindings beside the evaluator of KarmadaQuota: over
// random bindings they agree in all that the language of definitions can say. The last tests name
// what it cannot say, which is why KarmadaQuota keeps its evaluator.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "pkg/config/yaml.h"
#include "pkg/quota/karmada/karmada_quota.h"
#include "pkg/quota/usage/object_usage.h"
#include "tests/pkg/quota/quota_testing.h"
#include "tests/source_dir.h"

namespace quota::karmada_definition_test {
namespace {

// What a binding uses by the evaluator, and by the definition.
struct Both {
  Facts coded;
  ResourceList defined;

  [[nodiscard]] Quantity Coded(const std::string& name) const { return coded.usage.Get(name); }
  // "wanted-cpu"
  [[nodiscard]] Quantity Defined(const std::string& name) const {
    return defined.Get("example.com/karmada-" + name);
  }
};

class Comparison {
 public:
  Comparison() : definition_(Read()), evaluator_(karmada::AllEvaluators().front()) {}

  Both Of(const json::Value& binding) {
    const auto facts = evaluator_.facts_of(binding, {});
    REQUIRE(facts.has_value());
    const ObjectFacts defined = definition_.FactsOf(binding);
    CHECK(defined.now.unread.empty());
    return {facts->now, defined.now.usage};
  }

  Facts Defined(const json::Value& binding) { return definition_.FactsOf(binding).now; }

 private:
  static usage::ObjectUsage Read() {
    std::ifstream file(tests::SourcePath("/manifests/samples/usage/karmada-resourcebindings.yaml"));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto document = config::ParseYaml(text);
    REQUIRE(document.has_value());
    auto definition = usage::ParseUsageDefinition(*document);
    REQUIRE(definition.has_value());
    return usage::ObjectUsage(std::move(*definition));
  }

  usage::ObjectUsage definition_;
  Evaluator evaluator_;
};

class Bindings {
 public:
  // A binding of a template with one kind of replicas.
  json::Value Single() {
    json::Value binding = Binding();
    Put(binding, {"spec", "replicas"}, {"", "null", "0", "1", "7", "250", "-3"});
    if (Draw(4) > 0) binding.Make({"spec", "replicaRequirements"}) = Requirements();
    if (Draw(3) > 0) AddClusters(binding);
    if (Draw(4) == 0) binding.Make({"spec", "suspension", "scheduling"}) = Draw(2) == 0;
    return binding;
  }

  // One with several components, placed nowhere.
  json::Value OfComponents() {
    json::Value binding = Binding();
    json::Array components;
    for (int i = Draw(4) + 1; i > 0; --i) {
      json::Value component;
      component.Make({"name"}) = "c" + std::to_string(i);
      Put(component, {"replicas"}, {"", "0", "1", "4"});
      if (Draw(4) > 0) component.Make({"replicaRequirements"}) = Requirements();
      components.push_back(std::move(component));
    }
    binding.Make({"spec", "components"}) = std::move(components);
    return binding;
  }

  void AddClusters(json::Value& binding) {
    json::Array clusters;
    for (int i = Draw(4); i > 0; --i) {
      json::Value cluster;
      cluster.Make({"name"}) = "member" + std::to_string(i);
      Put(cluster, {"replicas"}, {"", "0", "2", "5", "100"});
      clusters.push_back(std::move(cluster));
    }
    binding.Make({"spec", "clusters"}) = std::move(clusters);
  }

 private:
  int Draw(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  void Put(json::Value& object, std::initializer_list<std::string_view> path,
           const std::vector<std::string>& texts) {
    const std::string& text = texts[random_() % texts.size()];
    if (!text.empty()) object.Make(path) = Json(text);
  }

  json::Value Binding() {
    json::Value binding;
    Put(binding, {"spec", "resource"},
        {R"({"apiVersion":"apps/v1","kind":"Deployment","name":"a"})",
         R"({"apiVersion":"v1","kind":"Service","name":"a"})",
         R"({"apiVersion":"batch/v1","kind":"Job","name":"a"})"});
    return binding;
  }

  json::Value Requirements() {
    json::Value requirements = json::Object();
    const auto put = [&](std::string_view name, const std::vector<std::string>& texts) {
      Put(requirements, {"resourceRequest", name}, texts);
    };
    put("cpu", {"", R"("500m")", R"("1.5")", "2", R"("1n")", R"("0")", R"("much")", R"("-1")"});
    put("memory", {"", R"("1Gi")", R"("0.1Gi")", R"("1e12")", R"("128974848")", R"("3Pi")"});
    Put(requirements, {"priorityClassName"}, {"", R"("high")", R"("low")"});
    return requirements;
  }

  std::mt19937 random_{20261129};
};

constexpr int kBindings = 4000;

}  // namespace

TEST_CASE("karmada definition: wanted and placed replicas, and the larger is what a quota counts",
          "[karmada][usage]") {
  Comparison compare;
  Bindings bindings;
  int placed_more = 0;
  for (int i = 0; i < kBindings; ++i) {
    const json::Value binding = bindings.Single();
    INFO(json::Write(binding));
    const Both both = compare.Of(binding);
    const json::Value* suspended = binding.At({"spec", "suspension", "scheduling"});
    const bool held = suspended != nullptr && suspended->AsBool().value_or(false) &&
                      binding.ArrayAt({"spec", "clusters"}).empty();
    for (const std::string name : {"pods", "cpu", "memory"}) {
      const Quantity wanted = both.Defined("wanted-" + name);
      const Quantity placed = both.Defined("placed-" + name);
      CHECK(both.Coded(name) == (held ? placed : std::max(wanted, placed)));
      if (name != "pods") CHECK(both.Coded("requests." + name) == both.Coded(name));
      if (placed > wanted) ++placed_more;
    }
    CHECK(both.defined.Get("count/resourcebindings.work.karmada.io") == Quantity::FromInt(1));
  }
  CHECK(placed_more > kBindings / 10);
}

TEST_CASE("karmada definition: components that are placed nowhere count as one set",
          "[karmada][usage]") {
  Comparison compare;
  Bindings bindings;
  for (int i = 0; i < kBindings; ++i) {
    const json::Value binding = bindings.OfComponents();
    INFO(json::Write(binding));
    const Both both = compare.Of(binding);
    // An invalid amount hides those of the other components: it is a part of the same sum.
    const bool valid = json::Write(binding).find("much") == std::string::npos &&
                       json::Write(binding).find("-1") == std::string::npos;
    for (const std::string name : {"pods", "cpu", "memory"}) {
      const Quantity set = both.Defined("component-" + name);
      if (valid || name != "cpu") CHECK(both.Coded(name) == set);
      if (!valid) CHECK(set <= both.Coded(name));
    }
  }
}

TEST_CASE("karmada definition: a scope has the priority class, and the kind of the template",
          "[karmada][usage]") {
  Comparison compare;
  Bindings bindings;
  for (int i = 0; i < kBindings / 10; ++i) {
    const json::Value binding = bindings.Single();
    INFO(json::Write(binding));
    std::string priority_class;
    for (const Attribute& one : compare.Of(binding).coded.attributes) priority_class = one.second;
    std::vector<Attribute> expected;
    if (!priority_class.empty())
      expected.emplace_back("example.com/priority-class", priority_class);
    expected.emplace_back("example.com/template-kind",
                          binding.StringAt({"spec", "resource", "kind"}));
    // To the evaluator, a binding that is held back has no workload, and so no class.
    if (binding.At({"spec", "replicaRequirements", "priorityClassName"}) == nullptr ||
        !priority_class.empty()) {
      CHECK(compare.Defined(binding).attributes == expected);
    }
  }
}

TEST_CASE("karmada definition: what the language of definitions cannot say", "[karmada][usage]") {
  Comparison compare;
  const auto of = [&](const std::string& spec) {
    return compare.Of(Json(R"({"spec":)" + spec + "}"));
  };
  SECTION("the number of clusters, by which a set of components is multiplied") {
    const Both both = of(R"({"components":[{"name":"a","replicas":2}],
                             "clusters":[{"name":"m1"},{"name":"m2"},{"name":"m3"}]})");
    CHECK(both.Coded("pods") == Quantity::FromInt(6));
    CHECK(both.Defined("component-pods") == Quantity::FromInt(2));
  }
  SECTION("elements of two lists that belong together by their name") {
    const Both both = of(R"({"components":[{"name":"a","replicas":2}],"clusters":[
                             {"name":"m1","components":[{"name":"a","replicas":5}]}]})");
    CHECK(both.Coded("pods") == Quantity::FromInt(5));
    CHECK(both.Defined("component-pods") == Quantity::FromInt(2));
  }
  SECTION("a condition over two fields: suspended, and placed nowhere") {
    const Both both = of(R"({"replicas":3,"suspension":{"scheduling":true}})");
    CHECK(both.Coded("pods").IsZero());
    CHECK(both.Defined("wanted-pods") == Quantity::FromInt(3));
  }
  SECTION("every member of a map, as a name of its own") {
    const Both both = of(R"({"replicas":3,"replicaRequirements":{"resourceRequest":{
                             "example.com/fpga":"2"}}})");
    CHECK(both.Coded("example.com/fpga") == Quantity::FromInt(6));
    CHECK(both.defined.Get("example.com/fpga").IsZero());
  }
  SECTION("parts of one object in different scopes") {
    const Both both = of(R"({"components":[
        {"name":"a","replicas":1,"replicaRequirements":{"priorityClassName":"high"}},
        {"name":"b","replicas":1,"replicaRequirements":{"priorityClassName":"low"}}]})");
    CHECK(both.coded.parts.size() == 2);
  }
  SECTION("the resource of a kind, which only discovery knows") {
    const Both both = of(R"({"resource":{"apiVersion":"apps/v1","kind":"Deployment"}})");
    REQUIRE(both.coded.classes.size() == 1);
    CHECK(both.coded.classes.front().name == "Deployment.apps");
  }
}

}  // namespace quota::karmada_definition_test
