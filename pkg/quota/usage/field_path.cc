#include "pkg/quota/usage/field_path.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace quota::usage {
namespace {

base::Error NoPath(std::string_view what) {
  return {.code = base::ErrorCode::kMalformed, .message = std::string(what)};
}

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsPrintable(char c) { return c > ' ' && c < 0x7f; }

// Ends an unquoted name.
bool EndsName(char c) { return c == '.' || c == '['; }

constexpr std::string_view kEscapedDot = "\\.";

std::string Unescaped(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(kEscapedDot)) ++i;
    name += text[i];
  }
  return name;
}

// Takes ".name", in which "\." is a dot.
base::Result<std::string> TakeName(std::string_view& rest) {
  rest.remove_prefix(1);
  std::size_t end = 0;
  while (end < rest.size() && !EndsName(rest[end])) {
    end += rest.substr(end).starts_with(kEscapedDot) ? kEscapedDot.size() : 1;
  }
  std::string name = Unescaped(rest.substr(0, end));
  rest.remove_prefix(end);
  if (name.empty()) return NoPath("a name must follow each dot, as in .spec.size");
  if (name == "*") return NoPath("[*] is for the elements of lists, and .* is not supported");
  return name;
}

// Takes "[*]" (returns nullopt) or "['name']", in which "\." is a dot, too: kubectl wants it so.
base::Result<std::optional<std::string>> TakeBracket(std::string_view& rest) {
  if (rest.starts_with("[*]")) {
    rest.remove_prefix(3);
    return std::optional<std::string>();
  }
  const std::size_t end = rest.find("']", 2);
  if (!rest.starts_with("['") || end == std::string_view::npos) {
    return NoPath("only [*] and ['name'] are supported, not " + std::string(rest));
  }
  std::optional<std::string> name(Unescaped(rest.substr(2, end - 2)));
  rest.remove_prefix(end + 2);
  if (name->empty()) return NoPath("the name in [''] is empty");
  return name;
}

// Another name cannot be told to the watch (json::Projection), or needs escapes in CEL.
bool IsSupported(std::string_view name) {
  return name != "*" && name.find_first_of("[]'\"\\") == std::string_view::npos;
}

base::Error BadName() {
  return NoPath(
      "a name must have printable ASCII characters only, and no quotes, brackets or backslashes");
}

// Words that CEL reserves.
bool IsReserved(std::string_view name) {
  constexpr std::array<std::string_view, 22> kReserved = {
      "as",     "break",  "const",  "continue", "else", "false",   "for",       "function",
      "if",     "import", "in",     "let",      "loop", "package", "namespace", "null",
      "return", "true",   "typeof", "var",      "void", "while"};
  return std::ranges::find(kReserved, name) != kReserved.end();
}

bool IsIdentifier(std::string_view name) {
  return IsLetter(name.front()) && !IsReserved(name) &&
         std::ranges::all_of(name, [](char c) { return IsLetter(c) || IsDigit(c); });
}

}  // namespace

base::Result<FieldPath> FieldPath::Parse(std::string_view text) {
  if (!text.starts_with('.')) return NoPath("must begin with a dot, as .spec.size");
  if (text.size() > kMostBytes) {
    return NoPath("must have at most " + std::to_string(kMostBytes) + " bytes");
  }
  // So errors can show the text.
  if (!std::ranges::all_of(text, IsPrintable)) return BadName();
  std::vector<Step> steps;
  // ".['a.b/c']" is ".a" for a name with dots.
  std::string_view rest = text.starts_with(".[") ? text.substr(1) : text;
  while (!rest.empty()) {
    if (rest.front() == '.') {
      auto name = TakeName(rest);
      if (!name) return name.error();
      steps.push_back({.name = std::move(*name), .each = false, .bracketed = false});
    } else {
      auto name = TakeBracket(rest);
      if (!name) return name.error();
      const bool each = !name->has_value();
      steps.push_back({.name = std::move(*name).value_or(""),
                       .each = each,
                       .bracketed = !each && !steps.empty()});
      if (!rest.empty() && !EndsName(rest.front())) {
        return NoPath("a dot or a bracket must follow each bracket");
      }
    }
    if (!steps.back().each && !IsSupported(steps.back().name)) return BadName();
    if (steps.size() > kMostSteps) {
      return NoPath("must have at most " + std::to_string(kMostSteps) + " steps");
    }
  }
  if (steps.front().each) return NoPath("must begin with the name of a field");
  return FieldPath(std::move(steps));
}

bool FieldPath::HasEach() const { return std::ranges::any_of(steps_, &Step::each); }

std::string FieldPath::TextOf(Steps steps) {
  std::string text;
  for (const Step& step : steps) {
    if (step.each) {
      text += "[*]";
    } else if (step.bracketed || step.name.find('.') != std::string::npos) {
      text.append("[").append(step.name).append("]");
    } else {
      if (!text.empty()) text += ".";
      text += step.name;
    }
  }
  return text;
}

// Of the two ways to write a name with dots it takes the shorter one, so the text is not longer
// than the one that was read.
std::string FieldPath::ToText() const {
  constexpr std::ptrdiff_t kOfBrackets = 4;  // characters, beside those of the name
  std::string text;
  for (const Step& step : steps_) {
    if (step.each) {
      text += "[*]";
    } else if (std::ranges::count(step.name, '.') + 1 > kOfBrackets) {
      text.append(text.empty() ? ".['" : "['").append(step.name).append("']");
    } else {
      text += '.';
      for (const char c : step.name) text.append(c == '.' ? "\\" : "").append(1, c);
    }
  }
  return text;
}

std::string FieldPath::Projected() const {
  std::vector<Step> named;
  for (const Step& step : steps_) {
    if (!step.each) named.push_back({.name = step.name});
  }
  return TextOf(named) + "#";  // no amount is in a long list, and none is an object
}

FieldPath::Steps FieldPath::Named() const {
  const auto first = std::ranges::find_if(steps_, &Step::each);
  return steps().first(static_cast<std::size_t>(first - steps_.begin()));
}

std::string FieldPath::ToCel(std::string_view variable, Steps steps) {
  std::string text(variable);
  for (const Step& step : steps) {
    if (IsIdentifier(step.name)) {
      text.append(".?").append(step.name);
    } else {
      text.append("[?'").append(step.name).append("']");
    }
  }
  return text;
}

}  // namespace quota::usage
