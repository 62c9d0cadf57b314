#include "controllers/definitions/defined_quotas.h"

#include <glog/logging.h>

#include <utility>

#include "controllers/quota/events/quota_conditions.h"
#include "pkg/base/task_group.h"
#include "pkg/client/api_error.h"
#include "pkg/client/event_recorder.h"

namespace controllers {
namespace {

constexpr std::chrono::seconds kDefinedWriteTimeout{10};
// How often it looks whether it may write, and how often it looks at all quotas then.
constexpr std::chrono::milliseconds kMayWritePoll{250};
constexpr std::chrono::minutes kLooksAtAll{1};
constexpr std::size_t kDefinedAStep = 256;
const api::GroupVersionResource kWholes{"", "v1", "resourcequotas"};

client::ApiRequest WriteTo(const api::ObjectKey& key, const std::string& name) {
  return {.path = quota::DefinedQuotas().Path(key.ns, name),
          .query = {{"fieldManager", "quota-controller-manager"}},
          .timeout = kDefinedWriteTimeout};
}

client::ApiRequest Creation(const api::ObjectKey& key, const json::Value& part) {
  client::ApiRequest request = WriteTo(key, "");
  request.verb = "POST";
  request.content_type = client::kJson;
  request.body = json::Write(part);
  return request;
}

// Its status is written at the same time, so the version is no precondition. Only the leader writes
// the spec.
client::ApiRequest Replacement(const quota::Quota& stored, const json::Value& part) {
  json::Array operations;
  const auto set = [&](const char* path, const json::Value& value) {
    operations.push_back(json::Object{{"op", "add"}, {"path", path}, {"value", value}});
  };
  set("/metadata/uid", stored.uid);  // the API server refuses another one
  set("/metadata/ownerReferences", *part.At({"metadata", "ownerReferences"}));
  set("/spec", *part.At({"spec"}));
  client::ApiRequest request = WriteTo(stored.key, stored.key.name);
  request.verb = "PATCH";
  request.content_type = client::kJsonPatch;
  request.body = json::Write(operations);
  return request;
}

client::ApiRequest Deletion(const quota::Quota& stored) {
  client::ApiRequest request = WriteTo(stored.key, stored.key.name);
  request.verb = "DELETE";
  request.query.clear();
  request.content_type = client::kJson;
  request.body = json::Write(json::Object{{"apiVersion", "v1"},
                                          {"kind", "DeleteOptions"},
                                          {"preconditions", json::Object{{"uid", stored.uid}}}});
  return request;
}

// The watches have not shown yet what the API server has, and soon do, or the namespace is
// terminating.
bool IsExpected(const base::Error& error) {
  return client::IsTerminating(error) || error.Is(base::ErrorCode::kConflict) ||
         error.Is(base::ErrorCode::kAlreadyExists) || error.Is(base::ErrorCode::kNotFound) ||
         error.Is(base::ErrorCode::kCancelled);
}

}  // namespace

DefinedQuotaController::DefinedQuotaController(const TrackingContext& context,
                                               DefinedQuotaHooks hooks)
    : context_(context),
      hooks_(std::move(hooks)),
      log_once_("defined", *context.scheduler),
      queue_(*context.scheduler, {.retry = {.cap = std::chrono::seconds(60), .jitter = 0.2}}) {}

bool DefinedQuotaController::MayWrite() const {
  const QuotaStore* const wholes = hooks_.resource_quotas();
  const QuotaStore* const parts = hooks_.defined_quotas();
  return wholes != nullptr && parts != nullptr && wholes->synced() && parts->synced() &&
         (!hooks_.leading || hooks_.leading());
}

// `whole`: the ResourceQuota; null if there is none.
std::optional<client::ApiRequest> DefinedQuotaController::WriteFor(
    const api::ObjectKey& key, const quota::Quota* whole) const {
  const quota::Quota* const stored = hooks_.defined_quotas()->Find(key);
  const bool has_part = whole != nullptr && hooks_.in_parts && quota::HasDefinedPart(*whole);
  if (!has_part) return stored == nullptr ? std::nullopt : std::optional(Deletion(*stored));
  if (stored == nullptr) return Creation(key, quota::DefinedPartOf(*whole));
  if (quota::IsDefinedPart(*stored, *whole)) return std::nullopt;
  return Replacement(*stored, quota::DefinedPartOf(*whole));
}

bool DefinedQuotaController::IsDue(const api::ObjectKey& key) const {
  return MayWrite() && WriteFor(key, hooks_.resource_quotas()->Find(key)).has_value();
}

void DefinedQuotaController::OnQuota(const api::ObjectKey& key) {
  if (IsDue(key)) queue_.Add(key);
}

base::Task<void> DefinedQuotaController::Run() {
  co_await base::DeferCancellation();
  base::TaskGroup workers(context_.executor);
  workers.Spawn("defined quotas", [this] { return Work(); });
  const std::unique_ptr<base::Alarm> poll = context_.scheduler->NewAlarm();
  base::TimePoint next_look = base::TimePoint::min();
  bool said_absent = false;
  while (!co_await base::Stopping()) {
    // Without the kind nothing refuses by such names, and no quota shows that.
    const bool absent = hooks_.absent() && hooks_.in_parts;
    LOG_IF(WARNING, absent && !said_absent)
        << "names of UsageDefinitions in ResourceQuotas are not enforced: the API server does not "
           "serve DefinedQuotas; install their CRD";
    said_absent = absent;
    if (!MayWrite()) next_look = base::TimePoint::min();  // it misses changes until it may
    if (MayWrite() && context_.scheduler->Now() >= next_look) {
      next_look = context_.scheduler->Now() + kLooksAtAll;
      co_await AddDue(hooks_.resource_quotas);
      co_await AddDue(hooks_.defined_quotas);
    }
    co_await poll->WaitUntil(context_.scheduler->Now() + kMayWritePoll);
  }
  co_await base::IgnoreCancellation();
  queue_.ShutDown();
  co_await workers.Join();
}

base::Task<void> DefinedQuotaController::AddDue(std::function<const QuotaStore*()> store) {
  QuotaStore::Place place;
  for (bool more = true; more && MayWrite();) {
    more = store()->VisitSome(place, kDefinedAStep,
                              [this](const quota::Quota& quota) { OnQuota(quota.key); });
    co_await base::NextTurn();
  }
}

base::Task<void> DefinedQuotaController::Work() {
  co_await base::DeferCancellation();
  while (true) {
    const std::optional<api::ObjectKey> key = co_await queue_.Pop();
    if (!key) co_return;
    const bool done = co_await Reconcile(*key);
    if (done) {
      queue_.Forget(*key);
    } else {
      queue_.AddRateLimited(*key);
    }
    queue_.Done(*key);
  }
}

// False: it must be tried again. A process that does not lead any more leaves it to the leader. The
// watch of ResourceQuotas may lag, and a part that is deleted takes its reservations with it. So
// what is stored decides.
base::Task<bool> DefinedQuotaController::Reconcile(api::ObjectKey key) {
  if (!IsDue(key)) {
    Tell(key, nullptr);
    co_return true;
  }
  client::ApiRequest read{.path = kWholes.Path(key.ns, key.name), .timeout = kDefinedWriteTimeout};
  const auto stored = co_await client::DoJson(*context_.client, std::move(read));
  auto whole = stored ? quota::ParseQuota(*stored) : base::Result<quota::Quota>(stored.error());
  const bool none = !stored && stored.error().Is(base::ErrorCode::kNotFound);
  if (!whole && !none) {
    const base::Error error = whole.error();
    Tell(key, &error);
    co_return false;
  }
  if (!MayWrite()) co_return true;
  std::optional<client::ApiRequest> request = WriteFor(key, none ? nullptr : &*whole);
  if (!request) co_return true;  // the watch shows it later
  const auto answer = co_await context_.client->Do(*std::move(request));
  const bool failed = !answer && !IsExpected(answer.error());
  const base::Error error = failed ? answer.error() : base::Error();
  Tell(key, failed ? &error : nullptr);
  co_return answer.has_value();
}

// An error that passes with the load or a restart of the API server is only logged.
void DefinedQuotaController::Tell(const api::ObjectKey& key, const base::Error* error) {
  const bool said =
      log_once_.Set("defined part of", key.ToString(), error == nullptr ? "" : error->message);
  const QuotaStore* const wholes = hooks_.resource_quotas();
  const quota::Quota* const whole = wholes == nullptr ? nullptr : wholes->Find(key);
  const bool lasts =
      said && error != nullptr && client::IsRefusedForGood(*error) && hooks_.in_parts;
  if (!lasts || whole == nullptr || context_.events == nullptr) return;
  (void)context_.events->Record(
      {.about = {.api_version = "v1",
                 .kind = "ResourceQuota",
                 .ns = key.ns,
                 .name = key.name,
                 .uid = whole->uid,
                 .resource_version = whole->resource_version},
       .type = client::EventType::kWarning,
       .reason = std::string(kNotEnforced),
       .message = "limits on names of UsageDefinitions are not enforced as the "
                  "spec says: the DefinedQuota cannot be written: " +
                  error->message});
}

}  // namespace controllers
