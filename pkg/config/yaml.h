#pragma once

// YAML to JSON values and back, with the rules of Kubernetes' own tools (sigs.k8s.io/yaml). An
// unquoted scalar that looks like null, a boolean (also yes/no/on/off, as in YAML 1.1), an integer
// or a float becomes one. A quoted scalar stays a string. Keys become strings. An integer beyond 64
// bits becomes the nearest float; this holds for JSON, too. Anchors, aliases and merge keys work.
// Of equal keys the last one wins.
//
// The only user of yaml-cpp, whose exceptions end here. Nesting and the size that aliases add are
// bounded, so that a small text cannot become a large value. Pure functions; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/json/value.h"

namespace config {

struct YamlLimits {
  std::size_t depth = 100;
  std::size_t alias_bytes = std::size_t{4} << 20;  // bounds the memory of repeated values, roughly
};

// Parses the one document in `text`; null if there is none. Errors: kMalformed with line and column
// (from 1), also if there is a second document.
base::Result<json::Value> ParseYaml(std::string_view text, YamlLimits limits = {});

// Parses documents separated by lines of `---`, and JSON documents that follow each other without
// them; leaves out empty ones.
base::Result<std::vector<json::Value>> ParseYamlDocuments(std::string_view text,
                                                          YamlLimits limits = {});

// Block style, members in order; ends with a line end. ParseYaml() reads the same value from it if
// each number is a 64-bit integer or fits into a float, as in everything that ParseYaml() returns.
std::string WriteYaml(const json::Value& value);

}  // namespace config
