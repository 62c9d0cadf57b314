#pragma once

// Changes that affect many quotas at once.

#include <map>
#include <set>
#include <string>

#include "pkg/quota/evaluator.h"

namespace controllers {

// Evaluators are copied: the tracker may drop one before the walk visits the quotas.
struct BroadChanges {
  struct Classes {
    quota::Evaluator evaluator;
    std::set<std::string> names;  // that were added, changed or removed
  };
  bool recount_all = false;
  bool report_all = false;                                // check the conditions of all quotas
  std::map<api::GroupResource, quota::Evaluator> states;  // resources whose state changed
  std::map<api::GroupResource, quota::Evaluator> class_states;
  std::map<api::GroupResource, Classes> classes;
};

}  // namespace controllers
