#pragma once

// What the quickstart's stories are told with: a namespace, objects made and deleted in it, and a
// watch on a quota, so that the times shown are those at which its status changed.
//
// Failures are for people: they say what did not happen. Single-threaded.

#include <chrono>
#include <memory>
#include <ostream>
#include <string>

#include "pkg/api/resource.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/json/value.h"

namespace quickstart {

struct StoryOptions {
  std::string ns;
  std::chrono::seconds patience{60};  // how long the daemon may take to count
};

// What the story says when an object is not what it tells.
base::Error NotAsTold(std::string message);

class Stage {
 public:
  // `quota` names the one that is watched. `client`, `scheduler` and `out` outlive the stage.
  Stage(client::ApiClient& client, base::Scheduler& scheduler, StoryOptions options,
        std::ostream& out, api::GroupVersionResource quotas, std::string quota);

  [[nodiscard]] const std::string& ns() const { return options_.ns; }
  [[nodiscard]] std::chrono::seconds patience() const { return options_.patience; }
  [[nodiscard]] base::Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] std::ostream& out() { return out_; }

  base::Task<base::Result<void>> MakeNamespace();
  base::Task<base::Result<json::Value>> Create(std::string path, json::Value object);
  base::Task<base::Result<json::Value>> Patch(std::string path, json::Value merge_patch);
  base::Task<base::Result<void>> Delete(std::string path);

  // The first version of the quota, from the present one on, whose status uses `amount` (canonical
  // text) of `name`.
  base::Task<base::Result<json::Value>> WaitUsed(std::string name, std::string amount);
  // The same in two steps, for what is done between them: the watch shows versions after `version`,
  // with "" the present one first. It outlives the task.
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> OpenWatch(std::string version);
  base::Task<base::Result<json::Value>> NextUsing(http::BodyStream& watch, std::string name,
                                                  std::string amount);

  // "\n<what> after 1.2 ms:\n\n<shown>".
  void Show(std::string_view what, base::TimePoint since, std::string_view shown);

 private:
  client::ApiClient& client_;
  base::Scheduler& scheduler_;
  StoryOptions options_;
  std::ostream& out_;
  const api::GroupVersionResource quotas_;
  const std::string quota_;
};

// Deletes the namespace that a story made. One that is not there is deleted already.
base::Task<base::Result<void>> CleanUp(client::ApiClient& client, std::string ns);

// Creates a CustomResourceDefinition, and returns once what it defines is served.
base::Task<base::Result<void>> Define(client::ApiClient& client, base::Scheduler& scheduler,
                                      json::Value definition);

}  // namespace quickstart
