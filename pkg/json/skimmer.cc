#include "pkg/json/skimmer.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "pkg/json/reader.h"
#include "pkg/json/skip.h"

namespace json {
namespace {

bool EndsScalar(char c) {
  return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

bool IsContainer(char c) { return c == '{' || c == '['; }

// The string that begins at `at`, with its quotes; empty if it has escapes, or does not end here.
std::string_view PlainString(std::string_view bytes, std::size_t at) {
  const std::size_t end = FindStringEvent(bytes, at + 1);
  const bool plain = end < bytes.size() && bytes[end] == '"';
  return plain ? bytes.substr(at, end + 1 - at) : std::string_view();
}

}  // namespace

std::size_t Skimmer::Scan(std::string_view bytes) {
  if (Complete()) Begin();
  std::size_t at = 0;
  do {
    at = Step(bytes, at);
  } while (at < bytes.size() && !Complete());
  return at;
}

base::Result<Value> Skimmer::Take(std::string_view text) {
  CHECK(Complete()) << "a document is taken before its end";
  if (!std::exchange(scanned_, false)) return Skim(text, projection_, limits_);
  // An idle watch keeps no memory.
  const std::string wanted = std::exchange(out_, std::string());
  if (too_large_) return LargerThan(limits_.bytes);
  if (!unclear_) {
    auto parsed = Parse(wanted, limits_);
    if (parsed || parsed.error().Is(base::ErrorCode::kTooLarge)) return parsed;
  }
  return ParseProjected(text, projection_, limits_);  // for an error with the offset in `text`
}

void Skimmer::Begin() {
  constexpr std::size_t kUsual = 1024;  // enough for a pod's wanted fields, so it seldom grows
  place_ = Place::kValue;
  open_.clear();
  lists_.End();
  next_ = &projection_.root();
  out_.clear();
  out_.reserve(kUsual);
  scanned_ = true;
  unclear_ = false;
  too_large_ = false;
}

std::size_t Skimmer::Step(std::string_view bytes, std::size_t at) {
  if (place_ == Place::kInScalar) return FollowScalar(bytes, at);
  if (place_ >= Place::kInName) return FollowToken(bytes, at);
  at = SkipBlank(bytes, at);
  if (at == bytes.size()) return at;
  const char c = bytes[at];
  switch (place_) {
    case Place::kFirstElement:
      if (c == ']') return Close(at);
      break;
    case Place::kFirstName:
      if (c == '}') return Close(at);
      [[fallthrough]];
    case Place::kName:
      if (c != '"') return GiveUp(at);
      if (const std::string_view name = PlainString(bytes, at); !name.empty()) {
        EndName(name);
        return at + name.size();
      }
      place_ = Place::kInName;
      return FollowToken(bytes, at);
    case Place::kColon:
      if (c != ':') return GiveUp(at);
      place_ = Place::kValue;
      return at + 1;
    case Place::kNext:
      CHECK(!open_.empty()) << "something follows the value of a whole document";
      if (c == (open_.back().array ? ']' : '}')) return Close(at);
      if (c != ',') return GiveUp(at);
      place_ = open_.back().array ? Place::kValue : Place::kName;
      next_ = open_.back().node;
      if (open_.back().array) Copy(",");
      return at + 1;
    default:
      break;
  }
  return BeginValue(bytes, at);
}

std::size_t Skimmer::BeginValue(std::string_view bytes, std::size_t at) {
  const char c = bytes[at];
  const bool array = c == '[';
  if (!open_.empty() && open_.back().array && lists_.Add()) return LeaveOutList(at);
  if (IsContainer(c) && next_ != nullptr && !next_->KeepsAll()) {
    if (open_.size() == limits_.depth) return GiveUp(at);
    if (array && next_->bounded) lists_.Begin(open_.size());
    open_.push_back({next_, array, out_.size()});
    Copy(bytes.substr(at, 1));
    place_ = array ? Place::kFirstElement : Place::kFirstName;
    return at + 1;
  }
  if (c == '"') {
    if (const std::string_view text = PlainString(bytes, at); !text.empty()) {
      if (next_ != nullptr) Copy(text);
      EndValue();
      return at + text.size();
    }
  }
  if (IsContainer(c) || c == '"') {
    place_ = Place::kInValue;
    return FollowToken(bytes, at);
  }
  if (EndsScalar(c)) return GiveUp(at);
  place_ = Place::kInScalar;
  return FollowScalar(bytes, at);
}

// A name, a string, or a container that is copied or skipped as one.
std::size_t Skimmer::FollowToken(std::string_view bytes, std::size_t at) {
  const std::size_t length = scanner_.Scan(bytes.substr(at));
  const std::string_view piece = bytes.substr(at, length);
  if (place_ == Place::kInName) {
    if (!scanner_.Complete()) {
      name_ += piece;
    } else if (name_.empty()) {
      EndName(piece);
    } else {
      EndName(std::exchange(name_, std::string()).append(piece));
    }
    return at + length;
  }
  if (place_ == Place::kInValue && next_ != nullptr) Copy(piece);
  if (scanner_.Complete()) EndValue();
  return at + length;
}

std::size_t Skimmer::FollowScalar(std::string_view bytes, std::size_t at) {
  const std::size_t begin = at;
  while (at < bytes.size() && !EndsScalar(bytes[at])) {
    if (bytes[at] == '"' || IsContainer(bytes[at])) return GiveUp(at);
    ++at;
  }
  if (next_ != nullptr) Copy(bytes.substr(begin, at - begin));
  if (at < bytes.size()) EndValue();
  return at;
}

// Skips the rest of the outermost bounded list, which has too many elements.
std::size_t Skimmer::LeaveOutList(std::size_t at) {
  const std::size_t outermost = lists_.outermost();
  place_ = Place::kInValue;
  next_ = nullptr;
  scanner_ = NestingScanner(open_.size() - outermost);
  out_.resize(std::min(out_.size(), open_[outermost].copied_to));
  open_.resize(outermost);
  lists_.End();
  Copy("\"");
  Copy(kTooManyElements);
  Copy("\"");
  return at;
}

std::size_t Skimmer::Close(std::size_t at) {
  Copy(open_.back().array ? "]" : "}");
  open_.pop_back();
  if (lists_.outermost() == open_.size()) lists_.End();
  EndValue();
  return at + 1;
}

void Skimmer::EndName(std::string_view quoted) {
  CHECK(!open_.empty() && !open_.back().array) << "a member of no object";
  const std::string_view name = quoted.substr(1, quoted.size() - 2);
  // An escaped name could be a wanted one. Nobody writes such names: leave it to the parser.
  if (name.find('\\') != std::string_view::npos) {
    GiveUp(0);
    return;
  }
  place_ = Place::kColon;
  next_ = open_.back().node->Find(name);
  if (next_ == nullptr) return;
  if (!out_.ends_with('{')) Copy(",");
  Copy(quoted);
  Copy(":");
}

void Skimmer::EndValue() { place_ = open_.empty() ? Place::kEnd : Place::kNext; }

// From `at` on, which is between strings, only brackets and strings are followed.
std::size_t Skimmer::GiveUp(std::size_t at) {
  unclear_ = true;
  place_ = Place::kUnclear;
  scanner_ = NestingScanner(open_.size());
  open_.clear();
  return at;
}

void Skimmer::Copy(std::string_view text) {
  too_large_ = too_large_ || out_.size() + text.size() > limits_.bytes;
  if (!too_large_) out_.append(text);
}

base::Result<Value> Skim(std::string_view text, const Projection& projection, ParseLimits limits) {
  const std::size_t begin = SkipBlank(text, 0);
  if (begin < text.size() && (IsContainer(text[begin]) || text[begin] == '"')) {
    Skimmer skimmer(projection, limits);
    const std::size_t end = begin + skimmer.Scan(text.substr(begin));
    if (skimmer.Complete() && SkipBlank(text, end) == text.size()) return skimmer.Take(text);
  }
  return ParseProjected(text, projection, limits);
}

}  // namespace json
