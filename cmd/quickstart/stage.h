#pragma once

// What the quickstart's stories need: a namespace, objects created and deleted in it, and a watch
// on a quota. Times come from the watch: they are when the status changed.
//
// Errors are for people: they say what did not happen. Single-threaded.

#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/json/value.h"

namespace quickstart {

struct StoryOptions {
  std::string ns;
  std::chrono::seconds patience{60};  // how long the daemon may take to count
};

// The error for an object that is not as the story says.
base::Error NotAsTold(std::string message);

class Stage {
 public:
  enum class Scope : std::uint8_t { kNamespaced, kCluster };  // of the quotas
  // `quota` is the name of the watched quota. `client`, `scheduler` and `out` must outlive the
  // stage.
  Stage(client::ApiClient& client, base::Scheduler& scheduler, StoryOptions options,
        std::ostream& out, api::GroupVersionResource quotas, std::string quota,
        Scope scope = Scope::kNamespaced);

  [[nodiscard]] const std::string& ns() const { return options_.ns; }
  [[nodiscard]] std::chrono::seconds patience() const { return options_.patience; }
  [[nodiscard]] base::Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] std::ostream& out() { return out_; }

  base::Task<base::Result<void>> MakeNamespace();
  base::Task<base::Result<json::Value>> Create(std::string path, json::Value object);
  // Returns the warnings of the answer.
  base::Task<base::Result<std::vector<std::string>>> CreateWarned(std::string path,
                                                                  json::Value object);
  base::Task<base::Result<json::Value>> Get(std::string path);
  base::Task<base::Result<json::Value>> Patch(std::string path, json::Value merge_patch);
  base::Task<base::Result<void>> Delete(std::string path);

  // Returns the first version of the quota, from the current one on, whose status uses `amount`
  // (canonical text) of `name`. `quota`: another one than the stage's.
  base::Task<base::Result<json::Value>> WaitUsed(std::string name, std::string amount,
                                                 std::string quota = "");
  // The same in two steps, so that the caller can act in between. The watch begins after `version`;
  // with "" it begins with the current version. It must outlive the task.
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> OpenWatch(std::string version,
                                                                        std::string quota = "");
  base::Task<base::Result<json::Value>> NextUsing(http::BodyStream& watch, std::string name,
                                                  std::string amount);

  // Prints "\n<what> after 1.2 ms:\n\n<shown>".
  void Show(std::string_view what, base::TimePoint since, std::string_view shown);

 private:
  client::ApiClient& client_;
  base::Scheduler& scheduler_;
  StoryOptions options_;
  std::ostream& out_;
  const api::GroupVersionResource quotas_;
  const std::string quota_;
  const Scope scope_;
};

// Deletes a story's namespace. A missing one counts as deleted.
base::Task<base::Result<void>> CleanUp(client::ApiClient& client, std::string ns);

// Creates a CustomResourceDefinition, and returns once its resource is served.
base::Task<base::Result<void>> Define(client::ApiClient& client, base::Scheduler& scheduler,
                                      json::Value definition);

}  // namespace quickstart
