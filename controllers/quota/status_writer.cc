#include "controllers/quota/status_writer.h"

#include <glog/logging.h>

#include <utility>

#include "pkg/accounting/timing.h"
#include "pkg/api/resource_version.h"

namespace controllers {
namespace {

const api::GroupVersionResource kNamespaces{"", "v1", "namespaces"};

// While the quotas cannot be followed, a namespace is read again no sooner.
constexpr std::chrono::milliseconds kRefreshAge{250};
constexpr std::chrono::milliseconds kSyncPoll{20};
// Longer than the answer to a list may take.
constexpr std::chrono::seconds kListRemembered{30};

// The write may have been made: no answer came, or one that is also given after it was made (500
// and 504 where etcd took too long, 502 and 503 of a proxy that lost the answer).
bool MayBeWritten(const base::Error& error) {
  if (error.http_status >= 500) return true;
  return error.http_status == 0 &&
         (error.Is(base::ErrorCode::kTimeout) || error.Is(base::ErrorCode::kUnavailable));
}

std::chrono::milliseconds Until(base::TimePoint deadline, base::TimePoint now) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now);
}

}  // namespace

base::Error StatusWriter::Changed(const quota::Quota& quota) {
  return {.code = base::ErrorCode::kConflict,
          .message = "quota " + quota.key.ToString() + " changed meanwhile"};
}

// A quota that never had a reservation gets no list: where nobody admits, nothing of ours stands in
// the quotas.
std::string StatusWriter::ListOf(const StatusWrite& write) {
  const bool listed = !write.quota.reservations.empty() || !write.standing.list.entries().empty();
  return listed ? write.standing.list.Print() : std::string();
}

base::Task<base::Result<quota::Quota>> StatusWriter::Write(StatusWrite write,
                                                           base::TimePoint deadline) {
  write.standing.list.used = write.standing.used;
  ++write.standing.list.writes;
  const std::string shown = quotas_.state().resource_version;
  const quota::QuotaStatus desired{write.hard, write.standing.used};
  const std::string list = ListOf(write);
  client::ApiRequest request{
      .verb = "PATCH",
      .path = api_.resource.Path(write.quota.key.ns, write.quota.key.name, "status"),
      .query = {{"fieldManager", "quota-controller-manager"}},
      .content_type = std::string(client::kMergePatch),
      .body = quota::StatusPatch(write.quota, desired, list, api_.form, write.further),
      .timeout = Until(deadline, context_.scheduler->Now())};
  const quota::Quota quota = write.quota;
  if (Account* account = accounts_.Find(quota)) {
    account->in_flight = InFlight{desired, list, write.standing.list};
  }
  const auto answer = co_await client::DoJson(*context_.client, std::move(request));
  if (answer) {
    auto written = TakeWritten(write, *answer, shown);
    if (Account* account = accounts_.Find(quota)) account->in_flight.reset();
    co_return written;
  }
  if (Account* account = accounts_.Find(quota)) account->in_flight.reset();
  const base::Error error = answer.error();
  co_return co_await Find(std::move(write), error, deadline);
}

base::Result<quota::Quota> StatusWriter::TakeWritten(const StatusWrite& write,
                                                     const json::Value& answer,
                                                     const std::string& shown) {
  auto stored = quota::ParseQuota(answer, api_.form);
  if (!stored) return stored;
  if (Account* account = accounts_.Find(*stored)) {
    account->written_version = stored->resource_version;
  }
  store_.Apply(*stored);
  // A new version is later than any that was shown before it was asked for.
  const bool changed = stored->resource_version != write.quota.resource_version;
  if (changed && api::IsOlderVersion(stored->resource_version, shown).value_or(false)) OnPutBack();
  return stored;
}

// A recount is simply made anew, from what is stored then.
base::Task<base::Result<quota::Quota>> StatusWriter::Find(StatusWrite write, base::Error error,
                                                          base::TimePoint deadline) {
  const bool moved = error.Is(base::ErrorCode::kConflict) || error.Is(base::ErrorCode::kNotFound);
  if (!moved && !(write.mark && MayBeWritten(error))) co_return error;
  const quota::Quota quota = write.quota;
  auto live = co_await Read(quota, deadline);
  if (!live && live.error().Is(base::ErrorCode::kNotFound)) co_return live.error();
  if (moved && !live) co_return live.error();
  if (!live) co_return error;
  if (!moved) {
    const auto list = accounting::ReservationList::Parse(live->reservations);
    if (list && list->Find(accounts_.author.by, *write.mark) != nullptr) co_return live;
  }
  if (moved || live->resource_version != quota.resource_version) co_return Changed(quota);
  co_return error;
}

base::Task<base::Result<quota::Quota>> StatusWriter::Read(quota::Quota quota,
                                                          base::TimePoint deadline) {
  const quota::Quota* before = store_.Find(quota.key);
  const std::string known = before != nullptr ? before->resource_version : "";
  client::ApiRequest request{.path = api_.resource.Path(quota.key.ns, quota.key.name),
                             .timeout = Until(deadline, context_.scheduler->Now())};
  const auto answer = co_await client::DoJson(*context_.client, std::move(request));
  if (!answer) {
    if (answer.error().Is(base::ErrorCode::kNotFound)) store_.Forget(quota.key, quota.uid);
    co_return answer.error();
  }
  auto live = quota::ParseQuota(*answer, api_.form);
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
  co_return live;
}

// Until the quotas were listed again, everything that is read says so once more.
void StatusWriter::OnPutBack() {
  const std::string& shown = quotas_.state().resource_version;
  if (std::exchange(put_back_from_, shown) == shown) return;
  LOG(WARNING) << "the API server was put back to an earlier state, listing everything again"
               << " quota_api=" << api_.name << " version=" << shown;
  refreshed_.clear();
  quotas_.Relist();
  tracker_.Relist();
  if (on_put_back_) on_put_back_();
}

bool StatusWriter::Current() const {
  const informers::ReflectorState& state = quotas_.state();
  if (!store_.synced() || state.trouble) return false;
  // A watch that was opened after a gap has yet to show what happened in it, or that it cannot.
  const base::TimePoint now = context_.scheduler->Now();
  const base::Duration reopened = informers::WatchGap::kShort + accounting::kShowsQuotas;
  return state.gap.ShownAt(now, accounting::kShowsQuotas) <= now &&
         pulse_.ShownAt(now, reopened) <= now;
}

base::Task<base::Result<void>> StatusWriter::Refresh(std::string ns, base::TimePoint deadline) {
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
  client::ApiRequest request{.path = api_.resource.Path(ns), .timeout = Until(deadline, now)};
  const std::string known = quotas_.state().resource_version;
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

// A list of one needs no right but those of the watch.
base::Task<base::Result<json::Value>> StatusWriter::ReadLabels(std::string ns,
                                                               base::TimePoint deadline) {
  client::ApiRequest request{.path = kNamespaces.Path(),
                             .query = {{"fieldSelector", "metadata.name=" + ns}},
                             .timeout = Until(deadline, context_.scheduler->Now())};
  const auto answer = co_await client::DoJson(*context_.client, std::move(request));
  if (!answer) co_return answer.error();
  for (const json::Value& item : answer->ArrayAt({"items"})) {
    if (item.StringAt({"metadata", "name"}) != ns) continue;
    const json::Value* labels = item.At({"metadata", "labels"});
    if (labels != nullptr) co_return *labels;
  }
  co_return json::Value();
}

// While the list was on its way the watch may have gone on, or a later list have come: what went
// since must not come back, so an older list says nothing of what exists. Unless it is older than
// what was known when it was asked for: then the server was put back.
void StatusWriter::TakeList(const std::string& ns, std::string version, const json::Array& quotas,
                            const std::string& known) {
  const bool put_back = api::IsOlderVersion(version, known).value_or(false);
  if (put_back) OnPutBack();
  const auto last = refreshed_.find(ns);
  const auto covers = [&](const std::string& other) {
    return other.empty() || api::IsOlderVersion(version, other) == std::optional(false);
  };
  const bool newest = put_back || (covers(quotas_.state().resource_version) &&
                                   (last == refreshed_.end() || covers(last->second.version)));
  if (newest) {
    store_.Replace(ns, quotas, put_back);
  } else {
    for (const json::Value& item : quotas) {
      auto quota = quota::ParseQuota(item, api_.form);
      if (quota) store_.Apply(std::move(*quota));
    }
  }
  const base::TimePoint now = context_.scheduler->Now();
  std::erase_if(refreshed_,
                [&](const auto& entry) { return now - entry.second.at > kListRemembered; });
  if (newest) refreshed_[ns] = {.at = now, .version = std::move(version)};
}

}  // namespace controllers
