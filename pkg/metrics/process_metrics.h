#pragma once

// Metrics of every process: process_* (the names of Prometheus' Go client), read from /proc at each
// scrape, and the build info.

#include "pkg/metrics/registry.h"

namespace metrics {

// process_cpu_seconds_total, process_resident_memory_bytes, process_virtual_memory_bytes,
// process_open_fds, process_max_fds, process_start_time_seconds. A metric that cannot be read keeps
// its last value.
void ExportProcess(Registry& registry);

// quota_controller_manager_build_info{version, compiler, platform} 1
void ExportBuildInfo(Registry& registry, std::string_view version);

}  // namespace metrics
