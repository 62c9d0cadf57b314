#pragma once

// The columns and cells of built-in kinds, as `kubectl get` shows them. Any thread.

#include <vector>

#include "cmd/sandbox-apiserver/registry.h"
#include "pkg/base/clock.h"
#include "pkg/json/value.h"

namespace sandbox {

struct Column {
  const char* name;
  const char* type;
  const char* format;
  const char* description;
  int priority;
};

struct Printer {
  std::vector<Column> columns;
  json::Array (*cells)(const json::Value& object, base::WallTime now);
};

// The columns that every kind has.
extern const Column kNameColumn;
extern const Column kAgeColumn;

// Returns nullptr if the kind has no printer.
const Printer* FindPrinter(const ResourceType& type);

// Returns how long ago the timestamp was: "5m12s"; "<unknown>" if it is not a timestamp.
json::Value AgeOf(const json::Value* timestamp, base::WallTime now);

}  // namespace sandbox
