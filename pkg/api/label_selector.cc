#include <algorithm>
#include <charconv>

#include "pkg/api/label_selector_parser.h"
#include "pkg/api/selector.h"

namespace api {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

Error BadLabel(std::string message) {
  return {.code = ErrorCode::kInvalidArgument, .message = std::move(message)};
}

std::optional<std::int64_t> ToInteger(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

bool IsComparison(LabelOperator op) {
  return op == LabelOperator::kGreaterThan || op == LabelOperator::kLessThan;
}

// Returns what is wrong with the requirement; "" if nothing.
std::string Check(const LabelRequirement& requirement) {
  if (std::string why = CheckLabelKey(requirement.key); !why.empty()) return why;
  const bool set = requirement.op == LabelOperator::kIn || requirement.op == LabelOperator::kNotIn;
  if (set && requirement.values.empty()) {
    return "key " + json::Quote(requirement.key) + ": the set of values must not be empty";
  }
  for (const std::string& value : requirement.values) {
    if (IsComparison(requirement.op) && !ToInteger(value)) {
      return "key " + json::Quote(requirement.key) + ": " + json::Quote(value) +
             " is not an integer";
    }
    if (std::string why = CheckLabelValue(value); !why.empty()) return why;
  }
  return {};
}

bool Compare(const LabelRequirement& requirement, std::string_view text) {
  const auto value = ToInteger(text);
  const auto bound = ToInteger(requirement.values.front());
  // As upstream: a label that is not an integer is neither greater nor less.
  if (!value || !bound) return false;
  return requirement.op == LabelOperator::kGreaterThan ? *value > *bound : *value < *bound;
}

bool Holds(const LabelRequirement& requirement, std::optional<std::string_view> value) {
  const auto& values = requirement.values;
  const bool listed = value && std::find(values.begin(), values.end(), *value) != values.end();
  switch (requirement.op) {
    case LabelOperator::kIn:
      return listed;
    case LabelOperator::kNotIn:
      // Also true for an object without the label, as in Kubernetes.
      return !listed;
    case LabelOperator::kExists:
      return value.has_value();
    case LabelOperator::kDoesNotExist:
      return !value.has_value();
    case LabelOperator::kGreaterThan:
    case LabelOperator::kLessThan:
      return value && Compare(requirement, *value);
  }
  return false;
}

Result<std::vector<std::string>> Strings(const json::Value* array) {
  std::vector<std::string> strings;
  if (array == nullptr || array->IsNull()) return strings;
  if (!array->IsArray()) return BadLabel("matchExpressions: values must be an array");
  for (const json::Value& element : *array->AsArray()) {
    if (!element.IsString()) return BadLabel("matchExpressions: values must be strings");
    strings.push_back(*element.AsString());
  }
  return strings;
}

std::optional<LabelOperator> OperatorNamed(std::string_view name) {
  if (name == "In") return LabelOperator::kIn;
  if (name == "NotIn") return LabelOperator::kNotIn;
  if (name == "Exists") return LabelOperator::kExists;
  if (name == "DoesNotExist") return LabelOperator::kDoesNotExist;
  return std::nullopt;
}

Result<LabelRequirement> ParseExpression(const json::Value& expression) {
  const std::string_view name = expression.StringAt({"operator"});
  const auto op = OperatorNamed(name);
  if (!op) return BadLabel(json::Quote(name) + " is not a valid label selector operator");
  auto values = Strings(expression.At({"values"}));
  if (!values) return values.error();
  const bool takes_values = *op == LabelOperator::kIn || *op == LabelOperator::kNotIn;
  if (!takes_values && !values->empty()) {
    return BadLabel("matchExpressions: values must be empty for the operator " + std::string(name));
  }
  return LabelRequirement{std::string(expression.StringAt({"key"})), *op, std::move(*values)};
}

// Appends the requirements of matchLabels or matchExpressions to `into`.
Result<void> AppendLabels(const json::Value* labels, std::vector<LabelRequirement>& into) {
  if (labels == nullptr || labels->IsNull()) return {};
  if (!labels->IsObject()) return BadLabel("matchLabels must be an object");
  for (const auto& [key, value] : *labels->AsObject()) {
    if (!value.IsString()) return BadLabel("matchLabels: values must be strings");
    into.push_back({key, LabelOperator::kIn, {*value.AsString()}});
  }
  return {};
}

Result<void> AppendExpressions(const json::Value* list, std::vector<LabelRequirement>& into) {
  if (list == nullptr || list->IsNull()) return {};
  if (!list->IsArray()) return BadLabel("matchExpressions must be an array");
  for (const json::Value& expression : *list->AsArray()) {
    auto requirement = ParseExpression(expression);
    if (!requirement) return requirement.error();
    into.push_back(std::move(*requirement));
  }
  return {};
}

Result<void> CheckAll(const std::vector<LabelRequirement>& requirements) {
  for (const LabelRequirement& requirement : requirements) {
    if (std::string why = Check(requirement); !why.empty()) return BadLabel(std::move(why));
  }
  return {};
}

}  // namespace

Result<LabelSelector> LabelSelector::Parse(std::string_view text) {
  auto requirements = LabelSelectorParser(text).Parse();
  const Result<void> checked =
      requirements ? CheckAll(*requirements) : Result<void>(requirements.error());
  if (!checked) return checked.error().Wrap("unable to parse requirement");
  LabelSelector selector;
  selector.requirements_ = std::move(*requirements);
  return selector;
}

Result<LabelSelector> LabelSelector::FromJson(const json::Value& value) {
  if (!value.IsObject()) return BadLabel("a label selector must be an object");
  LabelSelector selector;
  auto read = AppendLabels(value.At({"matchLabels"}), selector.requirements_);
  if (read) read = AppendExpressions(value.At({"matchExpressions"}), selector.requirements_);
  if (read) read = CheckAll(selector.requirements_);
  if (!read) return read.error();
  return selector;
}

bool LabelSelector::Matches(const LabelGetter& label) const {
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const LabelRequirement& requirement) {
                       return Holds(requirement, label(requirement.key));
                     });
}

bool LabelSelector::Matches(const json::Value* labels) const {
  return Matches([labels](std::string_view key) -> std::optional<std::string_view> {
    const json::Value* value = labels == nullptr ? nullptr : labels->At({key});
    if (value == nullptr || !value->IsString()) return std::nullopt;
    return *value->AsString();
  });
}

}  // namespace api
