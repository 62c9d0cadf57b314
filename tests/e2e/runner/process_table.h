#pragma once

// The processes of this machine, as /proc shows them at one moment.

#include <map>
#include <vector>

namespace e2e {

class ProcessTable {
 public:
  ProcessTable();  // looks now

  // Of a process and all below it, those that it waited for included.
  [[nodiscard]] double CpuSecondsOfTree(int pid) const;
  [[nodiscard]] const std::vector<int>& ChildrenOf(int pid) const;

 private:
  std::map<int, std::vector<int>> children_;
  std::map<int, double> cpu_seconds_;
};

}  // namespace e2e
