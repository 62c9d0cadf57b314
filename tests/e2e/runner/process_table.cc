#include "tests/e2e/runner/process_table.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace e2e {
namespace {

struct Line {
  int parent = 0;
  long ticks = 0;  // user and system time, of itself and of the children that it waited for
};

// The second field is the program's name in brackets, which may contain blanks: count fields from
// ')'.
bool ReadLine(const std::string& path, Line& line) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  const auto bracket = text.rfind(')');
  if (bracket == std::string::npos) return false;
  std::istringstream fields(text.substr(bracket + 1));
  std::string skipped;
  fields >> skipped >> line.parent;
  for (int field = 5; field < 14; ++field) fields >> skipped;
  for (int field = 14; field < 18; ++field) {
    long ticks = 0;
    fields >> ticks;
    line.ticks += ticks;
  }
  return static_cast<bool>(fields);
}

}  // namespace

ProcessTable::ProcessTable() {
  std::error_code gone;
  const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const int pid = std::atoi(entry.path().filename().c_str());
    Line line;
    if (pid <= 0 || !ReadLine(entry.path() / "stat", line)) continue;
    children_[line.parent].push_back(pid);
    cpu_seconds_[pid] = static_cast<double>(line.ticks) * tick;
  }
}

double ProcessTable::CpuSecondsOfTree(int pid) const {
  const auto own = cpu_seconds_.find(pid);
  double sum = own == cpu_seconds_.end() ? 0 : own->second;
  for (const int child : ChildrenOf(pid)) sum += CpuSecondsOfTree(child);
  return sum;
}

const std::vector<int>& ProcessTable::ChildrenOf(int pid) const {
  static const std::vector<int> none;
  const auto found = children_.find(pid);
  return found == children_.end() ? none : found->second;
}

}  // namespace e2e
