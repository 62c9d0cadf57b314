#include "controllers/quota/drift_finder.h"

#include <glog/logging.h>

namespace controllers {
namespace {

// Adds |after - before| of every name to `sum`. An overflow leaves a name out: the sum is a measure
// for operators, not an amount that anything is decided from.
void AddDifference(const std::shared_ptr<const quota::Facts>& before,
                   const std::shared_ptr<const quota::Facts>& after, quota::ResourceList& sum) {
  quota::ResourceList difference = after ? after->usage : quota::ResourceList{};
  if (before && !difference.Add(before->usage, -1)) return;
  for (const auto& [name, amount] : difference) {
    if (amount.IsZero()) continue;
    const auto positive = amount.Mul(amount.Sign());
    if (positive && !sum.Add({{name, *positive}})) VLOG(1) << "drift sum overflows name=" << name;
  }
}

}  // namespace

void DriftFinder::OnEvent(const quota::Uid& uid) {
  touched_.insert(uid);
  suspects_.erase(uid);
}

void DriftFinder::OnListed(std::string_view ns, const quota::Uid& uid, quota::ObjectFacts facts) {
  ++listed_count_;
  listed_.insert(uid);
  if (touched_.contains(uid)) return;
  const auto held = ledger_.Find(ns, uid);
  const quota::Tie* tie = ledger_.FindTie(ns, uid);
  const bool tied_alike = tie != nullptr ? facts.tie == *tie : !facts.tie;
  if (held && *held == facts.now && tied_alike) return;
  suspects_[uid] = {.ns = std::string(ns), .listed = true, .facts = std::move(facts)};
}

void DriftFinder::OnListedUnreadable(const quota::Uid& uid) {
  ++listed_count_;
  listed_.insert(uid);
}

void DriftFinder::OnRestart() {
  listed_.clear();
  suspects_.clear();
  listed_count_ = 0;
}

void DriftFinder::OnListEnd() {
  ledger_.ForEach([this](std::string_view ns, const quota::Uid& uid) {
    if (listed_.contains(uid) || touched_.contains(uid)) return;
    suspects_[uid] = {.ns = std::string(ns), .listed = false, .facts = {}};
  });
  // From here on only the suspects matter.
  listed_ = {};
  touched_ = {};
}

DriftReport DriftFinder::Settle() {
  DriftReport report{.listed = listed_count_};
  for (auto& [uid, suspect] : suspects_) Repair(uid, std::move(suspect), report);
  suspects_.clear();
  return report;
}

void DriftFinder::Repair(const quota::Uid& uid, Suspect suspect, DriftReport& report) {
  const bool was_held = ledger_.Find(suspect.ns, uid) != nullptr;
  auto change = suspect.listed ? ledger_.Set(suspect.ns, uid, std::move(suspect.facts))
                               : ledger_.Remove(suspect.ns, uid);
  if (!change) return;
  if (!suspect.listed) {
    ++report.drift.vanished;
  } else if (was_held) {
    ++report.drift.different;
  } else {
    ++report.drift.missing;
  }
  AddDifference(change->before, change->after, report.usage);
  report.changes.push_back(std::move(*change));
}

}  // namespace controllers
