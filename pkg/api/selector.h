#pragma once

// Selectors of lists, watches and webhooks, as values (apimachinery v0.36.3, pkg/labels and
// pkg/fields).
//
//   LabelSelector::Parse("a=b,c!=d,e in (x,y),f notin (z),g,!h")
//   LabelSelector::FromJson({"matchLabels": …, "matchExpressions": […]})
//   FieldSelector::Parse("metadata.name=x,status.phase!=Running")
//
// All requirements must hold; a selector without any matches everything. An absent label satisfies
// != and notin. Immutable after construction; any thread.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/json/value.h"

namespace api {

enum class LabelOperator { kIn, kNotIn, kExists, kDoesNotExist, kGreaterThan, kLessThan };

struct LabelRequirement {
  std::string key;
  LabelOperator op = LabelOperator::kExists;
  // kIn and kNotIn have at least one, kGreaterThan and kLessThan have one integer.
  std::vector<std::string> values;
  bool operator==(const LabelRequirement&) const = default;
};

// Returns the value of a label; nullopt if the object does not have it.
using LabelGetter = std::function<std::optional<std::string_view>(std::string_view key)>;

class LabelSelector {
 public:
  LabelSelector() = default;  // everything
  // Parses the form of the query parameter. Errors: kInvalidArgument.
  static base::Result<LabelSelector> Parse(std::string_view text);
  // Reads the form in API objects, a JSON object. Errors: kInvalidArgument, also for null: the
  // field decides whether an absent selector matches everything or nothing.
  static base::Result<LabelSelector> FromJson(const json::Value& selector);

  [[nodiscard]] bool Matches(const LabelGetter& label) const;
  // `labels` is metadata.labels; nullptr, or a value that is not an object, means no labels.
  [[nodiscard]] bool Matches(const json::Value* labels) const;
  [[nodiscard]] bool empty() const { return requirements_.empty(); }
  [[nodiscard]] const std::vector<LabelRequirement>& requirements() const { return requirements_; }
  bool operator==(const LabelSelector&) const = default;  // the same requirements in this order

 private:
  std::vector<LabelRequirement> requirements_;
};

struct FieldRequirement {
  std::string field;
  std::string value;
  bool equal = true;  // false for !=
};

class FieldSelector {
 public:
  FieldSelector() = default;  // everything
  // In a value, a backslash escapes a comma, an equals sign and itself. Errors: kInvalidArgument.
  static base::Result<FieldSelector> Parse(std::string_view text);

  // `field` returns the text of a field, "" if it is not set.
  [[nodiscard]] bool Matches(const std::function<std::string(std::string_view)>& field) const;
  [[nodiscard]] bool empty() const { return requirements_.empty(); }
  [[nodiscard]] const std::vector<FieldRequirement>& requirements() const { return requirements_; }

 private:
  std::vector<FieldRequirement> requirements_;
};

// Returns "" if `text` is a valid label key ("app.kubernetes.io/name") or label value, else what is
// wrong with it.
std::string CheckLabelKey(std::string_view text);
std::string CheckLabelValue(std::string_view text);

}  // namespace api
