#include "cmd/sandbox-apiserver/table.h"

#include <algorithm>
#include <cmath>

#include "cmd/sandbox-apiserver/resource_lists.h"
#include "pkg/api/object_meta.h"
#include "pkg/api/time.h"
#include "pkg/base/text.h"

namespace sandbox {
namespace {

using json::Array;
using json::Object;
using json::Value;

// A kind whose columns are not only its name and age.
struct Printer {
  std::string_view group;
  std::string_view resource;
  std::vector<std::string_view> columns;
  Array (*cells)(const Value& object, base::WallTime now);
};

// How long ago the timestamp was: "5m12s"; "<unknown>" if it is not a timestamp.
Value AgeOf(const Value* timestamp, base::WallTime now) {
  if (timestamp == nullptr || !timestamp->IsString()) return "<unknown>";
  const auto time = api::ParseTime(*timestamp->AsString());
  if (!time) return "<unknown>";
  return HumanDuration(std::chrono::duration_cast<std::chrono::seconds>(now - *time));
}

Value Age(const Value& object, base::WallTime now) {
  return AgeOf(object.At({"metadata", "creationTimestamp"}), now);
}

// No container is ever restarted here.
Array PodCells(const Value& pod, base::WallTime now) {
  const Array& containers = pod.ArrayAt({"status", "containerStatuses"});
  const auto ready = std::ranges::count_if(containers, [](const Value& container) {
    const Value* const is_ready = container.At({"ready"});
    return is_ready != nullptr && is_ready->AsBool().value_or(false);
  });
  const std::size_t all = pod.ArrayAt({"spec", "containers"}).size();
  return {pod.StringAt({"metadata", "name"}), std::to_string(ready) + "/" + std::to_string(all),
          api::IsBeingDeleted(pod) ? "Terminating" : pod.StringAt({"status", "phase"}), "0",
          Age(pod, now)};
}

// As printResourceQuota of kubernetes v1.36.3, pkg/printers/internalversion/printers.go.
Array QuotaCells(const Value& quota, base::WallTime now) {
  std::vector<std::string> names;
  const Value* const hard = quota.At({"status", "hard"});
  const Value* const used = quota.At({"status", "used"});
  if (hard != nullptr && hard->IsObject()) {
    for (const auto& [name, value] : *hard->AsObject()) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  std::string requests;
  std::string limits;
  for (const std::string& name : names) {
    std::string& cell = name.starts_with("limits.") ? limits : requests;
    cell += (cell.empty() ? "" : ", ") + name + ": " + QuantityOf(used, name).ToString() + "/" +
            QuantityOf(hard, name).ToString();
  }
  return {quota.StringAt({"metadata", "name"}), requests, limits, Age(quota, now)};
}

Array EventCells(const Value& event, base::WallTime now) {
  return {AgeOf(event.At({"lastTimestamp"}), now), event.StringAt({"type"}),
          event.StringAt({"reason"}),
          base::ToLower(event.StringAt({"involvedObject", "kind"})) + "/" +
              std::string(event.StringAt({"involvedObject", "name"})),
          event.StringAt({"message"})};
}

const Printer* FindPrinter(const ResourceType& type) {
  static const auto* const printers = new std::vector<Printer>{
      {"", "pods", {"Name", "Ready", "Status", "Restarts", "Age"}, PodCells},
      {"", "resourcequotas", {"Name", "Request", "Limit", "Age"}, QuotaCells},
      {"", "events", {"Last Seen", "Type", "Reason", "Object", "Message"}, EventCells},
  };
  const auto found = std::ranges::find_if(*printers, [&type](const Printer& printer) {
    return printer.group == type.group && printer.resource == type.resource;
  });
  return found == printers->end() ? nullptr : &*found;
}

// The JSONPaths of columns: .name, and [?(@.type=="Ready")], which selects an element of a list.
// Returns nullptr if nothing is there, and for paths of another form.
const Value* FindByPath(const Value& object, std::string_view path) {
  constexpr std::string_view kFilter = "[?(@.";
  const Value* at = &object;
  while (at != nullptr && !path.empty()) {
    if (path.starts_with(kFilter)) {
      const std::size_t equals = path.find("==\"");
      const std::size_t end = path.find("\")]");
      if (equals == std::string_view::npos || end == std::string_view::npos) return nullptr;
      const std::string_view member = path.substr(kFilter.size(), equals - kFilter.size());
      const std::string_view wanted = path.substr(equals + 3, end - equals - 3);
      const Array& list = at->ArrayAt({});
      const auto found = std::ranges::find_if(
          list, [&](const Value& element) { return element.StringAt({member}) == wanted; });
      at = found == list.end() ? nullptr : &*found;
      path.remove_prefix(end + 3);
    } else {
      if (path.front() != '.') return nullptr;
      path.remove_prefix(1);
      const std::string_view name = path.substr(0, path.find_first_of(".["));
      at = at->At({name});
      path.remove_prefix(name.size());
    }
  }
  return at;
}

// A cell of a custom resource's column: typed, or null.
Value CustomCell(const PrinterColumn& column, const Value& object, base::WallTime now) {
  const Value* const value = FindByPath(object, column.json_path);
  if (value == nullptr || value->IsNull()) return nullptr;
  if (column.type == "date") return AgeOf(value, now);
  if (column.type == "string") {
    return value->IsString() ? *value : Value(json::Write(*value));
  }
  if (column.type == "boolean") return value->IsBool() ? *value : Value();
  const std::optional<double> number = value->AsDouble();
  if (!number) return nullptr;
  if (column.type == "integer" && !value->AsInt64()) {
    constexpr double kBeyond = 9223372036854775808.0;  // 2^63
    if (std::abs(*number) >= kBeyond) return nullptr;
    return static_cast<std::int64_t>(std::trunc(*number));
  }
  return *value;
}

Value Definition(std::string_view name, std::string_view type, std::int64_t priority = 0) {
  return Object{{"name", name},
                {"type", type},
                {"format", name == "Name" ? "name" : ""},
                {"description", ""},
                {"priority", priority}};
}

Array Definitions(const ResourceType& type) {
  Array definitions;
  if (const Printer* const printer = FindPrinter(type)) {
    for (std::string_view name : printer->columns)
      definitions.push_back(Definition(name, "string"));
    return definitions;
  }
  definitions.push_back(Definition("Name", "string"));
  for (const PrinterColumn& column : type.columns) {
    definitions.push_back(Definition(column.name, column.type, column.priority));
  }
  if (type.columns.empty()) definitions.push_back(Definition("Age", "string"));
  return definitions;
}

Array Cells(const ResourceType& type, const Value& object, base::WallTime now) {
  if (const Printer* const printer = FindPrinter(type)) return printer->cells(object, now);
  Array cells{object.StringAt({"metadata", "name"})};
  for (const PrinterColumn& column : type.columns) {
    cells.push_back(CustomCell(column, object, now));
  }
  if (type.columns.empty()) cells.push_back(Age(object, now));
  return cells;
}

}  // namespace

Value PartialMetadata(const Value& object) {
  const Value* const metadata = object.At({"metadata"});
  return Object{{"kind", "PartialObjectMetadata"},
                {"apiVersion", "meta.k8s.io/v1"},
                {"metadata", metadata != nullptr ? *metadata : Value(Object())}};
}

Value MakeTable(const ResourceType& type, const std::vector<ObjectPtr>& objects, Value metadata,
                base::WallTime now, bool columns) {
  Array rows;
  for (const ObjectPtr& object : objects) {
    rows.push_back(
        Object{{"cells", Cells(type, *object, now)}, {"object", PartialMetadata(*object)}});
  }
  Object table{{"kind", "Table"}, {"apiVersion", "meta.k8s.io/v1"}};
  table.Set("metadata", std::move(metadata));
  table.Set("columnDefinitions", columns ? Value(Definitions(type)) : Value());
  table.Set("rows", std::move(rows));
  return table;
}

std::string HumanDuration(std::chrono::seconds duration) {
  const std::int64_t seconds = duration.count();
  const auto text = [](std::int64_t big, const char* unit, std::int64_t small, const char* rest) {
    const std::string first = std::to_string(big) + unit;
    return small == 0 ? first : first + std::to_string(small) + rest;
  };
  if (seconds < 120) return text(std::max<std::int64_t>(seconds, 0), "s", 0, "");
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return text(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return text(minutes, "m", 0, "");
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return text(hours, "h", minutes % 60, "m");
  if (hours < 48) return text(hours, "h", 0, "");
  return text(hours / 24, "d", 0, "");
}

}  // namespace sandbox
