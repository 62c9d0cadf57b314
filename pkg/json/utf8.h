#pragma once

// Whether bytes are UTF-8, for the parser and the writer of this folder. Pure functions; any
// thread.

#include <cstddef>
#include <string>
#include <string_view>

namespace json {

// The length (1 to 4) of the UTF-8 sequence that `text` begins with; 0 if it begins with none:
// overlong forms, surrogates and code points above U+10FFFF are no UTF-8. "" has none either.
std::size_t SequenceLength(std::string_view text);

// Where the first byte stands that is no UTF-8; npos if all is well. Long ASCII costs next to
// nothing.
std::size_t FindInvalidUtf8(std::string_view text);

// Where the first byte from 0x1A to 0x1F stands, which are nowhere in JSON; npos if there is none.
std::size_t FindControl(std::string_view text);

// Escapes in JSON text that name half of a surrogate pair stand for no character; they are
// overwritten by that of the replacement character, as Go reads them.
void ReplaceLoneSurrogates(std::string& json);

// What stands in for a byte that is no UTF-8.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

}  // namespace json
