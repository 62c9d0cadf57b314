#pragma once

// Finds the end of a JSON value without parsing it; private to this folder. Only counts brackets
// and follows strings, 64 bytes at a time; checks nothing else. Pure functions; any thread.

#include <cstddef>
#include <string_view>

#include "pkg/json/nesting.h"

namespace json {

// The first byte at or after `at` that is not white space; text.size() if there is none.
std::size_t SkipBlank(std::string_view text, std::size_t at);

// The first quote or backslash at or after `at`; text.size() if there is none.
std::size_t FindStringEvent(std::string_view text, std::size_t at);

// Follows an object or an array as far as whole blocks reach. Returns how many bytes it followed:
// up to the end of the value if the depth is zero then. It may stop early, where text is not JSON.
// REQUIRES: the depth is not zero, or the text begins with a bracket.
std::size_t SkipBlocks(std::string_view text, Nesting& nesting);

}  // namespace json
