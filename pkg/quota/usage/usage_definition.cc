#include "pkg/quota/usage/usage_definition.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pkg/api/names.h"
#include "pkg/api/object_meta.h"
#include "pkg/quota/quantity_field.h"

namespace quota::usage {
namespace {

template <typename T>
using Result = base::Result<T>;

base::Error NoDefinition(std::string_view field, std::string_view what) {
  return {.code = base::ErrorCode::kMalformed,
          .message = std::string(field).append(": ").append(what)};
}

std::string At(std::string_view list, std::size_t index) {
  return std::string(list).append("[").append(std::to_string(index)).append("]");
}

// Null counts as absent, as in the API server.
const json::Value* Find(const json::Value& object, std::string_view member) {
  const json::Value* value = object.At({member});
  return value == nullptr || value->IsNull() ? nullptr : value;
}

// The members of the list; none if it is absent.
Result<json::Array> ListIn(const json::Value& object, std::string_view member,
                           const std::string& field, std::size_t most) {
  const json::Value* value = Find(object, member);
  if (value == nullptr) return json::Array();
  const json::Array* list = value->AsArray();
  if (list == nullptr) return NoDefinition(field, "must be a list");
  if (list->size() > most) {
    return NoDefinition(field, "must have at most " + std::to_string(most) + " elements");
  }
  return *list;
}

Result<std::optional<FieldPath>> PathIn(const json::Value& object, std::string_view member,
                                        const std::string& field) {
  const json::Value* value = Find(object, member);
  if (value == nullptr) return std::optional<FieldPath>();
  const std::string at = field + "." + std::string(member);
  if (value->AsString() == nullptr) return NoDefinition(at, "must be a string, as .spec.size");
  auto path = FieldPath::Parse(*value->AsString());
  if (!path) return NoDefinition(at, path.error().message);
  return std::optional(std::move(*path));
}

Result<FieldPath> RequiredPathIn(const json::Value& object, std::string_view member,
                                 const std::string& field) {
  auto path = PathIn(object, member, field);
  if (!path) return path.error();
  if (!*path) return NoDefinition(field + "." + std::string(member), "is required");
  return std::move(**path);
}

Result<std::optional<Quantity>> AmountIn(const json::Value& object, std::string_view member,
                                         const std::string& field) {
  const json::Value* value = Find(object, member);
  if (value == nullptr) return std::optional<Quantity>();
  const std::string at = field + "." + std::string(member);
  auto amount = QuantityFrom(*value, at);
  if (!amount) return amount.error();
  if (amount->Sign() < 0) return NoDefinition(at, "must not be negative");
  return std::optional(*amount);
}

Result<api::GroupResource> ResourceIn(const json::Value& object, const std::string& field) {
  const json::Value* value = Find(object, "resource");
  if (value == nullptr || value->AsObject() == nullptr) {
    return NoDefinition(field, "must be an object with a resource and its group");
  }
  const json::Value* group = Find(*value, "group");
  api::GroupResource resource{.group = std::string(value->StringAt({"group"})),
                              .resource = std::string(value->StringAt({"resource"}))};
  if (!api::IsDns1123Label(resource.resource)) {
    return NoDefinition(field + ".resource", "must be the plural of a kind in lower case, as pods");
  }
  const bool is_text = group == nullptr || group->AsString() != nullptr;
  if (!is_text || (!resource.group.empty() && !api::IsDns1123Subdomain(resource.group))) {
    return NoDefinition(field + ".group", "must be an API group, or \"\" for the core group");
  }
  return resource;
}

Result<bool> FlagIn(const json::Value& object, std::string_view member, const std::string& field) {
  const json::Value* value = Find(object, member);
  if (value == nullptr) return false;
  const auto flag = value->AsBool();
  if (!flag) return NoDefinition(field + "." + std::string(member), "must be true or false");
  return *flag;
}

// One of two words, as the second of each pair; nullopt if it is absent.
template <typename T>
Result<std::optional<T>> WordIn(const json::Value& object, std::string_view member,
                                const std::string& field,
                                const std::array<std::pair<std::string_view, T>, 2>& words) {
  const json::Value* value = Find(object, member);
  if (value == nullptr) return std::optional<T>();
  for (const auto& [word, meaning] : words) {
    if (value->AsString() != nullptr && *value->AsString() == word)
      return std::optional<T>(meaning);
  }
  return NoDefinition(
      field + "." + std::string(member),
      std::string("must be ").append(words[0].first).append(" or ").append(words[1].first));
}

Result<std::string> NameIn(const json::Value& object, const std::string& field, Names names) {
  const std::string name(object.StringAt({"name"}));
  if (names == Names::kAny && !name.empty()) return name;
  if (const std::string why = WhyNoName(name); !why.empty()) {
    return NoDefinition(field + ".name", why);
  }
  return name;
}

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

Result<std::string> DisplayNameIn(const json::Value& object, const std::string& field) {
  const json::Value* value = Find(object, "displayName");
  if (value == nullptr) return std::string();
  const std::string* name = value->AsString();
  const bool good =
      name != nullptr && !name->empty() && name->size() <= kMostDisplayName &&
      IsLetterOrDigit(name->front()) && IsLetterOrDigit(name->back()) &&
      std::ranges::all_of(*name, [](char c) { return IsLetterOrDigit(c) || c == ' ' || c == '-'; });
  if (good) return *name;
  return NoDefinition(field + ".displayName",
                      "must be at most " + std::to_string(kMostDisplayName) +
                          " letters, digits, blanks or '-', as storage tier");
}

Result<std::optional<AmountOfClass>> ClassIn(const json::Value& object, const std::string& field) {
  const json::Value* value = Find(object, "class");
  if (value == nullptr) return std::optional<AmountOfClass>();
  const std::string at = field + ".class";
  auto path = RequiredPathIn(*value, "path", at);
  if (!path) return path.error();
  auto resource = ResourceIn(*value, at + ".resource");
  if (!resource) return resource.error();
  auto amount = RequiredPathIn(*value, "field", at);
  if (!amount) return amount.error();
  const auto optional = FlagIn(*value, "optional", at);
  if (!optional) return optional.error();
  auto display_name = DisplayNameIn(*value, at);
  if (!display_name) return display_name.error();
  return std::optional(AmountOfClass{std::move(*path), std::move(*resource), std::move(*amount),
                                     *optional, std::move(*display_name)});
}

Result<Amount> AmountOf(const json::Value& object, const std::string& field, Names names) {
  auto name = NameIn(object, field, names);
  if (!name) return name.error();
  Amount amount{.name = std::move(*name)};
  auto path = PathIn(object, "path", field);
  if (!path) return path.error();
  auto of_class = ClassIn(object, field);
  if (!of_class) return of_class.error();
  if (path->has_value() == of_class->has_value()) {
    return NoDefinition(field, "must have either a path or a class");
  }
  auto times = PathIn(object, "times", field);
  if (!times) return times.error();
  auto otherwise = AmountIn(object, "default", field);
  if (!otherwise) return otherwise.error();
  auto times_otherwise = AmountIn(object, "timesDefault", field);
  if (!times_otherwise) return times_otherwise.error();
  if (*times_otherwise && !*times) return NoDefinition(field + ".timesDefault", "needs times");
  const auto format = WordIn<quantity::Format>(
      object, "format", field,
      {{{"BinarySI", quantity::Format::kBinarySI}, {"DecimalSI", quantity::Format::kDecimalSI}}});
  if (!format) return format.error();
  amount.path = std::move(*path);
  amount.of_class = std::move(*of_class);
  amount.times = std::move(*times);
  amount.otherwise = *otherwise;
  amount.times_otherwise = *times_otherwise;
  amount.format = *format;
  return amount;
}

// Facts have one number of units of each class, so all names of a class are counted alike.
bool CountAlike(const Amount& a, const Amount& b) {
  return a.of_class->path == b.of_class->path && a.of_class->resource == b.of_class->resource &&
         a.of_class->optional == b.of_class->optional &&
         a.of_class->display_name == b.of_class->display_name && a.times == b.times &&
         a.times_otherwise == b.times_otherwise;
}

Result<std::vector<Amount>> AmountsIn(const json::Value& spec, Names names) {
  const std::string field = "spec.usage";
  const auto list = ListIn(spec, "usage", field, kMostNames);
  if (!list) return list.error();
  std::vector<Amount> amounts;
  std::optional<std::size_t> of_class;  // the first
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto amount = AmountOf((*list)[i], At(field, i), names);
    if (!amount) return amount.error();
    if (std::ranges::find(amounts, amount->name, &Amount::name) != amounts.end()) {
      return NoDefinition(At(field, i) + ".name", "is a name of another element, too");
    }
    if (amount->of_class && of_class && !CountAlike(amounts[*of_class], *amount)) {
      return NoDefinition(At(field, i) + ".class",
                          "must have the path, resource, optional, displayName and times of " +
                              At(field, *of_class));
    }
    if (amount->of_class && !of_class) of_class = i;
    amounts.push_back(std::move(*amount));
  }
  return amounts;
}

Result<std::optional<CountsWhile>> CountsWhileIn(const json::Value& spec) {
  const json::Value* value = Find(spec, "countsWhile");
  if (value == nullptr) return std::optional<CountsWhile>();
  const std::string field = "spec.countsWhile";
  auto path = RequiredPathIn(*value, "path", field);
  if (!path) return path.error();
  if (path->HasEach()) return NoDefinition(field + ".path", "must lead to one value, without [*]");
  const bool in = Find(*value, "in") != nullptr;
  if (in == (Find(*value, "notIn") != nullptr)) {
    return NoDefinition(field, "must have either in or notIn");
  }
  const char* const member = in ? "in" : "notIn";
  const auto list = ListIn(*value, member, field + "." + member, kMostPhases);
  if (!list) return list.error();
  if (list->empty()) return NoDefinition(field + "." + member, "must have at least one value");
  const auto guarded = FlagIn(*value, "statusSubresourceOnly", field);
  if (!guarded) return guarded.error();
  if (*guarded && !path->IsInStatus()) {
    return NoDefinition(field + ".statusSubresourceOnly", "needs a path in .status");
  }
  CountsWhile counts{
      .path = std::move(*path), .in = in, .values = {}, .status_subresource_only = *guarded};
  for (std::size_t i = 0; i < list->size(); ++i) {
    if ((*list)[i].AsString() == nullptr) {
      return NoDefinition(At(field + "." + member, i), "must be a string");
    }
    counts.values.push_back(*(*list)[i].AsString());
  }
  return std::optional(std::move(counts));
}

Result<std::vector<ScopeOfField>> ScopesIn(const json::Value& spec, Names names) {
  const std::string field = "spec.scopes";
  const auto list = ListIn(spec, "scopes", field, kMostScopes);
  if (!list) return list.error();
  std::vector<ScopeOfField> scopes;
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto name = NameIn((*list)[i], At(field, i), names);
    if (!name) return name.error();
    if (std::ranges::find(scopes, *name, &ScopeOfField::name) != scopes.end()) {
      return NoDefinition(At(field, i) + ".name", "is a name of another element, too");
    }
    auto path = RequiredPathIn((*list)[i], "path", At(field, i));
    if (!path) return path.error();
    if (path->HasEach()) {
      return NoDefinition(At(field, i) + ".path", "must lead to one value, without [*]");
    }
    scopes.push_back({std::move(*name), std::move(*path)});
  }
  return scopes;
}

bool IsOrIsBelow(std::string_view domain, std::string_view other) {
  return domain == other ||
         (domain.ends_with(other) && domain[domain.size() - other.size() - 1] == '.');
}

}  // namespace

// kubernetes v1.36.3, pkg/apis/core/validation/validation.go, validateResourceName; apimachinery
// v0.36.3, pkg/util/validation/validation.go, IsQualifiedName.
std::string WhyNoName(std::string_view name) {
  constexpr std::size_t kMostOfName = 63;
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) {
    return "must have a domain of your own, as example.com/bucket-bytes";
  }
  const std::string_view domain = name.substr(0, slash);
  const std::string_view own = name.substr(slash + 1);
  const bool readable = !own.empty() && own.size() <= kMostOfName && IsLetterOrDigit(own.front()) &&
                        IsLetterOrDigit(own.back()) && std::ranges::all_of(own, [](char c) {
                          return IsLetterOrDigit(c) || c == '-' || c == '_' || c == '.';
                        });
  if (!api::IsDns1123Subdomain(domain) || domain.find('.') == std::string_view::npos || !readable) {
    return "must be a domain, a slash, and at most 63 letters, digits, '-', '_' or '.', as "
           "example.com/bucket-bytes";
  }
  // Kubernetes gives names with these prefixes a meaning of its own.
  if (domain.starts_with("requests.") || domain.starts_with("limits.")) {
    return "must not begin with requests. or limits.";
  }
  if (IsOrIsBelow(domain, "kubernetes.io") || IsOrIsBelow(domain, "k8s.io")) {
    return "must not have a domain of Kubernetes";
  }
  return "";
}

std::size_t HeldBytes(const UsageDefinition& definition) {
  constexpr std::size_t kStep = 64;  // a text, what is around it, and what the heap adds
  std::size_t bytes = sizeof(definition) + definition.name.size();
  const auto add = [&](const std::string& name, std::initializer_list<const FieldPath*> paths) {
    bytes += sizeof(Amount) + name.size();
    for (const FieldPath* path : paths) {
      if (path != nullptr) bytes += path->ToString().size() + kStep * path->steps().size();
    }
  };
  const auto get = [](const auto& path) { return path ? &*path : nullptr; };
  for (const Amount& amount : definition.amounts) {
    add(amount.name, {get(amount.path), get(amount.times)});
    if (const auto* one = get(amount.of_class)) add(one->display_name, {&one->path, &one->field});
  }
  if (const auto* counts = get(definition.counts_while)) {
    add("", {&counts->path});
    for (const std::string& value : counts->values) bytes += kStep + value.size();
  }
  for (const ScopeOfField& scope : definition.scopes) add(scope.name, {&scope.path});
  return bytes;
}

const AmountOfClass* ClassOf(const UsageDefinition& definition) {
  for (const Amount& amount : definition.amounts) {
    if (amount.of_class) return &*amount.of_class;
  }
  return nullptr;
}

Result<UsageDefinition> ParseUsageDefinition(const json::Value& object, Names names) {
  UsageDefinition definition{.name = std::string(api::Name(object))};
  const json::Value* spec = Find(object, "spec");
  if (spec == nullptr || spec->AsObject() == nullptr) return NoDefinition("spec", "is required");
  auto resource = ResourceIn(*spec, "spec.resource");
  if (!resource) return resource.error();
  definition.resource = std::move(*resource);
  if (definition.name != definition.resource.ToString()) {
    return NoDefinition("metadata.name", "must be " + definition.resource.ToString() +
                                             ", so that a resource has one definition");
  }
  auto amounts = AmountsIn(*spec, names);
  if (!amounts) return amounts.error();
  definition.amounts = std::move(*amounts);
  auto counts_while = CountsWhileIn(*spec);
  if (!counts_while) return counts_while.error();
  definition.counts_while = std::move(*counts_while);
  auto scopes = ScopesIn(*spec, names);
  if (!scopes) return scopes.error();
  definition.scopes = std::move(*scopes);
  const auto invalid = WordIn<InvalidAmount>(
      *spec, "invalidAmountPolicy", "spec",
      {{{"Unknown", InvalidAmount::kUnknown}, {"Ignore", InvalidAmount::kIgnore}}});
  if (!invalid) return invalid.error();
  definition.invalid = invalid->value_or(InvalidAmount::kUnknown);
  if (definition.amounts.empty() && definition.scopes.empty()) {
    return NoDefinition("spec.usage", "must have at least one name, if there are no scopes");
  }
  return definition;
}

}  // namespace quota::usage
