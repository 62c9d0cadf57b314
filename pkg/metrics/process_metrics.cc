#include "pkg/metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace metrics {
namespace {

// The exported fields of /proc/self/stat, in the units of the metrics.
struct Stat {
  double cpu_seconds = 0;
  double started_after_boot_seconds = 0;
  double virtual_bytes = 0;
  double resident_bytes = 0;
};

std::optional<Stat> ReadStat() {
  std::ifstream file("/proc/self/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t name_end = text.rfind(')');  // the program's name may contain anything
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(text.substr(name_end + 1));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(rest), {}};
  if (fields.size() < 22) return std::nullopt;  // fields[0] is the third of proc(5)
  const auto number = [&](std::size_t index) {
    return static_cast<double>(std::strtoull(fields[index].c_str(), nullptr, 10));
  };
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return Stat{.cpu_seconds = (number(11) + number(12)) / ticks,
              .started_after_boot_seconds = number(19) / ticks,
              .virtual_bytes = number(20),
              .resident_bytes = number(21) * static_cast<double>(sysconf(_SC_PAGESIZE))};
}

std::optional<double> BootTime() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("btime ")) return std::strtod(line.c_str() + 6, nullptr);
  }
  return std::nullopt;
}

std::optional<double> OpenFiles() {
  std::error_code error;
  const std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (error) return std::nullopt;
  // minus the descriptor of this read
  return static_cast<double>(std::distance(begin(files), end(files)) - 1);
}

}  // namespace

void ExportProcess(Registry& registry) {
  const Counter cpu = registry.NewCounter("process_cpu_seconds_total",
                                          "Total user and system CPU time spent in seconds.");
  const Gauge resident =
      registry.NewGauge("process_resident_memory_bytes", "Resident memory size in bytes.");
  const Gauge virtual_size =
      registry.NewGauge("process_virtual_memory_bytes", "Virtual memory size in bytes.");
  const Gauge open = registry.NewGauge("process_open_fds", "Number of open file descriptors.");
  const Gauge most =
      registry.NewGauge("process_max_fds", "Maximum number of open file descriptors.");
  const Gauge started = registry.NewGauge("process_start_time_seconds",
                                          "Start time of the process since unix epoch in seconds.");
  registry.OnScrape([=] {
    if (const std::optional<Stat> stat = ReadStat()) {
      // The library's counters can only be incremented.
      cpu.Increment(std::max(0.0, stat->cpu_seconds - cpu.value()));
      resident.Set(stat->resident_bytes);
      virtual_size.Set(stat->virtual_bytes);
      const std::optional<double> boot = BootTime();
      if (boot) started.Set(*boot + stat->started_after_boot_seconds);
    }
    if (const std::optional<double> files = OpenFiles()) open.Set(*files);
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) most.Set(static_cast<double>(limit.rlim_cur));
  });
}

void ExportBuildInfo(Registry& registry, std::string_view version) {
  const Labels labels{{"version", std::string(version)},
                      {"compiler", "g++ " __VERSION__},
                      {"platform",
                       "linux/"
#if defined(__x86_64__)
                       "amd64"
#elif defined(__aarch64__)
                       "arm64"
#else
                       "other"
#endif
                      }};
  registry
      .NewGauge("quota_controller_manager_build_info",
                "The version, compiler and platform of this build; always 1.", labels)
      .Set(1);
}

}  // namespace metrics
