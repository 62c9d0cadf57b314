// manifests/API.md is made from the CRDs. QCM_WRITE=1 writes it anew.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "pkg/config/yaml.h"
#include "tests/e2e/harness/files.h"
#include "tests/source_dir.h"

namespace e2e::api_reference_test {
namespace {

constexpr const char* kHead = R"(# API reference

What the CRDs in `manifests/crds` and `manifests/karmada` say, and `kubectl explain` shows, too.
Made by `QCM_WRITE=1 build/bin/manifests_test "the API reference*"`. What the names in `hard` count
is in `pkg/quota/cluster/README.md` and `pkg/quota/karmada/README.md`.
)";

std::string Cell(std::string_view text) {
  static const std::regex bar(R"(\|)");
  static const std::regex space(R"(\s+)");
  return std::regex_replace(std::regex_replace(std::string(text), space, " "), bar, "\\|");
}

std::string Code(const std::string& text) { return "`" + text + "`"; }

// "string", "map of integer or string", "list of object".
std::string TypeOf(const json::Value& schema) {
  if (const json::Value* items = schema.At({"items"})) return "list of " + TypeOf(*items);
  if (const json::Value* values = schema.At({"additionalProperties"})) {
    return values->AsObject() == nullptr ? "map" : "map of " + TypeOf(*values);
  }
  if (schema.At({"x-kubernetes-int-or-string"}) != nullptr) return "integer or string";
  return std::string(schema.StringAt({"type"}));
}

std::string BoundsOf(const json::Value& schema) {
  std::string bounds;
  if (const json::Value* values = schema.At({"enum"})) {
    std::string all;
    for (const json::Value& value : *values->AsArray()) {
      all.append(all.empty() ? "" : ", ").append(*value.AsString());
    }
    bounds += "; one of " + all;
  }
  if (const json::Value* value = schema.At({"default"})) {
    if (value->AsString() != nullptr) bounds += "; default " + *value->AsString();
  }
  for (const auto& [name, words] :
       {std::pair("maxItems", "items"), std::pair("maxProperties", "names"),
        std::pair("maxLength", "characters")}) {
    if (const json::Value* most = schema.At({name})) {
      bounds += "; at most " + json::Write(*most) + " " + words;
    }
  }
  return bounds;
}

// A row for each field below `path`, with those of the elements of lists.
void AddFields(const json::Value& schema, const std::string& path, std::string& rows) {
  const json::Value* below = &schema;
  if (const json::Value* items = schema.At({"items"})) below = items;
  const json::Value* properties = below->At({"properties"});
  if (properties == nullptr) return;
  for (const auto& [name, field] : *properties->AsObject()) {
    std::string full = path;
    full.append(path.empty() ? "" : ".").append(name);
    if (path.empty() && name != "spec" && name != "status") continue;
    const std::string description = Cell(field.StringAt({"description"}));
    rows +=
        "| " + Code(full) + " | " + TypeOf(field) + BoundsOf(field) + " | " + description + " |\n";
    AddFields(field, full, rows);
  }
}

// A paragraph of at most 100 columns.
std::string Wrapped(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string wrapped;
  std::size_t column = 0;
  for (std::string word; words >> word; column += word.size() + 1) {
    if (column + word.size() > 100) column = 0;
    if (!wrapped.empty()) wrapped += column == 0 ? "\n" : " ";
    wrapped += word;
  }
  return wrapped;
}

std::string SectionOf(const std::string& file) {
  const json::Value definition =
      config::ParseYaml(ReadFile(tests::SourcePath("/manifests/" + file))).value();
  std::string text = "\n## " + std::string(definition.StringAt({"spec", "names", "kind"})) + "\n";
  for (const json::Value& version : *definition.At({"spec", "versions"})->AsArray()) {
    const json::Value& schema = *version.At({"schema", "openAPIV3Schema"});
    text += "\n" + Code(std::string(definition.StringAt({"spec", "group"})) + "/" +
                        std::string(version.StringAt({"name"})));
    text += definition.StringAt({"spec", "scope"}) == "Cluster" ? ", of the whole cluster.\n\n"
                                                                : ", in a namespace.\n\n";
    text +=
        Wrapped(schema.StringAt({"description"})) + "\n\n| field | type | says |\n|---|---|---|\n";
    AddFields(schema, "", text);
  }
  return text;
}

}  // namespace

TEST_CASE("the API reference is what the CRDs say", "[api]") {
  std::string text = kHead;
  for (const char* file : {"crds/clusterquota-crd.yaml", "crds/appliedclusterquota-crd.yaml",
                           "crds/usagedefinition-crd.yaml", "crds/definedquota-crd.yaml",
                           "karmada/karmadaquota-crd.yaml"}) {
    text += SectionOf(file);
  }
  const std::string path = tests::SourcePath("/manifests/API.md");
  if (std::getenv("QCM_WRITE") != nullptr) std::ofstream(path) << text;
  CHECK(ReadFile(path) == text);
}

}  // namespace e2e::api_reference_test
