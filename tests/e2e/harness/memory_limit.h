#pragma once

// A limit of the memory of one process that the kernel enforces, as in a container: a control group
// of its own, of version 1 or 2. Without the right to make one, the process gets a limit of its
// data segments, which counts what is mapped in place of what is used.

#include <cstddef>
#include <string>

namespace e2e {

class MemoryLimit {
 public:
  // Throws if the kernel lets nobody set any of these limits.
  MemoryLimit(int pid, std::size_t bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  // How often the kernel killed the process for its memory; 0 without a control group.
  [[nodiscard]] long kills() const;
  // "cgroup v1", "cgroup v2" or "RLIMIT_DATA".
  [[nodiscard]] const std::string& kind() const { return kind_; }

 private:
  bool Enter(const std::string& parent, const char* kind, const char* file, int pid,
             std::size_t bytes);

  std::string group_;   // the folder of the control group; "": none
  std::string events_;  // has a line "oom_kill N"
  std::string kind_;
};

}  // namespace e2e
