// The writes of a status, and live reads.

#include <algorithm>

#include "pkg/api/resource_version.h"
#include "tests/simulation/reserving_view.h"

namespace simulation {
namespace {

using accounting::ReservationList;
using accounting::Standing;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// No answer came, or one that is also given after the write was made.
bool MayBeWritten(const base::Error& error) {
  if (error.http_status >= 500) return true;
  return error.http_status == 0 &&
         (error.Is(base::ErrorCode::kTimeout) || error.Is(base::ErrorCode::kUnavailable));
}

}  // namespace

// Until the quotas were listed again, everything that is read says so once more.
void ReservingController::OnPutBack() {
  const std::string& shown = quotas_->state().resource_version;
  if (std::exchange(put_back_from_, shown) == shown) return;
  refreshed_.clear();
  quotas_->Relist();
  tracker_.Relist();
}

// A write without an answer is found again by its number.
base::Task<base::Result<quota::Quota>> ReservingController::Write(quota::Quota quota,
                                                                  Standing standing,
                                                                  std::optional<std::uint64_t> mark,
                                                                  base::TimePoint deadline) {
  standing.list.used = standing.used;
  const std::string shown = quotas_->state().resource_version;
  quota::Quota before = quota;
  if (const quota::Quota* known = store_.Find(quota.key)) before.status = known->status;
  json::Value patch =
      json::Parse(quota::StatusPatch(before, {quota.status.hard, standing.used})).value();
  patch.Make({"metadata", "annotations", quota::kReservations}) = standing.list.Print();
  const base::Duration left = deadline - context_.scheduler->Now();
  client::ApiRequest request{
      .verb = "PATCH",
      .path = api_.resource.Path(quota.key.ns, quota.key.name, "status"),
      .query = {{"fieldManager", options_.by}},
      .content_type = std::string(client::kMergePatch),
      .body = json::Write(patch),
      .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(left)};
  const auto answer = co_await client::DoJson(*context_.client, std::move(request));
  if (answer) {
    auto stored = quota::ParseQuota(*answer, api_.selectors);
    if (!stored) co_return stored;
    store_.Apply(*stored);
    // A new version is later than any that was shown before it was asked for.
    const bool changed = stored->resource_version != quota.resource_version;
    if (changed && api::IsOlderVersion(stored->resource_version, shown).value_or(false)) {
      OnPutBack();
    }
    co_return stored;
  }
  const base::Error error = answer.error();
  if (error.Is(base::ErrorCode::kConflict) && !mark) (void)co_await ReadLive(quota, deadline);
  if (!MayBeWritten(error) || !mark) co_return error;
  auto live = co_await ReadLive(quota, deadline);
  if (!live) co_return error;
  if (ListOf(*live).Find(options_.by, *mark) != nullptr) co_return live;
  if (live->resource_version != quota.resource_version) co_return Changed();
  co_return error;
}

base::Task<base::Result<quota::Quota>> ReservingController::ReadLive(quota::Quota quota,
                                                                     base::TimePoint deadline) {
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
    co_return base::Error{.code = base::ErrorCode::kNotFound, .message = "it was replaced"};
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

base::Task<base::Result<void>> ReservingController::Refresh(std::string ns,
                                                            base::TimePoint deadline) {
  bool stopping = false;
  while (!store_.synced() && !stopping && context_.scheduler->Now() < deadline) {
    co_await context_.scheduler->Sleep(20ms);
    stopping = co_await base::Stopping();
  }
  if (!store_.synced()) {
    co_return base::Error{.code = base::ErrorCode::kUnavailable, .message = "not listed yet"};
  }
  const base::TimePoint now = context_.scheduler->Now();
  const auto last = refreshed_.find(ns);
  if (Current() || (last != refreshed_.end() && now - last->second.at < 250ms)) {
    co_return base::Result<void>();
  }
  client::ApiRequest request{
      .path = api_.resource.Path(ns),
      .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now)};
  const std::string known = quotas_->state().resource_version;
  const auto answer = co_await client::DoJson(*context_.client, std::move(request));
  if (!answer) co_return answer.error();
  const json::Value* items = answer->At({"items"});
  if (items == nullptr || !items->IsArray()) {
    co_return base::Error{.code = base::ErrorCode::kMalformed, .message = "the list has no items"};
  }
  TakeList(ns, std::string(answer->StringAt({"metadata", "resourceVersion"})), *items->AsArray(),
           known);
  co_return base::Result<void>();
}

// As controllers/quota/charging.cc does it.
void ReservingController::TakeList(const std::string& ns, std::string version,
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
  std::erase_if(refreshed_, [&](const auto& entry) { return now - entry.second.at > 30s; });
  if (newest) refreshed_[ns] = {.at = now, .version = std::move(version)};
}

}  // namespace simulation
