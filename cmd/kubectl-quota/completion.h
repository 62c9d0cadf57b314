#pragma once

// What may stand where the cursor is: for `kubectl_complete-quota`, which kubectl calls.

#include <string>
#include <vector>

#include "cmd/kubectl-quota/arguments.h"

namespace kubectl_quota {

// What completes the last word: words that are known, or names that the cluster knows.
struct Completion {
  enum class Names { kNone, kNamespaces, kQuotas, kClusterQuotas, kWorkloads, kFiles };
  std::vector<std::string> words;
  Names names = Names::kNone;
  [[nodiscard]] bool AsksCluster() const { return names != Names::kNone && names != Names::kFiles; }
  std::string typed;  // the beginning of the word
  Place place;        // of the flags before it
};

// `words` are those after `kubectl quota`; the last one is being typed, and may be "".
Completion CompletionOf(const std::vector<std::string>& words);

// As kubectl reads it: a word a line, those that begin with what was typed, then ":" and what the
// shell is to do: 4, no files; 0, files.
std::string CompletionText(const Completion& completion, const std::vector<std::string>& names);

}  // namespace kubectl_quota
