#include "controllers/usage/drift_finder.h"

#include <glog/logging.h>

namespace controllers {
namespace {

// Each step takes some hundred microseconds at most.
constexpr std::size_t kObjectsAStep = 50'000;
constexpr int kRepairsAStep = 64;

// Adds |after - before| of every name to `sum`.
void AddDifference(const std::shared_ptr<const quota::Facts>& before,
                   const std::shared_ptr<const quota::Facts>& after, quota::ResourceList& sum) {
  quota::ResourceList difference = after ? after->usage : quota::ResourceList{};
  if (before) difference.Add(before->usage, -1);
  for (const auto& [name, amount] : difference) {
    if (!amount.IsZero()) sum.Add({{name, amount.Mul(amount.Sign())}});
  }
}

}  // namespace

void DriftFinder::OnEvent(const quota::Uid& uid) {
  touched_.insert(uid);
  suspects_.erase(uid);
}

void DriftFinder::OnListed(api::ObjectKey object, const quota::Uid& uid,
                           quota::VersionMark version) {
  ++listed_count_;
  const auto sighting = ledger_.Sight(object.ns, uid, version);
  if (sighting == quota::Ledger::Sighting::kSame || touched_.contains(uid)) return;
  suspects_[uid] = {.object = std::move(object), .listed = true};
}

void DriftFinder::OnRestart() {
  ledger_.BeginAudit();
  suspects_.clear();
  listed_count_ = 0;
}

bool DriftFinder::LookForVanished() {
  const auto suspect = [this](std::string_view ns, const quota::Uid& uid) {
    if (!touched_.contains(uid)) suspects_[uid].object.ns = std::string(ns);
  };
  return ledger_.VisitUnseen(vanished_place_, kObjectsAStep, suspect);
}

std::vector<api::ObjectKey> DriftFinder::Unread(std::size_t most) const {
  std::vector<api::ObjectKey> unread;
  for (const auto& [uid, suspect] : suspects_) {
    if (unread.size() == most) break;
    if (suspect.listed && !suspect.facts) unread.push_back(suspect.object);
  }
  return unread;
}

bool DriftFinder::IsUnread(const quota::Uid& uid) const {
  const auto suspect = suspects_.find(uid);
  return suspect != suspects_.end() && !suspect->second.facts;
}

void DriftFinder::OnRead(const quota::Uid& uid, quota::ObjectFacts facts,
                         quota::VersionMark version) {
  const auto at = suspects_.find(uid);
  if (at == suspects_.end()) return;
  Suspect& suspect = at->second;
  suspect.facts = std::move(facts);
  suspect.version = version;
  if (suspect.listed && !IsHeld(suspect, uid)) return;
  // No drift: the object exists after all, or only fields that do not count have changed.
  if (suspect.listed) Hold(uid, suspect);
  suspects_.erase(at);
}

std::optional<quota::LedgerChange> DriftFinder::Hold(const quota::Uid& uid, Suspect& suspect) {
  CHECK(suspect.facts) << suspect.object.ToString() << " is repaired before it was read";
  return ledger_.Set(suspect.object.ns, uid, std::move(*suspect.facts), suspect.version,
                     quota::NameMarkOf(suspect.object.name));
}

bool DriftFinder::IsHeld(const Suspect& suspect, const quota::Uid& uid) const {
  const auto held = ledger_.Find(suspect.object.ns, uid);
  const quota::Tie* tie = ledger_.FindTie(suspect.object.ns, uid);
  const bool tied_alike = tie != nullptr ? suspect.facts->tie == *tie : !suspect.facts->tie;
  return held && *held == suspect.facts->now && tied_alike;
}

bool DriftFinder::Settle(DriftReport& report) {
  report.listed = listed_count_;
  for (int repairs = 0; repairs < kRepairsAStep && !suspects_.empty(); ++repairs) {
    auto next = suspects_.extract(suspects_.begin());
    const quota::Uid& uid = next.key();
    Suspect& suspect = next.mapped();
    CHECK(!touched_.contains(uid)) << suspect.object.ToString() << " was shown, and is a suspect";
    // It could not be read, so its facts are unknown. It stays as it is.
    if (suspect.listed && !suspect.facts) continue;
    const std::string& ns = suspect.object.ns;
    const bool was_held = ledger_.Find(ns, uid) != nullptr;
    auto change = suspect.listed ? Hold(uid, suspect) : ledger_.Remove(ns, uid);
    if (!change) continue;
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
  return !suspects_.empty();
}

}  // namespace controllers
