#include "pkg/api/label_selector_parser.h"

namespace api {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kSigns = "=!(),<>";

bool IsWord(std::string_view token) {
  return !token.empty() && kSigns.find(token.front()) == std::string_view::npos;
}

std::size_t TokenLength(std::string_view text) {
  if (text.starts_with("==") || text.starts_with("!=")) return 2;
  if (kSigns.find(text.front()) != std::string_view::npos) return 1;
  return std::min(text.find_first_of(" \t\r\n=!(),<>"), text.size());
}

}  // namespace

Result<std::vector<LabelRequirement>> LabelSelectorParser::Parse() {
  std::vector<LabelRequirement> requirements;
  if (Peek().empty()) return requirements;
  while (true) {
    auto requirement = ParseRequirement();
    if (!requirement) return requirement.error();
    requirements.push_back(std::move(*requirement));
    if (Peek().empty()) return requirements;
    if (Peek() != ",") return Expected("',' or the end");
    Take();
  }
}

Result<LabelRequirement> LabelSelectorParser::ParseRequirement() {
  LabelRequirement requirement;
  if (Peek() == "!") {
    Take();
    requirement.op = LabelOperator::kDoesNotExist;
  }
  if (!IsWord(Peek())) return Expected("a label key");
  requirement.key = Take();
  const bool bare = Peek().empty() || Peek() == ",";
  if (requirement.op == LabelOperator::kDoesNotExist || bare) return requirement;
  const Result<void> read = ParseOperator(requirement);
  if (!read) return read.error();
  return requirement;
}

Result<void> LabelSelectorParser::ParseOperator(LabelRequirement& requirement) {
  const std::string_view op = Peek();
  if (op == "in" || op == "notin") {
    requirement.op = op == "in" ? LabelOperator::kIn : LabelOperator::kNotIn;
    Take();
    return ParseSet(requirement);
  }
  if (op == "=" || op == "==") {
    requirement.op = LabelOperator::kIn;
  } else if (op == "!=") {
    requirement.op = LabelOperator::kNotIn;
  } else if (op == ">" || op == "<") {
    requirement.op = op == ">" ? LabelOperator::kGreaterThan : LabelOperator::kLessThan;
  } else {
    return Expected("one of =, ==, !=, in, notin, <, >");
  }
  Take();
  // `a=` means the empty value.
  requirement.values.emplace_back(IsWord(Peek()) ? Take() : std::string_view());
  return {};
}

// "(x,y)": nothing between two commas is the empty value; "()" is an empty set.
Result<void> LabelSelectorParser::ParseSet(LabelRequirement& requirement) {
  if (Peek() != "(") return Expected("'('");
  Take();
  if (Peek() == ")") {
    Take();
    return {};
  }
  while (true) {
    requirement.values.emplace_back(IsWord(Peek()) ? Take() : std::string_view());
    const std::string_view next = Peek();
    if (next != "," && next != ")") return Expected("',' or ')'");
    Take();
    if (next == ")") return {};
  }
}

std::string_view LabelSelectorParser::Peek() const {
  const std::size_t begin = rest_.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  const std::string_view text = rest_.substr(begin);
  return text.substr(0, TokenLength(text));
}

std::string_view LabelSelectorParser::Take() {
  const std::string_view token = Peek();
  if (!token.empty()) {
    rest_.remove_prefix(static_cast<std::size_t>(token.data() + token.size() - rest_.data()));
  }
  return token;
}

Error LabelSelectorParser::Expected(std::string_view what) const {
  return {.code = ErrorCode::kInvalidArgument,
          .message = "found '" + std::string(Peek()) + "', expected: " + std::string(what)};
}

}  // namespace api
