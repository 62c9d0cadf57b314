#pragma once

// Follows one collection by a watch of its own and shows every event, in the order in which the
// server made the changes: how tests see what was true at every moment. Follows restarts of the
// server.
//
// The watch lives on a thread of its own; the event function is called there.

#include <functional>
#include <memory>
#include <string>

#include "pkg/json/value.h"

namespace e2e {

class WatchFollower {
 public:
  using OnEvent = std::function<void(const std::string& type, const json::Value& object)>;
  // From `resource_version` on, of any object of the server. Where the server does not know it any
  // more, what it holds then comes as ADDED; `on_anew` is called before that.
  WatchFollower(const std::string& kubeconfig, std::string path, std::string resource_version,
                OnEvent on_event, std::function<void()> on_anew = nullptr);
  // No event is shown any more once it is destroyed.
  ~WatchFollower();

 private:
  class Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace e2e
