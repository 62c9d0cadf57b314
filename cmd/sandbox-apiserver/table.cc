#include "cmd/sandbox-apiserver/table.h"

#include <cmath>

#include "cmd/sandbox-apiserver/json_path.h"
#include "cmd/sandbox-apiserver/printers.h"

namespace sandbox {
namespace {

using json::Array;
using json::Object;
using json::Value;

Value Definition(std::string_view name, std::string_view type, std::string_view format,
                 std::string_view description, std::int64_t priority) {
  return Object{{"name", name},
                {"type", type},
                {"format", format},
                {"description", description},
                {"priority", priority}};
}

// A cell of a custom resource's column: typed, or null.
Value CustomCell(const PrinterColumn& column, const Value& object, base::WallTime now) {
  const Value* const value = FirstByPath(object, column.json_path);
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

Array CustomDefinitions(const ResourceType& type) {
  Array columns{Definition("Name", "string", "name", kNameColumn.description, 0)};
  for (const PrinterColumn& column : type.columns) {
    columns.push_back(
        Definition(column.name, column.type, column.format, column.description, column.priority));
  }
  if (type.columns.empty()) {
    columns.push_back(Definition("Age", "date", "", kAgeColumn.description, 0));
  }
  return columns;
}

Array Definitions(const ResourceType& type) {
  if (type.custom) return CustomDefinitions(type);
  const Printer* const printer = FindPrinter(type);
  if (printer == nullptr) {
    return {Definition("Name", "string", "name", kNameColumn.description, 0),
            Definition("Created At", "date", "", kAgeColumn.description, 0)};
  }
  Array columns;
  for (const Column& column : printer->columns) {
    columns.push_back(
        Definition(column.name, column.type, column.format, column.description, column.priority));
  }
  return columns;
}

Array Cells(const ResourceType& type, const Value& object, base::WallTime now) {
  const Value name = object.StringAt({"metadata", "name"});
  const Value* const created = object.At({"metadata", "creationTimestamp"});
  if (!type.custom) {
    if (const Printer* printer = FindPrinter(type)) return printer->cells(object, now);
    return {name, created != nullptr ? *created : Value()};
  }
  Array cells{name};
  for (const PrinterColumn& column : type.columns) {
    cells.push_back(CustomCell(column, object, now));
  }
  if (type.columns.empty()) cells.push_back(AgeOf(created, now));
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
                base::WallTime now, const TableOptions& options) {
  Array rows;
  for (const ObjectPtr& object : objects) {
    Object row{{"cells", Cells(type, *object, now)}};
    if (options.include == IncludeObject::kMetadata) row.Set("object", PartialMetadata(*object));
    if (options.include == IncludeObject::kObject) row.Set("object", *object);
    rows.emplace_back(std::move(row));
  }
  Object table{{"kind", "Table"}, {"apiVersion", "meta.k8s.io/v1"}};
  table.Set("metadata", std::move(metadata));
  table.Set("columnDefinitions", options.columns ? Value(Definitions(type)) : Value());
  table.Set("rows", std::move(rows));
  return table;
}

std::string HumanDuration(std::chrono::seconds duration) {
  const std::int64_t seconds = duration.count();
  const auto text = [](std::int64_t big, const char* unit, std::int64_t small, const char* rest) {
    const std::string first = std::to_string(big) + unit;
    return small == 0 ? first : first + std::to_string(small) + rest;
  };
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return text(seconds, "s", 0, "");
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return text(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return text(minutes, "m", 0, "");
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return text(hours, "h", minutes % 60, "m");
  if (hours < 48) return text(hours, "h", 0, "");
  const std::int64_t days = hours / 24;
  if (days < 8) return text(days, "d", hours % 24, "h");
  if (days < std::int64_t{365} * 2) return text(days, "d", 0, "");
  if (days < std::int64_t{365} * 8) return text(days / 365, "y", days % 365, "d");
  return text(days / 365, "y", 0, "");
}

}  // namespace sandbox
