#pragma once

// Who is told of what objects use. Single-threaded.

#include <string>
#include <string_view>

#include "pkg/quota/evaluator.h"
#include "pkg/quota/ledger.h"

namespace controllers {

class UsageListener {
 public:
  virtual ~UsageListener() = default;
  // Facts of an object changed, by an event or by time.
  virtual void OnUsageChange(const quota::Evaluator& evaluator,
                             const quota::LedgerChange& change) = 0;
  // The resource became synced, failed or recovered.
  virtual void OnResourceState(const quota::Evaluator& evaluator) = 0;
  // A class that the evaluator reads was added, changed or removed.
  virtual void OnClassChange(const quota::Evaluator& evaluator, const std::string& name) = 0;
  // The classes became known or unknown.
  virtual void OnClassState(const quota::Evaluator& evaluator) = 0;
  // An event has shown an object or its deletion, whether or not its facts changed.
  virtual void OnShown(std::string_view ns, const quota::Uid& uid) = 0;
};

}  // namespace controllers
