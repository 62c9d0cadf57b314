#include "controllers/quota/status_writer.h"

#include <glog/logging.h>

#include <utility>

#include "pkg/accounting/timing.h"
#include "pkg/api/resource_version.h"
#include "pkg/client/api_error.h"

namespace controllers {
namespace {

const api::GroupVersionResource kNamespaces{"", "v1", "namespaces"};

// While the quotas cannot be watched, a namespace is read at most this often.
constexpr std::chrono::milliseconds kRefreshAge{250};
constexpr std::chrono::milliseconds kSyncPoll{20};
// Two relists because of a restore are at least this far apart.
constexpr std::chrono::minutes kRelistsAgain{1};
// Longer than a list may take.
constexpr std::chrono::seconds kListRemembered{30};
static_assert(kRefreshAge < accounting::kShowsQuotas && accounting::kShowsQuotas < kListRemembered);

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

std::chrono::milliseconds Until(base::TimePoint deadline, base::TimePoint now) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now);
}

}  // namespace

base::Error StatusWriter::Changed(const quota::Quota& quota) {
  return {.code = base::ErrorCode::kConflict,
          .message = "quota " + quota.key.ToString() + " changed meanwhile"};
}

base::Task<base::Result<quota::Quota>> StatusWriter::Write(PendingWrite write,
                                                           base::TimePoint deadline) {
  const quota::Quota quota = write->quota;
  const std::string shown = quotas_.state().resource_version;
  client::ApiRequest request{
      .verb = "PATCH",
      .path = parts_.api.resource.Path(quota.key.ns, quota.key.name, "status"),
      .query = {{"fieldManager", "quota-controller-manager"}},
      .content_type = std::string(client::kMergePatch),
      .body =
          quota::StatusPatch(quota, write->status, write->text, parts_.api.form, write->further),
      .timeout = Until(deadline, parts_.Now())};
  // The watch may show the write before its answer arrives. Account::OnQuota() recognises it.
  const auto answer = co_await client::DoJson(*parts_.context.client, std::move(request));
  auto written = answer ? quota::ParseQuota(*answer, parts_.api.form)
                        : base::Result<quota::Quota>(answer.error());
  if (written) {
    write.OnAnswer(written->resource_version);
    parts_.store.Apply(*written);
    // A write makes a version that is later than any version before its request. An older one
    // proves that the server was restored.
    const bool changed = written->resource_version != quota.resource_version;
    if (changed && api::IsKnownOlder(written->resource_version, shown)) OnPutBack();
  }
  const base::Error error = answer ? base::Error() : answer.error();
  // A charge for admission is written by any replica, and while nothing else is to be written. So
  // refusals are noted here, and not where recounts fail.
  if (answer || client::IsRefusedForGood(error)) {
    parts_.log_once.Set("status of", quota.key.ToString(), error.message);
    reporter_.OnWrite(quota.key, error.message);
  }
  // A recount is decided again from the stored state, whatever became of this one.
  const bool finds = !answer && (IsMoved(error) || (write->reserved && MayBeWritten(error)));
  const std::uint64_t entry = write->reserved ? write->list.entries().back().n : 0;
  Account* const account = parts_.accounts.Find(quota);
  // The watch often shows what was written instead before the conflict is answered. A watch that
  // lags shows versions that are not the newest, so the quota is read after the next conflict.
  const bool unread = finds && error.Is(base::ErrorCode::kConflict) && account != nullptr &&
                      !account->conflict_unread && IsShownAfter(quota);
  if (account != nullptr && (finds || written)) account->conflict_unread = unread;
  if (unread) {
    written = Changed(quota);
  } else if (finds) {
    written = co_await Find(quota, entry, error, deadline);
  }
  const bool not_made = !answer && (IsMoved(error) || client::IsRefusedForGood(error));
  End(std::move(write), written, not_made);
  co_return written;
}

bool StatusWriter::IsShownAfter(const quota::Quota& quota) const {
  const quota::Quota* const known = parts_.store.Find(quota.key);
  return known != nullptr && known->uid == quota.uid &&
         known->resource_version != quota.resource_version;
}

void StatusWriter::End(PendingWrite write, const base::Result<quota::Quota>& written,
                       bool not_made) {
  const api::ObjectKey key = write->quota.key;
  Account* const account = parts_.accounts.Find(write->quota);
  if (account == nullptr || !account->Began(write)) return write.Forget();
  const quota::Quota* const stored = parts_.store.Find(key);
  CHECK(stored != nullptr) << "an account of a quota that is gone: " << key.ToString();
  const quota::Quota& known = *stored;
  const auto counted = [&] { return parts_.ViewOf(known).Counted(account->known()); };
  if (written) return account->Commit(parts_.Now(), std::move(write), *written, known, counted);
  const bool found = IsMoved(written.error());  // live: it is not stored
  const auto outcome =
      not_made || found ? PendingWrite::Outcome::kNotMade : PendingWrite::Outcome::kUnknown;
  account->Abort(parts_.Now(), std::move(write), outcome, known, counted);
}

// Finds out whether a write was made. It has this entry of ours, if it reserves.
base::Task<base::Result<quota::Quota>> StatusWriter::Find(quota::Quota quota, std::uint64_t entry,
                                                          base::Error error,
                                                          base::TimePoint deadline) {
  const bool moved = IsMoved(error);
  auto live = co_await Read(quota, deadline);
  if (!live) co_return moved || live.error().Is(base::ErrorCode::kNotFound) ? live.error() : error;
  if (!moved) {
    const auto list = accounting::ReservationList::Parse(live->reservations, live->uid);
    if (list && list->Find(parts_.accounts.author.by, entry) != nullptr) co_return live;
  }
  if (moved || live->resource_version != quota.resource_version) co_return Changed(quota);
  co_return error;
}

base::Task<base::Result<quota::Quota>> StatusWriter::Read(quota::Quota quota,
                                                          base::TimePoint deadline) {
  const quota::Quota* before = parts_.store.Find(quota.key);
  const std::string known = before != nullptr ? before->resource_version : "";
  client::ApiRequest request{.path = parts_.api.resource.Path(quota.key.ns, quota.key.name),
                             .timeout = Until(deadline, parts_.Now())};
  const auto answer = co_await client::DoJson(*parts_.context.client, std::move(request));
  if (!answer) {
    if (answer.error().Is(base::ErrorCode::kNotFound)) parts_.store.Forget(quota.key, quota.uid);
    co_return answer.error();
  }
  auto live = quota::ParseQuota(*answer, parts_.api.form);
  if (!live) co_return live.error();
  if (live->uid != quota.uid) {
    parts_.store.Forget(quota.key, quota.uid);
    co_return base::Error{.code = base::ErrorCode::kNotFound,
                          .message = "quota " + quota.key.ToString() + " was replaced"};
  }
  const quota::Quota* held = parts_.store.Find(quota.key);
  // An older answer proves a restore only if the store has not changed during the read.
  const bool same = held != nullptr && held->resource_version == known;
  const bool put_back = same && api::IsKnownOlder(live->resource_version, known);
  parts_.store.Apply(*live, put_back);
  if (put_back) OnPutBack();
  co_return live;
}

// Until everything is listed again, each answer proves the same restore once more. A list of a
// million objects takes a while, and must not start over.
void StatusWriter::OnPutBack() {
  const std::string& shown = quotas_.state().resource_version;
  const base::TimePoint now = parts_.Now();
  const bool lately = put_back_at_ && now - *put_back_at_ < kRelistsAgain;
  if (lately || (put_back_at_ && put_back_from_ == shown)) return;
  put_back_at_ = now;
  put_back_from_ = shown;
  LOG(WARNING) << "the API server was restored to an earlier state; listing everything again"
               << " quota_api=" << parts_.api.name << " version=" << shown;
  refreshed_.clear();
  quotas_.Relist();
  parts_.tracker.Relist();
  if (reach_ != nullptr) reach_->Relist();
}

bool StatusWriter::Current() const {
  const informers::ReflectorState& state = quotas_.state();
  if (!parts_.store.synced() || state.trouble) return false;
  // A watch that was opened after a gap must first show what happened in the gap, or that it
  // cannot.
  const base::TimePoint now = parts_.Now();
  const base::Duration reopened = informers::WatchGap::kShort + accounting::kShowsQuotas;
  return state.gap.ShownAt(now, accounting::kShowsQuotas) <= now &&
         stalls_.ShownAt(now, reopened) <= now;
}

base::Task<base::Result<void>> StatusWriter::Refresh(std::string ns, base::TimePoint deadline) {
  bool stopping = false;  // a sleep then returns at once
  while (!parts_.store.synced() && !stopping && parts_.Now() < deadline) {
    co_await parts_.context.scheduler->Sleep(kSyncPoll);
    stopping = co_await base::Stopping();
  }
  if (!parts_.store.synced()) {
    co_return base::Error{.code = base::ErrorCode::kUnavailable, .message = "not listed yet"};
  }
  const base::TimePoint now = parts_.Now();
  const auto last = refreshed_.find(ns);
  if (Current() || (last != refreshed_.end() && now - last->second.asked < kRefreshAge)) {
    co_return base::Result<void>();
  }
  client::ApiRequest request{.path = parts_.api.resource.Path(ns), .timeout = Until(deadline, now)};
  const std::string known = quotas_.state().resource_version;
  const std::vector<StoredVersion> before = StoredIn(ns);
  const auto answer = co_await client::DoJson(*parts_.context.client, std::move(request));
  if (!answer) co_return answer.error();
  const json::Value* items = answer->At({"items"});
  const json::Array* list = items != nullptr ? items->AsArray() : nullptr;
  if (list == nullptr) {
    co_return base::Error{.code = base::ErrorCode::kMalformed, .message = "the list has no items"};
  }
  const std::string version(answer->StringAt({"metadata", "resourceVersion"}));
  const bool restored = api::IsKnownOlder(version, known);
  if (restored) OnPutBack();
  const bool unmoved = quotas_.state().resource_version == known && StoredIn(ns) == before;
  TakeList({now, version}, ns, *list, restored && unmoved);
  co_return base::Result<void>();
}

// Uses a list with a fieldSelector: it needs only the rights of the watch.
base::Task<base::Result<json::Value>> StatusWriter::ReadLabels(std::string ns,
                                                               base::TimePoint deadline) {
  client::ApiRequest request{.path = kNamespaces.Path(),
                             .query = {{"fieldSelector", "metadata.name=" + ns}},
                             .timeout = Until(deadline, parts_.Now())};
  const auto answer = co_await client::DoJson(*parts_.context.client, std::move(request));
  if (!answer) co_return answer.error();
  for (const json::Value& item : answer->ArrayAt({"items"})) {
    if (item.StringAt({"metadata", "name"}) != ns) continue;
    const json::Value* labels = item.At({"metadata", "labels"});
    if (labels != nullptr) co_return *labels;
  }
  co_return json::Value();
}

std::vector<StatusWriter::StoredVersion> StatusWriter::StoredIn(const std::string& ns) const {
  std::vector<StoredVersion> stored;
  for (api::ObjectKey& key : parts_.store.InNamespace(ns)) {
    const std::string& version = parts_.store.Find(key)->resource_version;
    stored.emplace_back(std::move(key), version);
  }
  return stored;
}

// While the list was on its way, the watch or a later list may have shown a deletion. The deleted
// quota must not come back, so an older list adds and removes nothing. But if it is older than what
// was known at its request, the server was restored. Then the list is true, unless something has
// been shown of the namespace meanwhile: that may be what the restored server has got since.
void StatusWriter::TakeList(Listed listed, const std::string& ns, const json::Array& quotas,
                            bool true_if_older) {
  const std::string& version = listed.version;
  const auto last = refreshed_.find(ns);
  const auto covers = [&](const std::string& other) {
    return other.empty() || api::IsOlderVersion(version, other) == std::optional(false);
  };
  const bool newest = (last == refreshed_.end() || covers(last->second.version)) &&
                      (true_if_older || covers(quotas_.state().resource_version));
  if (newest) {
    parts_.store.Replace(ns, quotas, true_if_older);
  } else {
    for (const json::Value& item : quotas) {
      auto quota = quota::ParseQuota(item, parts_.api.form);
      if (quota) parts_.store.Apply(std::move(*quota));
    }
  }
  const base::TimePoint now = parts_.Now();
  std::erase_if(refreshed_,
                [&](const auto& entry) { return now - entry.second.asked > kListRemembered; });
  if (newest) refreshed_[ns] = std::move(listed);
}

}  // namespace controllers
