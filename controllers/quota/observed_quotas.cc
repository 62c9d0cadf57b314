#include "controllers/quota/observed_quotas.h"

#include <glog/logging.h>

#include "pkg/accounting/timing.h"
#include "pkg/api/resource_version.h"

namespace controllers {
namespace {

// While the quotas cannot be watched, a namespace is read at most this often.
constexpr std::chrono::milliseconds kRefreshAge{250};
constexpr std::chrono::milliseconds kSyncPoll{20};
// Two relists because of a restore are at least this far apart.
constexpr std::chrono::minutes kRelistsAgain{1};
// Longer than a list may take.
constexpr std::chrono::seconds kListRemembered{30};
static_assert(kRefreshAge < accounting::kShowsGap && accounting::kShowsGap < kListRemembered);

}  // namespace

ObservedQuotas::ObservedQuotas(const TrackingContext& context, const quota::QuotaApi& api,
                               const QuotaControllerOptions& options, const StallDetector& stalls,
                               QuotaListener& listener, std::function<void()> on_restored)
    : scheduler_(*context.scheduler),
      client_(*context.client),
      api_(api),
      stalls_(stalls),
      on_restored_(std::move(on_restored)),
      accounts_(scheduler_, options.identity, options.crowd, options.hold),
      log_(api.name, scheduler_),
      store_(api.name, listener, *context.scheduler, api.form),
      metrics_(NewInformerMetrics(context, context.name + "-quotas", api.resource)),
      reflector_(NewReflector(context, api.resource, api.fields, metrics_.get(), store_)) {}

base::Task<base::Result<quota::Quota>> ObservedQuotas::Read(quota::Quota quota,
                                                            base::TimePoint deadline) {
  const quota::Quota* before = store_.Find(quota.key);
  const std::string known = before != nullptr ? before->resource_version : "";
  client::ApiRequest request{.path = api_.resource.Path(quota.key.ns, quota.key.name),
                             .timeout = TimeUntil(deadline, scheduler_.Now())};
  const auto answer = co_await client::DoJson(client_, std::move(request));
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
  // An older answer proves a restore only if the store has not changed during the read.
  const bool same = held != nullptr && held->resource_version == known;
  const bool put_back = same && api::IsKnownOlder(live->resource_version, known);
  store_.Apply(*live, put_back);
  if (put_back) OnPutBack();
  co_return live;
}

// Until everything is listed again, each answer proves the same restore once more. A list of a
// million objects takes a while, and must not start over.
void ObservedQuotas::OnPutBack() {
  const std::string& shown = shown_version();
  const base::TimePoint now = scheduler_.Now();
  const bool lately = put_back_at_ && now - *put_back_at_ < kRelistsAgain;
  if (lately || (put_back_at_ && put_back_from_ == shown)) return;
  put_back_at_ = now;
  put_back_from_ = shown;
  LOG(WARNING) << "the API server was restored to an earlier state; listing everything again"
               << " quota_api=" << api_.name << " version=" << shown;
  refreshed_.clear();
  reflector_->Relist();
  on_restored_();
}

bool ObservedQuotas::Current() const {
  return store_.synced() && IsCurrent(scheduler_.Now(), reflector_->state(), stalls_);
}

base::Task<base::Result<void>> ObservedQuotas::Refresh(std::string ns, base::TimePoint deadline) {
  bool stopping = false;  // a sleep then returns at once
  while (!store_.synced() && !stopping && scheduler_.Now() < deadline) {
    co_await scheduler_.Sleep(kSyncPoll);
    stopping = co_await base::Stopping();
  }
  if (!store_.synced()) {
    co_return base::Error{.code = base::ErrorCode::kUnavailable, .message = "not listed yet"};
  }
  const base::TimePoint now = scheduler_.Now();
  const auto last = refreshed_.find(ns);
  if (Current() || (last != refreshed_.end() && now - last->second.asked < kRefreshAge)) {
    co_return base::Result<void>();
  }
  client::ApiRequest request{.path = api_.resource.Path(ns), .timeout = TimeUntil(deadline, now)};
  const std::string known = shown_version();
  const std::vector<StoredVersion> before = StoredIn(ns);
  const auto answer = co_await client::DoJson(client_, std::move(request));
  if (!answer) co_return answer.error();
  const json::Value* items = answer->At({"items"});
  const json::Array* list = items != nullptr ? items->AsArray() : nullptr;
  if (list == nullptr) {
    co_return base::Error{.code = base::ErrorCode::kMalformed, .message = "the list has no items"};
  }
  const std::string version(answer->StringAt({"metadata", "resourceVersion"}));
  const bool restored = api::IsKnownOlder(version, known);
  if (restored) OnPutBack();
  const bool unmoved = shown_version() == known && StoredIn(ns) == before;
  TakeList({now, version}, ns, *list, restored && unmoved);
  co_return base::Result<void>();
}

std::vector<ObservedQuotas::StoredVersion> ObservedQuotas::StoredIn(const std::string& ns) const {
  std::vector<StoredVersion> stored;
  for (api::ObjectKey& key : store_.InNamespace(ns)) {
    const std::string& version = store_.Find(key)->resource_version;
    stored.emplace_back(std::move(key), version);
  }
  return stored;
}

// While the list was on its way, the watch or a later list may have shown a deletion. The deleted
// quota must not come back, so an older list adds and removes nothing. But if it is older than what
// was known at its request, the server was restored. Then the list is true, unless something has
// been shown of the namespace meanwhile: that may be what the restored server has got since.
void ObservedQuotas::TakeList(Listed listed, const std::string& ns, const json::Array& quotas,
                              bool true_if_older) {
  const std::string& version = listed.version;
  const auto last = refreshed_.find(ns);
  const auto covers = [&](const std::string& other) {
    return other.empty() || api::IsOlderVersion(version, other) == std::optional(false);
  };
  const bool newest = (last == refreshed_.end() || covers(last->second.version)) &&
                      (true_if_older || covers(shown_version()));
  if (newest) {
    store_.Replace(ns, quotas, true_if_older);
  } else {
    for (const json::Value& item : quotas) {
      auto quota = quota::ParseQuota(item, api_.form);
      if (quota) store_.Apply(std::move(*quota));
    }
  }
  const base::TimePoint now = scheduler_.Now();
  std::erase_if(refreshed_,
                [&](const auto& entry) { return now - entry.second.asked > kListRemembered; });
  if (newest) refreshed_[ns] = std::move(listed);
}

}  // namespace controllers
