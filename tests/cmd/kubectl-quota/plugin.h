#pragma once

// TEST ONLY. The plugin on a fake cluster that has the namespace "shop", and serves the usual
// kinds, with files in a temporary folder.

#include <optional>
#include <string>
#include <vector>

#include "pkg/base/manual_scheduler.h"
#include "tests/fake/fake_cluster.h"

namespace kubectl_quota_tests {

struct Told {
  int code = 0;
  std::string output;    // stdout
  std::string warnings;  // stderr, and the error that ended the command
};

class Plugin {
 public:
  Plugin();
  ~Plugin();
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  // Returns the path of a new file.
  std::string File(const std::string& name, const std::string& text) const;
  // Creates the object, which is YAML.
  void Put(const api::GroupVersionResource& resource, const std::string& object);
  // Performs a command in the namespace "shop" of the cluster, or as -n and -A say; `check` with
  // --quota-file reads only files.
  Told Ask(const std::vector<std::string>& arguments);
  // Checks these manifests, only from files, with a ResourceQuota "q" in the namespace "shop".
  // `hard` is YAML.
  Told CheckFiles(const std::string& manifests, const std::string& hard);
  // As Ask(); nullopt if the call is wrong.
  std::optional<Told> TryAsk(const std::vector<std::string>& arguments);

 private:
  base::asio::io_context io_{1};
  std::string folder_;

 public:
  base::ManualScheduler scheduler{io_};
  fake::FakeCluster cluster{scheduler};
};

}  // namespace kubectl_quota_tests
