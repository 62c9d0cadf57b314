#pragma once

// YAML to JSON values and back, as Kubernetes' own tools see it (sigs.k8s.io/yaml): what is
// unquoted and looks like null, a boolean (also yes/no/on/off, as YAML 1.1 has it), an integer or a
// float becomes one; what is quoted stays a string; keys become strings. JSON is YAML, and so is
// what its numbers mean: an integer beyond 64 bits is the nearest float. Anchors, aliases and merge
// keys work; of equal keys the last one wins.
//
// The only user of yaml-cpp; its exceptions end here. Bounded: nesting, and how much aliases may
// add, so that a small text cannot become a large value. Pure functions; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/json/value.h"

namespace config {

struct YamlLimits {
  std::size_t depth = 100;
  std::size_t alias_bytes = std::size_t{4} << 20;  // roughly, of memory for all that is repeated
};

// The one document in `text`; null if there is none. Errors: kMalformed with line and column (from
// 1), also for a second document.
base::Result<json::Value> ParseYaml(std::string_view text, YamlLimits limits = {});

// The documents between lines of `---`, without empty ones.
base::Result<std::vector<json::Value>> ParseYamlDocuments(std::string_view text,
                                                          YamlLimits limits = {});

// Block style, members in order; ends with a line end. ParseYaml() reads the same value from it if
// each number is an integer of 64 bits or one that a float holds, as in all that it read itself.
std::string WriteYaml(const json::Value& value);

}  // namespace config
