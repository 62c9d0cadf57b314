#pragma once

// A UsageDefinition: says what objects of one kind use, so that quotas can limit it. Its text is
// foreign input: whoever may write it is trusted with what the daemon watches, not with its
// memory. Values; any thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/base/error.h"
#include "pkg/json/value.h"
#include "pkg/quota/resource_list.h"
#include "pkg/quota/usage/field_path.h"

namespace quota::usage {

inline constexpr std::string_view kGroup = "quota-controller-manager.io";
inline constexpr std::string_view kKind = "UsageDefinition";
inline constexpr std::size_t kMostNames = 64;
inline constexpr std::size_t kMostScopes = 16;
inline constexpr std::size_t kMostPhases = 64;  // values of countsWhile
inline constexpr std::size_t kMostDisplayName = 63;

// The amount is in an object that this one names: a cluster-scoped object, such as a storage tier.
struct AmountOfClass {
  FieldPath path;  // of the name of the class, in the counted object
  api::GroupResource resource;
  FieldPath field;                // of the amount of one unit, in the class
  bool optional = false;          // an object that names no class uses nothing
  std::string display_name = {};  // in messages, "storage tier"; "": that of the resource
  bool operator==(const AmountOfClass& other) const = default;
};

// What an object uses under one name. Exactly one of `path` and `of_class` is there.
struct Amount {
  std::string name;  // "example.com/bucket-bytes"
  std::optional<FieldPath> path;
  std::optional<AmountOfClass> of_class;
  std::optional<FieldPath> times;
  // In place of a missing field. Nullopt: a missing field makes the amount unknown.
  std::optional<Quantity> otherwise;
  std::optional<Quantity> times_otherwise;
  // Of sums, whatever is added first. Nullopt: that of the first amount that is not zero.
  std::optional<quantity::Format> format = {};
  bool operator==(const Amount& other) const = default;
};

// An object uses nothing unless its field has, or has not, one of these values.
struct CountsWhile {
  FieldPath path;
  bool in = true;  // false: the value must be none of these
  std::vector<std::string> values;
  // Requests to the object itself that say that it uses nothing are refused: the API server stores
  // the status that they have.
  bool status_subresource_only = false;
  bool operator==(const CountsWhile& other) const = default;
};

// What a stored object uses whose amount is missing without a default, or cannot be read. It cannot
// be created if a quota limits its name.
enum class InvalidAmount : std::uint8_t {
  kUnknown,
  kIgnore,  // nothing
  kRefuse,  // nothing; it cannot be created whatever is limited. Only the program itself says so.
};

// A scope that matches by the value of a field.
struct ScopeOfField {
  std::string name;
  FieldPath path;
  bool operator==(const ScopeOfField& other) const = default;
};

struct UsageDefinition {
  std::string name;             // of the object: "buckets.storage.example.com"
  api::GroupResource resource;  // whose objects it describes
  std::vector<Amount> amounts;  // may be empty if there are scopes: objects are counted by them
  std::optional<CountsWhile> counts_while;
  std::vector<ScopeOfField> scopes;
  InvalidAmount invalid = InvalidAmount::kUnknown;
  bool operator==(const UsageDefinition& other) const = default;
};

// About how many bytes of memory it takes.
std::size_t HeldBytes(const UsageDefinition& definition);

// What the amounts with a class say of it, which is the same in all; null: none has a class.
const AmountOfClass* ClassOf(const UsageDefinition& definition);

// The names, and scopes, that a definition may own.
enum class Names : std::uint8_t {
  kWithDomain,  // WhyNoName()
  kAny,         // also requests.cpu: the definition is a part of the program
};

// Reads the spec of a stored UsageDefinition, or of one in a file. Unknown members are ignored: a
// later version of the CRD may have more (unknown_members.h tells those of a file).
// Errors: kMalformed, "spec.usage[1].path: <what is wrong>".
base::Result<UsageDefinition> ParseUsageDefinition(const json::Value& object,
                                                   Names names = Names::kWithDomain);

// A spec that is read as this definition. REQUIRES: it was read from one.
json::Value SpecOf(const UsageDefinition& definition);

// Checks a name that a definition may own, or a scope: a qualified name whose domain is not
// Kubernetes' own. Returns what is wrong, "" if nothing is.
std::string WhyNoName(std::string_view name);

// True if a definition may own the name. Cheap for the names of Kubernetes.
inline bool IsDefinable(std::string_view name) {
  return name.find('/') != std::string_view::npos && WhyNoName(name).empty();
}

}  // namespace quota::usage
