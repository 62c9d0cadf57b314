// A JSON document: written and read again, it is the same value.

#include <cmath>

#include "pkg/json/value.h"
#include "tests/fuzz/target.h"

namespace {

using json::Value;

std::size_t CountNames(const json::Object& object, std::string_view name) {
  std::size_t count = 0;
  for (const auto& [other, value] : object) count += other == name ? 1U : 0U;
  return count;
}

void CheckTree(const Value& value) {
  if (const json::Array* array = value.AsArray()) {
    for (const Value& element : *array) CheckTree(element);
  }
  if (const json::Object* object = value.AsObject()) {
    for (const auto& [name, member] : *object) {
      fuzz::Require(object->size() > 50 || CountNames(*object, name) == 1, "names are unique");
      CheckTree(member);
    }
  }
  if (!value.IsNumber()) return;
  const auto whole = value.AsInt64();
  if (!whole) return;
  const auto real = value.AsDouble();
  fuzz::Require(real && *real == static_cast<double>(*whole), "both readings of a number agree");
}

FUZZ_TARGET(json) {
  const std::string quoted = json::Quote(input);
  const auto unquoted = json::Parse(quoted);
  fuzz::Require(unquoted && unquoted->IsString(), "any bytes can be quoted");
  fuzz::RequireSame(json::Quote(*unquoted->AsString()), quoted, "what was replaced stays so");

  const auto value = json::Parse(input);
  if (!value) {
    fuzz::Require(value.error().Is(base::ErrorCode::kMalformed), "malformed is what it is");
    return;
  }
  CheckTree(*value);
  fuzz::Require(*value == *value, "equal to itself");
  const std::string text = json::Write(*value);
  const auto again = json::Parse(text);
  fuzz::Require(again && *again == *value, "the same value");
  fuzz::RequireSame(json::Write(*again), text, "the same text");
  const auto pretty = json::Parse(json::WritePretty(*value));
  fuzz::Require(pretty && *pretty == *value, "the same value, indented");
  fuzz::RequireSame(json::Write(*pretty), text, "the same text without the blanks");
}

}  // namespace
