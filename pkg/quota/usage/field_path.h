#pragma once

// The path of a field in an object, as in additionalPrinterColumns[].jsonPath of a
// CustomResourceDefinition: ".spec.size", ".spec.disks[*].size",
// ".metadata.labels['example.com/tier']", which may be written "['example\.com/tier']", and
// ".metadata.labels.example\.com/tier". Values; any thread.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"

namespace quota::usage {

class FieldPath {
 public:
  static constexpr std::size_t kMostSteps = 16;
  static constexpr std::size_t kMostBytes = 1024;

  struct Step {
    std::string name;        // of a member
    bool each = false;       // every element of a list; `name` is "" then
    bool bracketed = false;  // written as ['name'], which messages keep; it is the same step
    bool operator==(const Step& other) const { return name == other.name && each == other.each; }
  };
  using Steps = std::span<const Step>;

  // Errors: kMalformed, what is wrong and where in the text. Indexes, filters, slices and recursion
  // are not supported: they have no amount for each object, or cannot be watched field by field.
  static base::Result<FieldPath> Parse(std::string_view text);

  [[nodiscard]] Steps steps() const { return steps_; }
  // True if it leads through every element of some list.
  [[nodiscard]] bool HasEach() const;
  // True if the field is the status of the object, or in it.
  [[nodiscard]] bool IsInStatus() const { return steps_.front().name == "status"; }
  // "spec.disks[*].size", "metadata.labels[example.com/tier]": for messages, as it was written.
  [[nodiscard]] std::string ToString() const { return TextOf(steps_); }
  static std::string TextOf(Steps steps);
  // A text that is read as this path.
  [[nodiscard]] std::string ToText() const;
  // For json::Projection, in which lists are transparent.
  [[nodiscard]] std::string Projected() const;
  // The steps to the field, or to the first list on the way to it.
  [[nodiscard]] Steps Named() const;
  // A CEL expression for the optional value at these steps, none of them `each`:
  // "object.?spec.?disks". Its evaluation fails if a list is on the way. `variable` is a name.
  static std::string ToCel(std::string_view variable, Steps steps);

  bool operator==(const FieldPath& other) const = default;

 private:
  explicit FieldPath(std::vector<Step> steps) : steps_(std::move(steps)) {}

  std::vector<Step> steps_;  // never empty; begins with a name
};

}  // namespace quota::usage
