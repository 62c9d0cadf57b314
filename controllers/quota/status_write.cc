// One write of a quota's status, and what others write meanwhile: a write is made once, looked up
// where its answer was lost, and never taken for somebody else's, nor theirs for ours.

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "controllers/quota/quota_controller.h"
#include "pkg/api/managed_fields.h"
#include "pkg/api/resource_version.h"

namespace controllers {
namespace {

// The write may have been made: no answer came, or one that is also given after it was made (500
// and 504 where etcd took too long, 502 and 503 of a proxy that lost the answer).
bool IsUnanswered(const base::Error& error) {
  if (error.http_status >= 500) return true;
  return error.http_status == 0 &&
         (error.Is(base::ErrorCode::kTimeout) || error.Is(base::ErrorCode::kUnavailable));
}

bool AnyLower(const quota::ResourceList& before, const quota::ResourceList& after) {
  return std::any_of(after.begin(), after.end(), [&](const auto& entry) {
    const quota::Quantity* old = before.Find(entry.first);
    return old != nullptr && entry.second < *old;
  });
}

}  // namespace

base::Error QuotaController::Changed(const quota::Quota& quota) {
  return {.code = base::ErrorCode::kConflict,
          .message = "quota " + quota.key.ToString() + " changed meanwhile"};
}

base::Task<base::Result<quota::Quota>> QuotaController::WriteStatus(quota::Quota quota,
                                                                    quota::QuotaStatus desired,
                                                                    base::TimePoint deadline) {
  {
    Memory& memory = Remember(quota);
    memory.in_flight = desired;
    memory.shown = false;
  }
  const std::string known = quotas_->state().resource_version;
  base::Result<quota::Quota> written = co_await PatchStatus(quota, desired, deadline);
  const bool unanswered = !written && IsUnanswered(written.error());
  if (unanswered) {
    const auto live = co_await ReadLive(quota, deadline);
    if (live && IsOurWrite(*live, quota, desired)) {
      written = live->quota;
    } else if (live && live->quota.resource_version != quota.resource_version) {
      written = Changed(quota);
    }
  }
  EndFlight(quota, written ? written->resource_version : "");
  if (unanswered && !written) NoticeUnanswered(quota, desired);
  // A new version is later than any that was shown before it was asked for.
  const bool changed = written && written->resource_version != quota.resource_version;
  if (changed && api::IsOlderVersion(written->resource_version, known).value_or(false)) OnPutBack();
  co_return written;
}

// Whether this is what our write made, whose answer was lost. Two replicas that charge one pod each
// write the same, so it takes the server's record of who did; without one it is decided again: both
// may then be charged for a while, but never one for two.
bool QuotaController::IsOurWrite(const Live& live, const quota::Quota& before,
                                 const quota::QuotaStatus& desired) const {
  if (live.quota.status != desired || live.quota.resource_version == before.resource_version) {
    return false;
  }
  return std::ranges::all_of(desired.used, [&](const auto& entry) {
    const auto& [name, amount] = entry;
    return amount == before.status.used.Get(name) ||
           api::UpdaterOf(live.object, {"status", "used", name}) == options_.field_manager;
  });
}

base::Task<base::Result<quota::Quota>> QuotaController::PatchStatus(quota::Quota quota,
                                                                    quota::QuotaStatus desired,
                                                                    base::TimePoint deadline) {
  const base::Duration left = deadline - context_.scheduler->Now();
  client::ApiRequest request{
      .verb = "PATCH",
      .path = api_.resource.Path(quota.key.ns, quota.key.name, "status"),
      .content_type = std::string(client::kMergePatch),
      .body = quota::StatusPatch(quota, desired),
      .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(left)};
  if (!options_.field_manager.empty()) {
    request.query.emplace_back("fieldManager", options_.field_manager);
  }
  const auto answer = co_await client::DoJson(*context_.client, std::move(request));
  if (!answer) co_return answer.error();
  co_return quota::ParseQuota(*answer, api_.selectors);
}

base::Task<base::Result<QuotaController::Live>> QuotaController::ReadLive(
    quota::Quota quota, base::TimePoint deadline) {
  const base::Duration left = deadline - context_.scheduler->Now();
  const quota::Quota* before = store_.Find(quota.key);
  const std::string known = before != nullptr ? before->resource_version : "";
  client::ApiRequest request{
      .path = api_.resource.Path(quota.key.ns, quota.key.name),
      .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(left)};
  auto answer = co_await client::DoJson(*context_.client, std::move(request));
  if (!answer) {
    if (answer.error().Is(base::ErrorCode::kNotFound)) store_.Forget(quota.key, quota.uid);
    co_return answer.error();
  }
  auto live = quota::ParseQuota(*answer, api_.selectors);
  if (!live) co_return live.error();
  if (live->uid != quota.uid) {
    store_.Forget(quota.key, quota.uid);
    co_return base::Error{.code = base::ErrorCode::kNotFound,
                          .message = "quota " + quota.key.ToString() + " was replaced"};
  }
  const quota::Quota* held = store_.Find(quota.key);
  const bool same = held != nullptr && held->resource_version == known;
  if (same && api::IsOlderVersion(live->resource_version, known).value_or(false)) {
    store_.Correct(*live);
    OnPutBack();
  } else {
    store_.Apply(*live);
  }
  co_return Live{std::move(*live), std::move(*answer)};
}

// Until the quotas were listed again, everything that is read says so once more.
void QuotaController::OnPutBack() {
  const std::string& shown = quotas_->state().resource_version;
  if (std::exchange(put_back_from_, shown) == shown) return;
  LOG(WARNING) << "the API server was put back to an earlier state, listing everything again"
               << " quota_api=" << api_.name << " version=" << shown;
  refreshed_.clear();
  quotas_->Relist();
  tracker_.Relist();
}

void QuotaController::NoticeForeignWrite(const quota::Quota& before, const quota::Quota& after) {
  Memory& memory = Remember(after);
  const std::optional<quota::ResourceList> unanswered = std::exchange(memory.unanswered, {});
  HoldForeign(unanswered ? quota::Smaller(before.status.used, *unanswered) : before.status.used,
              after);
  NoticeForeignDecrease(before, after);
}

void QuotaController::HoldForeign(const quota::ResourceList& before, const quota::Quota& after,
                                  const quota::ResourceList* held_then) {
  Memory& memory = Remember(after);
  quota::ResourceList counted = Count(after).observed.used;
  // What does not fit is not added: then more is held than need be, and never too little.
  const auto own = memory.Outstanding();
  if (own) (void)counted.Add(*own);
  memory.charges.OnForeignWrite(context_.scheduler->Now(), before, after.status.used, counted,
                                held_then);
}

void QuotaController::NoticeForeignDecrease(const quota::Quota& before, const quota::Quota& after) {
  if (!AnyLower(before.status.used, after.status.used)) return;
  Memory& memory = Remember(after);
  memory.admitted.OnLoweredByOthers();
  const base::TimePoint now = context_.scheduler->Now();
  memory.advance.OnLoweredByOthers(now);
  // Both writers wait for each other's watch only once: a wait under way is not prolonged.
  if (memory.not_before <= now) memory.not_before = now + options_.foreign_decrease_patience;
}

// If it was made, others have raised `used` from there. Not where the watch has shown each version.
void QuotaController::NoticeUnanswered(const quota::Quota& quota,
                                       const quota::QuotaStatus& desired) {
  Memory* const memory = FindMemory(quota);
  const quota::Quota* known = store_.Find(quota.key);
  if (memory == nullptr || known == nullptr || memory->shown) return;
  const quota::ResourceList least =
      quota::Smaller(memory->unanswered.value_or(quota.status.used), desired.used);
  if (known->resource_version == quota.resource_version) {
    memory->unanswered = least;
  } else if (known->status != desired) {
    HoldForeign(least, *known);  // beyond what was noticed when it was seen
  }
}

// Between what was known before the write and what followed it, the change that others made cannot
// be seen: we lowered `used`, and they charged as much again.
void QuotaController::NoticeOvertaken(const quota::Quota& written) {
  const quota::Quota* known = store_.Find(written.key);
  if (known == nullptr || known->uid != written.uid) return;
  const auto older = api::IsOlderVersion(written.resource_version, known->resource_version);
  if (older != std::optional(true) || known->status == written.status) return;
  NoticeForeignWrite(written, *known);
  queue_.Add(known->key);
}

void QuotaController::EndFlight(const quota::Quota& quota, const std::string& version) {
  Memory* const memory = FindMemory(quota);
  if (memory == nullptr) return;
  memory->in_flight.reset();
  // The same version was found to be stored still by this write, so no earlier one was made.
  if (!version.empty()) memory->unanswered.reset();
  for (const LookAlike& seen : std::exchange(memory->look_alikes, {})) {
    if (seen.after.resource_version == version) continue;
    HoldForeign(seen.before.status.used, seen.after, &seen.held);
    NoticeForeignDecrease(seen.before, seen.after);
    queue_.Add(seen.after.key);
  }
}

}  // namespace controllers
