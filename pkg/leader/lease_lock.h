#pragma once

// One coordination.k8s.io/v1 Lease on the API server: read, created, and replaced only as it was
// last seen here (resourceVersion and uid), so of two that write at once one is told of a conflict.
// Labels, annotations and what else others keep in it stay.
//
// Single-threaded; one call at a time. The client outlives it.

#include <map>
#include <optional>
#include <string>

#include "pkg/api/resource.h"
#include "pkg/base/asio.h"
#include "pkg/client/api_client.h"
#include "pkg/client/event_recorder.h"
#include "pkg/leader/elector.h"

namespace leader {

class LeaseLock {
 public:
  // `labels`: of a Lease that is made here.
  LeaseLock(client::ApiClient& client, api::ObjectKey key,
            std::map<std::string, std::string> labels = {})
      : client_(client), key_(std::move(key)), labels_(std::move(labels)) {}

  // nullopt: there is no such Lease.
  base::Task<base::Result<std::optional<LeaseRecord>>> Read(std::chrono::milliseconds timeout);
  // The record as stored. Errors: kAlreadyExists.
  base::Task<base::Result<LeaseRecord>> Create(LeaseRecord record,
                                               std::chrono::milliseconds timeout);
  // REQUIRES: a call before gave a record. Errors: kConflict if the Lease is not the same any more.
  base::Task<base::Result<LeaseRecord>> Update(LeaseRecord record,
                                               std::chrono::milliseconds timeout);

  [[nodiscard]] const api::ObjectKey& key() const { return key_; }
  // For events about it.
  [[nodiscard]] client::ObjectReference Reference() const;

 private:
  base::Result<LeaseRecord> Keep(json::Value lease);

  client::ApiClient& client_;
  api::ObjectKey key_;
  std::map<std::string, std::string> labels_;
  json::Value seen_;  // null: none
};

}  // namespace leader
