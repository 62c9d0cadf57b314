#pragma once

// Parses the query form of a label selector into requirements, without checking keys and values.
// Private to this folder. For one use; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/selector.h"
#include "pkg/base/error.h"

namespace api {

class LabelSelectorParser {
 public:
  explicit LabelSelectorParser(std::string_view text) : rest_(text) {}
  base::Result<std::vector<LabelRequirement>> Parse();

 private:
  base::Result<LabelRequirement> ParseRequirement();
  base::Result<void> ParseOperator(LabelRequirement& requirement);
  base::Result<void> ParseSet(LabelRequirement& requirement);

  // The next token: a word, an operator sign, or "" at the end. Words may look like keywords.
  [[nodiscard]] std::string_view Peek() const;
  std::string_view Take();
  [[nodiscard]] base::Error Expected(std::string_view what) const;

  std::string_view rest_;
};

}  // namespace api
