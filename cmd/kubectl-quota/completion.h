#pragma once

// Completes the word at the cursor, for `kubectl_complete-quota`, which kubectl calls.

#include <string>
#include <vector>

#include "cmd/kubectl-quota/arguments.h"

namespace kubectl_quota {

// The candidates for the last word: fixed words, or names from the cluster.
struct Completion {
  enum class Names {
    kNone,
    kNamespaces,
    kQuotas,
    kClusterQuotas,
    kWorkloads,
    kFiles,
    kCommands,
  };
  std::vector<std::string> words;
  Names names = Names::kNone;
  [[nodiscard]] bool AsksCluster() const {
    return names != Names::kNone && names != Names::kFiles && names != Names::kCommands;
  }
  std::string typed;  // the beginning of the word
  Place place;        // from the flags before it
};

// `words` are the words after `kubectl quota`. The last one is incomplete and may be "".
Completion CompletionOf(const std::vector<std::string>& words);

// Returns the form that kubectl reads: a line for each word with the typed prefix, then ":" and a
// directive for the shell (4: no files; 0: files).
std::string CompletionText(const Completion& completion, const std::vector<std::string>& names);

// Returns the words with two of them for each "-n=VALUE" and "--name=VALUE", as kubectl reads them:
// the parser would take the "=" of a short flag for a part of the value, and an empty value for a
// missing one. Words behind "--", and values of flags, stay as they are.
std::vector<std::string> ForParser(const std::vector<std::string>& words);

}  // namespace kubectl_quota
