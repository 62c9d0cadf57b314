#include "pkg/inspect/apply.h"

#include <algorithm>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/inspect/containment.h"

namespace inspect {
namespace {

using json::Value;

// Returns the manifest that was applied last; null if it is not known.
Value LastApplied(const Value& stored) {
  const std::string_view text = stored.StringAt(
      {"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"});
  auto parsed = json::Parse(text);
  return parsed ? std::move(*parsed) : Value();
}

bool AllNamed(const json::Array& list) {
  return std::ranges::all_of(list,
                             [](const Value& item) { return !item.StringAt({"name"}).empty(); });
}

void Lay(const Value& over, Value& value);

void LayList(const json::Array& over, json::Array& list) {
  if (!AllNamed(over) || !AllNamed(list)) {
    list = over;
    return;
  }
  for (const Value& item : over) {
    const auto same = std::ranges::find_if(list, [&](const Value& other) {
      return other.StringAt({"name"}) == item.StringAt({"name"});
    });
    if (same == list.end()) {
      list.push_back(item);
    } else {
      Lay(item, *same);
    }
  }
}

void Lay(const Value& over, Value& value) {
  if (over.IsArray() && value.IsArray()) return LayList(*over.AsArray(), *value.AsArray());
  if (!over.IsObject() || !value.IsObject()) {
    value = over;
    return;
  }
  for (const auto& [name, member] : *over.AsObject()) {
    if (!member.IsNull()) Lay(member, (*value.AsObject())[name]);
  }
}

const Value* NamedIn(const json::Array* list, const Value& item) {
  if (list == nullptr) return nullptr;
  const auto same = std::ranges::find_if(*list, [&](const Value& other) {
    return other.StringAt({"name"}) == item.StringAt({"name"});
  });
  return same == list->end() ? nullptr : &*same;
}

// Deletes what `last` has and `now`, which may be null, lacks.
void Prune(const Value& last, const Value* now, Value& value) {
  if (last.IsObject() && value.IsObject()) {
    for (const auto& [name, member] : *last.AsObject()) {
      Value* own = value.AsObject()->Find(name);
      if (own == nullptr) continue;
      const Value* kept = now == nullptr ? nullptr : now->At({name});
      if (kept == nullptr || kept->IsNull()) {
        value.AsObject()->Erase(name);
      } else {
        Prune(member, kept, *own);
      }
    }
  }
  const json::Array* before = last.AsArray();
  if (before == nullptr || !value.IsArray() || !AllNamed(*before) || !AllNamed(*value.AsArray())) {
    return;
  }
  const json::Array* after = now == nullptr ? nullptr : now->AsArray();
  std::erase_if(*value.AsArray(), [&](const Value& item) {
    return NamedIn(before, item) != nullptr && NamedIn(after, item) == nullptr;
  });
  for (Value& item : *value.AsArray()) {
    const Value* was = NamedIn(before, item);
    if (was != nullptr) Prune(*was, NamedIn(after, item), item);
  }
}

}  // namespace

Apply::Apply(const Value& manifest, const Value& stored)
    : manifest_(manifest), stored_(stored), last_(LastApplied(stored)) {}

bool Apply::Keeps(std::initializer_list<std::string_view> path) const {
  const Value* before = last_.At(path);
  const Value* now = manifest_.At(path);
  return before == nullptr || IsContained(*before, now == nullptr ? Value() : *now);
}

const Value* Apply::After(std::initializer_list<std::string_view> path) const {
  if (const Value* set = manifest_.At(path)) return set;
  return last_.At(path) == nullptr ? stored_.At(path) : nullptr;
}

Value Overlay(Value stored, const Value& manifest) {
  const Value* found = stored.At({"status"});
  Value status = found == nullptr ? Value() : *found;
  Lay(manifest, stored);
  if (stored.At({"status"}) != nullptr) stored.Make({"status"}) = std::move(status);
  return stored;
}

Value Applied(const Value& manifest, Value stored) {
  Value last = LastApplied(stored);
  if (last.IsObject()) {
    // The server keeps most of the metadata, and nothing of it is counted. What an export has as
    // status was never applied.
    last.AsObject()->Erase("metadata");
    last.AsObject()->Erase("status");
    Prune(last, &manifest, stored);
  }
  return Overlay(std::move(stored), manifest);
}

Value LabelsAfter(const Value& manifest, const Value& stored) {
  const Apply apply(manifest, stored);
  json::Object labels;
  for (const Value* object : {&stored, &manifest}) {
    const Value* own = object->At({"metadata", "labels"});
    if (own == nullptr || !own->IsObject()) continue;
    for (const auto& [name, value] : *own->AsObject()) {
      const Value* kept = apply.After({"metadata", "labels", name});
      if (kept != nullptr) labels.Set(name, *kept);
    }
  }
  labels.Set("kubernetes.io/metadata.name", api::Name(manifest));  // as the API server does
  return labels;
}

}  // namespace inspect
