#include <utility>

#include "pkg/quota/usage/usage_definition.h"

namespace quota::usage {
namespace {

json::Value ToJson(const api::GroupResource& resource) {
  return json::Object{{"group", resource.group}, {"resource", resource.resource}};
}

json::Value ToJson(const Amount& amount) {
  json::Value one = json::Object{{"name", amount.name}};
  if (amount.path) one.Make({"path"}) = amount.path->ToText();
  if (amount.of_class) {
    one.Make({"class", "path"}) = amount.of_class->path.ToText();
    one.Make({"class", "resource"}) = ToJson(amount.of_class->resource);
    one.Make({"class", "field"}) = amount.of_class->field.ToText();
    if (amount.of_class->optional) one.Make({"class", "optional"}) = true;
    const std::string& called = amount.of_class->display_name;
    if (!called.empty()) one.Make({"class", "displayName"}) = called;
  }
  if (amount.times) one.Make({"times"}) = amount.times->ToText();
  if (amount.otherwise) one.Make({"default"}) = amount.otherwise->ToString();
  if (amount.times_otherwise) one.Make({"timesDefault"}) = amount.times_otherwise->ToString();
  if (amount.format) {
    one.Make({"format"}) = *amount.format == quantity::Format::kBinarySI ? "BinarySI" : "DecimalSI";
  }
  return one;
}

}  // namespace

json::Value SpecOf(const UsageDefinition& definition) {
  json::Value spec = json::Object{{"resource", ToJson(definition.resource)}};
  json::Array amounts;
  for (const Amount& amount : definition.amounts) amounts.push_back(ToJson(amount));
  if (!amounts.empty()) spec.Make({"usage"}) = std::move(amounts);
  if (definition.counts_while) {
    const CountsWhile& counts = *definition.counts_while;
    json::Array values(counts.values.begin(), counts.values.end());
    spec.Make({"countsWhile", "path"}) = counts.path.ToText();
    spec.Make({"countsWhile", counts.in ? "in" : "notIn"}) = std::move(values);
    if (counts.status_subresource_only) spec.Make({"countsWhile", "statusSubresourceOnly"}) = true;
  }
  json::Array scopes;
  for (const ScopeOfField& scope : definition.scopes) {
    scopes.push_back(json::Object{{"name", scope.name}, {"path", scope.path.ToText()}});
  }
  if (!scopes.empty()) spec.Make({"scopes"}) = std::move(scopes);
  if (definition.invalid == InvalidAmount::kIgnore) spec.Make({"invalidAmountPolicy"}) = "Ignore";
  return spec;
}

}  // namespace quota::usage
