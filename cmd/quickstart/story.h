#pragma once

// What the quickstart shows: a namespace with a quota and pods, the quota's status as the daemon
// counts it, a pod deleted, and how long the status took to follow.
//
// It is a program and not a script of curl calls, so that it needs nothing but what was built,
// reads any kubeconfig as the daemon does, and measures time from inside a watch. Single-threaded.

#include <ostream>
#include <string>

#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"

namespace quickstart {

struct StoryOptions {
  std::string ns;
  std::chrono::seconds patience{60};  // how long the daemon may take to count
};

// Tells the story on `out`, and leaves the namespace behind. `client`, `scheduler` and `out`
// outlive the task.
base::Task<base::Result<void>> TellStory(client::ApiClient& client, base::Scheduler& scheduler,
                                         StoryOptions options, std::ostream& out);

// Deletes the namespace that a story made. One that is not there is deleted already.
base::Task<base::Result<void>> CleanUp(client::ApiClient& client, std::string ns);

}  // namespace quickstart
