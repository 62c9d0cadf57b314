#include "pkg/inspect/containment.h"

#include <algorithm>
#include <array>
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

bool HoldsAmounts(std::string_view member) {
  // "resources" are those of an ironcore object; in a pod they hold limits and requests.
  static constexpr std::array<std::string_view, 10> kMembers{
      "limits",   "requests", "overhead", "podFixed",        "sizeLimit",
      "capacity", "divisor",  "hard",     "resourceRequest", "resources"};
  return std::ranges::find(kMembers, member) != kMembers.end();
}

bool IsContained(const Value& part, const Value& whole, bool amounts) {
  if (const Object* object = part.AsObject()) {
    return whole.IsObject() && std::ranges::all_of(*object, [&](const auto& member) {
             const Value* other = whole.AsObject()->Find(member.first);
             if (other != nullptr) {
               return IsContained(member.second, *other, amounts || HoldsAmounts(member.first));
             }
             // An empty member may be absent in the other object.
             return member.second.IsNull() || member.second == Value(Object()) ||
                    member.second == Value(json::Array());
           });
  }
  if (const json::Array* array = part.AsArray()) {
    const json::Array* other = whole.AsArray();
    return other != nullptr && array->size() == other->size() &&
           std::equal(array->begin(), array->end(), other->begin(),
                      [](const Value& a, const Value& b) { return IsContained(a, b); });
  }
  return part == whole || (amounts && EqualAmounts(ScalarText(part), ScalarText(whole)));
}

}  // namespace inspect
