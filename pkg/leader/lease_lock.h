#pragma once

// One coordination.k8s.io/v1 Lease on the API server. It is replaced only in the version last seen
// here (resourceVersion and uid), so of two concurrent writes one gets a conflict. Labels,
// annotations and other fields of the Lease are preserved.
//
// Single-threaded; one call at a time. The client must outlive it.

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
  // `labels` are set on a Lease that is created here.
  LeaseLock(client::ApiClient& client, api::ObjectKey key,
            std::map<std::string, std::string> labels = {})
      : client_(client), key_(std::move(key)), labels_(std::move(labels)) {}

  // nullopt: the Lease does not exist.
  base::Task<base::Result<std::optional<LeaseRecord>>> Read(std::chrono::milliseconds timeout);
  // Returns the record as stored. Errors: kAlreadyExists.
  base::Task<base::Result<LeaseRecord>> Create(LeaseRecord record,
                                               std::chrono::milliseconds timeout);
  // REQUIRES: an earlier call returned a record. Errors: kConflict if the Lease has changed since.
  base::Task<base::Result<LeaseRecord>> Update(LeaseRecord record,
                                               std::chrono::milliseconds timeout);

  [[nodiscard]] const api::ObjectKey& key() const { return key_; }
  // The object reference for events about the Lease.
  [[nodiscard]] client::ObjectReference Reference() const;

 private:
  base::Result<LeaseRecord> Keep(json::Value lease);

  client::ApiClient& client_;
  api::ObjectKey key_;
  std::map<std::string, std::string> labels_;
  json::Value seen_;  // null: none
};

}  // namespace leader
