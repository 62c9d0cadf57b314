#pragma once

// TEST ONLY. Writes an object as the protobuf message that describes it. Other members become a
// field that nobody knows.

#include <algorithm>
#include <string>
#include <string_view>

#include "pkg/json/value.h"
#include "pkg/protobuf/message.h"
#include "tests/pkg/protobuf/wire.h"

namespace wire {

std::string Encoded(const protobuf::Message& message, const json::Value& object);

inline std::string_view TextOf(const json::Value& value) {
  const std::string* text = value.AsString();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

inline std::string EncodedMap(const protobuf::Field& field, const json::Value& value) {
  std::string bytes;
  if (!value.IsObject()) return bytes;
  const bool amounts = field.type == protobuf::FieldType::kQuantityMap;
  for (const auto& [name, one] : *value.AsObject()) {
    bytes += amounts ? Amount(field.number, name, TextOf(one))
                     : Bytes(field.number, Bytes(1, name).append(Bytes(2, TextOf(one))));
  }
  return bytes;
}

inline std::string EncodedOne(const protobuf::Field& field, const json::Value& value) {
  using enum protobuf::FieldType;
  switch (field.type) {
    case kString:
      return Bytes(field.number, TextOf(value));
    case kInteger:
      return Number(field.number, value.AsInt64().value_or(0));
    case kBool:
      return Number(field.number, value.AsBool().value_or(false) ? 1 : 0);
    case kQuantity:
      return Bytes(field.number, Bytes(1, TextOf(value)));
    case kTime:
      return Bytes(field.number, Number(1, 1'700'000'000));
    case kMessage:
      return Bytes(field.number, Encoded(*field.message, value));
    case kStringMap:
    case kQuantityMap:
      return EncodedMap(field, value);
  }
  return "";
}

inline std::string Encoded(const protobuf::Message& message, const json::Value& object) {
  std::string bytes;
  for (const protobuf::Field& field : message.fields) {
    const json::Value* value = object.At({field.name});
    if (value == nullptr || field.number == protobuf::kOfOtherVersions) continue;
    if (!field.repeated) {
      bytes += EncodedOne(field, *value);
      continue;
    }
    for (const json::Value& one : object.ArrayAt({field.name})) bytes += EncodedOne(field, one);
  }
  if (!object.IsObject()) return bytes;
  for (const auto& [name, value] : *object.AsObject()) {
    const bool known =
        std::ranges::find(message.fields, name, &protobuf::Field::name) != message.fields.end();
    if (!known) bytes += Bytes(1000, json::Write(value));
  }
  return bytes;
}

}  // namespace wire
