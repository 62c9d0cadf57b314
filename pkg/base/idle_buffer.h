#pragma once

// The memory of a buffer between two messages of a stream that may be idle for long.
//
// Pure; any thread.

#include <cstddef>
#include <string>

namespace base {

// Frees what a large message has left in the buffer, if little of it is in use.
inline void FreeIdle(std::string& buffer) {
  constexpr std::size_t kKeptCapacity = std::size_t{64} << 10;
  if (buffer.capacity() > kKeptCapacity && buffer.size() < kKeptCapacity) buffer.shrink_to_fit();
}

}  // namespace base
