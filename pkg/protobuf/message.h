#pragma once

// What a protobuf message of the Kubernetes API looks like, as data: of each field that somebody
// reads, its number on the wire and the name it has in JSON. Fields that are not described are
// skipped when decoding.
//
// The fields are those of upstream's generated.proto (k8s.io/api v0.36.3); numbers are never given
// to another field there. Constants; any thread.

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
  kTime,      // metav1.Time; absent when it has neither seconds nor nanoseconds
  kMessage,
  kStringMap,    // map<string, string>
  kQuantityMap,  // map<string, Quantity>
};

// On the wire no field has the number 0.
inline constexpr std::uint32_t kOfOtherVersions = 0;

struct Field {
  // Or kOfOtherVersions: this version of the kind has no such field, so it is never there.
  std::uint32_t number = 0;
  std::string_view name;  // in JSON
  FieldType type = FieldType::kString;
  const Message* message = nullptr;  // of kMessage
  bool repeated = false;             // a list
  // The sender tells "empty" from "absent", so an empty value is one. Of other fields it sends the
  // empty value always, where JSON leaves it out.
  bool presence = false;
};

struct Message {
  std::string_view name;
  std::span<const Field> fields;
  // All fields of the message are described, so that it may be wanted whole.
  bool complete = false;
};

}  // namespace protobuf
