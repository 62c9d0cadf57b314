#pragma once

// The messages that DecodeProtobuf() knows. Immutable; any thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sandbox {

struct ProtobufField {
  std::uint64_t number = 0;
  std::string name;  // "" if it is to be skipped
  std::string type;  // a message, or string, int, bool, bytes, Quantity, Time, IntOrString
  enum class Shape { kSingle, kList, kMap } shape = Shape::kSingle;
};

using ProtobufMessage = std::vector<ProtobufField>;

// nullptr if there is no message of this name.
const ProtobufMessage* FindProtobufMessage(std::string_view name);

}  // namespace sandbox
