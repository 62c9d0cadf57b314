#pragma once

// UTF-8 checks for JSON, YAML and the log. Pure functions; any thread.

#include <cstddef>
#include <string>
#include <string_view>

namespace json {

// The length (1 to 4) of the UTF-8 sequence at the beginning of `text`; 0 if there is none, also
// for "". Overlong forms, surrogates and code points above U+10FFFF are not UTF-8.
std::size_t SequenceLength(std::string_view text);

// The position of the first byte that is not UTF-8; npos if there is none. Long ASCII text costs
// almost nothing.
std::size_t FindInvalidUtf8(std::string_view text);

// The position of the first byte from 0x1A to 0x1F, which JSON never contains; npos if there is
// none.
std::size_t FindControl(std::string_view text);

// Overwrites escapes in JSON text that name half of a surrogate pair with the escape of the
// replacement character, as Go reads them.
void ReplaceLoneSurrogates(std::string& json);

// Replaces a byte that is not UTF-8.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

}  // namespace json
