#pragma once

// Changes that affect many quotas at once.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "pkg/quota/evaluator.h"

namespace controllers {

// Evaluators are copied: the tracker may drop one before the walk visits the quotas. A resource may
// have had several since.
struct BroadChanges {
  using Key = std::pair<api::GroupResource, std::uint64_t>;  // with the evaluator's revision
  static Key KeyOf(const quota::Evaluator& evaluator) {
    return {evaluator.resource, evaluator.revision};
  }
  struct Classes {
    quota::Evaluator evaluator;
    std::set<std::string> names;  // that were added, changed or removed
  };
  bool recount_all = false;
  bool report_all = false;                 // check the conditions of all quotas
  std::map<Key, quota::Evaluator> states;  // resources whose state changed
  std::map<Key, quota::Evaluator> class_states;
  std::map<Key, Classes> classes;
};

}  // namespace controllers
