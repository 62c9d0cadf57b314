// One quota: count, compare, write once.

#include <glog/logging.h>

#include "controllers/quota/quota_controller.h"

namespace controllers {

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
      continue;
    }
    const std::string why = AddUsage(source, quota, recount.observed);
    if (why.empty()) continue;
    trouble += (trouble.empty() ? "" : "; ") + why;
    unreadable.push_back({.kind = Obstacle::Kind::kUnreadable,
                          .resource = source.evaluator->resource.ToString(),
                          .names = source.names,
                          .why = why});
  }
  // A name that two evaluators share is known only if both answered.
  for (const std::string& name : unknown) recount.observed.used.Erase(name);
  ComplainOnce("count of " + quota.key.ToString(), trouble);
  reporter_.OnCount(quota.key, std::move(unreadable));
  return recount;
}

base::Task<QuotaController::Outcome> QuotaController::Reconcile(api::ObjectKey key) {
  using Kind = Outcome::Kind;
  const base::TimePoint now = context_.scheduler->Now();
  const quota::Quota* found = store_.Find(key);
  if (found == nullptr) co_return Outcome{};  // deleted: nothing of ours remains

  // Observe and decide. No suspension from here to the write below.
  Memory& memory = Remember(*found);
  const Recount recount = Count(*found);
  // A name enters status.hard together with its first count, if that is coming soon.
  const bool settled =
      found->has_status_hard && found->has_status_used && found->hard == found->status.hard;
  if (recount.pending && !settled) {
    co_return Outcome{Kind::kRevisit, options_.first_count_patience, "postponed"};
  }
  const auto desired = quota::DesiredStatus(*found, recount.observed, memory.charges.Held(now));
  if (!desired) {
    ComplainOnce("sum of " + key.ToString(), desired.error().message);
    co_return Outcome{Kind::kRetry, {}, "error"};
  }
  ComplainOnce("sum of " + key.ToString(), "");
  if (!quota::NeedsWrite(*found, *desired)) co_return UntilChargesExpire(memory, "unchanged");
  const base::TimePoint earliest = EarliestWrite(memory);
  if (earliest > now) co_return Outcome{Kind::kRevisit, earliest - now, "postponed"};
  co_return co_await Write(*found, *desired);
}

base::TimePoint QuotaController::EarliestWrite(const Memory& memory) const {
  const base::Duration ahead = options_.write_interval * (options_.write_burst - 1);
  return std::max(memory.not_before, memory.paid_until - ahead);
}

QuotaController::Outcome QuotaController::UntilChargesExpire(const Memory& memory,
                                                             std::string_view result) const {
  const auto expiry = memory.charges.NextExpiry();
  if (!expiry) return {Outcome::Kind::kDone, {}, result};
  return {Outcome::Kind::kRevisit, *expiry - context_.scheduler->Now(), result};
}

base::Task<QuotaController::Outcome> QuotaController::Write(quota::Quota quota,
                                                            quota::QuotaStatus desired) {
  {
    Memory& memory = Remember(quota);
    memory.in_flight = desired;
    memory.paid_until =
        std::max(memory.paid_until, context_.scheduler->Now()) + options_.write_interval;
  }
  const auto written = co_await PatchStatus(quota, desired);

  // The world moved on while we waited: the quota may be gone, or another one of the same name.
  const auto memory = memories_.find(quota.key);
  const bool same = memory != memories_.end() && memory->second.uid == quota.uid;
  if (same) memory->second.in_flight.reset();
  if (!written) co_return co_await AfterFailedWrite(quota.key, written.error());
  ComplainOnce("status of " + quota.key.ToString(), "");
  VLOG(1) << "status written quota_api=" << api_.name << " quota=" << quota.key.ToString()
          << " used=\"" << written->status.used.ToString() << "\"";
  if (!same) co_return Outcome{Outcome::Kind::kDone, {}, "written"};
  memory->second.written_version = written->resource_version;
  const Outcome outcome = UntilChargesExpire(memory->second, "written");
  store_.Apply(*written);
  co_return outcome;
}

base::Task<base::Result<quota::Quota>> QuotaController::PatchStatus(quota::Quota quota,
                                                                    quota::QuotaStatus desired) {
  client::ApiRequest request{
      .verb = "PATCH",
      .path = api_.resource.Path(quota.key.ns, quota.key.name, "status"),
      .content_type = std::string(client::kMergePatch),
      .body = quota::StatusPatch(quota, desired),
      .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(options_.write_timeout)};
  const auto answer = co_await client::DoJson(*context_.client, std::move(request));
  if (!answer) co_return answer.error();
  co_return quota::ParseQuota(*answer);
}

base::Task<QuotaController::Outcome> QuotaController::AfterFailedWrite(api::ObjectKey key,
                                                                       base::Error error) {
  using Kind = Outcome::Kind;
  if (error.Is(base::ErrorCode::kNotFound)) co_return Outcome{};  // the watch will say so
  if (error.Is(base::ErrorCode::kConflict)) {
    co_await Refresh(key);  // look again, never force
    co_return Outcome{Kind::kRetry, {}, "conflict"};
  }
  if (!error.Is(base::ErrorCode::kCancelled)) {
    ComplainOnce("status of " + key.ToString(), error.message);
  }
  co_return Outcome{Kind::kRetry, {}, "error"};
}

base::Task<void> QuotaController::Refresh(api::ObjectKey key) {
  client::ApiRequest request{
      .path = api_.resource.Path(key.ns, key.name),
      .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(options_.write_timeout)};
  const auto answer = co_await client::DoJson(*context_.client, std::move(request));
  if (!answer) co_return;  // the retry starts from what the watch has shown
  auto quota = quota::ParseQuota(*answer);
  if (quota) store_.Apply(std::move(*quota));
}

}  // namespace controllers
