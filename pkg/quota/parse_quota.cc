// The quota object as JSON → Quota. Types are checked although the API server validates them: the
// answer may come from another server or version.

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/quota/cluster/cluster_spec.h"
#include "pkg/quota/cluster/cluster_status.h"
#include "pkg/quota/quantity_field.h"
#include "pkg/quota/quota.h"
#include "pkg/quota/scope_field.h"

namespace quota {
namespace {

base::Error Wrong(std::string_view field, std::string_view what) {
  return {.code = base::ErrorCode::kMalformed,
          .message = std::string(field).append(": ").append(what)};
}

base::Error WrongType(std::string_view field, std::string_view wanted, const json::Value& value) {
  return Wrong(field, "must be " + std::string(wanted) + ", not " + std::string(value.TypeName()));
}

bool IsAbsent(const json::Value* value) { return value == nullptr || value->IsNull(); }

base::Result<std::string> RequiredText(const json::Value& object,
                                       std::initializer_list<std::string_view> path,
                                       std::string_view field) {
  const std::string_view text = object.StringAt(path);
  if (text.empty()) return Wrong(field, "must be a string and not empty");
  return std::string(text);
}

base::Result<ScopeSelector> ParseScopes(const json::Value* scopes) {
  ScopeSelector selector;
  if (IsAbsent(scopes)) return selector;
  if (scopes->AsArray() == nullptr) return WrongType("spec.scopes", "a list", *scopes);
  for (const json::Value& scope : *scopes->AsArray()) {
    if (!scope.IsString()) return WrongType("spec.scopes", "a list of strings", scope);
    selector.push_back({.scope = *scope.AsString()});
  }
  return selector;
}

base::Result<ScopeOperator> ParseOperator(std::string_view text, std::string_view field) {
  for (const auto op : {ScopeOperator::kIn, ScopeOperator::kNotIn, ScopeOperator::kExists,
                        ScopeOperator::kDoesNotExist}) {
    if (ToString(op) == text) return op;
  }
  return Wrong(field, "not a valid selector operator: '" + std::string(text) + "'");
}

// No evaluator knows the scope "", so it never matches.
base::Result<ScopeRequirement> ParseExpression(const json::Value& expression,
                                               const std::string& field, bool tolerant) {
  if (!expression.IsObject()) return WrongType(field, "an object", expression);
  const auto op = ParseOperator(expression.StringAt({"operator"}), field + ".operator");
  if (!op && tolerant) return ScopeRequirement{};
  if (!op) return op.error();
  ScopeRequirement requirement{.scope = std::string(expression.StringAt({"scopeName"})), .op = *op};
  const bool unnamed = requirement.scope.empty() && !tolerant;
  if (unnamed) return Wrong(field + ".scopeName", "must not be empty");
  const json::Value* values = expression.At({"values"});
  if (IsAbsent(values)) return requirement;
  if (!values->IsArray()) return WrongType(field + ".values", "a list", *values);
  for (const json::Value& value : *values->AsArray()) {
    if (!value.IsString()) return WrongType(field + ".values", "a list of strings", value);
    requirement.values.push_back(*value.AsString());
  }
  return requirement;
}

base::Result<void> ParseSelector(const json::Value& object, const QuotaForm& form,
                                 ScopeSelector& selector) {
  constexpr std::string_view kField = "spec.scopeSelector.matchExpressions";
  const json::Value* expressions = object.At({"spec", "scopeSelector", "matchExpressions"});
  if (IsAbsent(expressions)) return {};
  if (!expressions->IsArray()) return WrongType(kField, "a list", *expressions);
  std::size_t index = 0;
  for (const json::Value& expression : *expressions->AsArray()) {
    const std::string field = std::string(kField) + "[" + std::to_string(index++) + "]";
    auto requirement = ParseExpression(expression, field, form.tolerant);
    if (!requirement) return requirement.error();
    const bool needs_class = requirement->op == ScopeOperator::kNotIn && !form.not_in_without_class;
    if (needs_class) selector.push_back({.scope = requirement->scope});
    selector.push_back(std::move(*requirement));
  }
  return {};
}

base::Result<void> ParseIdentity(const json::Value& object, Quota& quota) {
  auto name = RequiredText(object, {"metadata", "name"}, "metadata.name");
  if (!name) return name.error();
  auto uid = RequiredText(object, {"metadata", "uid"}, "metadata.uid");
  if (!uid) return uid.error();
  auto version = RequiredText(object, {"metadata", "resourceVersion"}, "metadata.resourceVersion");
  if (!version) return version.error();
  quota.key = {std::string(api::Namespace(object)), std::move(*name)};
  quota.uid = std::move(*uid);
  quota.resource_version = std::move(*version);
  quota.deleting = !IsAbsent(object.At({"metadata", "deletionTimestamp"}));
  return {};
}

std::string ParseReservations(const json::Value& object, const QuotaForm& form) {
  if (form.reservations_in_status) return std::string(object.StringAt({"status", "reservations"}));
  const json::Value* annotations = api::Annotations(object);
  return annotations == nullptr ? "" : std::string(annotations->StringAt({kReservations}));
}

double ParseAlertThreshold(const json::Value& object) {
  const json::Value* annotations = api::Annotations(object);
  if (annotations == nullptr) return 0;
  std::string_view text = annotations->StringAt({kAlertThreshold});
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  double share = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), share);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return 0;
  if (percent) share /= 100;
  return share > 0 && share <= 1 ? share : 0;
}

base::Result<void> ParseAmounts(const json::Value& object, Quota& quota) {
  const auto read = [&](std::initializer_list<std::string_view> path, std::string_view field,
                        ResourceList& into) -> base::Result<void> {
    base::Result<ResourceList> list = ResourceListFrom(object.At(path), field);
    if (!list) return list.error();
    into = std::move(*list);
    return {};
  };
  if (auto done = read({"spec", "hard"}, "spec.hard", quota.hard); !done) return done;
  if (auto done = read({"status", "hard"}, "status.hard", quota.status.hard); !done) return done;
  if (auto done = read({"status", "used"}, "status.used", quota.status.used); !done) return done;
  quota.has_status_hard = !IsAbsent(object.At({"status", "hard"}));
  quota.has_status_used = !IsAbsent(object.At({"status", "used"}));
  return {};
}

std::string Annotation(std::string_view name) {
  return std::string("metadata.annotations[").append(name).append("]");
}

}  // namespace

std::vector<std::string> QuotaFields(const QuotaForm& form) {
  std::vector<std::string> fields = {"metadata.name",
                                     "metadata.namespace",
                                     "metadata.uid",
                                     "metadata.resourceVersion",
                                     "metadata.deletionTimestamp",
                                     Annotation(kReservations),
                                     Annotation(kAlertThreshold),
                                     "spec.hard",
                                     "spec.scopes",
                                     "spec.scopeSelector",
                                     "status.hard",
                                     "status.used"};
  // Only for these APIs: the built-in kind has no such field, and a field that pkg/protobuf does
  // not describe makes the reflector request JSON.
  if (form.reservations_in_status) fields.emplace_back("status.reservations");
  if (!form.cluster) return fields;
  std::ranges::copy(ClusterSpecFields(), std::back_inserter(fields));
  for (const std::string& member : FurtherStatusMembers()) fields.push_back("status." + member);
  return fields;
}

base::Result<Quota> ParseQuota(const json::Value& object, const QuotaForm& form) {
  if (!object.IsObject()) return WrongType("quota", "an object", object);
  Quota quota;
  if (auto done = ParseIdentity(object, quota); !done) return done.error();
  if (auto done = ParseAmounts(object, quota); !done) return done.error();
  auto selector = ParseScopes(object.At({"spec", "scopes"}));
  if (!selector) return selector.error();
  quota.selector = std::move(*selector);
  if (auto done = ParseSelector(object, form, quota.selector); !done) return done.error();
  quota.reservations = ParseReservations(object, form);
  quota.alert_threshold = ParseAlertThreshold(object);
  if (!form.cluster) return quota;
  auto cluster = ParseClusterSpec(object);
  if (!cluster) return cluster.error();
  quota.cluster = std::move(*cluster);
  quota.further_status = FurtherStatusOf(object);
  return quota;
}

}  // namespace quota
