#include "pkg/quota/quantity_field.h"

#include <string>
#include <utility>
#include <vector>

namespace quota {
namespace {

base::Error Malformed(std::string_view field, std::string_view what) {
  return {.code = base::ErrorCode::kMalformed,
          .message = std::string(field).append(": ").append(what)};
}

// Only blanks: upstream trims the text between the quotes before it resolves escapes, and other
// white space is escaped there.
std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The error does not name the field.
base::Result<Quantity> Read(const json::Value& value) {
  if (value.IsNull()) return Quantity();
  if (const std::string* text = value.AsString()) return Quantity::Parse(Trimmed(*text));
  if (const json::Number* number = value.AsNumber()) return Quantity::Parse(number->text);
  return base::Error{.code = base::ErrorCode::kMalformed,
                     .message = "must be a quantity, not " + std::string(value.TypeName())};
}

}  // namespace

base::Result<Quantity> QuantityFrom(const json::Value& value, std::string_view field) {
  base::Result<Quantity> quantity = Read(value);
  if (!quantity) return Malformed(field, quantity.error().message);
  return quantity;
}

base::Result<ResourceList> ResourceListFrom(const json::Value* value, std::string_view field) {
  if (value == nullptr || value->IsNull()) return ResourceList();
  const json::Object* object = value->AsObject();
  if (object == nullptr) {
    return Malformed(field, "must be an object, not " + std::string(value->TypeName()));
  }
  std::vector<ResourceList::Item> items;
  items.reserve(object->size());
  for (const auto& [name, amount] : *object) {
    base::Result<Quantity> quantity = Read(amount);
    if (!quantity) {
      return Malformed(std::string(field) + "[" + name + "]", quantity.error().message);
    }
    items.emplace_back(name, *quantity);
  }
  return ResourceList::FromItems(std::move(items));
}

ReadableAmounts ReadAmounts(const json::Value* value, std::string_view field, Negative negative,
                            const std::function<bool(std::string_view)>& wanted) {
  ReadableAmounts read;
  if (value == nullptr || value->IsNull()) return read;
  const json::Object* object = value->AsObject();
  if (object == nullptr) {
    read.why = std::string(field) + ": must be an object, not " + std::string(value->TypeName());
    return read;
  }
  std::vector<ResourceList::Item> items;
  if (!wanted) items.reserve(object->size());
  for (const auto& [name, amount] : *object) {
    if (wanted && !wanted(name)) continue;
    const base::Result<Quantity> quantity = Read(amount);
    if (quantity && (quantity->Sign() >= 0 || negative == Negative::kReadable)) {
      items.emplace_back(name, *quantity);
      continue;
    }
    read.unreadable.push_back(name);
    if (!read.why.empty()) continue;
    read.why = std::string(field) + "[" + name + "]: ";
    read.why += quantity ? "must not be negative" : quantity.error().message;
  }
  read.list = ResourceList::FromItems(std::move(items));
  return read;
}

json::Object ToJson(const ResourceList& list) {
  std::vector<json::Member> members;
  members.reserve(list.size());
  for (const auto& [name, amount] : list) members.emplace_back(name, amount.ToString());
  return json::Object::FromMembers(std::move(members));
}

}  // namespace quota
