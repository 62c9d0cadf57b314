#pragma once

// TEST ONLY. Writes protobuf field by field, as input for the tests.

#include <cstdint>
#include <string>
#include <string_view>

namespace wire {

inline std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

inline std::string Number(std::uint32_t field, std::int64_t value) {
  std::string bytes = Varint(std::uint64_t{field} << 3);
  return bytes.append(Varint(static_cast<std::uint64_t>(value)));
}

// A string, bytes or a message.
inline std::string Bytes(std::uint32_t field, std::string_view content) {
  std::string bytes = Varint(std::uint64_t{field} << 3 | 2);
  return bytes.append(Varint(content.size())).append(content);
}

inline std::string Fixed64(std::uint32_t field) {
  return Varint(std::uint64_t{field} << 3 | 1).append(8, '\x5a');
}

// An entry of map<string, Quantity>.
inline std::string Amount(std::uint32_t field, std::string_view key, std::string_view quantity) {
  return Bytes(field, Bytes(1, key).append(Bytes(2, Bytes(1, quantity))));
}

inline std::string Enveloped(std::string_view kind, std::string_view object) {
  std::string bytes("k8s\0", 4);
  bytes.append(Bytes(1, Bytes(1, "v1").append(Bytes(2, kind))));
  return bytes.append(Bytes(2, object)).append(Bytes(3, "")).append(Bytes(4, ""));
}

// A frame of a watch, with its length.
inline std::string Frame(std::string_view type, std::string_view kind, std::string_view object) {
  const std::string event = Bytes(1, type).append(Bytes(2, Bytes(1, Enveloped(kind, object))));
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>(event.size() >> shift & 0xFF));
  }
  return bytes.append(event);
}

}  // namespace wire
