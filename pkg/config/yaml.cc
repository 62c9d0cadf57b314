#include "pkg/config/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "pkg/config/yaml_scalar.h"
#include "pkg/json/splitter.h"
#include "pkg/json/tree_builder.h"
#include "pkg/json/utf8.h"

namespace config {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;
using json::Value;

constexpr std::string_view kStandardTag = "tag:yaml.org,2002:";

// The cost of a repeated value: its texts plus a constant for each node, and its nesting depth.
struct Extent {
  std::size_t bytes = 0;
  std::size_t depth = 0;
};

void Include(const Extent& inner, Extent& into) {
  into.bytes += inner.bytes;
  into.depth = std::max(into.depth, inner.depth + 1);
}

Extent Measure(const Value& value) {
  constexpr std::size_t kNode = 64;
  Extent extent{kNode, 0};
  if (const std::string* text = value.AsString()) extent.bytes += text->size();
  if (const json::Array* array = value.AsArray()) {
    extent.depth = 1;
    for (const Value& element : *array) Include(Measure(element), extent);
  }
  if (const json::Object* object = value.AsObject()) {
    extent.depth = 1;
    for (const auto& [name, member] : *object) {
      extent.bytes += name.size();
      Include(Measure(member), extent);
    }
  }
  return extent;
}

// Builds values from yaml-cpp's events. Refuses by throwing the parser's own exception.
class Builder final : public YAML::EventHandler {
 public:
  Builder(std::string_view text, YamlLimits limits) : lines_(Lines(text)), limits_(limits) {}
  Value Take() { return std::move(root_); }

  // After a document, yaml-cpp takes text that it cannot parse for the next document, endlessly.
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_ && !MayStartAt(mark)) Refuse(mark, "unexpected text after the document");
    started_ = true;
    root_ = nullptr;
    open_.clear();
    anchors_.clear();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    AddAnchored(mark, anchor, nullptr);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (tag == "?" && text == "<<" && AwaitsKey()) {
      open_.back().key = Key{"<<", true};
      return;
    }
    AddAnchored(mark, anchor, Resolve(mark, tag, text));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) Refuse(mark, "an alias is inside the value that it refers to");
    Charge(mark, found->second);
    Add(mark, found->second);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, anchor, false);
  }
  void OnSequenceEnd() override {
    Container done = Close();
    AddAnchored(done.mark, done.anchor, std::move(done.elements));
  }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, anchor, true);
  }
  void OnMapEnd() override {
    Container done = Close();
    json::TreeBuilder tree;
    tree.StartObject();
    for (json::Member& member : done.members) {
      tree.Key(member.first);
      tree.Scalar(std::move(member.second));
    }
    tree.End();
    AddAnchored(done.mark, done.anchor, tree.Take());
  }

 private:
  struct Key {
    std::string name;
    bool merge = false;  // the last key was an unquoted <<
  };
  struct Container {
    YAML::Mark mark;
    YAML::anchor_t anchor = YAML::NullAnchor;
    bool map = false;
    std::optional<Key> key;  // in a map: the key whose value comes next
    json::Array elements;
    // Those of << stand in its place, as for kubectl. Of equal names the last one wins.
    std::vector<json::Member> members;
  };

  static std::vector<std::string_view> Lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (true) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      lines.push_back(text.substr(0, end));
      if (end == text.size()) return lines;
      text.remove_prefix(end + 1);
    }
  }

  // True if another document may start here: at ---, or on a line after the ... of the last one.
  bool MayStartAt(const YAML::Mark& mark) {
    auto line = std::min(static_cast<std::size_t>(mark.line), lines_.size() - 1);
    if (std::exchange(last_start_, line) == line) return false;
    if (lines_[line].starts_with("---")) return true;
    while (line > 0) {
      const std::string_view before = lines_[--line];
      const std::size_t text = before.find_first_not_of(" \t\r");
      if (text == std::string_view::npos || before[text] == '#') continue;
      return before.starts_with("...");
    }
    return false;
  }

  [[noreturn]] static void Refuse(const YAML::Mark& mark, const std::string& why) {
    throw YAML::ParserException(mark, why);
  }

  [[noreturn]] void RefuseDepth(const YAML::Mark& mark) const {
    Refuse(mark, "nested deeper than " + std::to_string(limits_.depth) + " levels");
  }

  [[nodiscard]] bool AwaitsKey() const {
    return !open_.empty() && open_.back().map && !open_.back().key;
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, bool map) {
    if (AwaitsKey()) Refuse(mark, "a key must be a scalar");
    if (open_.size() >= limits_.depth) RefuseDepth(mark);
    Container& container = open_.emplace_back();
    container.mark = mark;
    container.anchor = anchor;
    container.map = map;
  }

  Container Close() {
    Container done = std::move(open_.back());
    open_.pop_back();
    return done;
  }

  static Value Resolve(const YAML::Mark& mark, const std::string& tag, const std::string& text) {
    if (tag == "!" || tag == std::string(kStandardTag) + "str") return text;
    const bool standard = tag.starts_with(kStandardTag);
    const std::string_view type = standard ? std::string_view(tag).substr(kStandardTag.size()) : "";
    const bool known = type == "int" || type == "float" || type == "bool" || type == "null";
    if (tag != "?" && !tag.empty() && !known) Refuse(mark, "unsupported tag " + tag);
    std::optional<Value> value = ResolveScalar(text);
    if (!value) Refuse(mark, text + " cannot be written in JSON");
    const std::string_view kind = value->TypeName();
    const bool fits = !known || kind.starts_with(type) ||
                      (kind == "number" && (type == "int" || type == "float"));
    if (!fits) Refuse(mark, json::Quote(text) + " is not a valid " + std::string(type));
    return std::move(*value);
  }

  // A repeated value counts each time, before it is copied.
  void Charge(const YAML::Mark& mark, const Value& value) {
    const Extent extent = Measure(value);
    repeated_ += extent.bytes;
    if (open_.size() + extent.depth > limits_.depth) RefuseDepth(mark);
    if (repeated_ > limits_.alias_bytes) Refuse(mark, "aliases repeat too much");
  }

  void AddAnchored(const YAML::Mark& mark, YAML::anchor_t anchor, Value value) {
    if (anchor != YAML::NullAnchor) {
      Charge(mark, value);
      anchors_.insert_or_assign(anchor, value);
    }
    Add(mark, std::move(value));
  }

  void Add(const YAML::Mark& mark, Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (AwaitsKey()) {
      open_.back().key = Key{KeyText(mark, value)};
    } else if (!open_.back().map) {
      open_.back().elements.push_back(std::move(value));
    } else {
      AddMember(mark, std::move(value));
    }
  }

  void AddMember(const YAML::Mark& mark, Value value) {
    Container& map = open_.back();
    const Key key = std::move(*map.key);
    map.key.reset();
    if (key.merge) {
      Merge(mark, map, value);
    } else {
      map.members.emplace_back(key.name, std::move(value));
    }
  }

  // Merges a map, or a sequence of maps of which the earlier ones win.
  static void Merge(const YAML::Mark& mark, Container& into, Value& value) {
    if (json::Array* list = value.AsArray()) {
      for (auto map = list->rbegin(); map != list->rend(); ++map) MergeMap(mark, into, *map);
    } else {
      MergeMap(mark, into, value);
    }
  }

  static void MergeMap(const YAML::Mark& mark, Container& into, Value& value) {
    json::Object* map = value.AsObject();
    if (map == nullptr) Refuse(mark, "<< needs a map or a sequence of maps");
    for (json::Member& member : *map) into.members.push_back(std::move(member));
  }

  static std::string KeyText(const YAML::Mark& mark, const Value& value) {
    if (const std::string* text = value.AsString()) return *text;
    if (value.IsBool() || value.IsNumber()) return json::Write(value);
    Refuse(mark, "a key must not be " + std::string(value.TypeName()));
  }

  const std::vector<std::string_view> lines_;
  YamlLimits limits_;
  bool started_ = false;        // a document has begun
  std::size_t last_start_ = 0;  // line of the last document; 0 while there is one only
  Value root_;
  std::vector<Container> open_;
  std::unordered_map<YAML::anchor_t, Value> anchors_;
  std::size_t repeated_ = 0;
};

// Appends an empty comment where it matters: yaml-cpp accepts a quote that is never closed if only
// blanks and line ends follow it, and refuses it if anything else does.
std::string ForParser(std::string_view text) {
  std::string copy(text);
  if (text.ends_with('\n')) return copy + "#";
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  const bool blank_line =
      last == std::string_view::npos || text.find('\n', last) != std::string_view::npos;
  if (blank_line || text.ends_with('"') || text.ends_with('\'')) copy += "\n#";
  return copy;
}

Error Malformed(const YAML::Exception& e) {
  std::string where;
  if (!e.mark.is_null()) {
    where = " at line " + std::to_string(e.mark.line + 1) + ", column " +
            std::to_string(e.mark.column + 1);
  }
  return {.code = ErrorCode::kMalformed, .message = "malformed YAML" + where + ": " + e.msg};
}

bool BeginsLikeJson(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

// Gives numbers from JSON their meaning in YAML: 64 bits or a float. JSON's parser keeps their
// text. A document must not change its meaning because a comment makes it YAML, or because it is
// written as YAML.
void ResolveNumbers(Value& value) {
  if (const json::Number* number = value.AsNumber()) {
    if (std::optional<Value> resolved = ResolveScalar(number->text)) value = std::move(*resolved);
  } else if (json::Array* array = value.AsArray()) {
    for (Value& element : *array) ResolveNumbers(element);
  } else if (json::Object* object = value.AsObject()) {
    for (json::Member& member : *object) ResolveNumbers(member.second);
  }
}

// Returns the JSON documents that `text` consists of; nullopt if there is anything else in it.
std::optional<std::vector<Value>> ParseJsonDocuments(std::string_view text, YamlLimits limits) {
  std::vector<Value> documents;
  const auto add = [&](std::string_view document) -> Result<void> {
    auto value = json::Parse(document, {.depth = limits.depth});
    if (!value) return value.error();
    ResolveNumbers(*value);
    documents.push_back(std::move(*value));
    return {};
  };
  json::DocumentSplitter splitter(text.size());
  const bool whole = splitter.Feed(text, add).has_value() && splitter.AtBoundary();
  return whole ? std::optional(std::move(documents)) : std::nullopt;
}

}  // namespace

Result<std::vector<Value>> ParseYamlDocuments(std::string_view text, YamlLimits limits) {
  // Most JSON is YAML, but escaped surrogate pairs and documents without a separator are not; and
  // JSON's parser is faster.
  if (BeginsLikeJson(text)) {
    if (auto documents = ParseJsonDocuments(text, limits)) return std::move(*documents);
  }
  if (const std::size_t at = json::FindInvalidUtf8(text); at != std::string_view::npos) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n');
    return Error{.code = ErrorCode::kMalformed,
                 .message = "malformed YAML at line " + std::to_string(line) + ": not UTF-8"};
  }
  std::vector<Value> documents;
  try {
    std::istringstream stream(ForParser(text));
    YAML::Parser parser(stream);
    Builder builder(text, limits);
    while (parser.HandleNextDocument(builder)) {
      Value document = builder.Take();
      if (!document.IsNull()) documents.push_back(std::move(document));
    }
  } catch (const YAML::Exception& e) {
    return Malformed(e);
  }
  return documents;
}

Result<Value> ParseYaml(std::string_view text, YamlLimits limits) {
  auto documents = ParseYamlDocuments(text, limits);
  if (!documents) return documents.error();
  if (documents->empty()) return Value();
  if (documents->size() > 1) {
    return Error{
        .code = ErrorCode::kMalformed,
        .message = "expected one YAML document, found " + std::to_string(documents->size())};
  }
  return std::move(documents->front());
}

}  // namespace config
