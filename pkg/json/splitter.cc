#include "pkg/json/splitter.h"

#include <glog/logging.h>

#include <algorithm>

#include "pkg/base/idle_buffer.h"
#include "pkg/json/skip.h"
#include "pkg/json/value.h"

namespace json {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

Error TooLarge(std::string_view what, std::size_t max_bytes) {
  return {.code = ErrorCode::kTooLarge,
          .message = std::string(what) + " of more than " + std::to_string(max_bytes) + " bytes"};
}

// How many of the bytes belong to the value.
std::size_t TakenOf(std::string_view bytes, Scanner& scanner) {
  const std::size_t length = scanner.Scan(bytes);
  CHECK(length > 0 || scanner.Complete()) << "a scanner would be fed the same bytes forever";
  CHECK_LE(length, bytes.size()) << "a scanner took more than there is";
  return length;
}

}  // namespace

Result<void> DocumentSplitter::Feed(std::string_view bytes, const DocumentSink& sink) {
  while (!bytes.empty()) {
    std::size_t length = 0;
    if (scanner().Complete()) {
      length = SkipBlank(bytes, 0);
      bytes.remove_prefix(length);
      offset_ += length;
      if (bytes.empty()) return {};
      if (bytes.front() != '{' && bytes.front() != '[') {
        return Error{.code = ErrorCode::kMalformed,
                     .message = "no JSON document begins at byte " + std::to_string(offset_)};
      }
    }
    length = TakenOf(bytes, scanner());
    if (buffer_.size() + length > max_bytes_) return TooLarge("a document", max_bytes_);
    const std::string_view piece = bytes.substr(0, length);
    bytes.remove_prefix(length);
    offset_ += length;
    if (!scanner().Complete()) {
      buffer_ += piece;
      return {};
    }
    // A document that arrived in one piece is passed on without a copy.
    if (!buffer_.empty()) buffer_ += piece;
    Result<void> taken = sink(buffer_.empty() ? piece : std::string_view(buffer_));
    buffer_.clear();
    base::FreeIdle(buffer_);
    if (!taken) return taken;
  }
  return {};
}

Result<void> ListSplitter::Feed(std::string_view bytes, const DocumentSink& item) {
  while (!bytes.empty()) {
    const Place before = place_;
    const Result<std::size_t> consumed = Step(bytes, item);
    if (!consumed) return consumed.error();
    CHECK(*consumed > 0 || place_ != before) << "a list would be split forever";
    bytes.remove_prefix(*consumed);
    offset_ += *consumed;
  }
  return {};
}

Result<std::string> ListSplitter::Envelope() const {
  if (place_ == Place::kAfter) return envelope_;
  const std::string where = place_ == Place::kBefore ? "has not begun" : "is not complete";
  return Error{.code = ErrorCode::kMalformed,
               .message = "the list " + where + " after " + std::to_string(offset_) + " bytes"};
}

Result<std::size_t> ListSplitter::Step(std::string_view bytes, const DocumentSink& item) {
  switch (place_) {
    case Place::kKey:
    case Place::kValue:
      return StepNested(bytes);
    case Place::kItem:
      return StepItem(bytes, item);
    case Place::kScalarItem:
      return StepScalarItem(bytes, item);
    default:
      break;
  }
  if (const std::size_t blank = SkipBlank(bytes, 0); blank > 0) {
    // Keep white space between members: "1 2" must not become a number.
    const bool keep = place_ == Place::kMembers;
    const Result<void> kept = keep ? Keep(envelope_, bytes.substr(0, blank)) : Result<void>();
    if (!kept) return kept.error();
    return blank;
  }
  switch (place_) {
    case Place::kMembers:
      return StepMembers(bytes.front());
    case Place::kFirstItem:
    case Place::kNextItem:
    case Place::kAfterItem:
      return StepBetweenItems(bytes.front());
    default:
      break;
  }
  if (place_ == Place::kAfter || bytes.front() != '{') return Unexpected(bytes.front());
  envelope_ = "{";
  place_ = Place::kMembers;
  return std::size_t{1};
}

// Handles one byte between the braces of the document: punctuation or a byte of a scalar. The first
// byte of a nested value is left to the next place.
Result<std::size_t> ListSplitter::StepMembers(char c) {
  if (c == '"' && expect_key_) {
    place_ = Place::kKey;
    key_begin_ = envelope_.size();
    return std::size_t{0};
  }
  if (c == '"' || c == '{' || (c == '[' && !AtItems())) {
    place_ = Place::kValue;
    return std::size_t{0};
  }
  if (c == ']') return Unexpected(c);
  const Result<void> kept = Keep(envelope_, std::string_view(&c, 1));
  if (!kept) return kept.error();
  if (c == '[') place_ = Place::kFirstItem;
  if (c == '}') place_ = Place::kAfter;
  if (c == ',') expect_key_ = true;
  if (c == ':') expect_key_ = false;
  return std::size_t{1};
}

// Handles a key, or a value outside of items.
Result<std::size_t> ListSplitter::StepNested(std::string_view bytes) {
  const std::size_t length = scanner_.Scan(bytes);
  const Result<void> kept = Keep(envelope_, bytes.substr(0, length));
  if (!kept) return kept.error();
  if (!scanner_.Complete()) return length;
  if (place_ == Place::kKey) {
    key_end_ = envelope_.size();
    expect_key_ = false;
  }
  place_ = Place::kMembers;
  return length;
}

Result<std::size_t> ListSplitter::StepBetweenItems(char c) {
  if (c == ',' && place_ == Place::kAfterItem) {
    place_ = Place::kNextItem;
    return std::size_t{1};
  }
  if (c == ']' && place_ != Place::kNextItem) {
    envelope_ += c;
    place_ = Place::kMembers;
    return std::size_t{1};
  }
  if (place_ == Place::kAfterItem || c == ',' || c == ']' || c == '}' || c == ':') {
    return Unexpected(c);
  }
  const bool nested = c == '{' || c == '[' || c == '"';
  place_ = nested ? Place::kItem : Place::kScalarItem;
  return std::size_t{0};
}

Result<std::size_t> ListSplitter::StepItem(std::string_view bytes, const DocumentSink& item) {
  Scanner& scanner = items_ != nullptr ? *items_ : scanner_;
  const std::size_t length = TakenOf(bytes, scanner);
  const std::string_view piece = bytes.substr(0, length);
  const Result<void> done = scanner.Complete() ? FinishItem(piece, item) : Keep(item_, piece);
  if (!done) return done.error();
  return length;
}

Result<std::size_t> ListSplitter::StepScalarItem(std::string_view bytes, const DocumentSink& item) {
  const std::size_t length = std::min(bytes.find_first_of(" \t\r\n,]"), bytes.size());
  const std::string_view piece = bytes.substr(0, length);
  const Result<void> done = length < bytes.size() ? FinishItem(piece, item) : Keep(item_, piece);
  if (!done) return done.error();
  return length;
}

// The item is `item_` followed by `tail`. An item that arrived in one piece is passed on without a
// copy.
Result<void> ListSplitter::FinishItem(std::string_view tail, const DocumentSink& item) {
  if (item_.size() + tail.size() > max_bytes_) return TooLarge("a list item", max_bytes_);
  place_ = Place::kAfterItem;
  if (item_.empty()) return item(tail);
  item_ += tail;
  Result<void> taken = item(item_);
  item_.clear();
  return taken;
}

Result<void> ListSplitter::Keep(std::string& kept, std::string_view bytes) const {
  if (kept.size() + bytes.size() > max_bytes_) {
    return TooLarge(&kept == &item_ ? "a list item" : "a list without its items", max_bytes_);
  }
  kept += bytes;
  return {};
}

// True if the value that begins now is the array of items. Its key may be written with escapes.
bool ListSplitter::AtItems() const {
  const std::size_t last = envelope_.find_last_not_of(" \t\r\n");
  if (expect_key_ || envelope_[last] != ':') return false;
  const auto key = std::string_view(envelope_).substr(key_begin_, key_end_ - key_begin_);
  if (key.find('\\') == std::string_view::npos) return key == "\"items\"";
  const Result<Value> parsed = Parse(key);
  return parsed && *parsed == Value("items");
}

Error ListSplitter::Unexpected(char c) const {
  return {.code = ErrorCode::kMalformed,
          .message = "not a list: unexpected " + Quote(std::string_view(&c, 1)) + " at byte " +
                     std::to_string(offset_)};
}

}  // namespace json
