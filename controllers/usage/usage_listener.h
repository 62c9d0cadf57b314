#pragma once

// Who is told of what objects use, and several of them as one. Single-threaded.

#include <string>
#include <string_view>
#include <vector>

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

// Tells all that were added, in this order. None may be added or removed while they are told.
class UsageListeners final : public UsageListener {
 public:
  // `listener` must outlive this, or be removed before. REQUIRES: it is not there.
  void Add(UsageListener& listener);
  // REQUIRES: it was added.
  void Remove(const UsageListener& listener);
  [[nodiscard]] bool empty() const { return all_.empty(); }
  // True if all others that are there now were added later.
  [[nodiscard]] bool IsFirst(const UsageListener& listener) const {
    return !all_.empty() && all_.front() == &listener;
  }

  void OnUsageChange(const quota::Evaluator& evaluator,
                     const quota::LedgerChange& change) override {
    for (UsageListener* listener : all_) listener->OnUsageChange(evaluator, change);
  }
  void OnResourceState(const quota::Evaluator& evaluator) override {
    for (UsageListener* listener : all_) listener->OnResourceState(evaluator);
  }
  void OnClassChange(const quota::Evaluator& evaluator, const std::string& name) override {
    for (UsageListener* listener : all_) listener->OnClassChange(evaluator, name);
  }
  void OnClassState(const quota::Evaluator& evaluator) override {
    for (UsageListener* listener : all_) listener->OnClassState(evaluator);
  }
  void OnShown(std::string_view ns, const quota::Uid& uid) override {
    for (UsageListener* listener : all_) listener->OnShown(ns, uid);
  }

 private:
  std::vector<UsageListener*> all_;
};

}  // namespace controllers
