// Usage that depends on more than one object: on classes, and on the owners of tied objects.

#include <algorithm>

#include "controllers/quota/quota_controller.h"

namespace controllers {

// Adds what the source's objects use under the quota's names to `observed`. What cannot be summed
// is unknown; the answer says why.
//
// Names that classes concern are summed by themselves, so a class that is missing hurts no other
// name. They are all summed, not only those that the evaluator owns: an object counts under each
// name it uses, as upstream, as soon as its kind counts for the quota at all.
std::string QuotaController::AddUsage(const UsageSource& source, const quota::Quota& quota,
                                      quota::Observed& observed) const {
  const std::vector<std::string> by_class = quota::NamesOfClasses(*source.evaluator, quota.hard);
  const auto depends = [&](const std::string& name) {
    return std::ranges::find(by_class, name) != by_class.end();
  };
  std::string trouble;
  const auto add = [&](const std::vector<std::string>& names, const quota::Beside& beside) {
    const auto sum = source.tracked->ledger().Sum(quota.key.ns, quota.selector,
                                                  source.evaluator->scopes, names, beside);
    const auto added = sum ? observed.used.Add(*sum) : base::Result<void>(sum.error());
    if (added) return;
    std::ranges::copy_if(names, std::back_inserter(observed.unknown), [&](const auto& name) {
      return std::ranges::find(source.names, name) != source.names.end();
    });
    if (trouble.empty()) trouble = added.error().message;
  };
  std::vector<std::string> others;
  std::ranges::copy_if(source.names, std::back_inserter(others), std::not_fn(depends));
  if (!others.empty()) add(others, {});
  if (!by_class.empty() && source.classes != nullptr) {
    add(by_class, tracker_.BesideOf(*source.evaluator));
  }
  return trouble;
}

// What `facts` of the changed object are worth to the quota now; of what is unknown nothing is
// said.
quota::ResourceList QuotaController::UsageOf(const quota::Quota& quota,
                                             const quota::Evaluator& evaluator,
                                             const quota::LedgerChange& change,
                                             const quota::Facts& facts) const {
  if (quota::CountsParts(quota.selector, facts)) {
    return quota::UsageOfParts(quota.selector, facts, evaluator.scopes);
  }
  if (!evaluator.classes && !evaluator.owners) return facts.usage;
  const TrackedResource* tracked = tracker_.Find(evaluator.resource);
  if (tracked == nullptr) return facts.usage;
  const auto usage =
      tracked->ledger().UsageOf(change.ns, change.uid, facts, tracker_.BesideOf(evaluator));
  return usage ? *usage : facts.usage;
}

// Only objects that refer to the class use anything by it.
void QuotaController::OnClassChange(const quota::Evaluator& evaluator, const std::string& name) {
  const TrackedResource* tracked = tracker_.Find(evaluator.resource);
  if (tracked == nullptr) return;  // nothing is counted, so nothing changed
  for (const api::ObjectKey& key : store_.All()) {
    const bool named = !quota::NamesOfClasses(evaluator, store_.Find(key)->hard).empty();
    if (named && tracked->ledger().Refers(key.ns, name)) queue_.Add(key);
  }
}

void QuotaController::OnClassState(const quota::Evaluator& evaluator) {
  tracker_.OnResourceState();
  for (const api::ObjectKey& key : store_.All()) {
    if (quota::NamesOfClasses(evaluator, store_.Find(key)->hard).empty()) continue;
    reporter_.OnResourceState(key);
    queue_.Add(key);
  }
}

}  // namespace controllers
