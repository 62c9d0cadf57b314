#include "cmd/sandbox-apiserver/json_path.h"

#include <charconv>

namespace sandbox {
namespace {

using json::Array;
using json::Value;

const Value* Walk(const Value& value, std::string_view path);

// Removes the quotes from "'name'" or "\"name\""; nullopt for a text without quotes.
std::optional<std::string_view> Unquote(std::string_view text) {
  if (text.size() < 2 || text.front() != text.back()) return std::nullopt;
  if (text.front() != '\'' && text.front() != '"') return std::nullopt;
  return text.substr(1, text.size() - 2);
}

bool Holds(const Value& element, std::string_view condition) {
  const std::size_t equals = condition.find("==");
  if (equals == std::string_view::npos || !condition.starts_with("@")) return false;
  std::string_view left = condition.substr(1, equals - 1);
  std::string_view right = condition.substr(equals + 2);
  while (!left.empty() && left.back() == ' ') left.remove_suffix(1);
  while (!right.empty() && right.front() == ' ') right.remove_prefix(1);
  const Value* const value = Walk(element, left);
  if (value == nullptr) return false;
  const auto text = Unquote(right);
  if (text) return value->IsString() && *value->AsString() == *text;
  return json::Write(*value) == right;
}

const Value* FirstOf(const Array& list, std::string_view rest, auto matches) {
  for (const Value& element : list) {
    if (!matches(element)) continue;
    if (const Value* found = Walk(element, rest)) return found;
  }
  return nullptr;
}

const Value* WalkBracket(const Value& value, std::string_view inside, std::string_view rest) {
  if (const auto name = Unquote(inside)) {
    const Value* const member = value.At({*name});
    return member != nullptr ? Walk(*member, rest) : nullptr;
  }
  const Array* const list = value.AsArray();
  if (list == nullptr) return nullptr;
  if (inside == "*") return FirstOf(*list, rest, [](const Value&) { return true; });
  if (inside.starts_with("?(") && inside.ends_with(")")) {
    const std::string_view condition = inside.substr(2, inside.size() - 3);
    return FirstOf(*list, rest, [&](const Value& element) { return Holds(element, condition); });
  }
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), index);
  const bool valid = error == std::errc() && end == inside.data() + inside.size();
  return valid && index < list->size() ? Walk((*list)[index], rest) : nullptr;
}

const Value* Walk(const Value& value, std::string_view path) {
  if (path.empty()) return &value;
  if (path.front() == '[') {
    const std::size_t filter_end = path.find(")]");
    const std::size_t close = path.starts_with("[?") && filter_end != std::string_view::npos
                                  ? filter_end + 1
                                  : path.find(']');
    if (close == std::string_view::npos) return nullptr;
    return WalkBracket(value, path.substr(1, close - 1), path.substr(close + 1));
  }
  if (path.front() != '.') return nullptr;
  path.remove_prefix(1);
  // A name ends at a dot or a bracket; a backslash takes the next character as it is.
  std::string name;
  std::size_t at = 0;
  for (; at < path.size() && path[at] != '.' && path[at] != '['; ++at) {
    if (path[at] == '\\' && at + 1 < path.size()) ++at;
    name += path[at];
  }
  const Value* const member = value.At({name});
  return member != nullptr ? Walk(*member, path.substr(at)) : nullptr;
}

}  // namespace

const Value* FirstByPath(const Value& object, std::string_view path) {
  if (path.starts_with("{") && path.ends_with("}")) path = path.substr(1, path.size() - 2);
  return Walk(object, path);
}

}  // namespace sandbox
