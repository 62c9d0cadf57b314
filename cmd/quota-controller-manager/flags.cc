// Every flag of the daemon, and nothing but flags.

#include "cmd/quota-controller-manager/flags.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <sstream>

#include "cmd/command_line/command_line.h"
#include "pkg/base/duration.h"

DEFINE_string(kubeconfig, "",
              "Kubeconfig file. Empty: the in-cluster configuration, else $KUBECONFIG, else "
              "~/.kube/config.");
DEFINE_string(context, "", "Context of the kubeconfig. Empty: its current-context.");
DEFINE_string(quota_apis, "core", "Quota APIs to count, separated by commas: core.");
DEFINE_string(resync_period, "5m",
              "How often all usage is compared with a fresh list and repaired; 0 turns it off.");
DEFINE_string(metrics_bind_address, ":8080", "Where /metrics is served. Empty: not served.");
DEFINE_string(health_probe_bind_address, ":8081",
              "Where /healthz, /livez and /readyz are served. Empty: not served.");

namespace manager {
namespace {

using command_line::BadFlag;

constexpr std::string_view kUsage =
    "quota-controller-manager keeps status.hard and status.used of every quota true.\n\n"
    "Usage: quota-controller-manager [flags]\n\n";
base::Result<std::vector<std::string>> ParseQuotaApis() {
  std::vector<std::string> apis;
  std::istringstream list(FLAGS_quota_apis);
  for (std::string name; std::getline(list, name, ',');) {
    if (name != "core") {
      return base::Error{.code = base::ErrorCode::kInvalidArgument,
                         .message = "unknown quota API \"" + name + "\" (known: core)"};
    }
    if (std::find(apis.begin(), apis.end(), name) == apis.end()) apis.push_back(name);
  }
  if (apis.empty()) {
    return base::Error{.code = base::ErrorCode::kInvalidArgument,
                       .message = "at least one quota API is needed"};
  }
  return apis;
}

base::Result<std::optional<http::BindAddress>> ParseAddress(const std::string& text) {
  if (text.empty()) return std::optional<http::BindAddress>();
  auto address = http::ParseBindAddress(text);
  if (!address) return address.error();
  return std::optional<http::BindAddress>(std::move(*address));
}

}  // namespace

std::string Version() { return QCM_VERSION; }

base::Result<Options> ParseFlags(int argc, char** argv) {
  const auto parsed = command_line::Parse({.name = "quota-controller-manager",
                                           .version = Version(),
                                           .usage = kUsage,
                                           .flags_file = "quota-controller-manager/flags.cc",
                                           .borrowed = {"v", "vmodule"}},
                                          argc, argv);
  if (!parsed) return parsed.error();
  Options options{.kubeconfig = FLAGS_kubeconfig, .context = FLAGS_context};
  auto apis = ParseQuotaApis();
  if (!apis) return BadFlag("quota_apis", apis.error().message);
  options.quota_apis = std::move(*apis);
  const auto resync = base::ParseDuration(FLAGS_resync_period);
  if (!resync) return BadFlag("resync_period", resync.error().message);
  if (resync->count() < 0) {
    return BadFlag("resync_period", "must not be negative: " + FLAGS_resync_period);
  }
  options.resync_period = *resync;
  auto metrics = ParseAddress(FLAGS_metrics_bind_address);
  if (!metrics) return BadFlag("metrics_bind_address", metrics.error().message);
  options.metrics = std::move(*metrics);
  auto health = ParseAddress(FLAGS_health_probe_bind_address);
  if (!health) return BadFlag("health_probe_bind_address", health.error().message);
  options.health = std::move(*health);
  return options;
}

}  // namespace manager
