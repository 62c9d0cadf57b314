// One quota: count, compare, write once.

#include <glog/logging.h>

#include <algorithm>
#include <iterator>

#include "controllers/quota/quota_controller.h"

namespace controllers {
namespace {

// Within this time after a standstill watches were opened again and have shown what was stored.
constexpr std::chrono::seconds kCatchUp{4};

// Inside a gate that nobody else was in.
class Inside {
 public:
  explicit Inside(std::shared_ptr<base::Gate> gate) : gate_(std::move(gate)) {
    CHECK(gate_->TryEnter());
  }
  ~Inside() { gate_->Leave(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  std::shared_ptr<base::Gate> gate_;
};

}  // namespace

std::vector<std::string> QuotaController::Recount::Behind() const {
  std::vector<std::string> behind = observed.unknown;
  behind.insert(behind.end(), observed.partial.begin(), observed.partial.end());
  return behind;
}

bool QuotaController::MayBeDoneSoon(const UsageSource& source) const {
  if (source.known_absent) return false;
  if (context_.scheduler->Now() - source.wanted_since > options_.first_count_patience) return false;
  return !source.trouble;
}

QuotaController::Recount QuotaController::Count(const quota::Quota& quota) {
  Recount recount;
  std::vector<std::string>& unknown = recount.observed.unknown;
  std::string trouble;
  std::vector<Obstacle> unreadable;
  for (const UsageSource& source : tracker_.SourcesOf(quota.hard)) {
    if (source.tracked == nullptr || !source.tracked->synced()) {
      recount.pending = recount.pending || MayBeDoneSoon(source);
      unknown.insert(unknown.end(), source.names.begin(), source.names.end());
      // What they will count by class, once they are listed, is not known either.
      const bool coming = source.evaluator->classes && !source.known_absent;
      if (coming)
        std::ranges::copy(quota::NamesOfClasses(*source.evaluator, quota.hard),
                          std::back_inserter(unknown));
      continue;
    }
    // What was charged before the trouble ends meanwhile, and what was stored is not shown.
    const base::TimePoint now = context_.scheduler->Now();
    const base::TimePoint behind_until =
        std::max(source.tracked->behind_until(), pulse_.ShownAt(now, kCatchUp));
    if (behind_until > now) {
      std::ranges::copy(source.names, std::back_inserter(recount.observed.partial));
      if (behind_until != base::TimePoint::max()) {
        recount.partial_until =
            std::max(recount.partial_until.value_or(behind_until), behind_until);
      }
    }
    for (Obstacle& obstacle : AddUsage(source, quota, recount.observed)) {
      trouble += (trouble.empty() ? "" : "; ") + obstacle.why;
      unreadable.push_back(std::move(obstacle));
    }
  }
  // A name that two evaluators share is known only if both answered.
  for (const std::string& name : unknown) recount.observed.used.Erase(name);
  ComplainOnce("count of " + quota.key.ToString(), trouble);
  reporter_.OnCount(quota.key, std::move(unreadable), unknown);
  return recount;
}

base::Task<QuotaController::Outcome> QuotaController::Reconcile(api::ObjectKey key) {
  using Kind = Outcome::Kind;
  const base::TimePoint now = context_.scheduler->Now();
  const quota::Quota* found = store_.Find(key);
  if (found == nullptr) co_return Outcome{};  // deleted: nothing of ours remains

  // Observe and decide. No suspension from here to the write below.
  Memory& memory = Remember(*found);
  if (memory.gate->busy()) {  // admission writes it; then it looks again
    memory.postponed = true;
    co_return Outcome{Kind::kDone, {}, "postponed"};
  }
  const Recount recount = Count(*found);
  memory.partial_until = recount.partial_until;
  // A name enters status.hard together with its first count, if that is coming soon.
  const bool settled =
      found->has_status_hard && found->has_status_used && found->hard == found->status.hard;
  if (recount.pending && !settled) {
    co_return Outcome{Kind::kRevisit, options_.first_count_patience, "postponed"};
  }
  if (!memory.met_all) MeetCharges(*found, memory, recount);
  quota::ResourceList held = memory.charges.Held(now);
  NoticeExpired(*found, memory, now);
  memory.charges.KeepOverdue(recount.Behind());
  memory.advance.DropIdle(now);
  const auto own = memory.Outstanding();
  const auto all = own ? held.Add(*own) : base::Result<void>(own.error());
  auto desired = all ? quota::DesiredStatus(Guarded(*found), recount.observed, held)
                     : base::Result<quota::QuotaStatus>(all.error());
  if (!desired) {
    ComplainOnce("sum of " + key.ToString(), desired.error().message);
    co_return Outcome{Kind::kRetry, {}, "error"};
  }
  ComplainOnce("sum of " + key.ToString(), "");
  quota::NextAdvance advance;
  if (!quota::NeedsWrite(*found, *desired)) {
    advance = AdvanceFor(*found, memory, recount);
    if (advance.usage.empty() || !desired->used.Add(advance.usage)) {
      co_return UntilChargesExpire(memory, "unchanged");
    }
  }
  if (!Leading()) co_return UntilChargesExpire(memory, "following");
  const base::TimePoint earliest = EarliestWrite(memory);
  if (earliest > now) co_return Outcome{Kind::kRevisit, earliest - now, "postponed"};
  co_return co_await Write(*found, *desired, std::move(advance));
}

// Only on top of a status that is true: others hold what they see `used` rise by.
quota::NextAdvance QuotaController::AdvanceFor(const quota::Quota& quota, const Memory& memory,
                                               const Recount& recount) const {
  if (!recount.Behind().empty() || !Leading()) return {};
  return memory.advance.Next(context_.scheduler->Now(), quota.status.hard, quota.status.used);
}

// What `used` has above the first count of a name may be charges by others, of which the objects
// are yet to come: this process may be the next of a replica that was ended a moment ago.
void QuotaController::MeetCharges(const quota::Quota& quota, Memory& memory,
                                  const Recount& recount) {
  memory.met_all = true;
  quota::ResourceList counted;
  quota::ResourceList used;
  for (const auto& [name, amount] : quota.status.used) {
    const quota::Quantity* count = recount.observed.used.Find(name);
    if (count == nullptr) {
      memory.met_all = false;
    } else if (memory.met.insert(name).second) {
      counted.Set(name, *count);
      used.Set(name, amount);
    }
  }
  if (used.empty()) return;
  const auto own = memory.Outstanding();
  for (const auto& [name, amount] : own ? *own : quota::ResourceList()) {
    const auto sum = counted.Get(name).Add(amount);
    if (used.Find(name) != nullptr && sum) counted.Set(name, *sum);
  }
  memory.charges.OnForeignWrite(context_.scheduler->Now(), counted, used, counted);
}

base::Result<quota::ResourceList> QuotaController::Memory::Outstanding() const {
  quota::ResourceList outstanding = admitted.Outstanding();
  const auto all = outstanding.Add(advance.Left());
  if (!all) return all.error();
  return outstanding;
}

base::TimePoint QuotaController::EarliestWrite(const Memory& memory) const {
  const base::Duration ahead = options_.write_interval * (options_.write_burst - 1);
  return std::max(memory.not_before, memory.paid_until - ahead);
}

QuotaController::Outcome QuotaController::UntilChargesExpire(const Memory& memory,
                                                             std::string_view result) const {
  if (memory.charges.AnyExpired()) return {Outcome::Kind::kRevisit, {}, result};
  auto expiry = memory.charges.NextExpiry();
  for (const auto& own : {memory.admitted.NextExpiry(), memory.advance.NextCheck()}) {
    if (!expiry || (own && *own < *expiry)) expiry = own;
  }
  const auto& whole = memory.partial_until;
  // It may have passed while the status was written.
  if (whole && (!expiry || *whole < *expiry)) expiry = whole;
  if (!expiry) return {Outcome::Kind::kDone, {}, result};
  return {Outcome::Kind::kRevisit, *expiry - context_.scheduler->Now(), result};
}

base::Task<QuotaController::Outcome> QuotaController::Write(quota::Quota quota,
                                                            quota::QuotaStatus desired,
                                                            quota::NextAdvance advance) {
  const base::TimePoint now = context_.scheduler->Now();
  std::optional<base::Result<quota::Quota>> written;
  {
    Memory& memory = Remember(quota);
    memory.paid_until = std::max(memory.paid_until, now) + options_.write_interval;
    const Inside inside(memory.gate);
    if (!advance.usage.empty()) observer_.OnAdvance(quota, advance.usage);
    written = co_await WriteStatus(quota, desired, now + options_.write_timeout);
  }
  // The world moved on while we waited: the quota may be gone, or another one of the same name.
  Memory* const memory = FindMemory(quota);
  if (!*written) {
    const base::Error error = written->error();
    co_return co_await AfterFailedWrite(std::move(quota), error);
  }
  const quota::Quota& stored = **written;
  ComplainOnce("status of " + quota.key.ToString(), "");
  VLOG(1) << "status written quota_api=" << api_.name << " quota=" << quota.key.ToString()
          << " used=\"" << stored.status.used.ToString() << "\"";
  if (memory == nullptr) co_return Outcome{Outcome::Kind::kDone, {}, "written"};
  memory->written_version = stored.resource_version;
  memory->advance.Put(context_.scheduler->Now(), now, std::move(advance));
  NoticeOvertaken(stored);
  const Outcome outcome = UntilChargesExpire(*memory, "written");
  store_.Apply(stored);
  co_return outcome;
}

base::Task<QuotaController::Outcome> QuotaController::AfterFailedWrite(quota::Quota quota,
                                                                       base::Error error) {
  using Kind = Outcome::Kind;
  if (error.Is(base::ErrorCode::kNotFound)) co_return Outcome{};  // the watch will say so
  if (error.Is(base::ErrorCode::kConflict)) {
    // Look again, never force. Where that fails, the retry starts from what the watch has shown.
    const base::TimePoint deadline = context_.scheduler->Now() + options_.write_timeout;
    (void)co_await ReadLive(std::move(quota), deadline);
    co_return Outcome{Kind::kRetry, {}, "conflict"};
  }
  if (!error.Is(base::ErrorCode::kCancelled)) {
    ComplainOnce("status of " + quota.key.ToString(), error.message);
  }
  co_return Outcome{Kind::kRetry, {}, "error"};
}

// A name that admission does not guard yet stays out of status.hard: what is enforced is what
// stands there.
quota::Quota QuotaController::Guarded(const quota::Quota& quota) const {
  quota::Quota guarded = quota;
  if (!options_.guarded) return guarded;
  for (const UsageSource& source : tracker_.SourcesOf(quota.hard)) {
    // Nor one whose kind is not served: what counts under other names must not wait for it.
    const bool countable = source.tracked != nullptr || !source.evaluator->classes ||
                           !source.evaluator->classes->usage_of_kind;
    if (countable && options_.guarded(*source.evaluator, quota.key.ns)) continue;
    for (const std::string& name : source.names) {
      if (quota.status.hard.Find(name) == nullptr) guarded.hard.Erase(name);
    }
  }
  return guarded;
}

}  // namespace controllers
