#pragma once

// The processes of this machine at one moment, from /proc.

#include <map>
#include <vector>

namespace e2e {

class ProcessTable {
 public:
  ProcessTable();  // reads /proc now

  // CPU time of a process and all its descendants, including those that were waited for.
  [[nodiscard]] double CpuSecondsOfTree(int pid) const;
  [[nodiscard]] const std::vector<int>& ChildrenOf(int pid) const;

 private:
  std::map<int, std::vector<int>> children_;
  std::map<int, double> cpu_seconds_;
};

}  // namespace e2e
