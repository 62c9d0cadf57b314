#pragma once

// Describes protobuf messages of the Kubernetes API as data: for each field that is read, its
// number on the wire and its name in JSON. Fields that are not described are skipped when decoding.
//
// The fields are those of upstream's generated.proto (k8s.io/api v0.36.3), where a number is never
// reused for another field. Constants; any thread.

#include <cstdint>
#include <span>
#include <string_view>

namespace protobuf {

struct Message;

enum class FieldType {
  kString,
  kInteger,  // int32, int64
  kBool,
  kQuantity,  // a message around the quantity's text
  kTime,      // metav1.Time; absent if it has neither seconds nor nanoseconds
  kMessage,
  kStringMap,    // map<string, string>
  kQuantityMap,  // map<string, Quantity>
};

// No field has the number 0 on the wire.
inline constexpr std::uint32_t kOfOtherVersions = 0;

struct Field {
  // kOfOtherVersions: this version of the kind does not have the field.
  std::uint32_t number = 0;
  std::string_view name;  // in JSON
  FieldType type = FieldType::kString;
  const Message* message = nullptr;  // of kMessage
  bool repeated = false;             // a list
  // The sender tells "empty" from "absent" (a pointer upstream), so an empty value is kept. Other
  // fields are always sent, and JSON leaves them out if they are empty.
  bool presence = false;
};

struct Message {
  std::string_view name;
  std::span<const Field> fields;
  // All fields of the message are described, so it may be wanted whole.
  bool complete = false;
};

}  // namespace protobuf
