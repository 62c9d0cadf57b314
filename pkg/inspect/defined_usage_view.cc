#include <algorithm>
#include <utility>

#include "pkg/inspect/defined_usage.h"
#include "pkg/inspect/output_version.h"
#include "pkg/quota/quantity_field.h"

namespace inspect {
namespace {

std::string OrNone(const std::string& text) { return text.empty() ? "<none>" : text; }

// "example.com/tier=gold".
std::string ScopesText(const std::vector<quota::Attribute>& scopes) {
  std::string text;
  for (const auto& [name, value] : scopes) {
    text.append(text.empty() ? "" : ",").append(name).append("=").append(value);
  }
  return OrNone(text);
}

// A definition with scopes only has no names; the object still counts as one.
std::vector<NamedUse> UsesToShow(const DefinedUsage& used) {
  if (!used.uses.empty()) return used.uses;
  return {
      {.name = used.count_name, .amount = quota::Quantity::FromInt(1), .why = "", .ignored = ""}};
}

std::string WhyText(const DefinedUsage& used, const NamedUse& use) {
  if (!use.why.empty()) return use.why;
  if (!use.ignored.empty()) return "ignored: " + use.ignored;
  return used.idle.empty() ? "" : "not counted while " + used.idle;
}

bool HasReason(const DefinedUsage& used) {
  return std::ranges::any_of(used.uses,
                             [&](const NamedUse& use) { return !WhyText(used, use).empty(); });
}

json::Value ObjectValue(const DefinedUsage& used) {
  quota::ResourceList usage{{used.count_name, quota::Quantity::FromInt(1)}};
  json::Object unknown;
  json::Object ignored;
  for (const NamedUse& use : used.uses) {
    if (use.why.empty()) {
      usage.Set(use.name, use.amount);
    } else {
      unknown.Set(use.name, use.why);
    }
    if (!use.ignored.empty()) ignored.Set(use.name, use.ignored);
  }
  json::Object scopes;
  for (const auto& [name, value] : used.scopes) scopes.Set(name, value);
  json::Object object{{"apiVersion", used.api_version}, {"kind", used.kind},
                      {"namespace", used.ns},           {"name", used.object.name},
                      {"usage", quota::ToJson(usage)},  {"unknown", std::move(unknown)},
                      {"scopes", std::move(scopes)}};
  if (!ignored.empty()) object.Set("ignored", std::move(ignored));
  if (!used.idle.empty()) object.Set("notCountedWhile", used.idle);
  return object;
}

}  // namespace

Table DefinedTable(const std::vector<DefinedUsage>& all, bool wide) {
  Table table{.titles = {"NAMESPACE", "OBJECT", "NAME", "USES"}, .rows = {}};
  const bool reasons = std::ranges::any_of(all, &HasReason);
  if (wide) table.titles.emplace_back("SCOPES");
  if (reasons) table.titles.emplace_back("WHY");
  for (const DefinedUsage& used : all) {
    for (const NamedUse& use : UsesToShow(used)) {
      std::vector<Cell> row{
          OrNone(used.ns), used.object.ToString(), use.name,
          use.why.empty() ? Cell(use.amount.ToString()) : Cell("unknown", Tone::kNear)};
      if (wide) row.emplace_back(ScopesText(used.scopes));
      if (reasons) row.emplace_back(WhyText(used, use), Tone::kFaint);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table DefinedTotalTable(const DefinedTotal& total) {
  Table table{.titles = {"NAME", "TOTAL"}, .rows = {}};
  for (const auto& [name, amount] : total.amounts) {
    const bool unknown = total.unknown.contains(name);
    table.rows.push_back({name, (unknown ? "at least " : "") + amount.ToString()});
  }
  return table;
}

json::Value DefinedValue(const std::vector<DefinedUsage>& all, const DefinedTotal& total,
                         const std::vector<DefinitionFault>& faults) {
  json::Array objects;
  for (const DefinedUsage& used : all) objects.push_back(ObjectValue(used));
  json::Object document{{"apiVersion", kOutputVersion},
                        {"kind", "UsageDefinitionTest"},
                        {"objects", std::move(objects)},
                        {"total", quota::ToJson(total.amounts)},
                        {"unknown", json::Array(total.unknown.begin(), total.unknown.end())}};
  json::Array definitions;
  for (const DefinitionFault& fault : faults) {
    definitions.push_back(json::Object{
        {"name", fault.definition}, {"reason", fault.reason}, {"message", fault.message}});
  }
  if (!definitions.empty()) document.Set("definitions", std::move(definitions));
  return document;
}

}  // namespace inspect
