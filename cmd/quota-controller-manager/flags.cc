// Every flag of the daemon, and nothing but flags.

#include "cmd/quota-controller-manager/flags.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>

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

// Declared by gflags' sources, not by its header: what it calls after reporting a wrong flag.
namespace GFLAGS_NAMESPACE {
extern void (*gflags_exitfunc)(int);
}

namespace manager {
namespace {

constexpr std::string_view kUsage =
    "quota-controller-manager keeps status.hard and status.used of every quota true.\n\n"
    "Usage: quota-controller-manager [flags]\n\n";
// Flags of the log library that are worth offering; its others stay out of --help.
constexpr std::string_view kLogFlags[] = {"v", "vmodule"};

std::string WithDashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

void PrintHelp() {
  std::vector<gflags::CommandLineFlagInfo> flags;
  gflags::GetAllFlags(&flags);
  std::cout << kUsage;
  for (const gflags::CommandLineFlagInfo& flag : flags) {
    const bool ours = flag.filename.find("quota-controller-manager/flags.cc") != std::string::npos;
    const bool log =
        std::find(std::begin(kLogFlags), std::end(kLogFlags), flag.name) != std::end(kLogFlags);
    if (!ours && !log) continue;
    std::cout << "  --" << WithDashes(flag.name) << "=" << flag.default_value << "\n      "
              << flag.description << "\n";
  }
  std::cout << "  --version\n      Print the version and exit.\n"
            << "  --help\n      Print this and exit.\n";
}

// gflags would print every flag of every library, and end with 1.
void HandleHelpAndVersion(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-help" || argument == "-h") {
      PrintHelp();
      std::exit(0);
    }
    if (argument == "--version" || argument == "-version") {
      std::cout << "quota-controller-manager " << Version() << "\n";
      std::exit(0);
    }
  }
}

base::Error BadFlag(std::string_view name, const base::Error& why) {
  return {.code = base::ErrorCode::kInvalidArgument,
          .message = "flag --" + WithDashes(std::string(name)) + ": " + why.message};
}

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
  HandleHelpAndVersion(argc, argv);
  GFLAGS_NAMESPACE::gflags_exitfunc = [](int) { std::exit(2); };
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc > 1) {
    return base::Error{.code = base::ErrorCode::kInvalidArgument,
                       .message = "unexpected argument \"" + std::string(argv[1]) + "\""};
  }
  Options options{.kubeconfig = FLAGS_kubeconfig, .context = FLAGS_context};
  auto apis = ParseQuotaApis();
  if (!apis) return BadFlag("quota_apis", apis.error());
  options.quota_apis = std::move(*apis);
  const auto resync = base::ParseDuration(FLAGS_resync_period);
  if (!resync) return BadFlag("resync_period", resync.error());
  if (resync->count() < 0) {
    return BadFlag("resync_period", {.message = "must not be negative: " + FLAGS_resync_period});
  }
  options.resync_period = *resync;
  auto metrics = ParseAddress(FLAGS_metrics_bind_address);
  if (!metrics) return BadFlag("metrics_bind_address", metrics.error());
  options.metrics = std::move(*metrics);
  auto health = ParseAddress(FLAGS_health_probe_bind_address);
  if (!health) return BadFlag("health_probe_bind_address", health.error());
  options.health = std::move(*health);
  return options;
}

}  // namespace manager
