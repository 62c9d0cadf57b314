#pragma once

// Work of the server without a request: removes pods after their grace period, the contents of
// terminating namespaces, and the dependents of deleted owners.
//
// RunDue() does it. The caller runs it at the time of NextDue(), and sets a callback by OnWork()
// for the case that this time becomes earlier. No I/O; one thread.

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "cmd/sandbox-apiserver/objects.h"
#include "pkg/base/clock.h"
#include "pkg/json/value.h"

namespace sandbox {

class Store;

class Background {
 public:
  // Both must outlive it.
  Background(Store& store, const base::Clock& clock) : store_(store), clock_(clock) {}
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  [[nodiscard]] std::optional<base::TimePoint> NextDue() const;
  void RunDue();
  void OnWork(std::function<void()> on_work) { on_work_ = std::move(on_work); }

  // What the store has done: an object has got a deletionTimestamp, or is gone.
  void Marked(const Target& target, const std::string& uid, std::chrono::seconds grace);
  void Removed(const json::Value& last);

 private:
  void Schedule(base::TimePoint when, std::function<void()> work);
  void ScheduleNamespace(const std::string& name);
  void FinalizeNamespace(const std::string& name);
  bool DeleteContents(const std::string& ns);
  void ReapPod(const Target& target, const std::string& uid);
  void CollectDependents(const std::string& owner_uid);

  Store& store_;
  const base::Clock& clock_;
  std::multimap<base::TimePoint, std::function<void()>> due_;
  std::set<std::string> namespaces_due_;  // with a FinalizeNamespace() scheduled
  std::function<void()> on_work_;
};

}  // namespace sandbox
