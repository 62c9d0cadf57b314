// The quota object as JSON → Quota. Types are checked although the API server validates them: the
// answer may come from another server or version.

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/quota/cluster_spec.h"
#include "pkg/quota/cluster_status.h"
#include "pkg/quota/count_name.h"
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
  std::vector<std::string> listed;
  for (const json::Value& value : *values->AsArray()) {
    if (!value.IsString()) return WrongType(field + ".values", "a list of strings", value);
    listed.push_back(*value.AsString());
  }
  requirement.values = ScopeValues(std::move(listed));
  return requirement;
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

std::vector<std::string> NamesOf(const ResourceList& list) {
  std::vector<std::string> names;
  for (const auto& [name, amount] : list) names.push_back(name);
  return names;
}

ResourceList Zeros(const std::vector<std::string>& names) {
  std::vector<ResourceList::Item> items;
  items.reserve(names.size());
  for (const std::string& name : names) items.emplace_back(name, Quantity());
  return ResourceList::FromItems(std::move(items));
}

// No object can count under such a name. The limits are those of the domain of a resource
// (IsQualifiedName in apimachinery v0.36.3, pkg/util/validation/validation.go) and of the name of a
// CustomResourceDefinition, <resource>.<group>.
bool IsTooLong(std::string_view name) {
  constexpr std::size_t kMost = 253;
  if (name.starts_with(kCountPrefix)) return name.size() - kCountPrefix.size() > kMost;
  const std::size_t slash = name.find('/');
  return slash != std::string_view::npos && slash > kMost;
}

// The `hard` of "spec" or "status". ironcore's API server accepts a negative limit in an update. It
// admits nothing that needs the name.
ReadableAmounts ReadLimits(const json::Value& object, const std::string& part) {
  return ReadAmounts(object.At({part, "hard"}), part + ".hard", Negative::kReadable);
}

// What of the spec cannot be read restricts nothing, and makes names unknown. So such a quota never
// admits what it would refuse if it could be read.
class SpecReader {
 public:
  SpecReader(const json::Value& object, const QuotaForm& form, Quota& quota)
      : object_(object), form_(form), quota_(quota) {}

  void Read() {
    ReadableAmounts hard = ReadLimits(object_, "spec");
    quota_.hard = std::move(hard.list);
    quota_.hard.SetAll(Zeros(hard.unreadable));
    Note(hard.why);
    NoteLongNames(hard.unreadable);
    KeepNames();
    ReadScopes();
    ReadSelector();
    std::vector<std::string>& names = quota_.unreadable.names;
    names = all_unknown_ ? NamesOf(quota_.hard) : std::move(hard.unreadable);
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    if (form_.cluster) quota_.cluster = ParseClusterSpec(object_, quota_.unreadable.why);
  }

 private:
  void Note(const std::string& why) {
    if (quota_.unreadable.why.empty()) quota_.unreadable.why = why;
  }

  // Adds them to `unreadable`.
  void NoteLongNames(std::vector<std::string>& unreadable) {
    for (const auto& [name, limit] : quota_.hard) {
      if (!IsTooLong(name)) continue;
      unreadable.push_back(name);
      Note("spec.hard: a name has more than 253 characters before the /, or after count/");
    }
  }

  // If no limit can be read, the names that were limited stay limited.
  void KeepNames() {
    const json::Value* hard = object_.At({"spec", "hard"});
    if (IsAbsent(hard) || hard->IsObject()) return;
    quota_.hard = ReadLimits(object_, "status").list;
    all_unknown_ = true;
  }

  // Which objects count is not known.
  void NoteScope(const base::Error& error) {
    Note(error.message);
    all_unknown_ = true;
  }

  void ReadScopes() {
    const json::Value* scopes = object_.At({"spec", "scopes"});
    if (IsAbsent(scopes)) return;
    if (scopes->AsArray() == nullptr) return NoteScope(WrongType("spec.scopes", "a list", *scopes));
    for (const json::Value& scope : *scopes->AsArray()) {
      if (scope.IsString()) {
        quota_.selector.push_back({.scope = *scope.AsString()});
      } else {
        NoteScope(WrongType("spec.scopes", "a list of strings", scope));
      }
    }
  }

  void ReadSelector() {
    constexpr std::string_view kField = "spec.scopeSelector.matchExpressions";
    const json::Value* selector = object_.At({"spec", "scopeSelector"});
    if (IsAbsent(selector)) return;
    if (!selector->IsObject()) {
      return NoteScope(WrongType("spec.scopeSelector", "an object", *selector));
    }
    const json::Value* expressions = selector->At({"matchExpressions"});
    if (IsAbsent(expressions)) return;
    if (!expressions->IsArray()) return NoteScope(WrongType(kField, "a list", *expressions));
    std::size_t index = 0;
    for (const json::Value& expression : *expressions->AsArray()) {
      const std::string field = std::string(kField) + "[" + std::to_string(index++) + "]";
      auto requirement = ParseExpression(expression, field, form_.tolerant);
      if (!requirement) {
        NoteScope(requirement.error());
        continue;
      }
      const bool needs_class =
          requirement->op == ScopeOperator::kNotIn && !form_.not_in_without_class;
      if (needs_class) quota_.selector.push_back({.scope = requirement->scope});
      quota_.selector.push_back(std::move(*requirement));
    }
  }

  const json::Value& object_;
  const QuotaForm& form_;
  Quota& quota_;
  bool all_unknown_ = false;
};

// Makes these names of quota.hard limited. `names` are sorted.
void Limit(const std::vector<std::string>& names, Quota& quota) {
  std::vector<ResourceList::Item> limits;
  for (const std::string& name : names) {
    if (const Quantity* limit = quota.hard.Find(name)) limits.emplace_back(name, *limit);
  }
  quota.status.hard.SetAll(ResourceList::FromItems(std::move(limits)));
}

// Makes the unreadable names of quota.hard not counted yet.
void ForgetUnreadable(Quota& quota) {
  UnreadableSpec& unreadable = quota.unreadable;
  std::vector<ResourceList::Item> counted;
  for (const ResourceList::Item& item : quota.status.used) {
    const bool forgotten = std::ranges::binary_search(unreadable.names, item.first) &&
                           quota.hard.Find(item.first) != nullptr;
    forgotten ? unreadable.counted.push_back(item.first) : counted.push_back(item);
  }
  quota.status.used = ResourceList::FromItems(std::move(counted));
}

// A name that cannot be read in status.hard is limited as the spec says. Its count stays in force:
// it may be impossible to count again.
void ReadStatus(const json::Value& object, Quota& quota) {
  ReadableAmounts hard = ReadLimits(object, "status");
  ReadableAmounts used =
      ReadAmounts(object.At({"status", "used"}), "status.used", Negative::kUnreadable);
  StatusGarbage& garbage = quota.garbage;
  garbage.why = hard.why.empty() ? used.why : hard.why;
  const json::Value* stored = object.At({"status", "hard"});
  quota.has_status_hard = !IsAbsent(stored) && stored->IsObject();
  const json::Value* counted = object.At({"status", "used"});
  quota.has_status_used = !IsAbsent(counted) && counted->IsObject();
  garbage.hard = std::move(hard.unreadable);
  garbage.used = std::move(used.unreadable);
  quota.status = {std::move(hard.list), std::move(used.list)};
  // Nothing of a list of another type is left, also not the names.
  if (!IsAbsent(stored) && !stored->IsObject()) garbage.hard = NamesOf(quota.hard);
  if (!IsAbsent(counted) && !counted->IsObject()) garbage.used = NamesOf(quota.hard);
  std::ranges::sort(garbage.hard);
  std::ranges::sort(garbage.used);
  Limit(garbage.hard, quota);
  Limit(quota.unreadable.names, quota);
  ForgetUnreadable(quota);
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
  if (form.part) fields.emplace_back("metadata.ownerReferences");
  if (!form.cluster) return fields;
  std::ranges::copy(ClusterSpecFields(), std::back_inserter(fields));
  for (const std::string& member : FurtherStatusMembers()) fields.push_back("status." + member);
  return fields;
}

base::Result<Quota> ParseQuota(const json::Value& object, const QuotaForm& form) {
  if (!object.IsObject()) return WrongType("quota", "an object", object);
  Quota quota;
  if (auto done = ParseIdentity(object, quota); !done) return done.error();
  SpecReader(object, form, quota).Read();
  ReadStatus(object, quota);
  quota.reservations = ParseReservations(object, form);
  quota.alert_threshold = ParseAlertThreshold(object);
  if (form.cluster) quota.further_status = FurtherStatusOf(object);
  const json::Array& owners = object.ArrayAt({"metadata", "ownerReferences"});
  if (form.part && !owners.empty()) quota.whole_uid = owners.front().StringAt({"uid"});
  return quota;
}

}  // namespace quota
