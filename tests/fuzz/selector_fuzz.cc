// Label and field selectors, as query parameters and as objects: read as written, and each operator
// is the opposite of its opposite.

#include "pkg/api/selector.h"

#include <algorithm>

#include "tests/fuzz/target.h"

namespace {

using api::FieldSelector;
using api::LabelOperator;
using api::LabelRequirement;
using api::LabelSelector;

std::string TextOf(const LabelRequirement& requirement) {
  std::string values;
  for (const std::string& value : requirement.values) {
    values.append(&value == &requirement.values.front() ? "" : ",").append(value);
  }
  const bool one = requirement.values.size() == 1;
  switch (requirement.op) {
    case LabelOperator::kIn:
      return requirement.key + (one ? "=" + values : " in (" + values + ")");
    case LabelOperator::kNotIn:
      return requirement.key + (one ? "!=" + values : " notin (" + values + ")");
    case LabelOperator::kExists:
      return requirement.key;
    case LabelOperator::kDoesNotExist:
      return "!" + requirement.key;
    case LabelOperator::kGreaterThan:
      return requirement.key + ">" + values;
    case LabelOperator::kLessThan:
      return requirement.key + "<" + values;
  }
  return "";
}

std::string TextOf(const LabelSelector& selector) {
  std::string text;
  for (const LabelRequirement& requirement : selector.requirements()) {
    text.append(text.empty() ? "" : ",").append(TextOf(requirement));
  }
  return text;
}

std::vector<std::string> Sorted(std::vector<std::string> values) {
  std::sort(values.begin(), values.end());
  return values;
}

void CheckLabels(const LabelSelector& selector) {
  const std::string text = TextOf(selector);
  const auto again = LabelSelector::Parse(text);
  fuzz::Require(again.has_value(), "a selector can be written");
  fuzz::Require(again->requirements().size() == selector.requirements().size(), "all of it");
  for (std::size_t i = 0; i < again->requirements().size(); ++i) {
    const LabelRequirement& a = again->requirements()[i];
    const LabelRequirement& b = selector.requirements()[i];
    fuzz::Require(a.key == b.key && a.op == b.op, "the same requirement");
    fuzz::Require(Sorted(a.values) == Sorted(b.values), "with the same values");
    fuzz::Require(api::CheckLabelKey(a.key).empty(), "about a key that can be");
  }
}

// Objects whose label has the first requested value, another value, and none.
void CheckMatching(const LabelSelector& selector) {
  for (const LabelRequirement& requirement : selector.requirements()) {
    const std::string first = requirement.values.empty() ? "v" : requirement.values.front();
    json::Value labels = json::Object();
    const auto matches = [&](std::string_view op) {
      std::string text = op == "!" ? "!" + requirement.key : requirement.key;
      if (op == "=" || op == "!=") text.append(op).append(first);
      const auto one = LabelSelector::Parse(text);
      fuzz::Require(one.has_value(), "a simple selector");
      return one->Matches(&labels);
    };
    for (const char* value : {"", "other"}) {
      fuzz::Require(matches("=") != matches("!="), "equal or not");
      fuzz::Require(matches("") != matches("!"), "there or not");
      labels.Make({requirement.key}) = *value == '\0' ? first : std::string(value);
    }
    (void)selector.Matches(&labels);
  }
  (void)selector.Matches(static_cast<const json::Value*>(nullptr));
}

std::string Escaped(const std::string& value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == ',' || c == '=') text += '\\';
    text += c;
  }
  return text;
}

void CheckFields(const FieldSelector& selector) {
  std::string text;
  for (const auto& [field, value, equal] : selector.requirements()) {
    text.append(text.empty() ? "" : ",").append(field);
    text.append(equal ? "=" : "!=").append(Escaped(value));
  }
  const auto again = FieldSelector::Parse(text);
  fuzz::Require(again.has_value(), "a field selector can be written");
  fuzz::Require(again->requirements().size() == selector.requirements().size(), "all of it");
  for (std::size_t i = 0; i < again->requirements().size(); ++i) {
    const auto& a = again->requirements()[i];
    const auto& b = selector.requirements()[i];
    fuzz::Require(a.field == b.field && a.value == b.value && a.equal == b.equal, "as written");
  }
  (void)selector.Matches([](std::string_view field) { return std::string(field); });
}

FUZZ_TARGET(selector) {
  if (const auto labels = LabelSelector::Parse(input)) {
    CheckLabels(*labels);
    CheckMatching(*labels);
  }
  if (const auto fields = FieldSelector::Parse(input)) CheckFields(*fields);
  const auto object = json::Parse(input);
  if (!object) return;
  if (const auto labels = LabelSelector::FromJson(*object)) {
    CheckLabels(*labels);
    CheckMatching(*labels);
  }
}

}  // namespace
