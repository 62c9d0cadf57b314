// The ironcore quota API as data: names, kinds, selectors (IEP-7).

#include <map>
#include <string>
#include <vector>

#include "pkg/config/yaml.h"
#include "pkg/quota/ironcore/definitions.h"
#include "pkg/quota/usage/usage_definition.h"

#include "tests/pkg/quota/ironcore/ironcore_testing.h"

namespace quota::ironcore::ironcore_quota_test {
namespace {

TEST_CASE("ironcore: every name has only the evaluator of its kind", "[quota][ironcore]") {
  const std::map<std::string, std::string> owners = {
      {"count/machines.compute.ironcore.dev", "machines"},
      {"requests.cpu", "machines"},
      {"requests.memory", "machines"},
      {"count/volumes.storage.ironcore.dev", "volumes"},
      {"requests.storage", "volumes"},
      {"count/buckets.storage.ironcore.dev", "buckets"},
      {"requests.tps", "buckets"},
      {"requests.iops", "buckets"},
      {"limits.cpu", ""},
      {"cpu", ""},
      {"count/networks.networking.ironcore.dev", ""},
      {"class/machine.small", ""},
  };
  const QuotaApi api = IroncoreQuotaApi();
  CHECK(api.evaluators.size() == 3);
  for (const auto& [name, owner] : owners) {
    INFO(name);
    std::string found;
    for (const Evaluator& evaluator : api.evaluators) {
      if (evaluator.owns(name)) found += evaluator.resource.resource;
    }
    CHECK(found == owner);
  }
}

TEST_CASE("ironcore: the program carries a definition of each kind", "[quota][ironcore]") {
  std::vector<std::string> names;
  for (const std::string_view text : DefinitionTexts()) {
    INFO(text);
    const auto object = config::ParseYaml(text);
    REQUIRE(object.has_value());
    CHECK(object->StringAt({"kind"}) == usage::kKind);
    const auto definition = usage::ParseUsageDefinition(*object, usage::Names::kAny);
    INFO((definition ? "" : definition.error().message));
    REQUIRE(definition.has_value());
    names.push_back(definition->name);
    // Users cannot have its names.
    CHECK_FALSE(usage::ParseUsageDefinition(*object).has_value());
  }
  CHECK(names == std::vector<std::string>{"buckets.storage.ironcore.dev",
                                          "machines.compute.ironcore.dev",
                                          "volumes.storage.ironcore.dev"});
  for (const Evaluator& evaluator : IroncoreQuotaApi().evaluators) {
    CHECK(evaluator.version == "v1alpha1");
    CHECK(evaluator.revision == 0);
  }
}

TEST_CASE("ironcore: any kind is counted by its name, except kinds that are never counted",
          "[quota][ironcore]") {
  const QuotaApi api = IroncoreQuotaApi();
  for (const char* name : {"count/networks.networking.ironcore.dev", "count/secrets"}) {
    const auto resource = api.counted_resource(name);
    REQUIRE(resource.has_value());
    const auto counter = api.object_counter(*resource);
    REQUIRE(counter.has_value());
    CHECK(counter->fields.empty());  // read as metadata only
    CHECK(counter->owns(name));
    CHECK(counter->scopes.empty());
  }
  for (const char* name : {"count/", "count/events", "count/Pods/x", "requests.cpu"}) {
    CHECK_FALSE(api.counted_resource(name).has_value());
  }
}

TEST_CASE("ironcore: a quota with an invalid selector is read, and matches nothing",
          "[quota][ironcore]") {
  const std::vector<Attribute> small = {{"MachineClass", "small"}};
  const auto matches = [&](const std::string& expressions) {
    return Matches(Selector(expressions), small, {"MachineClass"});
  };
  CHECK(matches(R"([{"scopeName":"MachineClass","operator":"In","values":["small"]}])"));
  CHECK_FALSE(matches(R"([{"scopeName":"MachineClass","operator":"Equals","values":["small"]}])"));
  CHECK_FALSE(matches(R"([{"scopeName":"MachineClass"}])"));
  CHECK_FALSE(matches(R"([{"scopeName":"","operator":"DoesNotExist"}])"));
  CHECK_FALSE(matches(R"([{"scopeName":"PriorityClass","operator":"DoesNotExist"}])"));
  CHECK_FALSE(matches(R"([{"scopeName":"MachineClass","operator":"Exists"},
                          {"scopeName":"MachineClass","operator":"Equals"}])"));
}

}  // namespace
}  // namespace quota::ironcore::ironcore_quota_test
