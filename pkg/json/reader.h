#pragma once

// The only code that runs RapidJSON's SAX reader; private to this folder. A Handler gets the events
// of RapidJSON's concept, with numbers as text. Numbers, nesting and UTF-8 are checked here,
// whatever the handler keeps.
//
// The reader parses a copy of the document in place, so that strings without escapes are not copied
// twice. It does not recurse, so nesting uses no stack.

#if defined(__SSE2__)
#define RAPIDJSON_SSE2
#elif defined(__ARM_NEON)
#define RAPIDJSON_NEON
#endif
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <string>
#include <string_view>

#include "pkg/base/error.h"
#include "pkg/json/utf8.h"
#include "pkg/json/value.h"

namespace json {

// The reader looks at aligned blocks of this size, so it reads at most so far past the end.
inline constexpr std::size_t kReadAhead = 16;

inline base::Error MalformedAt(std::size_t offset, std::string_view why) {
  return {.code = base::ErrorCode::kMalformed,
          .message = "malformed JSON at byte " + std::to_string(offset) + ": " + std::string(why)};
}

inline base::Error LargerThan(std::size_t bytes) {
  return {.code = base::ErrorCode::kTooLarge,
          .message = "JSON that takes more than " + std::to_string(bytes) + " bytes of memory"};
}

// Counts nesting in front of a Handler. When it exceeds the limit, the parse ends, or what is
// nested deeper becomes null.
template <typename Handler>
class DepthGuard {
 public:
  using Ch = char;
  using Size = rapidjson::SizeType;
  DepthGuard(Handler& handler, const ParseLimits& limits)
      : handler_(handler), limit_(limits.depth), cuts_(limits.cuts_deeper) {}

  bool Null() { return IsCut() || handler_.Null(); }
  bool Bool(bool value) { return IsCut() || handler_.Bool(value); }
  bool RawNumber(const char* text, Size size, bool) {
    return IsCut() || handler_.Number({text, size});
  }
  bool String(const char* text, Size size, bool) {
    return IsCut() || handler_.String({text, size});
  }
  bool Key(const char* text, Size size, bool) { return IsCut() || handler_.Key({text, size}); }
  bool StartObject() { return ++depth_ <= limit_ ? handler_.StartObject() : Cut(); }
  bool EndObject(Size) { return depth_-- > limit_ || handler_.EndObject(); }
  bool StartArray() { return ++depth_ <= limit_ ? handler_.StartArray() : Cut(); }
  bool EndArray(Size) { return depth_-- > limit_ || handler_.EndArray(); }
  [[nodiscard]] bool too_deep() const { return !cuts_ && IsCut(); }
  // RapidJSON's concept needs these, but numbers arrive as text only.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  [[nodiscard]] bool IsCut() const { return depth_ > limit_; }
  // A container below the limit begins. The outermost one becomes null.
  bool Cut() { return cuts_ && (depth_ > limit_ + 1 || handler_.Null()); }

  Handler& handler_;
  const std::size_t limit_;
  const bool cuts_;
  std::size_t depth_ = 0;
};

// Parses the one document in `text` with `handler`.
template <typename Handler>
base::Result<void> ReadDocument(std::string_view text, ParseLimits limits, Handler& handler) {
  const std::size_t invalid = FindInvalidUtf8(text);
  if (invalid != std::string_view::npos) return MalformedAt(invalid, "not UTF-8");
  // Whether RapidJSON notices some control characters in a string depends on its alignment.
  const std::size_t control = FindControl(text);
  if (control != std::string_view::npos) return MalformedAt(control, "a control character");
  std::string copy;
  copy.reserve(text.size() + kReadAhead);
  copy.append(text);
  ReplaceLoneSurrogates(copy);
  copy.append(kReadAhead, '\0');
  rapidjson::InsituStringStream stream(copy.data());
  rapidjson::Reader reader;
  DepthGuard<Handler> guard(handler, limits);
  constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, guard);
  if (result.Code() == rapidjson::kParseErrorTermination) {
    if (!guard.too_deep()) return LargerThan(limits.bytes);
    return MalformedAt(result.Offset(),
                       "nested deeper than " + std::to_string(limits.depth) + " levels");
  }
  if (result.IsError()) {
    return MalformedAt(result.Offset(), rapidjson::GetParseError_En(result.Code()));
  }
  // RapidJSON takes a zero byte for the end of the stream, so the rest was not parsed.
  if (stream.Tell() != text.size()) return MalformedAt(stream.Tell(), "a zero byte");
  return {};
}

}  // namespace json
