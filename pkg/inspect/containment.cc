#include "pkg/inspect/containment.h"

#include <algorithm>
#include <string>

#include "pkg/quantity/quantity.h"

namespace inspect {
namespace {

using json::Object;
using json::Value;

bool EqualAmounts(const std::string& a, const std::string& b) {
  const auto first = quantity::Quantity::Parse(a);
  const auto second = quantity::Quantity::Parse(b);
  return first && second && *first == *second;
}

std::string ScalarText(const Value& value) {
  return value.AsString() != nullptr ? *value.AsString() : json::Write(value);
}

}  // namespace

bool IsContained(const Value& part, const Value& whole) {
  if (const Object* object = part.AsObject()) {
    return whole.IsObject() && std::ranges::all_of(*object, [&](const auto& member) {
             const Value* other = whole.AsObject()->Find(member.first);
             if (other != nullptr) return IsContained(member.second, *other);
             // An empty member may be absent in the other object.
             return member.second.IsNull() || member.second == Value(Object()) ||
                    member.second == Value(json::Array());
           });
  }
  if (const json::Array* array = part.AsArray()) {
    const json::Array* other = whole.AsArray();
    return other != nullptr && array->size() == other->size() &&
           std::equal(array->begin(), array->end(), other->begin(), IsContained);
  }
  return part == whole || EqualAmounts(ScalarText(part), ScalarText(whole));
}

}  // namespace inspect
