// The strategic merge patch that kubectl sends for built-in kinds, and server-side apply, which is
// merged like one.

#include <algorithm>
#include <array>

#include "cmd/sandbox-apiserver/patch.h"

namespace sandbox {
namespace {

using json::Array;
using json::Object;
using json::Value;

constexpr std::string_view kDirective = "$patch";

struct KeyRow {
  std::string_view list;
  std::string_view key;
};

constexpr std::array<KeyRow, 12> kKeys{{
    {"containers", "name"},
    {"initContainers", "name"},
    {"ephemeralContainers", "name"},
    {"env", "name"},
    {"volumes", "name"},
    {"volumeMounts", "mountPath"},
    {"schedulingGates", "name"},
    {"conditions", "type"},
    {"ownerReferences", "uid"},
    {"secrets", "name"},
    {"webhooks", "name"},
    {"matchConditions", "name"},
}};

// Returns the member that identifies an element of the list `name`; "" if the list is replaced as a
// whole. `parent` is the name of the list or member that has the object with the list.
std::string_view KeyOfList(std::string_view parent, std::string_view name) {
  if (name == "ports") return parent.ends_with("ontainers") ? "containerPort" : "port";
  // A pod's claims have the key `name`. A container's resources have a list of another shape.
  if (name == "resourceClaims") return parent == "spec" ? "name" : "";
  const auto row = std::ranges::find(kKeys, name, &KeyRow::list);
  return row == kKeys.end() ? std::string_view() : row->key;
}

Outcome<Value> Merge(const Value& target, const Value& patch, std::string_view parent);

Outcome<Value> MergeList(const Value& target, const Array& changes, std::string_view key,
                         std::string_view name) {
  const bool replace = std::ranges::any_of(changes, [](const Value& element) {
    return element.StringAt({kDirective}) == "replace" && element.AsObject()->size() == 1;
  });
  Array result = target.IsArray() && !replace ? *target.AsArray() : Array();
  for (const Value& change : changes) {
    const std::string_view directive = change.StringAt({kDirective});
    const Value* const wanted = change.At({key});
    if (wanted == nullptr && directive == "replace") continue;
    if (wanted == nullptr) {
      return api::BadRequest("map: " + json::Write(change) +
                             " does not contain declared merge key: " + std::string(key));
    }
    const auto at = std::ranges::find_if(result, [&](const Value& element) {
      const Value* const have = element.At({key});
      return have != nullptr && *have == *wanted;
    });
    if (directive == "delete") {
      if (at != result.end()) result.erase(at);
      continue;
    }
    auto merged = Merge(at != result.end() ? *at : Value(), change, name);
    if (!merged) return merged.error();
    if (at != result.end()) {
      *at = std::move(*merged);
    } else {
      result.push_back(std::move(*merged));
    }
  }
  return Value(std::move(result));
}

Outcome<void> MergeMember(Object& object, const std::string& name, const Value& change,
                          std::string_view parent) {
  // Lists keep their order, and members that a patch does not name stay.
  if (name == kDirective || name == "$retainKeys" || name.starts_with("$setElementOrder/")) {
    return {};
  }
  if (name.starts_with('$')) return api::BadRequest("unknown directive: " + name);
  if (change.IsNull() || (change.IsObject() && change.StringAt({kDirective}) == "delete")) {
    object.Erase(name);
    return {};
  }
  const Value* const stored = object.Find(name);
  const Value before = stored != nullptr ? *stored : Value();
  const std::string_view key = KeyOfList(parent, name);
  const bool by_key = change.IsArray() && !key.empty();
  auto merged =
      by_key ? MergeList(before, *change.AsArray(), key, name) : Merge(before, change, name);
  if (!merged) return merged.error();
  object.Set(name, std::move(*merged));
  return {};
}

Outcome<Value> Merge(const Value& target, const Value& patch, std::string_view parent) {
  const Object* const changes = patch.AsObject();
  if (changes == nullptr) return patch;
  const std::string_view directive = patch.StringAt({kDirective});
  if (directive == "delete") return Value(Object());
  if (!directive.empty() && directive != "replace" && directive != "merge") {
    return api::BadRequest("unknown patch type: " + std::string(directive));
  }
  Value result = target.IsObject() && directive != "replace" ? target : Value(Object());
  for (const auto& [name, change] : *changes) {
    if (auto done = MergeMember(*result.AsObject(), name, change, parent); !done) {
      return done.error();
    }
  }
  return result;
}

// The name of a member that is a directive; "" if there is none.
std::string DirectiveIn(const Value& value) {
  if (const Object* const object = value.AsObject()) {
    for (const auto& [name, member] : *object) {
      if (name.starts_with('$')) return name;
      if (std::string found = DirectiveIn(member); !found.empty()) return found;
    }
  }
  if (const Array* const list = value.AsArray()) {
    for (const Value& element : *list) {
      if (std::string found = DirectiveIn(element); !found.empty()) return found;
    }
  }
  return "";
}

}  // namespace

Outcome<Value> ApplyStrategicMergePatch(const Value& target, const Value& patch) {
  if (!patch.IsObject()) return api::BadRequest("a strategic merge patch must be an object");
  return Merge(target, patch, "");
}

Outcome<Value> ApplyServerSide(const Value& target, const Value& applied, bool custom) {
  if (!applied.IsObject()) return api::BadRequest("an apply patch must be an object");
  Value wanted = applied;
  if (Object* meta = wanted.Make({"metadata"}).AsObject()) meta->Erase("managedFields");
  if (custom) return ApplyMergePatch(target, wanted);
  // They belong to strategic merge patches only.
  const std::string directive = DirectiveIn(wanted);
  if (!directive.empty()) return api::BadRequest("unknown field \"" + directive + "\"");
  return ApplyStrategicMergePatch(target, wanted);
}

}  // namespace sandbox
