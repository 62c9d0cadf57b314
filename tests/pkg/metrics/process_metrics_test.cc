#include "pkg/metrics/process_metrics.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <sstream>

namespace process_metrics_test {

using Catch::Matchers::Contains;

namespace {

// The value of the series whose line starts with `name` and a blank; -1 if there is none.
double ValueOf(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + " ")) return std::stod(line.substr(name.size() + 1));
  }
  return -1;
}

}  // namespace

TEST_CASE("process metrics: memory, files, CPU and start are those of this process", "[metrics]") {
  metrics::Registry registry;
  metrics::ExportProcess(registry);
  const std::string text = registry.Expose();
  CHECK(ValueOf(text, "process_resident_memory_bytes") > 1e6);
  CHECK(ValueOf(text, "process_virtual_memory_bytes") >
        ValueOf(text, "process_resident_memory_bytes"));
  CHECK(ValueOf(text, "process_open_fds") >= 3);
  CHECK(ValueOf(text, "process_max_fds") > ValueOf(text, "process_open_fds"));
  CHECK(ValueOf(text, "process_cpu_seconds_total") >= 0);
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  CHECK(ValueOf(text, "process_start_time_seconds") > now - 3600);
  CHECK(ValueOf(text, "process_start_time_seconds") < now + 2);
}

TEST_CASE("process metrics: the CPU time never falls", "[metrics]") {
  metrics::Registry registry;
  metrics::ExportProcess(registry);
  const double before = ValueOf(registry.Expose(), "process_cpu_seconds_total");
  CHECK(ValueOf(registry.Expose(), "process_cpu_seconds_total") >= before);
}

TEST_CASE("process metrics: the build is named", "[metrics]") {
  metrics::Registry registry;
  metrics::ExportBuildInfo(registry, "1.2.3");
  CHECK_THAT(registry.Expose(), Contains("quota_controller_manager_build_info{"));
  CHECK_THAT(registry.Expose(), Contains("version=\"1.2.3\""));
}

}  // namespace process_metrics_test
