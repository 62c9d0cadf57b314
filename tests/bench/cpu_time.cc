#include "tests/bench/cpu_time.h"

#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace bench {

Micros CpuOfProcess(int pid) {
  Micros sum{};
  std::error_code gone;
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
    std::ifstream schedstat(task.path() / "schedstat");
    double nanos = 0;
    if (schedstat >> nanos) sum += std::chrono::duration<double, std::nano>(nanos);
  }
  return sum;
}

Micros CpuOfThisThread() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto micros = [](const timeval& time) {
    return Micros(static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec));
  };
  return micros(usage.ru_utime) + micros(usage.ru_stime);
}

}  // namespace bench
