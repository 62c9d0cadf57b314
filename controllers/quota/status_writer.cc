#include "controllers/quota/status_writer.h"

#include <glog/logging.h>

#include <utility>

#include "pkg/api/resource_version.h"
#include "pkg/client/api_error.h"

namespace controllers {
namespace {

// True if the write may have been made: there was no answer, or an answer that is also given after
// a write (500 and 504 if etcd took too long, 502 and 503 of a proxy that lost the answer).
bool MayBeWritten(const base::Error& error) {
  if (error.http_status >= 500) return true;
  return error.http_status == 0 &&
         (error.Is(base::ErrorCode::kTimeout) || error.Is(base::ErrorCode::kUnavailable));
}

// True if the quota is not the one any more that the write was decided from.
bool IsMoved(const base::Error& error) {
  return error.Is(base::ErrorCode::kConflict) || error.Is(base::ErrorCode::kNotFound);
}

}  // namespace

base::Task<base::Result<quota::Quota>> StatusWriter::Write(PendingWrite write,
                                                           base::TimePoint deadline) {
  const quota::Quota quota = write->quota;
  const std::string shown = quotas_.shown_version();
  client::ApiRequest request{
      .verb = "PATCH",
      .path = quotas_.api().resource.Path(quota.key.ns, quota.key.name, "status"),
      .query = {{"fieldManager", "quota-controller-manager"}},
      .content_type = std::string(client::kMergePatch),
      .body =
          quota::StatusPatch(quota, write->status, write->text, quotas_.api().form, write->further),
      .timeout = TimeUntil(deadline, scheduler_.Now())};
  // The watch may show the write before its answer arrives. Account::OnQuota() recognises it.
  const auto answer = co_await client::DoJson(client_, std::move(request));
  auto written = answer ? quota::ParseQuota(*answer, quotas_.api().form)
                        : base::Result<quota::Quota>(answer.error());
  if (written) {
    write.OnAnswer(written->resource_version);
    quotas_.store().Apply(*written);
    // A write makes a version that is later than any version before its request. An older one
    // proves that the server was restored.
    const bool changed = written->resource_version != quota.resource_version;
    if (changed && api::IsKnownOlder(written->resource_version, shown)) quotas_.OnPutBack();
  }
  const base::Error error = answer ? base::Error() : answer.error();
  // A charge for admission is written by any replica, and while nothing else is to be written. So
  // refusals are noted here, and not where recounts fail.
  Account* const account = quotas_.accounts().Find(quota);
  if (account != nullptr && (answer || client::IsRefusedForGood(error))) {
    quotas_.log().Set("status of", quota.key.ToString(), error.message);
    reporter_.OnWrite(quota.key, error.message);
  }
  // A recount is decided again from the stored state, whatever became of this one.
  const bool finds = !answer && (IsMoved(error) || (write->reserved && MayBeWritten(error)));
  const std::uint64_t entry = write->reserved ? write->list.entries().back().n : 0;
  // The watch often shows what was written instead before the conflict is answered. A watch that
  // lags shows versions that are not the newest, so the quota is read after the next conflict.
  const bool unread = finds && error.Is(base::ErrorCode::kConflict) && account != nullptr &&
                      !account->writes.conflict_unread && IsShownAfter(quota);
  if (account != nullptr && (finds || written)) account->writes.conflict_unread = unread;
  if (unread) {
    written = admission::Changed(quota);
  } else if (finds) {
    written = co_await Find(quota, entry, error, deadline);
  }
  const bool not_made = !answer && (IsMoved(error) || client::IsRefusedForGood(error));
  End(std::move(write), written, not_made);
  co_return written;
}

bool StatusWriter::IsShownAfter(const quota::Quota& quota) const {
  const quota::Quota* const known = quotas_.store().Find(quota.key);
  return known != nullptr && known->uid == quota.uid &&
         known->resource_version != quota.resource_version;
}

void StatusWriter::End(PendingWrite write, const base::Result<quota::Quota>& written,
                       bool not_made) {
  const api::ObjectKey key = write->quota.key;
  Account* const account = quotas_.accounts().Find(write->quota);
  if (account == nullptr || !account->Began(write)) return write.Forget();
  const quota::Quota* const stored = quotas_.store().Find(key);
  CHECK(stored != nullptr) << "an account of a quota that is gone: " << key.ToString();
  const quota::Quota& known = *stored;
  const auto counted = [&] { return QuotaView(usage_, known).Counted(account->known()); };
  if (written) return account->Commit(scheduler_.Now(), std::move(write), *written, known, counted);
  const bool found = IsMoved(written.error());  // live: it is not stored
  const auto outcome =
      not_made || found ? PendingWrite::Outcome::kNotMade : PendingWrite::Outcome::kUnknown;
  account->Abort(scheduler_.Now(), std::move(write), outcome, known, counted);
}

// Finds out whether a write was made. It has this entry of ours, if it reserves.
base::Task<base::Result<quota::Quota>> StatusWriter::Find(quota::Quota quota, std::uint64_t entry,
                                                          base::Error error,
                                                          base::TimePoint deadline) {
  const bool moved = IsMoved(error);
  auto live = co_await quotas_.Read(quota, deadline);
  if (!live) co_return moved || live.error().Is(base::ErrorCode::kNotFound) ? live.error() : error;
  if (!moved) {
    const auto list = accounting::ReservationList::Parse(live->reservations, live->uid);
    if (list && list->Find(quotas_.accounts().author.by, entry) != nullptr) co_return live;
  }
  if (moved || live->resource_version != quota.resource_version)
    co_return admission::Changed(quota);
  co_return error;
}

}  // namespace controllers
