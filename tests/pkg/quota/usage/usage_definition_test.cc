#include "pkg/quota/usage/usage_definition.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "tests/pkg/quota/usage/usage_testing.h"

namespace quota::usage::usage_definition_test {
namespace {

std::string ErrorOf(const json::Value& object) {
  const auto definition = ParseUsageDefinition(object);
  if (definition) return "no error";
  CHECK(definition.error().code == base::ErrorCode::kMalformed);
  return definition.error().message;
}

constexpr std::string_view kUsage = R"("usage":[{"name":"acme.io/n","path":".spec.n"}])";

std::string SpecError(std::string_view spec) { return ErrorOf(Document(spec)); }
std::string UsageError(std::string_view members) {
  return SpecError(std::string(R"("usage":[{)").append(members).append("}]"));
}
std::string BesideUsage(std::string_view members) {
  return SpecError(std::string(kUsage).append(",").append(members));
}

TEST_CASE("usage definition: all members are read", "[usage]") {
  const UsageDefinition all = Defined(R"("usage":[
      {"name":"acme.io/bytes","path":".spec.size","unknown":1},
      {"name":"acme.io/memory","path":".spec.gpu","times":".spec.replicas","default":"1Gi",
       "timesDefault":1},
      {"name":"acme.io/iops","class":{"path":".spec.tier","field":".spec.iops","resource":
        {"group":"acme.io","resource":"tiers"}},"times":".spec.count","default":null}],
      "countsWhile":{"path":".status.phase","notIn":["Failed",""],"in":null},
      "scopes":[{"name":"acme.io/tier","path":".spec.tier"}])");
  CHECK(all.name == "boxes.acme.io");
  CHECK(all.resource == api::GroupResource{"acme.io", "boxes"});
  REQUIRE(all.amounts.size() == 3);
  CHECK(all.amounts[0].name == "acme.io/bytes");
  CHECK(all.amounts[0].path == Path(".spec.size"));
  CHECK_FALSE(all.amounts[0].otherwise);
  CHECK(all.amounts[1].times == Path(".spec.replicas"));
  CHECK(all.amounts[1].otherwise == Q("1Gi"));
  CHECK(all.amounts[1].times_otherwise == Q("1"));
  REQUIRE(all.amounts[2].of_class);
  CHECK_FALSE(all.amounts[2].path);
  CHECK(all.amounts[2].of_class->path == Path(".spec.tier"));
  CHECK(all.amounts[2].of_class->field == Path(".spec.iops"));
  CHECK(all.amounts[2].of_class->resource == api::GroupResource{"acme.io", "tiers"});
  CHECK_FALSE(all.amounts[2].otherwise);
  REQUIRE(all.counts_while);
  CHECK_FALSE(all.counts_while->in);
  CHECK(all.counts_while->values == std::vector<std::string>{"Failed", ""});
  REQUIRE(all.scopes.size() == 1);
  CHECK(all.scopes[0].name == "acme.io/tier");
}

TEST_CASE("usage definition: a kind of the core group has no group in its name", "[usage]") {
  const auto pods = ParseUsageDefinition(Json(R"({"metadata":{"name":"pods"},"spec":{
      "resource":{"resource":"pods"},"usage":[{"name":"acme.io/n","path":".spec.n"}]}})"));
  REQUIRE(pods.has_value());
  CHECK(pods->resource == api::GroupResource{"", "pods"});
}

// Scopes alone: the objects are counted by them.
TEST_CASE("usage definition: scopes are enough", "[usage]") {
  CHECK(Defined(R"("scopes":[{"name":"acme.io/t","path":".spec.t"}])").amounts.empty());
  CHECK(Defined(R"("usage":[],"scopes":[{"name":"acme.io/t","path":".spec.t"}])").amounts.empty());
}

TEST_CASE("usage definition: an error names its field", "[usage]") {
  for (const char* text :
       {"null", "[]", "1", "\"x\"", "{}", R"({"spec":null})", R"({"spec":[]})"}) {
    INFO(text);
    CHECK(ErrorOf(Json(text)) == "spec: is required");
  }
  const auto resource_error = [](std::string_view resource) {
    return ErrorOf(Json(std::string(R"({"metadata":{"name":"x"},"spec":{"resource":)")
                            .append(resource)
                            .append("}}")));
  };
  CHECK(resource_error("null").starts_with("spec.resource: must be an object"));
  CHECK(resource_error("\"boxes\"").starts_with("spec.resource: must be an object"));
  CHECK(resource_error("{}").starts_with("spec.resource.resource: must be the plural"));
  for (const char* name :
       {"\"Boxes\"", "\"boxes/status\"", "\"a.b\"", "\"\"", "1", "\"a\\u0000\""}) {
    CHECK(resource_error(std::string(R"({"group":"acme.io","resource":)") + name + "}")
              .starts_with("spec.resource.resource: must be the plural"));
  }
  for (const char* group : {"\"Acme.io\"", "\"acme.io/v1\"", "5", "[]", "\"a..b\"", "true"}) {
    INFO(group);
    CHECK(resource_error(std::string(R"({"resource":"boxes","group":)") + group + "}")
              .starts_with("spec.resource.group: must be an API group"));
  }
  CHECK(resource_error(R"({"group":"acme.io","resource":"boxes"})") ==
        "metadata.name: must be boxes.acme.io, so that a resource has one definition");
}

TEST_CASE("usage definition: an error in usage names the element", "[usage]") {
  CHECK(SpecError(R"("usage":null)") ==
        "spec.usage: must have at least one name, if there are no scopes");
  CHECK(SpecError(R"("usage":[])") ==
        "spec.usage: must have at least one name, if there are no scopes");
  CHECK(SpecError(R"("usage":{})") == "spec.usage: must be a list");
  CHECK(SpecError(R"("usage":[1])").starts_with("spec.usage[0].name: must have a domain"));
  CHECK(UsageError("").starts_with("spec.usage[0].name: must have a domain"));
  CHECK(UsageError(R"("name":1)").starts_with("spec.usage[0].name: must have a domain"));
  const std::string name = R"("name":"acme.io/n")";
  CHECK(UsageError(name) == "spec.usage[0]: must have either a path or a class");
  CHECK(UsageError(name + R"(,"path":1)") == "spec.usage[0].path: must be a string, as .spec.size");
  CHECK(UsageError(name + R"(,"path":"spec")") ==
        "spec.usage[0].path: must begin with a dot, as .spec.size");
  CHECK(UsageError(name + R"(,"path":".a","times":"b")") ==
        "spec.usage[0].times: must begin with a dot, as .spec.size");
  CHECK(UsageError(name + R"(,"path":".a","timesDefault":1)") ==
        "spec.usage[0].timesDefault: needs times");
  CHECK(UsageError(name + R"(,"path":".a","default":-1)") ==
        "spec.usage[0].default: must not be negative");
  CHECK(UsageError(name + R"(,"path":".a","times":".b","timesDefault":"-1n")") ==
        "spec.usage[0].timesDefault: must not be negative");
  for (const char* amount : {"\"\"", "\"x\"", "true", "[]", "{}"}) {
    CHECK(UsageError(name + R"(,"path":".a","default":)" + amount)
              .starts_with("spec.usage[0].default: "));
  }
  CHECK(
      SpecError(R"("usage":[{"name":"acme.io/a","path":".a"},{"name":"acme.io/a","path":".b"}])") ==
      "spec.usage[1].name: is a name of another element, too");
  CHECK(SpecError(R"("usage":[{"name":"acme.io/a","path":".a"},{"name":"acme.io/b","path":"b"}])")
            .starts_with("spec.usage[1].path: "));
}

TEST_CASE("usage definition: an error in a class names it", "[usage]") {
  const auto error = [](std::string_view of_class, std::string_view more = "") {
    return UsageError(std::string(R"("name":"acme.io/n","class":)").append(of_class).append(more));
  };
  CHECK(error("1") == "spec.usage[0].class.path: is required");
  CHECK(error("{}") == "spec.usage[0].class.path: is required");
  CHECK(error(R"({"path":".a"})").starts_with("spec.usage[0].class.resource: must be an object"));
  CHECK(error(R"({"path":".a","resource":{"group":"acme.io"}})")
            .starts_with("spec.usage[0].class.resource.resource: "));
  CHECK(error(R"({"path":".a","resource":{"resource":"tiers"}})") ==
        "spec.usage[0].class.field: is required");
  CHECK(error(R"({"path":".a","resource":{"resource":"tiers"},"field":"x"})")
            .starts_with("spec.usage[0].class.field: must begin"));
  CHECK(error(R"({"path":".a","resource":{"resource":"tiers"},"field":".x"})", R"(,"path":".b")") ==
        "spec.usage[0]: must have either a path or a class");
}

TEST_CASE("usage definition: all names of a class are counted alike", "[usage]") {
  const auto error = [](std::string_view path, std::string_view resource, std::string_view more) {
    return SpecError(
        std::string(R"("usage":[{"name":"acme.io/a","times":".n","timesDefault":"1","class":{)")
            .append(R"("path":".tier","resource":{"resource":"tiers"},"field":".a"}},)")
            .append(R"({"name":"acme.io/b","path":".b"},{"name":"acme.io/c","class":{"path":")")
            .append(path)
            .append(R"(","resource":{"resource":")")
            .append(resource)
            .append(R"("},"field":".c"})")
            .append(more)
            .append("}]"));
  };
  const std::string wrong =
      "spec.usage[2].class: must have the path, resource, optional, displayName and times of "
      "spec.usage[0]";
  const std::string same = R"(,"times":".n","timesDefault":"1000m")";
  CHECK(error(".tier", "tiers", same) == "no error");
  CHECK(error(".['tier']", "tiers", same + R"(,"default":"5")") == "no error");
  CHECK(error(".tier", "tiers", same + R"(,"format":"BinarySI")") == "no error");
  CHECK(error(".other", "tiers", same) == wrong);
  CHECK(error(".tier", "others", same) == wrong);
  CHECK(error(".tier", "tiers", "") == wrong);
  CHECK(error(".tier", "tiers", R"(,"times":".n")") == wrong);
  CHECK(error(".tier", "tiers", R"(,"times":".m","timesDefault":"1")") == wrong);
}

TEST_CASE("usage definition: words for formats, classes and objects that cannot be counted",
          "[usage]") {
  const UsageDefinition all = Defined(R"("usage":[
      {"name":"acme.io/bytes","path":".spec.size","format":"BinarySI"},
      {"name":"acme.io/iops","format":"DecimalSI","class":{"path":".spec.tier","field":".spec.iops",
        "resource":{"group":"acme.io","resource":"tiers"},"optional":true,
        "displayName":"storage tier-2"}}],
      "countsWhile":{"path":".status.phase","notIn":["Failed"],"statusSubresourceOnly":true},
      "invalidAmountPolicy":"Ignore")");
  CHECK(all.amounts[0].format == quantity::Format::kBinarySI);
  CHECK(all.amounts[1].format == quantity::Format::kDecimalSI);
  CHECK(all.amounts[1].of_class->optional);
  CHECK(all.amounts[1].of_class->display_name == "storage tier-2");
  CHECK(all.counts_while->status_subresource_only);
  CHECK(all.invalid == InvalidAmount::kIgnore);
  const UsageDefinition none = Defined(R"("usage":[
      {"name":"acme.io/iops","class":{"path":".spec.tier","field":".spec.iops",
        "resource":{"group":"acme.io","resource":"tiers"},"optional":null,"displayName":null}}],
      "countsWhile":{"path":".spec.phase","in":["a"],"statusSubresourceOnly":false},
      "invalidAmountPolicy":"Unknown")");
  CHECK_FALSE(none.amounts[0].format);
  CHECK_FALSE(none.amounts[0].of_class->optional);
  CHECK(none.amounts[0].of_class->display_name == "");
  CHECK_FALSE(none.counts_while->status_subresource_only);
  CHECK(none.invalid == InvalidAmount::kUnknown);
  CHECK(Defined(kUsage).invalid == InvalidAmount::kUnknown);

  for (const char* format : {"\"DecimalExponent\"", "\"\"", "1", "[]"}) {
    INFO(format);
    CHECK(UsageError(std::string(R"("name":"acme.io/n","path":".a","format":)") + format) ==
          "spec.usage[0].format: must be BinarySI or DecimalSI");
  }
  for (const char* policy : {"\"ignore\"", "\"\"", "true"}) {
    CHECK(BesideUsage(std::string(R"("invalidAmountPolicy":)") + policy) ==
          "spec.invalidAmountPolicy: must be Unknown or Ignore");
  }
  const auto class_error = [](const std::string& members) {
    return UsageError(R"("name":"acme.io/n","class":{"path":".a","field":".b","resource":{)"
                      R"("resource":"tiers"},)" +
                      members + "}");
  };
  CHECK(class_error(R"("optional":"true")") ==
        "spec.usage[0].class.optional: must be true or false");
  CHECK(class_error(R"("displayName":"a")") == "no error");
  for (const std::string name :
       {"\"\"", "\" a\"", "\"a-\"", "\"a.b\"", "\"a\\n\"", "1", "\"\u00e4\""}) {
    INFO(name);
    CHECK(class_error(R"("displayName":)" + name) ==
          "spec.usage[0].class.displayName: must be at most 63 letters, digits, blanks or '-', as "
          "storage tier");
  }
  CHECK(class_error(R"("displayName":")" + std::string(63, 'a') + "\"") == "no error");
  CHECK(class_error(R"("displayName":")" + std::string(64, 'a') + "\"") != "no error");
  const auto guarded = [](const std::string& path, const char* value) {
    return BesideUsage(R"("countsWhile":{"path":")" + path +
                       R"(","in":["a"],"statusSubresourceOnly":)" + value + "}");
  };
  CHECK(guarded(".status.phase", "1") ==
        "spec.countsWhile.statusSubresourceOnly: must be true or false");
  CHECK(guarded(".spec.phase", "true") ==
        "spec.countsWhile.statusSubresourceOnly: needs a path in .status");
}

TEST_CASE("usage definition: one of the program may own any name", "[usage]") {
  const json::Value document = Document(
      R"("usage":[{"name":"requests.cpu","path":".spec.n"}],"scopes":[{"name":"Tier","path":".a"}])");
  const auto any = ParseUsageDefinition(document, Names::kAny);
  REQUIRE(any.has_value());
  CHECK(any->amounts[0].name == "requests.cpu");
  CHECK(any->scopes[0].name == "Tier");
  CHECK(ErrorOf(document).starts_with("spec.usage[0].name: must have a domain"));
  const auto none =
      ParseUsageDefinition(Document(R"("usage":[{"name":"","path":".spec.n"}])"), Names::kAny);
  CHECK(none.error().message.starts_with("spec.usage[0].name: must have a domain"));
}

TEST_CASE("usage definition: an error in countsWhile names it", "[usage]") {
  CHECK(BesideUsage(R"("countsWhile":1)") == "spec.countsWhile.path: is required");
  CHECK(BesideUsage(R"("countsWhile":{"in":["a"]})") == "spec.countsWhile.path: is required");
  CHECK(BesideUsage(R"("countsWhile":{"path":".a[*]","in":["a"]})") ==
        "spec.countsWhile.path: must lead to one value, without [*]");
  CHECK(BesideUsage(R"("countsWhile":{"path":".a"})") ==
        "spec.countsWhile: must have either in or notIn");
  CHECK(BesideUsage(R"("countsWhile":{"path":".a","in":["a"],"notIn":["b"]})") ==
        "spec.countsWhile: must have either in or notIn");
  CHECK(BesideUsage(R"("countsWhile":{"path":".a","in":"a"})") ==
        "spec.countsWhile.in: must be a list");
  CHECK(BesideUsage(R"("countsWhile":{"path":".a","notIn":[]})") ==
        "spec.countsWhile.notIn: must have at least one value");
  CHECK(BesideUsage(R"("countsWhile":{"path":".a","notIn":["a",null]})") ==
        "spec.countsWhile.notIn[1]: must be a string");
  CHECK(BesideUsage(R"("countsWhile":{"path":".a","in":["a",1]})") ==
        "spec.countsWhile.in[1]: must be a string");
}

TEST_CASE("usage definition: an error in scopes names the element", "[usage]") {
  CHECK(BesideUsage(R"("scopes":1)") == "spec.scopes: must be a list");
  CHECK(BesideUsage(R"("scopes":[{"name":"PriorityClass","path":".a"}])")
            .starts_with("spec.scopes[0].name: must have a domain"));
  CHECK(BesideUsage(R"("scopes":[{"name":"acme.io/a"}])") == "spec.scopes[0].path: is required");
  CHECK(BesideUsage(R"("scopes":[{"name":"acme.io/a","path":".a[*].b"}])") ==
        "spec.scopes[0].path: must lead to one value, without [*]");
  CHECK(BesideUsage(
            R"("scopes":[{"name":"acme.io/a","path":".a"},{"name":"acme.io/a","path":".b"}])") ==
        "spec.scopes[1].name: is a name of another element, too");
}

TEST_CASE("usage definition: there are bounds", "[usage]") {
  const auto list = [](std::size_t count, const auto& element) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
      text += (i == 0 ? "" : ",") + element(std::to_string(i));
    return "[" + text + "]";
  };
  const auto name = [](const std::string& i) {
    return R"({"name":"acme.io/n)" + i + R"(","path":".a"})";
  };
  const auto text = [](const std::string& i) { return "\"" + i + "\""; };
  const auto names = [&](std::size_t count) { return R"("usage":)" + list(count, name); };
  CHECK(Defined(names(kMostNames)).amounts.size() == kMostNames);
  CHECK(SpecError(names(kMostNames + 1)) == "spec.usage: must have at most 64 elements");
  const auto scopes = [&](std::size_t count) { return R"("scopes":)" + list(count, name); };
  CHECK(BesideUsage(scopes(kMostScopes)) == "no error");
  CHECK(BesideUsage(scopes(kMostScopes + 1)) == "spec.scopes: must have at most 16 elements");
  const auto phases = [&](std::size_t count) {
    return R"("countsWhile":{"path":".a","in":)" + list(count, text) + "}";
  };
  CHECK(BesideUsage(phases(kMostPhases)) == "no error");
  CHECK(BesideUsage(phases(kMostPhases + 1)) ==
        "spec.countsWhile.in: must have at most 64 elements");
}

TEST_CASE("usage definition: a name has a domain of its owner", "[usage]") {
  for (const char* name : {"acme.io/x", "a.b/X", "x.acme.io/a-b_c.d", "acme.io/0", "my-k8s.io/x"}) {
    INFO(name);
    CHECK(WhyNoName(name) == "");
  }
  for (const char* name : {"", "cpu", "requests.cpu", "pods"}) {
    INFO(name);
    CHECK(WhyNoName(name) == "must have a domain of your own, as example.com/bucket-bytes");
  }
  for (const char* name : {"/", "/x", "acme.io/", "count/pods", "count/boxes.acme.io",
                           "acme.io/a/b", "Acme.io/x", "acme.io/-x", "acme.io/x-", "acme.io/x y",
                           "acme..io/x", "acme.io/\xc3\xb6", ".acme.io/x"}) {
    INFO(name);
    CHECK(WhyNoName(name).starts_with("must be a domain, a slash"));
  }
  CHECK(WhyNoName("acme.io/" + std::string(63, 'x')) == "");
  CHECK(WhyNoName("acme.io/" + std::string(64, 'x')) != "");
  CHECK(WhyNoName(std::string_view("acme.io/x\0y", 11)) != "");
  for (const char* name : {"requests.acme.io/x", "limits.acme.io/x"}) {
    INFO(name);
    CHECK(WhyNoName(name) == "must not begin with requests. or limits.");
  }
  for (const char* name : {"kubernetes.io/x", "a.kubernetes.io/x", "k8s.io/x", "storage.k8s.io/x",
                           "gold.storageclass.storage.k8s.io/x"}) {
    INFO(name);
    CHECK(WhyNoName(name) == "must not have a domain of Kubernetes");
  }
}

}  // namespace
}  // namespace quota::usage::usage_definition_test
