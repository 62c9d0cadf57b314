// Skim(): copies the text of the wanted members into a small document, which is then parsed. Of
// skipped values only the end is searched, so the cost is that of the small wanted part.

#include <algorithm>
#include <string>

#include "pkg/json/projection.h"
#include "pkg/json/reader.h"
#include "pkg/json/skip.h"

namespace json {
namespace {

using Node = Projection::Node;

class Pruner {
 public:
  Pruner(std::string_view text, ParseLimits limits)
      : text_(text), depth_left_(limits.depth), max_bytes_(limits.bytes) {}

  // Returns false if the text is not clearly a document; the parser then says what is wrong.
  bool Run(const Node& root) {
    constexpr std::size_t kUsual = 1024;  // enough for a pod's wanted fields, so it seldom grows
    out_.reserve(std::min(text_.size(), kUsual));
    at_ = SkipBlank(text_, 0);
    if (!Value(root)) return false;
    return SkipBlank(text_, at_) == text_.size();
  }
  [[nodiscard]] const std::string& out() const { return out_; }
  // True if the wanted part exceeds the limit.
  [[nodiscard]] bool too_large() const { return too_large_; }

 private:
  [[nodiscard]] char Next() {
    at_ = SkipBlank(text_, at_);
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool Skip() {
    at_ = SkipBlank(text_, at_);
    at_ = SkipValue(text_, at_);
    return at_ != std::string_view::npos;
  }

  bool Copy() {
    const std::size_t begin = at_ = SkipBlank(text_, at_);
    if (!Skip() || !HasRoom(at_ - begin)) return false;
    out_.append(text_, begin, at_ - begin);
    return true;
  }

  bool Value(const Node& node) {
    const char first = Next();
    if (node.whole || (first != '{' && first != '[')) return Copy();
    if (depth_left_ == 0 || !HasRoom(1)) return false;
    --depth_left_;
    const bool done = first == '{' ? Object(node) : Array(node);
    ++depth_left_;
    return done;
  }

  bool Array(const Node& node) {
    out_ += '[';
    ++at_;
    if (Next() != ']') {
      while (Value(node) && Next() == ',') {
        out_ += ',';
        ++at_;
      }
    }
    return Close(']');
  }

  bool Object(const Node& node) {
    out_ += '{';
    ++at_;
    const std::size_t begin = out_.size();
    if (Next() != '}') {
      while (Member(node, out_.size() == begin) && Next() == ',') ++at_;
    }
    return Close('}');
  }

  bool Close(char bracket) {
    if (at_ == std::string_view::npos || Next() != bracket) return false;
    out_ += bracket;
    ++at_;
    return true;
  }

  bool Member(const Node& node, bool first) {
    if (Next() != '"') return Fail();
    const std::size_t begin = at_;
    if (!Skip()) return false;
    const std::string_view key = text_.substr(begin, at_ - begin);
    const std::string_view name = key.substr(1, key.size() - 2);
    // An escaped name could be a wanted one. Nobody writes such names: leave it to the parser.
    if (name.find('\\') != std::string_view::npos || Next() != ':') return Fail();
    ++at_;
    const Node* wanted = node.Find(name);
    if (wanted == nullptr) return Skip();
    if (!first) out_ += ',';
    out_.append(key).append(":");
    return Value(*wanted);
  }

  bool HasRoom(std::size_t more) {
    too_large_ = too_large_ || out_.size() + more > max_bytes_;
    return !too_large_;
  }

  bool Fail() {
    at_ = std::string_view::npos;
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;  // npos after a failure
  std::size_t depth_left_;
  std::size_t max_bytes_;
  bool too_large_ = false;
  std::string out_;
};

}  // namespace

base::Result<Value> Skim(std::string_view text, const Projection& projection, ParseLimits limits) {
  Pruner pruner(text, limits);
  if (pruner.Run(projection.root())) {
    auto parsed = Parse(pruner.out(), limits);
    if (parsed || parsed.error().Is(base::ErrorCode::kTooLarge)) return parsed;
  }
  if (pruner.too_large()) return LargerThan(limits.bytes);
  return ParseProjected(text, projection, limits);  // for an error with the offset in `text`
}

}  // namespace json
