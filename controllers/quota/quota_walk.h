#pragma once

// What concerns many quotas at once, and a walk over all of them that tells each: in steps, so that
// others have the loop in between, and once for all that came up before it began.
//
// What comes up during a walk is for the next one, so that no quota is passed over. No I/O, one
// thread.

#include <map>
#include <set>
#include <string>

#include "controllers/quota/quota_store.h"
#include "pkg/quota/evaluator.h"

namespace controllers {

// Evaluators are held by value: the tracker may drop one before the walk comes by.
struct Concerns {
  struct Classes {
    quota::Evaluator evaluator;
    std::set<std::string> names;  // that came, changed or went
  };
  bool recount_all = false;
  bool report_all = false;                                // look anew at what stands in the way
  std::map<api::GroupResource, quota::Evaluator> states;  // whose state changed
  std::map<api::GroupResource, quota::Evaluator> class_states;
  std::map<api::GroupResource, Classes> classes;
};

class QuotaWalk {
 public:
  // Of a turn of the loop: some hundred microseconds.
  static constexpr std::size_t kQuotasAStep = 64;

  // For the next walk.
  Concerns& next() {
    any_next_ = true;
    return next_;
  }
  // True if there is something to walk for.
  [[nodiscard]] bool wanted() const { return any_next_; }

  // Begins a walk. REQUIRES: wanted(), and the walk before has ended.
  void Begin() {
    now_ = std::exchange(next_, {});
    any_next_ = false;
    place_ = {};
  }
  // Hands the next few quotas and what may concern them to `visit`, which must not change the
  // store. False: that was the last step.
  template <typename Visit>
  bool Step(const QuotaStore& store, Visit visit) {
    return store.VisitSome(place_, kQuotasAStep,
                           [&](const quota::Quota& quota) { visit(quota, now_); });
  }

 private:
  Concerns now_;
  Concerns next_;
  bool any_next_ = false;
  QuotaStore::Place place_;
};

}  // namespace controllers
