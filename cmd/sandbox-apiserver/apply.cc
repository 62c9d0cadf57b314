// Server-side apply: merges the applied configuration, and removes fields that the same manager
// applied before and omits now. The fields that a manager has applied are kept as FieldsV1
// (f:member, k:{"key":…}, v:value).

#include <algorithm>

#include "cmd/sandbox-apiserver/merge_keys.h"
#include "cmd/sandbox-apiserver/patch.h"
#include "cmd/sandbox-apiserver/statuses.h"

namespace sandbox {
namespace {

using json::Array;
using json::Object;
using json::Value;

// The set of fields of an applied configuration.
class FieldSet {
 public:
  FieldSet(std::string_view kind, bool custom) : kind_(kind), custom_(custom) {}

  [[nodiscard]] Value Of(const Value& applied) const {
    Value fields = OfValue(applied, "", "");
    Object& root = *fields.AsObject();
    root.Erase("f:apiVersion");
    root.Erase("f:kind");
    if (Value* meta = root.Find("f:metadata")) {
      for (const char* name : {"f:name", "f:namespace", "f:uid", "f:resourceVersion",
                               "f:managedFields", "f:creationTimestamp", "f:generation"}) {
        meta->AsObject()->Erase(name);
      }
      if (meta->AsObject()->empty()) root.Erase("f:metadata");
    }
    return fields;
  }

 private:
  [[nodiscard]] Value OfValue(const Value& value, std::string_view parent,
                              std::string_view name) const {
    Object fields;
    if (const Object* object = value.AsObject()) {
      for (const auto& [member, below] : *object) {
        if (!below.IsNull()) fields.Set("f:" + member, OfValue(below, name, member));
      }
    }
    const ListRule rule = custom_ ? ListRule() : RuleOfList(kind_, parent, name);
    const Array* const list = value.AsArray();
    if (list == nullptr || rule.kind == ListKind::kAtomic) return fields;
    for (const Value& element : *list) {
      if (rule.kind == ListKind::kSet) {
        fields.Set("v:" + json::Write(element), Object());
        continue;
      }
      const Value* const key = element.At({rule.key});
      if (key == nullptr) continue;
      Value below = OfValue(element, parent, name);
      below.AsObject()->Set(".", Object());
      fields.Set("k:" + json::Write(Object{{std::string(rule.key), *key}}), std::move(below));
    }
    return fields;
  }

  std::string_view kind_;
  bool custom_;
};

// Removes the fields from `target` that are in `before`, but neither in `now` nor in any of
// `others`.
void TakeBack(Value& target, const Value& before, const Value* now,
              const std::vector<const Value*>& others);

// Returns the element of a list that a step k:… or v:… names; list.end() if there is none.
Array::iterator FindElement(Array& list, std::string_view step) {
  auto named = json::Parse(step.substr(2));
  if (!named) return list.end();
  if (step.front() == 'v') return std::find(list.begin(), list.end(), *named);
  return std::find_if(list.begin(), list.end(), [&](const Value& element) {
    if (!element.IsObject() || !named->IsObject()) return false;
    return std::all_of(named->AsObject()->begin(), named->AsObject()->end(),
                       [&](const json::Member& key) {
                         const Value* const have = element.AsObject()->Find(key.first);
                         return have != nullptr && *have == key.second;
                       });
  });
}

bool IsEmpty(const Value& value) {
  return (value.IsObject() && value.AsObject()->empty()) ||
         (value.IsArray() && value.AsArray()->empty());
}

void TakeBackStep(Value& target, const std::string& step, const Value& before, const Value* now,
                  const std::vector<const Value*>& others) {
  Value* child = nullptr;
  Array::iterator element;
  if (step.starts_with("f:") && target.IsObject()) {
    child = target.AsObject()->Find(step.substr(2));
  } else if (target.IsArray() && step != ".") {
    element = FindElement(*target.AsArray(), step);
    if (element != target.AsArray()->end()) child = &*element;
  }
  if (child == nullptr) return;
  const bool kept = now != nullptr || !others.empty();
  const bool whole = !kept && (before.AsObject()->empty() || before.AsObject()->Contains("."));
  if (!whole) TakeBack(*child, before, now, others);
  if (!whole && (kept || !IsEmpty(*child))) return;
  if (target.IsObject()) {
    target.AsObject()->Erase(step.substr(2));
  } else {
    target.AsArray()->erase(element);
  }
}

void TakeBack(Value& target, const Value& before, const Value* now,
              const std::vector<const Value*>& others) {
  if (!before.IsObject()) return;
  for (const auto& [step, below] : *before.AsObject()) {
    const Value* const still = now != nullptr ? now->At({step}) : nullptr;
    std::vector<const Value*> owners;
    for (const Value* other : others) {
      if (const Value* owned = other->At({step})) owners.push_back(owned);
    }
    if (below.IsObject()) TakeBackStep(target, step, below, still, owners);
  }
}

// Returns the path of a member that only a strategic merge patch may have; "" if there is none.
std::string DirectiveIn(const Value& value) {
  if (const Array* const list = value.AsArray()) {
    for (const Value& element : *list) {
      std::string below = DirectiveIn(element);
      if (!below.empty()) return below;
    }
  }
  const Object* const object = value.AsObject();
  if (object == nullptr) return "";
  for (const auto& [name, member] : *object) {
    if (name.starts_with('$')) return "." + name;
    const std::string below = DirectiveIn(member);
    if (!below.empty()) return std::string(".").append(name).append(below);
  }
  return "";
}

bool IsEntryOf(const Value& entry, std::string_view manager) {
  return entry.StringAt({"manager"}) == manager && entry.StringAt({"operation"}) == "Apply";
}

}  // namespace

Outcome<Value> ApplyServerSide(const Value& target, const Value& applied,
                               std::string_view field_manager, std::string_view kind, bool custom,
                               std::string_view timestamp) {
  if (!applied.IsObject()) return api::BadRequest("an apply patch must be an object");
  if (const std::string path = custom ? "" : DirectiveIn(applied); !path.empty()) {
    return api::BadRequest("failed to create typed patch object: " + path +
                           ": field not declared in schema");
  }
  Value wanted = applied;
  if (Object* meta = wanted.Make({"metadata"}).AsObject()) meta->Erase("managedFields");
  const Value fields = FieldSet(kind, custom).Of(wanted);

  Array entries;
  if (const Value* managed = target.At({"metadata", "managedFields"})) {
    if (managed->IsArray()) entries = *managed->AsArray();
  }
  auto mine = std::find_if(entries.begin(), entries.end(),
                           [&](const Value& entry) { return IsEntryOf(entry, field_manager); });
  Value base = target;
  if (mine != entries.end() && mine->At({"fieldsV1"}) != nullptr) {
    std::vector<const Value*> others;
    for (const Value& entry : entries) {
      const Value* const owned = entry.At({"fieldsV1"});
      if (&entry != &*mine && owned != nullptr) others.push_back(owned);
    }
    TakeBack(base, *mine->At({"fieldsV1"}), &fields, others);
  }

  if (custom) {
    base = ApplyMergePatch(base, wanted);
  } else {
    auto merged = ApplyStrategicMergePatch(base, wanted, kind);
    if (!merged) return merged.error();
    base = std::move(*merged);
  }
  if (mine == entries.end()) mine = entries.insert(entries.end(), Value(Object()));
  // A new time alone is not a change.
  const Value* const known = mine->At({"fieldsV1"});
  if (known == nullptr || !(*known == fields)) {
    *mine = Object{{"manager", field_manager},
                   {"operation", "Apply"},
                   {"apiVersion", applied.StringAt({"apiVersion"})},
                   {"time", timestamp},
                   {"fieldsType", "FieldsV1"},
                   {"fieldsV1", fields}};
  }
  base.Make({"metadata", "managedFields"}) = std::move(entries);
  return base;
}

}  // namespace sandbox
