#pragma once

// The labels of a namespace as one text, about as long as in JSON: a tenant who creates namespaces
// writes a hundred thousand labels into each. A value; any thread.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/json/value.h"

namespace quota {

class LabelText {
 public:
  LabelText() = default;  // no labels
  // `labels` is metadata.labels; nullptr, or a value that is not an object, means no labels. Labels
  // that are not texts are left out.
  explicit LabelText(const json::Value* labels);

  // The value of the label; nullopt: there is none. Costs the logarithm of their number.
  [[nodiscard]] std::optional<std::string_view> Find(std::string_view key) const;
  void Visit(const std::function<void(std::string_view key, std::string_view value)>& visit) const;
  [[nodiscard]] std::size_t bytes() const { return text_.capacity(); }
  bool operator==(const LabelText&) const = default;  // no selector tells them apart

 private:
  std::string text_;  // "key=value,", sorted by key
};

}  // namespace quota
