#include "pkg/quota/usage/defined_evaluator.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/quota/usage/field_walk.h"
#include "tests/pkg/quota/usage/usage_testing.h"

namespace quota::usage::defined_evaluator_test {
namespace {

constexpr std::string_view kSize = R"("path":".spec.size")";
constexpr std::string_view kOfPools = R"("path":".spec.pools[*].size","times":".spec.pools[*].n")";

// So many elements, joined.
std::string Elements(std::size_t count, std::string_view element) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) text.append(i == 0 ? "" : ",").append(element);
  return text + "]";
}

TEST_CASE("defined evaluator: an amount is a quantity or a number", "[usage]") {
  const UsageDefinition definition = OneName(kSize);
  const auto amount = [&](std::string_view json) {
    return AmountOf(definition, std::string(R"({"size":)").append(json).append("}"));
  };
  CHECK(amount("\"10Gi\"") == "10Gi");
  CHECK(amount("\" 1k \"") == "1k");
  CHECK(amount("3") == "3");
  CHECK(amount("\"3\"") == "3");
  CHECK(amount("0") == "0");
  CHECK(amount("-0") == "0");
  CHECK(amount("0.25") == "250m");
  CHECK(amount("1e3") == "1e3");
  CHECK(amount("\"1e-400\"") == "1e-9");
  CHECK(amount("\"1e400\"") == "1e30");
  CHECK(amount("1e300") == "1e30");
  CHECK(amount(std::string(200, '9')) == "1e30");
  CHECK(amount("-1") == "spec.size: must not be negative");
  CHECK(amount("\"-1n\"") == "spec.size: must not be negative");
  CHECK(amount("-1e300") == "spec.size: must not be negative");
  CHECK(amount("true") == "spec.size: must be a quantity, not boolean");
  CHECK(amount("{}") == "spec.size: must be a quantity, not object");
  CHECK(amount("[1]") == "spec.size: must be a quantity, not array");
  CHECK(amount("\"\"").starts_with("spec.size: quantities must match"));
  CHECK(amount("\"\\u0000\"").starts_with("spec.size: quantities must match"));
  CHECK(amount("\"1\\u00001\"").starts_with("spec.size: quantities must match"));
  CHECK(amount("\"1 GiB\"").starts_with("spec.size: "));
}

TEST_CASE("defined evaluator: a missing field is the default, or unknown", "[usage]") {
  for (const char* spec : {"{}", "null", R"({"size":null})"}) {
    INFO(spec);
    CHECK(AmountOf(OneName(kSize), spec) == "spec.size: is missing");
    CHECK(AmountOf(OneName(R"("path":".spec.size","default":"2Gi")"), spec) == "2Gi");
    CHECK(AmountOf(OneName(R"("path":".spec.size","default":0)"), spec) == "0");
  }
  const UsageDefinition times = OneName(R"("path":".spec.size","times":".spec.n")");
  CHECK(AmountOf(times, R"({"size":2,"n":3})") == "6");
  CHECK(AmountOf(times, R"({"size":2})") == "spec.n: is missing");
  CHECK(AmountOf(times, R"({"n":2})") == "spec.size: is missing");
  const UsageDefinition both =
      OneName(R"("path":".spec.size","times":".spec.n","default":5,"timesDefault":7)");
  CHECK(AmountOf(both, R"({"size":2,"n":3})") == "6");
  CHECK(AmountOf(both, R"({"size":2})") == "14");
  CHECK(AmountOf(both, R"({"n":2})") == "10");
  CHECK(AmountOf(both, "{}") == "35");
  CHECK(AmountOf(both, R"({"size":"x"})").starts_with("spec.size: quantities"));
  CHECK(AmountOf(both, R"({"n":true})") == "spec.n: must be a quantity, not boolean");
}

TEST_CASE("defined evaluator: what is on the way must be an object or a list", "[usage]") {
  CHECK(AmountOf(OneName(kSize), "1") == "spec: must be an object");
  CHECK(AmountOf(OneName(kSize), "[]") ==
        "spec: is a list, and the path lacks [*] for its elements");
  const UsageDefinition disks = OneName(R"("path":".spec.disks[*].size","default":9)");
  CHECK(AmountOf(disks, R"({"disks":{"size":1}})") == "spec.disks: must be a list");
  CHECK(AmountOf(disks, R"({"disks":"x"})") == "spec.disks: must be a list");
  CHECK(AmountOf(disks, R"({"disks":[{"size":1},2]})") == "spec.disks[1]: must be an object");
  CHECK(AmountOf(disks, R"({"disks":[[]]})") ==
        "spec.disks[0]: is a list, and the path lacks [*] for its elements");
  CHECK(AmountOf(OneName(R"("path":".spec['a.b'].c")"), R"({"a.b":{"c":"x"}})")
            .starts_with("spec[a.b].c: quantities"));
}

TEST_CASE("defined evaluator: several values are summed", "[usage]") {
  const UsageDefinition disks = OneName(R"("path":".spec.disks[*].size")");
  CHECK(AmountOf(disks, R"({"disks":[{"size":"1Gi"},{"size":"2Gi"}]})") == "3Gi");
  CHECK(AmountOf(disks, R"({"disks":[{"size":1},{"size":"x"}]})")
            .starts_with("spec.disks[1].size: quantities"));
  CHECK(AmountOf(disks, R"({"disks":[{"size":1},{}]})") == "spec.disks[1].size: is missing");
  CHECK(AmountOf(disks, R"({"disks":[null]})") == "spec.disks[0].size: is missing");
  CHECK(AmountOf(disks, R"({"disks":[{"size":1e30},{"size":1}]})") == "1e30");
  const UsageDefinition with_default = OneName(R"("path":".spec.disks[*].size","default":5)");
  CHECK(AmountOf(with_default, R"({"disks":[{"size":1},{},null]})") == "11");
}

// Kubernetes does not store empty lists.
TEST_CASE("defined evaluator: an absent list is an empty one", "[usage]") {
  for (const char* members :
       {R"("path":".spec.disks[*].size")", R"("path":".spec.disks[*].size","default":5)"}) {
    for (const char* spec : {R"({"disks":[]})", R"({"disks":null})", "{}", "null"}) {
      INFO(spec);
      CHECK(AmountOf(OneName(members), spec) == "0");
    }
  }
}

TEST_CASE("defined evaluator: lists in lists, maps and keys with dots", "[usage]") {
  CHECK(AmountOf(OneName(R"("path":".spec.a[*][*].b[*]")"),
                 R"({"a":[[{"b":[1,2]},{"b":null}],[],null,[{"b":[3]},{}]]})") == "6");
  CHECK(AmountOf(OneName(R"("path":".spec.a['x.io/b']")"),
                 R"({"a":{"x.io/b":4,"x":{"io/b":5}}})") == "4");
  CHECK(AmountOf(OneName(R"("path":".spec.a[*]['x.io/b'].c")"),
                 R"({"a":[{"x.io/b":{"c":1}},{"x.io/b":{"c":2},"x":1}]})") == "3");
  // "*" and "" are names like others in an object.
  CHECK(AmountOf(OneName(R"("path":".spec.a.b")"), R"({"a":{"*":1,"":2,"b":3,"[*]":4}})") == "3");
  CHECK(AmountOf(OneName(R"("path":".spec.a.b")"), R"({"a":{"b":1,"b":2}})") == "2");
  // One path is the beginning of another.
  const UsageDefinition nested = Defined(
      R"("usage":[{"name":"acme.io/a","path":".spec.a[*]"},{"name":"acme.io/n","path":".spec.a[*].b"}])");
  const ObjectFacts facts = FactsOf(nested, R"({"spec":{"a":[{"b":1,"c":2},{"b":3}]}})");
  CHECK(facts.now.usage == List({{"count/boxes.acme.io", "1"}, {"acme.io/n", "4"}}));
  CHECK(facts.now.unread == std::vector<std::string>{"acme.io/a"});
  CHECK(facts.flaw == "spec.a[0]: must be a quantity, not object");
}

TEST_CASE("defined evaluator: each element of a common list has its own number", "[usage]") {
  const UsageDefinition pools = OneName(kOfPools);
  CHECK(AmountOf(pools, R"({"pools":[{"size":2,"n":3},{"size":"5","n":"7"}]})") == "41");
  CHECK(AmountOf(pools, R"({"pools":[{"size":"1Gi","n":0.5}]})") == "512Mi");
  CHECK(AmountOf(pools, R"({"pools":[{"size":1,"n":1},{"size":1}]})") ==
        "spec.pools[1].n: is missing");
  CHECK(AmountOf(pools, "{}") == "0");
  CHECK(AmountOf(pools, R"({"pools":[{"size":1e20,"n":1e20}]})") == "1e30");
  CHECK(AmountOf(pools, R"({"pools":[{"size":1e30,"n":0}]})") == "0");
  // The number is outside of the list.
  const UsageDefinition outside =
      OneName(R"("path":".spec.pools[*].size","times":".spec.n","timesDefault":2)");
  CHECK(AmountOf(outside, R"({"pools":[{"size":2},{"size":3}],"n":10})") == "50");
  CHECK(AmountOf(outside, R"({"pools":[{"size":2},{"size":3}]})") == "10");
  // Another list: its sum.
  const UsageDefinition other = OneName(R"("path":".spec.a[*].x","times":".spec.b[*].y")");
  CHECK(AmountOf(other, R"({"a":[{"x":1},{"x":2}],"b":[{"y":3},{"y":4}]})") == "21");
  CHECK(AmountOf(other, R"({"a":[{"x":1}]})") == "0");
  // A list in each element.
  const UsageDefinition inner =
      OneName(R"("path":".spec.a[*].disks[*].size","times":".spec.a[*].n")");
  CHECK(
      AmountOf(inner,
               R"({"a":[{"n":2,"disks":[{"size":1},{"size":2}]},{"n":3,"disks":[{"size":4}]}]})") ==
      "18");
  const UsageDefinition both_inner =
      OneName(R"("path":".spec.a[*].x[*]","times":".spec.a[*].y[*]")");
  CHECK(AmountOf(both_inner, R"({"a":[{"x":[1,2],"y":[3]},{"x":[4],"y":[5,6]}]})") == "53");
}

TEST_CASE("defined evaluator: a number may be the amount itself, or above it", "[usage]") {
  CHECK(AmountOf(OneName(R"("path":".spec.n","times":".spec.n")"), R"({"n":3})") == "9");
  CHECK(AmountOf(OneName(R"("path":".spec.n","times":".spec.n","default":2,"timesDefault":3)"),
                 "{}") == "6");
  CHECK(AmountOf(OneName(R"("path":".spec.a[*]","times":".spec.a[*]")"), R"({"a":[1,2,3]})") ==
        "14");
  CHECK(AmountOf(OneName(R"("path":".spec.a[*]","times":".spec.a")"), R"({"a":[1,2]})") ==
        "spec.a: must be a quantity, not array");
}

TEST_CASE("defined evaluator: an unknown amount is that of its name only", "[usage]") {
  const UsageDefinition several = Defined(R"("usage":[
      {"name":"acme.io/z","path":".spec.z"},{"name":"acme.io/b","path":".spec.b"},
      {"name":"acme.io/a","path":".spec.a"}])");
  const ObjectFacts facts = FactsOf(several, R"({"spec":{"z":"?","b":2}})");
  CHECK(facts.now.usage == List({{"count/boxes.acme.io", "1"}, {"acme.io/b", "2"}}));
  CHECK(facts.now.unread == std::vector<std::string>{"acme.io/a", "acme.io/z"});
  CHECK(facts.flaw.starts_with("spec.z: quantities"));
  // The object may be anything.
  for (const char* object : {"null", "1", "[]", "\"spec\"", "{}"}) {
    CHECK(FactsOf(several, object).now.unread.size() == 3);
  }
}

TEST_CASE("defined evaluator: so many elements are looked at, and no more", "[usage]") {
  const UsageDefinition numbers = OneName(R"("path":".spec.a[*]")");
  const auto spec = [](std::size_t count, std::string_view element) {
    return R"({"a":)" + Elements(count, element) + "}";
  };
  CHECK(AmountOf(numbers, spec(kMostElements, "1")) == "10k");
  const std::string too_many =
      "spec.a: has too many elements: at most 10000 are summed for one name";
  CHECK(AmountOf(numbers, spec(kMostElements + 1, "1")) == too_many);
  // The elements of all lists count together.
  const UsageDefinition nested = OneName(R"("path":".spec.a[*][*]")");
  CHECK(AmountOf(nested, spec(100, Elements(99, "1"))) == "9900");
  CHECK(AmountOf(nested, spec(100, Elements(100, "1"))) == too_many);
  // Those of a common list once.
  const UsageDefinition pools = OneName(kOfPools);
  CHECK(AmountOf(pools, R"({"pools":)" + Elements(kMostElements, R"({"size":1,"n":2})") + "}") ==
        "20k");
}

// The time for one object is bounded, whatever the definition and the object are.
TEST_CASE("defined evaluator: each of many names may look at fewer elements", "[usage]") {
  std::string usage;
  for (int i = 0; i < 64; ++i) {
    usage += std::string(i == 0 ? "" : ",") + R"({"name":"acme.io/n)" + std::to_string(i) +
             R"(","path":".spec.a[*]"})";
  }
  const UsageDefinition many = Defined(R"("usage":[)" + usage + "]");
  REQUIRE(MostElements(many) == kMostElementsInAll / 64);
  const auto spec = [](std::size_t count) {
    return R"({"spec":{"a":)" + Elements(count, "1") + "}}";
  };
  CHECK(FactsOf(many, spec(MostElements(many))).now.unread.empty());
  const ObjectFacts facts = FactsOf(many, spec(MostElements(many) + 1));
  CHECK(facts.now.unread.size() == 64);
  CHECK(facts.flaw == "spec.a: has too many elements: at most 1562 are summed for one name");
}

// Each name has its own bound: what one name needs does not make another unknown.
TEST_CASE("defined evaluator: names over one long list are all known", "[usage]") {
  const UsageDefinition several = Defined(R"("usage":[
      {"name":"acme.io/a","path":".spec.a[*]"},{"name":"acme.io/b","path":".spec.a[*]"},
      {"name":"acme.io/c","path":".spec.b[*]"}])");
  const std::string spec = R"({"spec":{"a":)" + Elements(kMostElements, "1") + R"(,"b":[1]}})";
  CHECK(FactsOf(several, spec).now.usage == List({{"count/boxes.acme.io", "1"},
                                                  {"acme.io/a", "10k"},
                                                  {"acme.io/b", "10k"},
                                                  {"acme.io/c", "1"}}));
}

constexpr std::string_view kTiers =
    R"("class":{"path":".spec.tier","field":".spec.iops","resource":{"group":"acme.io","resource":"tiers"}})";
constexpr std::string_view kTiersOfPools =
    R"("times":".spec.pools[*].n","class":{"path":".spec.pools[*].tier","field":".spec.iops","resource":{"group":"acme.io","resource":"tiers"}})";

std::vector<ClassUnits> UnitsOf(const UsageDefinition& definition, std::string_view spec) {
  const ObjectFacts facts =
      FactsOf(definition, std::string(R"({"spec":)").append(spec).append("}"));
  CHECK(facts.flaw == "");
  CHECK(facts.now.unread.empty());
  CHECK(facts.now.usage == List({{"count/boxes.acme.io", "1"}}));
  return facts.now.classes;
}

std::string With(std::string_view members, std::string_view more) {
  return std::string(members).append(",").append(more);
}

TEST_CASE("defined evaluator: an object uses units of the classes that it names", "[usage]") {
  using Units = std::vector<ClassUnits>;
  const UsageDefinition one = OneName(kTiers);
  CHECK(UnitsOf(one, R"({"tier":"gold"})") == Units{{"gold", 1}});
  const UsageDefinition times = OneName(With(kTiers, R"("times":".spec.n")"));
  CHECK(UnitsOf(times, R"({"tier":"gold","n":3})") == Units{{"gold", 3}});
  CHECK(UnitsOf(times, R"({"tier":"gold","n":"2k"})") == Units{{"gold", 2000}});
  CHECK(UnitsOf(times, R"({"tier":"gold","n":2.0})") == Units{{"gold", 2}});
  const UsageDefinition pools = OneName(kTiersOfPools);
  CHECK(UnitsOf(pools, R"({"pools":[{"tier":"b","n":1},{"tier":"a","n":2},{"tier":"b","n":4}]})") ==
        Units{{"a", 2}, {"b", 5}});
  CHECK(UnitsOf(pools, "{}").empty());
  // Who uses none of a class does not depend on it.
  CHECK(UnitsOf(times, R"({"tier":"gone","n":0})").empty());
}

TEST_CASE("defined evaluator: an unreadable class makes all names of classes unknown", "[usage]") {
  const UsageDefinition definition = Defined(
      R"("usage":[{"name":"acme.io/z","times":".spec.n",)" + std::string(kTiers) +
      R"(},{"name":"acme.io/p","path":".spec.p","default":1},{"name":"acme.io/a","times":".spec.n",)" +
      std::string(kTiers) + "}]");
  const auto flaw = [&](std::string_view spec) {
    const ObjectFacts facts =
        FactsOf(definition, std::string(R"({"spec":)").append(spec).append("}"));
    CHECK(facts.now.classes.empty());
    CHECK(facts.now.unread == std::vector<std::string>{"acme.io/a", "acme.io/z"});
    CHECK(facts.now.usage == List({{"count/boxes.acme.io", "1"}, {"acme.io/p", "1"}}));
    return facts.flaw;
  };
  const std::string no_name = "spec.tier: must name an object of tiers.acme.io";
  CHECK(flaw(R"({"n":1})") == no_name);
  CHECK(flaw(R"({"n":1,"tier":null})") == no_name);
  CHECK(flaw(R"({"n":1,"tier":5})") == no_name);
  CHECK(flaw(R"({"n":1,"tier":["gold"]})") == no_name);
  CHECK(flaw(R"({"n":1,"tier":""})") == no_name);
  CHECK(flaw(R"({"n":1,"tier":"a/../b"})") == no_name);
  CHECK(flaw(R"({"n":1,"tier":"gold\u0000"})") == no_name);
  CHECK(flaw(R"({"n":1,"tier":")" + std::string(254, 'a') + R"("})") == no_name);
  CHECK(flaw(R"({"tier":"gold"})") == "spec.n: is missing");
  CHECK(flaw(R"({"tier":"gold","n":1.5})") == "spec.n: the number of a class must be whole");
  CHECK(flaw(R"({"tier":"gold","n":-1})") == "spec.n: must not be negative");
}

constexpr std::string_view kNamedTiers =
    R"("class":{"path":".spec.tier.name","field":".limits['iops']","resource":{"group":"acme.io","resource":"tiers"},"displayName":"storage tier")";

TEST_CASE("defined evaluator: messages call a class what the definition calls it", "[usage]") {
  const Evaluator evaluator = EvaluatorOf(OneName(std::string(kNamedTiers) + "}"));
  CHECK(evaluator.classes->called == "storage tier");
  // The name in a reference that is no object is none, too.
  for (const char* spec : {"{}", "null", "1", R"({"tier":"gold"})", R"({"tier":{"name":""}})",
                           R"({"tier":{"name":"A"}})", R"({"tier":{"name":{}}})"}) {
    INFO(spec);
    CHECK(AmountOf(OneName(std::string(kNamedTiers) + "}"), spec) ==
          "spec.tier.name: must name a storage tier");
  }
  CHECK(AmountOf(OneName(std::string(kNamedTiers) + "}"), R"({"tier":[]})") ==
        "spec.tier: is a list, and the path lacks [*] for its elements");
  CHECK(AmountOf(OneName(R"("class":{"path":".spec.a","field":".b","displayName":"image class",
                            "resource":{"resource":"images"}})"),
                 "{}") == "spec.a: must name an image class");
  // What is no object has no fields in a class either.
  const ClassUsage odd = *evaluator.classes->usage_of(Json(R"({"limits":"none"})"));
  CHECK(odd.unknown.at("acme.io/n") == "limits[iops]: is missing");
}

TEST_CASE("defined evaluator: an object may need no class", "[usage]") {
  const UsageDefinition optional =
      OneName(std::string(kNamedTiers) + R"(,"optional":true},"times":".spec.n","timesDefault":2)");
  for (const char* spec :
       {"{}", "null", R"({"tier":null})", R"({"tier":{"name":""}})", R"({"tier":"gold"})"}) {
    INFO(spec);
    CHECK(UnitsOf(optional, spec).empty());
  }
  CHECK(UnitsOf(optional, R"({"tier":{"name":"gold"}})") == std::vector<ClassUnits>{{"gold", 2}});
  CHECK(AmountOf(optional, R"({"tier":{"name":5}})") == "spec.tier.name: must name a storage tier");
}

TEST_CASE("defined evaluator: sums have the format of the definition", "[usage]") {
  const UsageDefinition binary =
      OneName(R"("path":".spec.a[*]","default":"1k","format":"BinarySI")");
  CHECK(AmountOf(binary, R"({"a":[1024,"1Ki"]})") == "2Ki");
  CHECK(AmountOf(binary, R"({"a":[1024,null]})") == "2024");
  CHECK(AmountOf(binary, R"({"a":["1.5"]})") == "1500m");
  CHECK(AmountOf(binary, R"({"a":["1e30"]})") == "1e30");
  CHECK(AmountOf(OneName(R"("path":".spec.a","format":"DecimalSI")"), R"({"a":"1000Ki"})") ==
        "1024k");
  const Evaluator tiers =
      EvaluatorOf(OneName(std::string(R"("format":"BinarySI",)") + std::string(kNamedTiers) + "}"));
  CHECK(tiers.classes->usage_of(Json(R"({"limits":{"iops":"2048"}})"))->amounts.ToString() ==
        "acme.io/n=2Ki");
}

TEST_CASE("defined evaluator: an invalid amount may be ignored, and is a flaw", "[usage]") {
  const UsageDefinition ignores = Defined(R"("invalidAmountPolicy":"Ignore","usage":[
      {"name":"acme.io/a","path":".spec.a"},{"name":"acme.io/b","path":".spec.b"},
      {"name":"acme.io/c",)" + std::string(kTiers) +
                                          "}]");
  const ObjectFacts facts = FactsOf(ignores, R"({"spec":{"a":-1,"b":2}})");
  CHECK(facts.flaw == "spec.a: must not be negative");
  CHECK(facts.ignored == std::vector<std::string>{"acme.io/a", "acme.io/c"});
  CHECK(facts.now.unread.empty());
  CHECK(facts.now.classes.empty());
  CHECK(facts.now.usage == List({{"count/boxes.acme.io", "1"}, {"acme.io/b", "2"}}));
  const Explanation explanation = Explain(ignores, Json(R"({"spec":{"a":-1,"b":2}})"));
  CHECK(explanation.unknown.empty());
  CHECK(explanation.ignored.at("acme.io/a") == "spec.a: must not be negative");
  CHECK(explanation.ignored.at("acme.io/c") == "spec.tier: must name an object of tiers.acme.io");
}

TEST_CASE("defined evaluator: an object may name so many classes", "[usage]") {
  const UsageDefinition pools = OneName(kTiersOfPools);
  const auto spec = [](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      text += R"(,{"n":1,"tier":"t)" + std::to_string(i) + R"("},{"n":1,"tier":"t0"})";
    }
    return R"({"pools":[)" + text.substr(1) + "]}";
  };
  CHECK(UnitsOf(pools, spec(kMostClasses)).size() == kMostClasses);
  CHECK(AmountOf(pools, spec(kMostClasses + 1)) ==
        "spec.pools[*].tier: has too many names: at most 128 classes are looked up for one object");
}

// What does not fit is not counted as less than it is.
TEST_CASE("defined evaluator: units of a class saturate", "[usage]") {
  ClassTable table(MissingClass::kUnknown);
  table.Set("gold", ClassUsage(List({{"acme.io/n", "1n"}})));
  table.Set("free", ClassUsage(List({{"acme.io/n", "0"}})));
  const UsageDefinition pools = OneName(kTiersOfPools);
  const auto usage = [&](std::string_view spec) {
    const auto resolved =
        table.Resolve({.usage = {}, .attributes = {}, .classes = UnitsOf(pools, spec)});
    REQUIRE(resolved.has_value());
    return resolved->Get("acme.io/n").ToString();
  };
  CHECK(usage(R"({"pools":[{"tier":"gold","n":1e30}]})") == "1e30");
  CHECK(usage(R"({"pools":[{"tier":"gold","n":1e30},{"tier":"gold","n":1e30}]})") == "1e30");
  CHECK(usage(R"({"pools":[{"tier":"gold","n":1},{"tier":"gold","n":1e30}]})") == "1e30");
  CHECK(usage(R"({"pools":[{"tier":"free","n":1e30}]})") == "0");
  CHECK(usage(R"({"pools":[{"tier":"gold","n":1e29}]})") == "100E");
  CHECK(usage(R"({"pools":)" + Elements(kMostElements, R"({"tier":"gold","n":1e29})") + "}") ==
        "1e24");
}

TEST_CASE("defined evaluator: a class says what one unit uses", "[usage]") {
  const Evaluator evaluator = EvaluatorOf(Defined(
      R"("usage":[{"name":"acme.io/p","path":".spec.p"},{"name":"acme.io/iops",)" +
      std::string(kTiers) +
      R"(},{"name":"acme.io/disk","default":"1Gi","class":{"path":".spec.tier","field":".spec.disks[*].size",
        "resource":{"group":"acme.io","resource":"tiers"}}}])"));
  REQUIRE(evaluator.classes);
  const ClassSource& source = *evaluator.classes;
  CHECK(source.resource == api::GroupResource{"acme.io", "tiers"});
  CHECK(source.fields == std::vector<std::string>{"spec.disks.size#", "spec.iops#"});
  CHECK(source.missing == MissingClass::kUnknown);
  CHECK(source.called == "tiers.acme.io");
  CHECK(source.concerns("acme.io/iops"));
  CHECK(source.concerns("acme.io/disk"));
  CHECK_FALSE(source.concerns("acme.io/p"));
  CHECK_FALSE(source.concerns("count/boxes.acme.io"));
  const auto usage = [&](std::string_view text) {
    const auto whole = source.usage_of(Json(text));
    const auto projected =
        source.usage_of(*json::ParseProjected(text, json::Projection(source.fields)));
    REQUIRE(whole.has_value());
    CHECK(*projected == *whole);
    return *whole;
  };
  const ClassUsage gold = usage(R"({"spec":{"iops":100,"disks":[{"size":"2Gi"},{}]}})");
  CHECK(gold.amounts == List({{"acme.io/iops", "100"}, {"acme.io/disk", "3Gi"}}));
  CHECK(gold.unknown.empty());
  const ClassUsage bare = usage("{}");
  CHECK(bare.amounts == List({{"acme.io/disk", "0"}}));
  CHECK(bare.unknown.at("acme.io/iops") == "spec.iops: is missing");
  const ClassUsage bad = usage(R"({"spec":{"iops":-1,"disks":5}})");
  CHECK(bad.amounts.empty());
  CHECK(bad.unknown.at("acme.io/iops") == "spec.iops: must not be negative");
  CHECK(bad.unknown.at("acme.io/disk") == "spec.disks: must be a list");

  ClassTable table(source.missing, source.called);
  const Facts facts = FactsOf(evaluator, Json(R"({"spec":{"p":1,"tier":"gold"}})")).now;
  CHECK(table.Resolve(facts).error().message == "tiers.acme.io \"gold\" not found");
  table.Set("gold", gold);
  CHECK(*table.Resolve(facts) == List({{"count/boxes.acme.io", "1"},
                                       {"acme.io/p", "1"},
                                       {"acme.io/iops", "100"},
                                       {"acme.io/disk", "3Gi"}}));
  CHECK_FALSE(EvaluatorOf(OneName(kSize)).classes.has_value());
}

TEST_CASE("defined evaluator: an object may use nothing for a while", "[usage]") {
  const auto counts = [](std::string_view counts_while, std::string_view phase) {
    const UsageDefinition definition = Defined(
        R"("usage":[{"name":"acme.io/n","path":".spec.n"}],"countsWhile":{"path":".status.phase",)" +
        std::string(counts_while) + "}");
    const ObjectFacts facts =
        FactsOf(definition, std::string(R"({"spec":{"n":7},"status":)").append(phase).append("}"));
    CHECK(facts.flaw.empty());
    CHECK(facts.now.usage.Get("count/boxes.acme.io") == Q("1"));
    return facts.now.usage.Find("acme.io/n") != nullptr;
  };
  const std::string_view in = R"("in":["Ready","1","true"])";
  CHECK(counts(in, R"({"phase":"Ready"})"));
  CHECK(counts(in, R"({"phase":1})"));
  CHECK(counts(in, R"({"phase":true})"));
  CHECK_FALSE(counts(in, R"({"phase":"ready"})"));
  const std::string_view not_in = R"("notIn":["Failed",""])";
  CHECK(counts(not_in, R"({"phase":"Ready"})"));
  CHECK_FALSE(counts(not_in, R"({"phase":"Failed"})"));
  CHECK_FALSE(counts(not_in, R"({"phase":""})"));
  for (const char* no_text : {"{}", "null", "1", "[]", R"({"phase":null})", R"({"phase":[]})",
                              R"({"phase":["Ready","Failed"]})", R"({"phase":{}})"}) {
    INFO(no_text);
    CHECK_FALSE(counts(in, no_text));
    CHECK(counts(not_in, no_text));
  }
  // Nor is anything unknown then.
  const UsageDefinition definition = Defined(
      R"("usage":[{"name":"acme.io/n","path":".spec.n"}],"countsWhile":{"path":".spec.off","notIn":["true"]})");
  CHECK(AmountOf(definition, R"({"off":true,"n":"?"})") == "nothing");
  CHECK(AmountOf(definition, R"({"off":false,"n":1})") == "1");
}

TEST_CASE("defined evaluator: a scope matches by the value of a field", "[usage]") {
  const UsageDefinition definition = Defined(R"("usage":[{"name":"acme.io/n","path":".spec.n"}],
      "countsWhile":{"path":".spec.off","notIn":["true"]},"scopes":[
      {"name":"acme.io/tier","path":".spec.tier"},
      {"name":"acme.io/app","path":".metadata.labels['acme.io/app']"}])");
  CHECK(EvaluatorOf(definition).scopes == std::vector<std::string>{"acme.io/tier", "acme.io/app"});
  using Attributes = std::vector<Attribute>;
  const auto attributes = [&](std::string_view object) {
    return FactsOf(definition, object).now.attributes;
  };
  CHECK(attributes(R"({"metadata":{"labels":{"acme.io/app":"db"}},"spec":{"tier":"gold"}})") ==
        Attributes{{"acme.io/app", "db"}, {"acme.io/tier", "gold"}});
  CHECK(attributes(R"({"spec":{"tier":5}})") == Attributes{{"acme.io/tier", "5"}});
  CHECK(attributes(R"({"spec":{"tier":false,"off":true}})") ==
        Attributes{{"acme.io/tier", "false"}});
  CHECK(attributes(R"({"spec":{"tier":"a\u0000b"}})") ==
        Attributes{{"acme.io/tier", std::string("a\0b", 3)}});
  for (const char* object :
       {"{}", R"({"spec":5})", R"({"spec":{"tier":null}})", R"({"spec":{"tier":["gold"]}})",
        R"({"spec":{"tier":{}}})", R"({"spec":{"tier":""}})"}) {
    INFO(object);
    CHECK(attributes(object).empty());
  }
}

// Facts are kept for each object, and an annotation may have 256 KiB.
TEST_CASE("defined evaluator: a long value of a scope is cut", "[usage]") {
  const UsageDefinition definition =
      Defined(R"("scopes":[{"name":"acme.io/a","path":".metadata.annotations.a"}])");
  const auto value = [&](const std::string& text) {
    const ObjectFacts facts =
        FactsOf(definition, R"({"metadata":{"annotations":{"a":")" + text + "\"}}}");
    REQUIRE(facts.now.attributes.size() == 1);
    return facts.now.attributes[0].second;
  };
  const std::string longest(kMostScopeValue, 'a');
  CHECK(value(longest) == longest);
  CHECK(value(longest + "a") != longest);
  CHECK(value(longest + "a").size() <= kMostScopeValue + 3);
  CHECK(value(longest + std::string(10'000, 'b')) == value(longest + "a"));
}

TEST_CASE("defined evaluator: it owns its names and says what it reads", "[usage]") {
  const Evaluator evaluator = EvaluatorOf(Defined(R"("usage":[
      {"name":"acme.io/a","path":".spec.a","times":".spec.b"},
      {"name":"acme.io/b","path":".spec.a","times":".spec.list[*].b"},
      {"name":"acme.io/c",)" + std::string(kTiers) +
                                                  R"(}],
      "countsWhile":{"path":".status.phase","in":["Ready"]},
      "scopes":[{"name":"acme.io/tier","path":".spec.tier"}])"));
  CHECK(evaluator.resource == api::GroupResource{"acme.io", "boxes"});
  for (const char* name : {"acme.io/a", "acme.io/b", "acme.io/c", "count/boxes.acme.io"}) {
    CHECK(evaluator.owns(name));
  }
  for (const char* name : {"", "acme.io/d", "acme.io/tier", "count/boxes", "cpu"}) {
    CHECK_FALSE(evaluator.owns(name));
  }
  CHECK(evaluator.fields == std::vector<std::string>{"spec.a#", "spec.b#", "spec.list.b#",
                                                     "spec.tier#", "status.phase#"});
  CHECK(evaluator.guard.updates);
  CHECK(
      evaluator.guard.update_condition ==
      "object.?spec != oldObject.?spec && ("
      "object.?spec.?a != oldObject.?spec.?a || object.?spec.?b != oldObject.?spec.?b || "
      "object.?spec.?list != oldObject.?spec.?list || object.?spec.?tier != oldObject.?spec.?tier "
      "|| [object, oldObject].exists(o, type(o.?spec.orValue({})) != map))");
}

// Evaluated by a real API server in tests/e2e/usage_definition_test.cc.
TEST_CASE("defined evaluator: a condition holds if what should be an object is none", "[usage]") {
  const auto condition_of = [](const std::string& paths) {
    return EvaluatorOf(Defined(R"("usage":[)" + paths + "]")).guard.update_condition;
  };
  CHECK(condition_of(R"({"name":"acme.io/a","path":".spec.a.b['c-d'].e"},
                        {"name":"acme.io/b","path":".spec.a.list[*].b"},
                        {"name":"acme.io/c","path":".data['x.y']"})") ==
        "object.?data != oldObject.?data && ("
        "object.?data[?'x.y'] != oldObject.?data[?'x.y'] || "
        "[object, oldObject].exists(o, type(o.?data.orValue({})) != map)) || "
        "object.?spec != oldObject.?spec && ("
        "object.?spec.?a.?b[?'c-d'].?e != oldObject.?spec.?a.?b[?'c-d'].?e || "
        "object.?spec.?a.?list != oldObject.?spec.?a.?list || "
        "[object, oldObject].exists(o, type(o.?spec.?a.?b.orValue({})) != map || "
        "type(o.?spec.?a.?b[?'c-d'].orValue({})) != map || "
        "type(o.?spec.?a.orValue({})) != map || type(o.?spec.orValue({})) != map))");
  CHECK(condition_of(R"({"name":"acme.io/a","path":".size"},
                        {"name":"acme.io/b","path":".sizes[*].b"})") ==
        "object.?size != oldObject.?size || object.?sizes != oldObject.?sizes");
  // A change of anything there is a change.
  CHECK(condition_of(R"({"name":"acme.io/a","path":".spec"},
                        {"name":"acme.io/b","path":".spec.a"})") ==
        "object.?spec != oldObject.?spec");
}

TEST_CASE("defined evaluator: a field of the spec may be one that scale changes", "[usage]") {
  const auto guard_of = [](const char* path) {
    return EvaluatorOf(OneName(std::string(R"("path":")").append(path).append("\""))).guard;
  };
  const Guard scaled = guard_of(".spec.pool.replicas");
  CHECK(scaled.subresources == std::vector<std::string>{"scale"});
  CHECK(scaled.fields == std::vector<std::string>{"spec.replicas"});  // of the Scale
  for (const char* path : {".spec.pools[*].replicas", ".status.replicas", ".metadata.labels.n"}) {
    CHECK(guard_of(path).subresources.empty());
    CHECK(guard_of(path).fields.empty());
  }
}

TEST_CASE("defined evaluator: updates of no field are asked about if none can matter", "[usage]") {
  const Evaluator evaluator = EvaluatorOf(OneName(R"("path":".status.size")"));
  CHECK_FALSE(evaluator.guard.updates);
  CHECK(evaluator.guard.update_condition == "");
}

// An API server refuses expressions of more than 100 000 characters.
TEST_CASE("defined evaluator: a very long condition is none", "[usage]") {
  std::string names;
  for (std::size_t i = 0; i < kMostNames; ++i) {
    names += R"(,{"name":"acme.io/n)" + std::to_string(i) + R"(","path":".spec.)" +
             std::string(900, 'a') + std::to_string(i) + "\"}";
  }
  const Evaluator evaluator = EvaluatorOf(Defined(R"("usage":[)" + names.substr(1) + "]"));
  CHECK(evaluator.guard.updates);
  CHECK(evaluator.guard.update_condition.empty());
}

ObjectFacts Admitted(const UsageDefinition& definition, std::string_view object,
                     std::string_view stored = "") {
  const Guard guard = EvaluatorOf(definition).guard;
  const json::Value old = stored.empty() ? json::Value() : Json(stored);
  REQUIRE(guard.facts_of);
  const auto facts = guard.facts_of(Json(object), stored.empty() ? nullptr : &old, {});
  REQUIRE(facts.has_value());
  return *facts;
}

TEST_CASE("defined evaluator: a client cannot write a status to count less", "[usage]") {
  const UsageDefinition definition = Defined(
      R"("usage":[{"name":"acme.io/n","path":".spec.n"}],"countsWhile":{"path":".status.phase","notIn":["Failed"]},
      "scopes":[{"name":"acme.io/phase","path":".status.phase"}])");
  const std::string claims = R"({"spec":{"n":7},"status":{"phase":"Failed"}})";
  const std::string runs = R"({"spec":{"n":5},"status":{"phase":"Ready"}})";
  const std::string bare = R"({"spec":{"n":3}})";
  const ResourceList seven = List({{"count/boxes.acme.io", "1"}, {"acme.io/n", "7"}});
  CHECK(Admitted(definition, claims).now.usage == seven);
  CHECK(Admitted(definition, claims).now.attributes.empty());
  CHECK(Admitted(definition, claims, bare).now.usage == seven);
  CHECK(Admitted(definition, claims, runs).now.usage == seven);
  CHECK(Admitted(definition, claims, runs).now.attributes ==
        std::vector<Attribute>{{"acme.io/phase", "Ready"}});
  CHECK(Admitted(definition, runs, claims).now.usage == List({{"count/boxes.acme.io", "1"}}));
  CHECK(Admitted(definition, bare, claims).now.usage == List({{"count/boxes.acme.io", "1"}}));
  CHECK(Admitted(definition, "[]", "[]").now.unread == std::vector<std::string>{"acme.io/n"});
}

TEST_CASE("defined evaluator: what only the subresource status may say is refused", "[usage]") {
  const UsageDefinition not_in = Defined(R"("usage":[{"name":"acme.io/n","path":".spec.n"}],
      "countsWhile":{"path":".status.phase","notIn":["Failed","Done"],"statusSubresourceOnly":true})");
  CHECK(EvaluatorOf(not_in).guard.update_condition ==
        "object.?spec != oldObject.?spec && (object.?spec.?n != oldObject.?spec.?n || "
        "[object, oldObject].exists(o, type(o.?spec.orValue({})) != map)) || "
        "object.?status != oldObject.?status && (object.?status.?phase != "
        "oldObject.?status.?phase || "
        "[object, oldObject].exists(o, type(o.?status.orValue({})) != map))");
  const std::string failed = R"({"spec":{"n":7},"status":{"phase":"Failed"}})";
  const std::string done = R"({"spec":{"n":7},"status":{"phase":"Done"}})";
  const std::string runs = R"({"spec":{"n":5},"status":{"phase":"Ready"}})";
  const std::string flaw = "status.phase: Failed is written to the subresource status only";
  CHECK(Admitted(not_in, failed).flaw == flaw);
  CHECK(Admitted(not_in, failed, runs).flaw == flaw);
  CHECK(Admitted(not_in, failed, R"({"spec":{"n":5}})").flaw == flaw);
  CHECK(Admitted(not_in, failed).now.usage.Get("acme.io/n") == Q("7"));
  CHECK(Admitted(not_in, failed, done).flaw == "");
  CHECK(Admitted(not_in, runs, failed).flaw == "");
  CHECK(Admitted(not_in, runs).flaw == "");
  CHECK(Admitted(not_in, "[]").now.unread == std::vector<std::string>{"acme.io/n"});
  // It is refused whether or not a quota limits a name that is unknown.
  const ObjectFacts both = Admitted(not_in, R"({"spec":{"n":"?"},"status":{"phase":"Failed"}})");
  CHECK(both.flaw == flaw);
  CHECK(both.now.unread.empty());
  // Of a stored object it is no flaw.
  CHECK(FactsOf(not_in, failed).flaw == "");

  const UsageDefinition in = Defined(R"("usage":[{"name":"acme.io/n","path":".spec.n"}],
      "countsWhile":{"path":".status.phase","in":["Ready"],"statusSubresourceOnly":true})");
  CHECK(Admitted(in, R"({"spec":{"n":7}})").flaw == "");
  CHECK(Admitted(in, failed).flaw == "");
  CHECK(Admitted(in, failed, runs).flaw == flaw);
  CHECK(Admitted(in, R"({"spec":{"n":5}})", runs).flaw ==
        "status.phase: is written to the subresource status only");
  CHECK(Admitted(in, runs, failed).flaw == "");
  CHECK(
      Admitted(in, R"({"status":{"phase":")" + std::string(9'000, 'a') + "\"}}", runs).flaw.size() <
      2'000);
}

TEST_CASE("defined evaluator: without a field in the status an object is read as it is",
          "[usage]") {
  CHECK_FALSE(EvaluatorOf(OneName(kSize)).guard.facts_of);
}

TEST_CASE("defined evaluator: an amount in the status is that of the stored object", "[usage]") {
  for (const std::string members :
       {R"("path":".status.n")", R"("path":".spec.n","times":".status.n")"}) {
    const UsageDefinition definition = OneName(members);
    const std::string object = R"({"spec":{"n":1},"status":{"n":7}})";
    CHECK(FactsOf(definition, object).now.usage.Get("acme.io/n") == Q("7"));
    const ObjectFacts created = Admitted(definition, object);
    CHECK(created.flaw == "");
    CHECK(created.now.unread.empty());
    CHECK(created.now.usage == List({{"count/boxes.acme.io", "1"}}));
    const ObjectFacts updated = Admitted(definition, object, R"({"status":{"n":2}})");
    CHECK(updated.now.usage.Get("acme.io/n") == Q("2"));
    CHECK(Admitted(definition, object, "{}").flaw == "status.n: is missing");
  }
  const UsageDefinition tier =
      OneName(R"("class":{"path":".status.tier","field":".n","resource":{"resource":"tiers"}})");
  const std::string object = R"({"status":{"tier":"gold"}})";
  CHECK(Admitted(tier, object).now.classes.empty());
  CHECK(Admitted(tier, object).flaw == "");
  CHECK(Admitted(tier, "{}", object).now.classes == std::vector<ClassUnits>{{"gold", 1}});
}

// Time in proportion, which the fuzz target measures exactly: here only that nothing is quadratic.
TEST_CASE("defined evaluator: large objects take time in proportion", "[usage]") {
  const UsageDefinition pools = OneName(kOfPools);
  std::string members;
  for (int i = 0; i < 20'000; ++i)
    members += ",\"m" + std::to_string(i) + "\":" + std::to_string(i);
  const std::string object =
      R"({"spec":{"pools":)" + Elements(9'000, R"({"size":1,"n":1})") + members + "}}";
  const auto begin = std::chrono::steady_clock::now();
  CHECK(FactsOf(pools, object).now.usage.Get("acme.io/n") == Q("9k"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
}

TEST_CASE("defined evaluator: it outlives its definition", "[usage]") {
  Evaluator evaluator;
  {
    const UsageDefinition definition = OneName(R"("path":".spec.size")");
    evaluator = EvaluatorOf(definition);
  }
  CHECK(FactsOf(evaluator, Json(R"({"spec":{"size":1}})")).now.usage.Get("acme.io/n") == Q("1"));
}

}  // namespace
}  // namespace quota::usage::defined_evaluator_test
