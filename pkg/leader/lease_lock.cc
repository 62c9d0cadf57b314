#include "pkg/leader/lease_lock.h"

#include <glog/logging.h>

#include "pkg/api/object_meta.h"

namespace leader {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

constexpr std::string_view kApiVersion = "coordination.k8s.io/v1";
constexpr std::string_view kKind = "Lease";

api::GroupVersionResource Leases() { return {"coordination.k8s.io", "v1", "leases"}; }

std::int64_t NumberAt(const json::Value& lease, std::string_view field) {
  const json::Value* number = lease.At({"spec", field});
  return number == nullptr ? 0 : number->AsInt64().value_or(0);
}

LeaseRecord RecordOf(const json::Value& lease) {
  return {.holder = std::string(lease.StringAt({"spec", "holderIdentity"})),
          .duration_seconds = NumberAt(lease, "leaseDurationSeconds"),
          .acquire_time = std::string(lease.StringAt({"spec", "acquireTime"})),
          .renew_time = std::string(lease.StringAt({"spec", "renewTime"})),
          .transitions = NumberAt(lease, "leaseTransitions")};
}

void PutRecord(const LeaseRecord& record, json::Value& lease) {
  lease.Make({"spec", "holderIdentity"}) = record.holder;
  lease.Make({"spec", "leaseDurationSeconds"}) = record.duration_seconds;
  lease.Make({"spec", "acquireTime"}) = record.acquire_time;
  lease.Make({"spec", "renewTime"}) = record.renew_time;
  lease.Make({"spec", "leaseTransitions"}) = record.transitions;
}

}  // namespace

Result<LeaseRecord> LeaseLock::Keep(json::Value lease) {
  if (api::ResourceVersion(lease).empty()) {
    return Error{.code = ErrorCode::kMalformed,
                 .message = "lease " + key_.ToString() + ": the answer has no resourceVersion"};
  }
  seen_ = std::move(lease);
  return RecordOf(seen_);
}

base::Task<Result<std::optional<LeaseRecord>>> LeaseLock::Read(std::chrono::milliseconds timeout) {
  client::ApiRequest request{.path = Leases().Path(key_.ns, key_.name), .timeout = timeout};
  Result<json::Value> lease = co_await client::DoJson(client_, std::move(request));
  // 404 also means that leases are not served, or that the namespace is missing. A Create() tells.
  if (!lease && lease.error().Is(ErrorCode::kNotFound)) {
    seen_ = json::Value();
    co_return std::optional<LeaseRecord>();
  }
  if (!lease) co_return lease.error();
  const Result<LeaseRecord> record = Keep(std::move(*lease));
  if (!record) co_return record.error();
  co_return std::optional<LeaseRecord>(*record);
}

base::Task<Result<LeaseRecord>> LeaseLock::Create(LeaseRecord record,
                                                  std::chrono::milliseconds timeout) {
  json::Value lease = json::Object{{"apiVersion", kApiVersion}, {"kind", kKind}};
  lease.Make({"metadata"}) = json::Object{{"name", key_.name}, {"namespace", key_.ns}};
  for (const auto& [label, value] : labels_) lease.Make({"metadata", "labels", label}) = value;
  PutRecord(record, lease);
  client::ApiRequest request{.verb = "POST",
                             .path = Leases().Path(key_.ns),
                             .content_type = std::string(client::kJson),
                             .body = json::Write(lease),
                             .timeout = timeout};
  Result<json::Value> stored = co_await client::DoJson(client_, std::move(request));
  if (!stored) co_return stored.error();
  co_return Keep(std::move(*stored));
}

base::Task<Result<LeaseRecord>> LeaseLock::Update(LeaseRecord record,
                                                  std::chrono::milliseconds timeout) {
  CHECK(!seen_.IsNull()) << "a lease that was never seen";
  // Replaces the stored object as a whole: keeps its other fields, and its resourceVersion as the
  // precondition.
  json::Value lease = seen_;
  PutRecord(record, lease);
  client::ApiRequest request{.verb = "PUT",
                             .path = Leases().Path(key_.ns, key_.name),
                             .content_type = std::string(client::kJson),
                             .body = json::Write(lease),
                             .timeout = timeout};
  Result<json::Value> stored = co_await client::DoJson(client_, std::move(request));
  if (!stored) co_return stored.error();
  co_return Keep(std::move(*stored));
}

client::ObjectReference LeaseLock::Reference() const {
  return {.api_version = std::string(kApiVersion),
          .kind = std::string(kKind),
          .ns = key_.ns,
          .name = key_.name,
          .uid = std::string(api::Uid(seen_)),
          .resource_version = std::string(api::ResourceVersion(seen_))};
}

}  // namespace leader
