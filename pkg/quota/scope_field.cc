#include "pkg/quota/scope_field.h"

#include <utility>

namespace quota {

std::string_view ToString(ScopeOperator op) {
  switch (op) {
    case ScopeOperator::kIn:
      return "In";
    case ScopeOperator::kNotIn:
      return "NotIn";
    case ScopeOperator::kExists:
      return "Exists";
    case ScopeOperator::kDoesNotExist:
      return "DoesNotExist";
  }
  return "";
}

json::Object ToJson(const ScopeSelector& selector) {
  json::Array expressions;
  for (const ScopeRequirement& requirement : selector) {
    json::Object expression{{"scopeName", requirement.scope},
                            {"operator", ToString(requirement.op)}};
    if (!requirement.values.empty()) {
      expression.Set("values", json::Array(requirement.values.begin(), requirement.values.end()));
    }
    expressions.emplace_back(std::move(expression));
  }
  return json::Object{{"matchExpressions", std::move(expressions)}};
}

}  // namespace quota
