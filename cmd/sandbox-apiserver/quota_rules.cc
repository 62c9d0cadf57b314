#include "cmd/sandbox-apiserver/quota_rules.h"

#include <set>

#include "cmd/sandbox-apiserver/resource_lists.h"
#include "pkg/base/text.h"

namespace sandbox {
namespace {

using json::Array;
using json::Object;
using json::Value;

constexpr std::string_view kExistsOnlyText =
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
    "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
    "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

bool IsKnownScope(std::string_view scope) {
  return base::IsOneOf(
      scope, {"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass",
              "CrossNamespacePodAffinity", "VolumeAttributesClass"});
}

// True if a standard quota resource may be combined with the scope. Unknown scopes permit all.
bool Permits(std::string_view scope, std::string_view resource) {
  if (scope == "BestEffort") return resource == "pods";
  if (scope == "VolumeAttributesClass") {
    return base::IsOneOf(resource, {"persistentvolumeclaims", "requests.storage"});
  }
  if (!IsKnownScope(scope)) return true;
  return base::IsOneOf(resource, {"pods", "cpu", "memory", "requests.cpu", "requests.memory",
                                  "limits.cpu", "limits.memory"});
}

bool Conflict(const std::set<std::string>& scopes) {
  return (scopes.count("BestEffort") != 0 && scopes.count("NotBestEffort") != 0) ||
         (scopes.count("Terminating") != 0 && scopes.count("NotTerminating") != 0);
}

Value OrNull(const Value* value) { return value != nullptr ? *value : Value(); }

std::string Text(const Value& value) { return value.IsString() ? *value.AsString() : ""; }

void ValidateList(const Value& quota, std::string_view part, std::string_view member,
                  FieldErrors& errors) {
  const Value* const list = quota.At({part, member});
  if (list == nullptr || !list->IsObject()) return;
  const std::string path = std::string(part) + "." + std::string(member);
  for (const auto& [name, value] : *list->AsObject()) {
    const std::string field = std::string(path).append("[").append(name).append("]");
    const std::vector<std::string> wrong = CheckQualifiedName(name);
    for (const std::string& message : wrong) errors.Invalid(field, name, message);
    if (name.find('/') == std::string::npos) {
      if (wrong.empty() && !IsStandardResource(name)) {
        errors.Invalid(field, name, "must be a standard resource type or fully qualified");
      }
      if (!IsStandardQuotaResource(name)) {
        errors.Invalid(field, name, "must be a standard resource for quota");
      }
    }
    ValidateQuantity(path, name, value, errors);
  }
}

std::vector<std::string> StandardHardNames(const Value& quota) {
  std::vector<std::string> names;
  const Value* const hard = quota.At({"spec", "hard"});
  if (hard == nullptr || !hard->IsObject()) return names;
  for (const auto& [name, value] : *hard->AsObject()) {
    if (IsStandardQuotaResource(name)) names.push_back(name);
  }
  return names;
}

void ValidateScopes(const Value& quota, FieldErrors& errors) {
  const Array& scopes = quota.ArrayAt({"spec", "scopes"});
  const Value all = OrNull(quota.At({"spec", "scopes"}));
  std::set<std::string> seen;
  for (const Value& entry : scopes) {
    const std::string scope = Text(entry);
    if (!IsKnownScope(scope)) errors.Invalid("spec.scopes", all, "unsupported scope");
    for (const std::string& name : StandardHardNames(quota)) {
      if (!Permits(scope, name)) {
        errors.Invalid("spec.scopes", all, "unsupported scope applied to resource");
      }
    }
    seen.insert(scope);
  }
  if (Conflict(seen)) errors.Invalid("spec.scopes", all, "conflicting scopes");
}

// The selector as a kube-apiserver prints it in its errors: with the names of its Go fields.
Value PrintedSelector(const Value& quota) {
  Array expressions;
  for (const Value& one : quota.ArrayAt({"spec", "scopeSelector", "matchExpressions"})) {
    expressions.push_back(Object{{"ScopeName", one.StringAt({"scopeName"})},
                                 {"Operator", one.StringAt({"operator"})},
                                 {"Values", OrNull(one.At({"values"}))}});
  }
  return Object{{"MatchExpressions", std::move(expressions)}};
}

void ValidateExpression(const Value& expression, FieldErrors& errors) {
  const std::string path = "spec.scopeSelector.matchExpressions";
  const std::string scope(expression.StringAt({"scopeName"}));
  const std::string op(expression.StringAt({"operator"}));
  const bool has_values = !expression.ArrayAt({"values"}).empty();
  const bool takes_classes = base::IsOneOf(scope, {"PriorityClass", "VolumeAttributesClass"});
  if (IsKnownScope(scope) && !takes_classes && op != "Exists") {
    errors.Invalid(path + ".operator", op, kExistsOnlyText);
  }
  if (base::IsOneOf(op, {"In", "NotIn"})) {
    if (!has_values) {
      errors.Required(path + ".values",
                      "must be at least one value when `operator` is 'In' or 'NotIn' for scope "
                      "selector");
    }
  } else if (base::IsOneOf(op, {"Exists", "DoesNotExist"})) {
    if (has_values) {
      errors.Invalid(path + ".values", *expression.At({"values"}),
                     "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope "
                     "selector");
    }
  } else {
    errors.Invalid(path + ".operator", op, "not a valid selector operator");
  }
}

void ValidateSelector(const Value& quota, FieldErrors& errors) {
  const std::string path = "spec.scopeSelector.matchExpressions";
  std::set<std::string> seen;
  for (const Value& one : quota.ArrayAt({"spec", "scopeSelector", "matchExpressions"})) {
    const std::string scope(one.StringAt({"scopeName"}));
    if (!IsKnownScope(scope)) errors.Invalid(path + ".scopeName", scope, "unsupported scope");
    for (const std::string& name : StandardHardNames(quota)) {
      if (!Permits(scope, name)) {
        errors.Invalid(path, PrintedSelector(quota), "unsupported scope applied to resource");
      }
    }
    ValidateExpression(one, errors);
    seen.insert(scope);
  }
  if (Conflict(seen))
    errors.Invalid(path, OrNull(quota.At({"spec", "scopes"})), "conflicting scopes");
}

std::set<std::string> ScopeSet(const Value& quota) {
  std::set<std::string> scopes;
  for (const Value& scope : quota.ArrayAt({"spec", "scopes"})) scopes.insert(Text(scope));
  return scopes;
}

}  // namespace

FieldErrors ValidateQuota(const Value& quota, const Value* old, std::string_view subresource) {
  FieldErrors errors;
  if (subresource == "status") {
    ValidateList(quota, "status", "hard", errors);
    ValidateList(quota, "status", "used", errors);
    return errors;
  }
  ValidateList(quota, "spec", "hard", errors);
  ValidateScopes(quota, errors);
  ValidateSelector(quota, errors);
  if (old != nullptr && ScopeSet(quota) != ScopeSet(*old)) {
    errors.Invalid("spec.scopes", OrNull(quota.At({"spec", "scopes"})), "field is immutable");
  }
  return errors;
}

std::vector<std::string> QuotaWarnings(const Value& quota) {
  std::vector<std::string> warnings;
  const Value* const hard = quota.At({"spec", "hard"});
  if (hard == nullptr) return warnings;
  const auto compare = [&](const std::string& request, const std::string& limit) {
    if (hard->At({request}) == nullptr || hard->At({limit}) == nullptr) return;
    const quantity::Quantity requested = QuantityOf(hard, request);
    const quantity::Quantity limited = QuantityOf(hard, limit);
    if (requested <= limited) return;
    warnings.push_back("ResourceQuota " + request + " (" + requested.ToString() +
                       ") should be less than " + limit + " (" + limited.ToString() + ")");
  };
  for (const std::string name : {"cpu", "memory", "storage", "ephemeral-storage"}) {
    compare("requests." + name, "limits." + name);
    if (name == "cpu" || name == "memory") compare(name, "limits." + name);
  }
  return warnings;
}

}  // namespace sandbox
