#pragma once

// Watches one collection and reports every event in the server's order, so that tests see the state
// at every moment. Survives restarts of the server.
//
// The watch runs on its own thread, where it also calls the event function.

#include <functional>
#include <memory>
#include <string>

#include "pkg/json/value.h"

namespace e2e {

class WatchFollower {
 public:
  using OnEvent = std::function<void(const std::string& type, const json::Value& object)>;
  // Begins at `resource_version`, of any object of the server. If the server does not know it any
  // more, its current objects are reported as ADDED, after a call of `on_anew`.
  WatchFollower(const std::string& kubeconfig, std::string path, std::string resource_version,
                OnEvent on_event, std::function<void()> on_anew = nullptr);
  // No event is reported after the destructor.
  ~WatchFollower();

 private:
  class Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace e2e
