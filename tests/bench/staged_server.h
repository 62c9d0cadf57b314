#pragma once

// An API server in virtual time, as the quota controller sees it: objects of one kind, one quota
// with a writable status, and watches of both. Its own work is excluded from the counting.
//
// Single-threaded.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/json/value.h"

namespace bench {

// The bytes of one watch in the order of their arrival.
struct Feed {
  explicit Feed(base::Scheduler& scheduler) : arrived(scheduler.NewAlarm()) {}
  void Send(std::string bytes) {
    pieces.push_back(std::move(bytes));
    arrived->Wake();
  }
  std::deque<std::string> pieces;
  std::unique_ptr<base::Alarm> arrived;
};

class StagedServer final : public client::ApiClient {
 public:
  // `list` is the body of the list of all objects, as a rule pods.
  StagedServer(base::Scheduler& scheduler, std::string list, json::Value quota);

  Feed& objects() { return objects_; }
  // The delay of a write's answer; watches show the write at once.
  base::Duration answer_delay{};
  std::size_t writes = 0;

  base::Task<base::Result<client::ApiResponse>> Do(client::ApiRequest request) override;
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(
      client::ApiRequest request) override;

 private:
  std::string Write(const std::string& patch);

  base::Scheduler& scheduler_;
  std::string list_;
  json::Value quota_;
  int version_ = 1000;
  Feed objects_;
  Feed quotas_;
};

}  // namespace bench
