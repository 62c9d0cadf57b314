#pragma once

// Numbers of things in sentences. Pure; any thread.

#include <cstdint>
#include <string>
#include <string_view>

namespace inspect {

// The plural of a regular word, unless the number is 1.
inline std::string Plural(std::int64_t count, std::string_view what) {
  return std::string(what).append(count == 1 ? "" : "s");
}

// "1 pod", "2 pods".
inline std::string Counted(std::int64_t count, std::string_view what) {
  return std::to_string(count).append(" ").append(Plural(count, what));
}

}  // namespace inspect
