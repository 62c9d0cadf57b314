#pragma once

// Counts from outside how often the quotas of one namespace, or ClusterQuotas, were written: each
// write with a change is one MODIFIED event of a watch. Survives restarts of the server.
//
// The watch runs on its own thread; the functions may be called from the test's thread.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/harness/objects.h"

namespace e2e {

class WriteRecorder {
 public:
  // Records writes of the namespace's ResourceQuotas. Begins at `resource_version` (of any object
  // of the server, read before the first write).
  WriteRecorder(const std::string& kubeconfig, const std::string& ns,
                const std::string& resource_version);
  // Records writes of the quotas at this path.
  struct Collection {
    std::string path;
  };
  WriteRecorder(const std::string& kubeconfig, const Collection& collection,
                const std::string& resource_version);
  ~WriteRecorder();

  // Writes to the quota so far.
  [[nodiscard]] int Writes(const std::string& quota) const;
  // Writes to all quotas so far.
  [[nodiscard]] int AllWrites() const;
  // The sizes of the reservations that they left in the quota, in bytes, in their order.
  [[nodiscard]] std::vector<std::size_t> ReservationSizes(const std::string& quota) const;
  // Waits until the recorder has seen this resource version of the quota or a later one.
  void WaitSeen(const std::string& quota, const std::string& resource_version) const;

 private:
  class Notes;
  std::unique_ptr<Notes> notes_;
};

}  // namespace e2e
