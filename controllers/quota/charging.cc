// The quota controller as admission's book: what is known of quotas, and charges written to them.

#include <glog/logging.h>

#include <algorithm>

#include "controllers/quota/quota_controller.h"
#include "pkg/api/resource_version.h"

namespace controllers {
namespace {

// While the quotas cannot be followed, a namespace is read again no sooner.
constexpr std::chrono::milliseconds kRefreshAge{250};
constexpr std::chrono::milliseconds kSyncPoll{20};
// Within this time a new watch shows what became of quotas before it, or that it cannot.
constexpr std::chrono::seconds kShowsQuotas{1};
// Longer than the answer to a list may take.
constexpr std::chrono::seconds kListRemembered{30};

struct LeaveAtEnd {
  base::Gate& gate;
  ~LeaveAtEnd() { gate.Leave(); }
};

}  // namespace

bool QuotaController::Current() const {
  const informers::ReflectorState& state = quotas_->state();
  if (!store_.synced() || state.trouble) return false;
  // A watch that was opened after a gap has yet to show what happened in it, or that it cannot.
  const base::TimePoint now = context_.scheduler->Now();
  const base::Duration reopened = informers::WatchGap::kShort + kShowsQuotas;
  return state.gap.ShownAt(now, kShowsQuotas) <= now && pulse_.ShownAt(now, reopened) <= now;
}

std::vector<const quota::Quota*> QuotaController::InNamespace(std::string_view ns) const {
  std::vector<const quota::Quota*> quotas;
  for (const api::ObjectKey& key : store_.InNamespace(ns)) quotas.push_back(store_.Find(key));
  return quotas;
}

const quota::Charge* QuotaController::Covering(const quota::Quota& quota, const quota::Uid& uid,
                                               std::string_view version) const {
  const auto memory = memories_.find(quota.key);
  if (memory == memories_.end() || memory->second.uid != quota.uid) return nullptr;
  return memory->second.admitted.Covering(context_.scheduler->Now(), uid, version);
}

std::uint64_t QuotaController::Cover(const quota::Quota& quota, const quota::Uid& uid,
                                     std::string_view version) {
  Memory* const memory = FindMemory(quota);
  if (memory == nullptr) return 0;
  return memory->admitted.Cover(context_.scheduler->Now(), uid, version);
}

bool QuotaController::HasLater(const quota::Evaluator& evaluator, const quota::Uid& uid,
                               std::string_view resource_version) const {
  const TrackedResource* tracked = tracker_.Find(evaluator.resource);
  return tracked != nullptr && tracked->HasLater(uid, resource_version);
}

const quota::ClassTable* QuotaController::ClassesOf(const quota::Evaluator& evaluator) const {
  return tracker_.BesideOf(evaluator).classes;
}

quota::ResourceList QuotaController::AdvanceOf(const quota::Quota& quota) const {
  const auto memory = memories_.find(quota.key);
  if (memory == memories_.end() || memory->second.uid != quota.uid) return {};
  return memory->second.advance.Usable(context_.scheduler->Now());
}

bool QuotaController::Draw(const admission::ChargePlan& plan) {
  const base::TimePoint now = context_.scheduler->Now();
  Memory* const memory = FindMemory(plan.quota);
  const auto added = plan.Added();
  if (memory == nullptr || !added || !quota::Contains(memory->advance.Usable(now), *added)) {
    return false;
  }
  const base::TimePoint charged = memory->advance.UsableSince(now);
  memory->advance.Draw(now, *added);
  Hold(*memory, plan.quota, plan.grants, charged);
  NoticeCrowd(*memory, plan);
  return true;
}

void QuotaController::NoticeCrowd(Memory& memory, const admission::ChargePlan& plan) {
  const base::TimePoint now = context_.scheduler->Now();
  const auto added = plan.Added();
  const auto creations = std::ranges::count_if(
      plan.grants, [](const admission::Grant& grant) { return grant.version.empty(); });
  if (added) memory.advance.OnGranted(now, *added, static_cast<std::size_t>(creations));
  if (Leading() && memory.advance.WantsMore(now)) queue_.Add(plan.quota.key);
}

base::Task<base::Result<void>> QuotaController::Charge(admission::ChargePlan plan,
                                                       base::TimePoint deadline) {
  const quota::Quota quota = plan.quota;
  const quota::Quota* known = store_.Find(quota.key);
  if (known == nullptr || known->uid != quota.uid) co_return Changed(quota);
  const std::shared_ptr<base::Gate> gate = Remember(*known).gate;
  const bool inside = co_await gate->Enter(deadline);
  if (!inside) {
    co_return base::Error{.code = base::ErrorCode::kTimeout,
                          .message = "quota " + quota.key.ToString() + " is being written"};
  }
  const LeaveAtEnd leave{*gate};
  const auto charged = co_await ChargeInside(std::move(plan), deadline);
  // Whatever came of it, a recount may have found the gate shut.
  Memory* const memory = FindMemory(quota);
  if (memory != nullptr && std::exchange(memory->postponed, false)) queue_.Add(quota.key);
  co_return charged;
}

base::Task<base::Result<void>> QuotaController::ChargeInside(admission::ChargePlan plan,
                                                             base::TimePoint deadline) {
  const quota::Quota& quota = plan.quota;
  const quota::Quota* current = store_.Find(quota.key);
  const base::TimePoint sent = context_.scheduler->Now();
  const bool same = current != nullptr && current->uid == quota.uid &&
                    current->resource_version == quota.resource_version;
  if (!same) co_return Changed(quota);
  Memory& remembered = Remember(quota);
  quota::Advance& advance = remembered.advance;
  if (!plan.advance.empty() && advance.Usable(sent) != plan.advance) co_return Changed(quota);
  // What part of the grants it pays for, others have held since it was charged.
  const base::TimePoint paid_since = advance.UsableSince(sent);
  // It is gone whatever comes of this: the write may be made though it seems to fail.
  remembered.postponed = remembered.postponed || !advance.Left().empty();
  advance.Drop();
  const quota::QuotaStatus desired{.hard = quota.status.hard, .used = std::move(plan.used)};
  if (desired == quota.status) {  // it is all paid for
    Hold(remembered, quota, plan.grants, paid_since);
    co_return base::Result<void>();
  }
  const auto written = co_await WriteStatus(quota, desired, deadline);
  if (!written) {
    const base::Error error = written.error();
    co_return co_await AfterFailedCharge(quota, error, deadline);
  }
  Memory* const memory = FindMemory(quota);
  if (memory == nullptr) co_return base::Result<void>();  // gone meanwhile: nothing limits any more
  memory->written_version = written->resource_version;
  Hold(*memory, quota, plan.grants, paid_since);
  NoticeCrowd(*memory, plan);
  NoticeOvertaken(*written);
  store_.Apply(*written);
  co_return base::Result<void>();
}

// A conflict is only worth deciding again once the newest version is known.
base::Task<base::Error> QuotaController::AfterFailedCharge(quota::Quota quota, base::Error error,
                                                           base::TimePoint deadline) {
  const bool moved = error.Is(base::ErrorCode::kConflict) || error.Is(base::ErrorCode::kNotFound);
  if (!moved) co_return error;
  const base::Error changed = Changed(quota);
  const auto live = co_await ReadLive(std::move(quota), deadline);
  if (!live && !live.error().Is(base::ErrorCode::kNotFound)) co_return live.error();
  co_return changed;
}

void QuotaController::Hold(Memory& memory, const quota::Quota& quota,
                           const std::vector<admission::Grant>& grants, base::TimePoint sent) {
  for (const admission::Grant& grant : grants) {
    quota::ResourceList seen;
    const bool is_seen = IsSeen(quota, grant, seen);
    // Reckoned from a version that is newer than what the watch has shown: more was seen than is
    // stored, and must not pass for the growth.
    const bool behind =
        !grant.version.empty() && !HasLater(*grant.evaluator, grant.uid, grant.version);
    if (behind) seen = quota::Smaller(seen, quota::Excess(grant.charge.amount, grant.charge.added));
    memory.admitted.Grant(sent, grant.uid, grant.charge, is_seen ? &seen : nullptr, grant.version,
                          grant.number);
    for (const std::string& other : grant.others) {
      memory.admitted.Cover(sent, grant.uid, other);
    }
  }
  memory.last_grant = sent;
  queue_.AddAfter(quota.key, options_.charge_hold);
}

// The API server's own plugin, where it is on by mistake, charges again what we have charged: what
// it adds is never used up by an object, while we admit.
void QuotaController::NoticeExpired(const quota::Quota& quota, Memory& memory,
                                    base::TimePoint now) {
  const quota::ExpiredCharges own = memory.admitted.Expire(now);
  if (own.charges > 0) {
    options_.admission->OnChargesExpired(api_.name, own.charges);
    memory.charges.OnExpired(own.unseen);
  }
  const std::size_t foreign = memory.charges.TakeExpired();
  // What a leader charged in advance and gave back looks like that to those who follow.
  if (foreign == 0 || !Leading()) return;
  observer_.OnForeignChargesExpired(foreign);
  if (!memory.last_grant || now - *memory.last_grant > 2 * options_.charge_hold) return;
  ComplainOnce("charging of " + quota.key.ToString(),
               "somebody else charges usage that no object accounts for; if the API server's own "
               "quota plugin is on, switch it off or do not enforce this quota API here");
}

bool QuotaController::IsSeen(const quota::Quota& quota, const admission::Grant& grant,
                             quota::ResourceList& usage) const {
  for (const UsageSource& source : tracker_.SourcesOf(quota.hard)) {
    if (source.tracked == nullptr || source.evaluator->resource != grant.evaluator->resource) {
      continue;
    }
    const auto facts = source.tracked->ledger().Find(quota.key.ns, grant.uid);
    if (!facts) return false;
    if (!quota::MatchesObject(quota.selector, *facts, source.evaluator->scopes)) return true;
    if (quota::CountsParts(quota.selector, *facts)) {
      usage = quota::UsageOfParts(quota.selector, *facts, source.evaluator->scopes);
      return true;
    }
    usage = KnownUsageOf(*source.evaluator, *source.tracked, quota.key.ns, grant.uid, *facts);
    return true;
  }
  return false;
}

void QuotaController::Release(const api::ObjectKey& key, const quota::Uid& uid,
                              std::uint64_t grant) {
  const auto memory = memories_.find(key);
  if (memory == memories_.end()) return;
  memory->second.admitted.Release(uid, grant);
  queue_.Add(key);
}

base::Task<base::Result<void>> QuotaController::Refresh(std::string ns, base::TimePoint deadline) {
  bool stopping = false;  // then a sleep takes no time
  while (!store_.synced() && !stopping && context_.scheduler->Now() < deadline) {
    co_await context_.scheduler->Sleep(kSyncPoll);
    stopping = co_await base::Stopping();
  }
  if (!store_.synced()) {
    co_return base::Error{.code = base::ErrorCode::kUnavailable, .message = "not listed yet"};
  }
  const base::TimePoint now = context_.scheduler->Now();
  const auto last = refreshed_.find(ns);
  if (Current() || (last != refreshed_.end() && now - last->second.at < kRefreshAge)) {
    co_return base::Result<void>();
  }
  client::ApiRequest request{
      .path = api_.resource.Path(ns),
      .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now)};
  const std::string known = quotas_->state().resource_version;
  const auto answer = co_await client::DoJson(*context_.client, std::move(request));
  if (!answer) co_return answer.error();
  const json::Value* items = answer->At({"items"});
  const json::Array* list = items != nullptr ? items->AsArray() : nullptr;
  if (list == nullptr) {
    co_return base::Error{.code = base::ErrorCode::kMalformed, .message = "the list has no items"};
  }
  TakeList(ns, std::string(answer->StringAt({"metadata", "resourceVersion"})), *list, known);
  co_return base::Result<void>();
}

// While the list was on its way the watch may have gone on, or a later list have come: what went
// since must not come back, so an older list says nothing of what exists. Unless it is older than
// what was known when it was asked for: then the server was put back.
void QuotaController::TakeList(const std::string& ns, std::string version,
                               const json::Array& quotas, const std::string& known) {
  const bool put_back = api::IsOlderVersion(version, known).value_or(false);
  if (put_back) OnPutBack();
  const auto last = refreshed_.find(ns);
  const auto covers = [&](const std::string& other) {
    return other.empty() || api::IsOlderVersion(version, other) == std::optional(false);
  };
  const bool newest = put_back || (covers(quotas_->state().resource_version) &&
                                   (last == refreshed_.end() || covers(last->second.version)));
  if (newest) {
    store_.Replace(ns, quotas, put_back);
  } else {
    for (const json::Value& item : quotas) {
      auto quota = quota::ParseQuota(item, api_.selectors);
      if (quota) store_.Apply(std::move(*quota));
    }
  }
  const base::TimePoint now = context_.scheduler->Now();
  std::erase_if(refreshed_,
                [&](const auto& entry) { return now - entry.second.at > kListRemembered; });
  if (newest) refreshed_[ns] = {.at = now, .version = std::move(version)};
}

bool QuotaController::CountCharges(ChargeCount& count) const {
  constexpr int kQuotasAStep = 512;
  auto memory = memories_.upper_bound(count.place);
  for (int i = 0; memory != memories_.end() && i < kQuotasAStep; ++i, ++memory) {
    count.held += memory->second.admitted.size();
    count.place = memory->first;
  }
  return memory != memories_.end();
}

void QuotaController::SetHold(base::Duration hold) {
  options_.charge_hold = hold;
  options_.foreign_hold = hold;
  ForMany().charge_hold = true;
}

// True: some charge is held, which may end at another time now.
bool QuotaController::NoticeHold(const quota::Quota& quota) {
  Memory* const memory = FindMemory(quota);
  if (memory == nullptr) return false;
  memory->admitted.SetHold(options_.charge_hold);
  memory->charges.SetHold(options_.foreign_hold);
  return memory->admitted.NextExpiry() || memory->charges.NextExpiry();
}

}  // namespace controllers
