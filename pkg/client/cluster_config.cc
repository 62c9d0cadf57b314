#include "pkg/client/cluster_config.h"

#include "pkg/base/text.h"
#include "pkg/client/context_resolver.h"
#include "pkg/client/files.h"
#include "pkg/client/in_cluster.h"

namespace client {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

Error Bad(std::string message) {
  return {.code = ErrorCode::kInvalidArgument, .message = std::move(message)};
}

// The possible places of a kubeconfig, and how messages name them.
struct Places {
  std::vector<std::string> files;
  std::string looked_at;  // for the case that none of the files exists
};

Places UsualPlaces(const LoadOptions& options) {
  Places places;
  places.files = SplitPathList(options.environment("KUBECONFIG").value_or(""));
  if (!places.files.empty()) {
    places.looked_at =
        "$KUBECONFIG names no file that exists (" + base::Join(places.files, ", ") + ")";
    return places;
  }
  places.looked_at = "$KUBECONFIG is not set";
  if (options.home.empty()) {
    places.looked_at += ", and there is no home directory to look for .kube/config";
  } else {
    places.files = {options.home + "/.kube/config"};
    places.looked_at += ", and " + places.files.front() + " does not exist";
  }
  return places;
}

// The flag that only a kubeconfig can fulfil; "" if none is given.
std::string FlagOfKubeconfig(const LoadOptions& options) {
  const Overrides& flags = options.caller.flags;
  if (!options.context.empty()) return "--context " + options.context;
  if (!flags.cluster_name.empty()) return "--cluster " + flags.cluster_name;
  if (!flags.user_name.empty()) return "--user " + flags.user_name;
  return "";
}

std::string TokenPath(const LoadOptions& options) { return options.service_account + "/token"; }

// Why the pod's service account is not used.
std::string WhyNoPod(const LoadOptions& options) {
  std::vector<std::string> unset;
  for (const char* name : {"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}) {
    if (options.environment(name).value_or("").empty()) unset.emplace_back(name);
  }
  if (!unset.empty()) {
    return "this is not a pod (" + base::Join(unset, " and ") +
           (unset.size() > 1 ? " are not set)" : " is not set)");
  }
  const std::string flag = FlagOfKubeconfig(options);
  if (!flag.empty()) return flag + " rules out the pod's service account";
  return "the pod has no service account (" + TokenPath(options) + " cannot be read)";
}

Error NothingFound(const LoadOptions& options, const Places& places) {
  return Bad("no API server is configured: --kubeconfig is not given, " + WhyNoPod(options) + ", " +
             places.looked_at);
}

// For a user only a complete service account is one: some tools set the variables elsewhere, too.
bool MayUsePod(const LoadOptions& options) {
  if (!FlagOfKubeconfig(options).empty() || !RunsInCluster(options.environment)) return false;
  return !options.caller.IsUser() ||
         (options.caller.flags.cluster.server.empty() && ReadFile(TokenPath(options)).has_value());
}

}  // namespace

std::string ClusterConfig::Describe() const {
  return server.scheme + "://" + server.Authority() + server.path + " (" + source + ")";
}

Result<ClusterConfig> LoadClusterConfig(const LoadOptions& options) {
  const Caller& caller = options.caller;
  const bool given = !options.kubeconfig.empty();
  const auto pod = [&] {
    return InClusterConfig(options.environment, options.service_account, caller);
  };
  if (!given && !caller.IsUser() && MayUsePod(options)) return pod();
  const Places places = given ? Places{{options.kubeconfig}, ""} : UsualPlaces(options);
  const Result<LoadedKubeconfig> loaded = LoadKubeconfig(places.files);
  if (!loaded) return given ? loaded.error().Wrap("--kubeconfig") : loaded.error();
  if (given && loaded->found == 0) {
    return Bad("--kubeconfig: " + options.kubeconfig + " does not exist");
  }
  const bool chosen = !loaded->config.current_context.empty();
  if (caller.IsUser() && !chosen && MayUsePod(options)) return pod();
  if (loaded->found == 0 && caller.flags.cluster.server.empty()) {
    return NothingFound(options, places);
  }
  return ResolveContext(loaded->config, options.context, base::Join(places.files, ", "),
                        options.environment, caller);
}

}  // namespace client
