#include "tests/e2e/harness/memory_limit.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/e2e/harness/wait.h"

namespace e2e {
namespace {

bool Write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

}  // namespace

MemoryLimit::MemoryLimit(int pid, std::size_t bytes) {
  const std::string root = "/sys/fs/cgroup";
  if (Enter(root + "/memory", "cgroup v1", "memory.limit_in_bytes", pid, bytes)) {
    events_ = group_ + "/memory.oom_control";
    return;
  }
  (void)Write(root + "/cgroup.subtree_control", "+memory");
  if (Enter(root, "cgroup v2", "memory.max", pid, bytes)) {
    events_ = group_ + "/memory.events";
    return;
  }
  const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
  if (prlimit(pid, RLIMIT_DATA, &limit, nullptr) != 0) {
    throw std::runtime_error("the kernel lets nobody limit the memory of a process here");
  }
  kind_ = "RLIMIT_DATA";
}

// Removes the group again if the kernel has no such limit in it.
bool MemoryLimit::Enter(const std::string& parent, const char* kind, const char* file, int pid,
                        std::size_t bytes) {
  constexpr mode_t kMode = 0755;
  const std::string group = parent + "/qcm-e2e-" + std::to_string(pid);
  if (mkdir(group.c_str(), kMode) != 0) return false;
  if (!Write(group + "/" + file, std::to_string(bytes)) ||
      !Write(group + "/cgroup.procs", std::to_string(pid))) {
    rmdir(group.c_str());
    return false;
  }
  group_ = group;
  kind_ = kind;
  return true;
}

// A group can be removed only after its last process has ended.
MemoryLimit::~MemoryLimit() {
  if (group_.empty()) return;
  const std::string parent = group_.substr(0, group_.rfind('/'));
  std::ifstream left(group_ + "/cgroup.procs");
  for (std::string pid; left >> pid;) (void)Write(parent + "/cgroup.procs", pid);
  (void)PollUntil([this] { return rmdir(group_.c_str()) == 0; }, std::chrono::seconds(2));
}

long MemoryLimit::kills() const {
  std::ifstream file(events_);
  std::string name;
  long count = 0;
  while (file >> name >> count) {
    if (name == "oom_kill") return count;
  }
  return 0;
}

}  // namespace e2e
