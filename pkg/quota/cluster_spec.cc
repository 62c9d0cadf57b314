#include "pkg/quota/cluster_spec.h"

#include <array>
#include <string_view>
#include <utility>

#include "pkg/quota/quantity_field.h"

namespace quota {
namespace {

using Enforcement = ClusterSpec::Enforcement;

base::Error BadSpec(std::string_view field, std::string_view what) {
  return {.code = base::ErrorCode::kMalformed,
          .message = std::string(field).append(": ").append(what)};
}

bool IsMissing(const json::Value* value) { return value == nullptr || value->IsNull(); }

// "" if it is absent.
base::Result<std::string> OptionalText(const json::Value* value, std::string_view field) {
  if (IsMissing(value)) return std::string();
  if (const std::string* text = value->AsString()) return *text;
  return BadSpec(field, "must be a string, not " + std::string(value->TypeName()));
}

base::Result<std::optional<api::LabelSelector>> ParseNamespaces(const json::Value* value) {
  if (IsMissing(value)) return std::optional<api::LabelSelector>();
  auto selector = api::LabelSelector::FromJson(*value);
  if (!selector) return BadSpec("spec.namespaceSelector", selector.error().message);
  return std::optional(std::move(*selector));
}

base::Result<Enforcement> ParseEnforcement(const json::Value* value) {
  constexpr std::string_view kField = "spec.enforcement";
  auto text = OptionalText(value, kField);
  if (!text) return text.error();
  if (text->empty()) return Enforcement::kDeny;
  for (const auto mode : {Enforcement::kDeny, Enforcement::kWarn, Enforcement::kAudit}) {
    if (ToString(mode) == *text) return mode;
  }
  return BadSpec(kField, "must be Deny, Warn or Audit, not '" + *text + "'");
}

}  // namespace

std::string_view ToString(ClusterSpec::Enforcement enforcement) {
  switch (enforcement) {
    case Enforcement::kDeny:
      return "Deny";
    case Enforcement::kWarn:
      return "Warn";
    case Enforcement::kAudit:
      return "Audit";
  }
  return "";
}

std::vector<std::string> ClusterSpecFields() {
  return {"metadata.generation", "spec.namespaceSelector", "spec.parent", "spec.guaranteed",
          "spec.enforcement"};
}

ClusterSpec ParseClusterSpec(const json::Value& object, std::string& unreadable) {
  ClusterSpec spec;
  const auto note = [&](const std::string& why) {
    if (unreadable.empty()) unreadable = why;
  };
  auto selector = ParseNamespaces(object.At({"spec", "namespaceSelector"}));
  if (selector) spec.selector = std::move(*selector);
  if (!selector) note(selector.error().message);
  auto parent = OptionalText(object.At({"spec", "parent"}), "spec.parent");
  if (parent) spec.parent = std::move(*parent);
  if (!parent) note(parent.error().message);
  ReadableAmounts guaranteed =
      ReadAmounts(object.At({"spec", "guaranteed"}), "spec.guaranteed", Negative::kUnreadable);
  spec.guaranteed = std::move(guaranteed.list);
  note(guaranteed.why);
  const auto enforcement = ParseEnforcement(object.At({"spec", "enforcement"}));
  if (enforcement) spec.enforcement = *enforcement;
  if (!enforcement) note(enforcement.error().message);
  // The API server sets this field. A value that is not a number is ignored.
  const json::Value* generation = object.At({"metadata", "generation"});
  if (generation != nullptr) spec.generation = generation->AsInt64().value_or(0);
  return spec;
}

}  // namespace quota
