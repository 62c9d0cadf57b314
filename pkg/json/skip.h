#pragma once

// Finds the end of a JSON value without reading it; private to this folder. Brackets are counted
// and strings followed, 64 bytes at a time; nothing else is checked. Pure functions; any thread.

#include <cstddef>
#include <string_view>

namespace json {

// The first byte at or after `at` that is no white space; text.size() if there is none.
std::size_t SkipBlank(std::string_view text, std::size_t at);

// The first quote or backslash at or after `at`; text.size() if there is none.
std::size_t FindStringEvent(std::string_view text, std::size_t at);

// One past the end of the value that begins at `at`; npos where the text ends before it does, or no
// value begins there.
std::size_t SkipValue(std::string_view text, std::size_t at);

}  // namespace json
