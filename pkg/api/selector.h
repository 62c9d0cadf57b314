#pragma once

// Selectors of lists, watches and webhooks, as values (apimachinery v0.36.3, pkg/labels and
// pkg/fields).
//
//   LabelSelector::Parse("a=b,c!=d,e in (x,y),f notin (z),g,!h")
//   LabelSelector::FromJson({"matchLabels": …, "matchExpressions": […]})
//   FieldSelector::Parse("metadata.name=x,status.phase!=Running")
//
// All requirements must hold; a selector without any matches everything. A label that is absent
// satisfies != and notin. Immutable after construction; any thread.

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
  std::vector<std::string> values;  // kIn, kNotIn: at least one; greater, less: one integer
};

// The value of a label, nullopt if the object has no such label.
using LabelGetter = std::function<std::optional<std::string_view>(std::string_view key)>;

class LabelSelector {
 public:
  LabelSelector() = default;  // everything
  // The form of the query parameter. Errors: kInvalidArgument.
  static base::Result<LabelSelector> Parse(std::string_view text);
  // The form of API objects, which is an object. Errors: kInvalidArgument, also for null: whether
  // an absent selector means all or nothing depends on the field.
  static base::Result<LabelSelector> FromJson(const json::Value& selector);

  [[nodiscard]] bool Matches(const LabelGetter& label) const;
  // `labels` as in metadata.labels; nullptr, or no object, is no label at all.
  [[nodiscard]] bool Matches(const json::Value* labels) const;
  [[nodiscard]] bool empty() const { return requirements_.empty(); }
  [[nodiscard]] const std::vector<LabelRequirement>& requirements() const { return requirements_; }

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
  // Backslash escapes comma, equals sign and itself in a value. Errors: kInvalidArgument.
  static base::Result<FieldSelector> Parse(std::string_view text);

  // `field` gives the text of a field, "" if it is not set.
  [[nodiscard]] bool Matches(const std::function<std::string(std::string_view)>& field) const;
  [[nodiscard]] bool empty() const { return requirements_.empty(); }
  [[nodiscard]] const std::vector<FieldRequirement>& requirements() const { return requirements_; }

 private:
  std::vector<FieldRequirement> requirements_;
};

// Whether `text` may be a label's key ("app.kubernetes.io/name") or value; "" if it may, else why
// not.
std::string CheckLabelKey(std::string_view text);
std::string CheckLabelValue(std::string_view text);

}  // namespace api
