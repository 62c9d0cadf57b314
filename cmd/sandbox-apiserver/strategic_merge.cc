// The strategic merge patch that kubectl sends for built-in kinds.

#include <algorithm>

#include "cmd/sandbox-apiserver/merge_keys.h"
#include "cmd/sandbox-apiserver/patch.h"
#include "cmd/sandbox-apiserver/statuses.h"

namespace sandbox {
namespace {

using json::Array;
using json::Object;
using json::Value;

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDeleteFrom = "$deleteFromPrimitiveList/";
constexpr std::string_view kElementOrder = "$setElementOrder/";

bool Contains(const Array& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Returns the index of the element with the same key as `element`; list.size() if there is none.
std::size_t IndexOf(const Array& list, const Value& element, std::string_view key) {
  const Value* const wanted = key.empty() ? &element : element.At({key});
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value* const have = key.empty() ? &list[i] : list[i].At({key});
    if (have != nullptr && wanted != nullptr && *have == *wanted) return i;
  }
  return list.size();
}

// Sorts the elements that `order` names by it. The others keep their position among the elements of
// `before`, the stored list.
Array InOrder(const Array& merged, const Array& before, const Array& order, std::string_view key) {
  Array named;
  for (const Value& element : order) {
    const std::size_t at = IndexOf(merged, element, key);
    if (at < merged.size()) named.push_back(merged[at]);
  }
  Array others;
  for (const Value& element : merged) {
    if (IndexOf(order, element, key) == order.size()) others.push_back(element);
  }
  Array result;
  auto other = others.begin();
  for (Value& element : named) {
    const std::size_t place = IndexOf(before, element, key);
    while (place < before.size() && other != others.end() && IndexOf(before, *other, key) < place) {
      result.push_back(std::move(*other++));
    }
    result.push_back(std::move(element));
  }
  result.insert(result.end(), other, others.end());
  return result;
}

class StrategicMerge {
 public:
  explicit StrategicMerge(std::string_view kind) : kind_(kind) {}

  Outcome<Value> Merge(const Value& target, const Value& patch, std::string_view parent) {
    const Object* const changes = patch.AsObject();
    if (changes == nullptr) return patch;
    const std::string_view directive = patch.StringAt({kDirective});
    if (directive == "delete") return Value(Object());
    Value result = target.IsObject() && directive != "replace" ? target : Value(Object());
    Object& object = *result.AsObject();
    if (!directive.empty() && directive != "replace" && directive != "merge") {
      return api::BadRequest("unknown patch type: " + std::string(directive));
    }
    if (const Value* keys = changes->Find(kRetainKeys)) Retain(object, *keys);
    for (const auto& [name, change] : *changes) {
      if (auto done = Member(object, name, change, parent); !done) return done.error();
    }
    // Orders refer to the merged lists, and also to lists that the patch only reorders.
    for (const auto& [name, order] : *changes) {
      if (name.starts_with(kElementOrder)) {
        Reorder(object, target, name.substr(kElementOrder.size()), order, parent);
      }
    }
    return result;
  }

 private:
  static void Retain(Object& object, const Value& keys) {
    if (!keys.IsArray()) return;
    std::vector<std::string> gone;
    for (const auto& [name, value] : object) {
      if (!Contains(*keys.AsArray(), Value(name))) gone.push_back(name);
    }
    for (const std::string& name : gone) object.Erase(name);
  }

  Outcome<void> Member(Object& object, const std::string& name, const Value& change,
                       std::string_view parent) {
    if (name == kDirective || name == kRetainKeys || name.starts_with(kElementOrder)) return {};
    if (name.starts_with(kDeleteFrom)) {
      DeleteFrom(object, name.substr(kDeleteFrom.size()), change);
      return {};
    }
    if (change.IsNull()) {
      object.Erase(name);
      return {};
    }
    if (change.IsObject() && change.StringAt({kDirective}) == "delete") {
      object.Erase(name);
      return {};
    }
    const Value* const before = object.Find(name);
    const Value absent;
    auto merged = change.IsArray()
                      ? List(before != nullptr ? *before : absent, change, parent, name)
                      : Merge(before != nullptr ? *before : absent, change, name);
    if (!merged) return merged.error();
    object.Set(name, std::move(*merged));
    return {};
  }

  static void DeleteFrom(Object& object, const std::string& name, const Value& values) {
    Value* const list = object.Find(name);
    if (list == nullptr || !list->IsArray() || !values.IsArray()) return;
    std::erase_if(*list->AsArray(),
                  [&](const Value& element) { return Contains(*values.AsArray(), element); });
  }

  void Reorder(Object& object, const Value& target, const std::string& name, const Value& order,
               std::string_view parent) const {
    Value* const list = object.Find(name);
    if (list == nullptr || !list->IsArray() || !order.IsArray()) return;
    const ListRule rule = RuleOfList(kind_, parent, name);
    if (rule.kind == ListKind::kAtomic) return;
    const Value* const stored = target.IsObject() ? target.AsObject()->Find(name) : nullptr;
    const Array none;
    const Array& before = stored != nullptr && stored->IsArray() ? *stored->AsArray() : none;
    *list = InOrder(*list->AsArray(), before, *order.AsArray(), rule.key);
  }

  Outcome<Value> List(const Value& target, const Value& patch, std::string_view parent,
                      std::string_view name) {
    const ListRule rule = RuleOfList(kind_, parent, name);
    const Array none;
    const Array& before = target.IsArray() ? *target.AsArray() : none;
    const Array& changes = *patch.AsArray();
    const bool replace = std::any_of(changes.begin(), changes.end(), [](const Value& element) {
      return element.StringAt({kDirective}) == "replace" && element.AsObject()->size() == 1;
    });
    if (rule.kind == ListKind::kSet) return Set(before, changes);
    if (rule.kind == ListKind::kAtomic) return patch;
    return Map(replace ? none : before, changes, rule.key, name);
  }

  static Outcome<Value> Set(Array result, const Array& changes) {
    for (const Value& element : changes) {
      if (!Contains(result, element)) result.push_back(element);
    }
    return Value(std::move(result));
  }

  Outcome<Value> Map(Array result, const Array& changes, std::string_view key,
                     std::string_view name) {
    for (const Value& change : changes) {
      const std::string_view directive = change.StringAt({kDirective});
      if (change.At({key}) == nullptr) {
        if (directive == "replace") continue;
        return api::BadRequest("map: " + json::Write(change) +
                               " does not contain declared merge key: " + std::string(key));
      }
      const std::size_t at = IndexOf(result, change, key);
      if (directive == "delete") {
        if (at < result.size()) result.erase(result.begin() + static_cast<std::ptrdiff_t>(at));
        continue;
      }
      const Value absent;
      auto merged = Merge(at < result.size() ? result[at] : absent, change, name);
      if (!merged) return merged.error();
      if (at < result.size()) {
        result[at] = std::move(*merged);
      } else {
        result.push_back(std::move(*merged));
      }
    }
    return Value(std::move(result));
  }

  std::string_view kind_;
};

}  // namespace

Outcome<Value> ApplyStrategicMergePatch(const Value& target, const Value& patch,
                                        std::string_view kind) {
  if (!patch.IsObject()) return api::BadRequest("a strategic merge patch must be an object");
  return StrategicMerge(kind).Merge(target, patch, "");
}

}  // namespace sandbox
