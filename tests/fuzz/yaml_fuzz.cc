// A YAML document: written and read again, it is the same value, and JSON is YAML.

#include "pkg/config/yaml.h"

#include "pkg/json/value.h"
#include "tests/fuzz/target.h"

namespace {

FUZZ_TARGET(yaml) {
  const auto value = config::ParseYaml(input);
  if (value) {
    const std::string text = config::WriteYaml(*value);
    const auto again = config::ParseYaml(text);
    fuzz::Require(again.has_value(), "what is written can be read");
    fuzz::RequireSame(json::Write(*again), json::Write(*value), "the same value");
  } else {
    fuzz::Require(value.error().Is(base::ErrorCode::kMalformed), "malformed is what it is");
  }
  if (const auto documents = config::ParseYamlDocuments(input)) {
    for (const json::Value& document : *documents) {
      fuzz::Require(!document.IsNull(), "no empty documents");
    }
  }
  const auto as_json = json::Parse(input, {.depth = config::YamlLimits().depth});
  if (!as_json) return;
  const std::string text = json::Write(*as_json);
  const auto as_yaml = config::ParseYaml(text);
  fuzz::Require(as_yaml.has_value(), "JSON is YAML");
  // Not JSON any more, so YAML's parser reads it, which does not accept every key.
  if (const auto commented = config::ParseYaml(text + "\n# a comment")) {
    fuzz::RequireSame(json::Write(*as_yaml), json::Write(*commented), "JSON means what YAML does");
  }
}

}  // namespace
