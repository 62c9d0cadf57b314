#pragma once

// What a paper server stores: quotas and UsageDefinitions. Any thread.

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "pkg/json/value.h"

namespace bench {

class PaperStore {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  // Creates the object or changes its spec. Returns the event, as a watch sends it. Without `ns`:
  // the object is cluster-scoped.
  std::string Put(const std::string& resource, const std::string& ns, const std::string& name,
                  const json::Value& spec);
  // Creates so many quotas of pods with right statuses, each in its own namespace.
  void PutEmptyQuotas(const std::string& resource, int count);
  // Changes the status. Returns the answer, and the event; nullopt: there is no such version.
  struct Patched {
    std::string answer;
    std::string event;
  };
  std::optional<Patched> Patch(const std::string& resource, const std::string& name,
                               const json::Value& patch);
  // Returns a page, which begins after the object that its token names.
  std::string List(const std::string& resource, std::size_t limit, const std::string& token);
  // Returns when a status with this `used` was first written after the last Put(); nullopt if none
  // was within `timeout`.
  std::optional<Moment> WaitForUsed(const std::string& quota, const std::string& resource,
                                    const std::string& used, std::chrono::milliseconds timeout);

 private:
  // REQUIRES: mutex_ is held.
  std::string EventOf(const std::string& type, json::Value& object);

  std::mutex mutex_;  // guards all that follows
  std::condition_variable written_;
  std::map<std::string, std::map<std::string, json::Value>> objects_;  // by resource and name
  // By quota: when each amount of a resource was first written.
  std::map<std::string, std::map<std::pair<std::string, std::string>, Moment>> used_;
  int version_ = 1000;
};

}  // namespace bench
