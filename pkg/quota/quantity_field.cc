#include "pkg/quota/quantity_field.h"

#include <string>

namespace quota {
namespace {

base::Error Malformed(std::string_view field, std::string_view what) {
  return {.code = base::ErrorCode::kMalformed,
          .message = std::string(field).append(": ").append(what)};
}

// Blanks only: upstream trims what stands between the quotes before escapes are resolved, and other
// white space stands there escaped.
std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

base::Result<Quantity> QuantityFrom(const json::Value& value, std::string_view field) {
  if (value.IsNull()) return Quantity();
  std::string_view text;
  if (const std::string* string = value.AsString()) {
    text = Trimmed(*string);
  } else if (const json::Number* number = value.AsNumber()) {
    text = number->text;
  } else {
    return Malformed(field, "must be a quantity, not " + std::string(value.TypeName()));
  }
  const base::Result<Quantity> quantity = Quantity::Parse(text);
  if (!quantity) return Malformed(field, quantity.error().message);
  return *quantity;
}

base::Result<ResourceList> ResourceListFrom(const json::Value* value, std::string_view field) {
  ResourceList list;
  if (value == nullptr || value->IsNull()) return list;
  const json::Object* object = value->AsObject();
  if (object == nullptr) {
    return Malformed(field, "must be an object, not " + std::string(value->TypeName()));
  }
  for (const auto& [name, amount] : *object) {
    const base::Result<Quantity> quantity =
        QuantityFrom(amount, std::string(field) + "[" + name + "]");
    if (!quantity) return quantity.error();
    list.Set(name, *quantity);
  }
  return list;
}

}  // namespace quota
