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

Result<ClusterConfig> FromFlag(const LoadOptions& options) {
  const Result<LoadedKubeconfig> loaded = LoadKubeconfig({options.kubeconfig});
  if (!loaded) return loaded.error().Wrap("--kubeconfig");
  if (loaded->found == 0) return Bad("--kubeconfig: " + options.kubeconfig + " does not exist");
  return ResolveContext(loaded->config, options.context, options.kubeconfig, options.environment);
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

Error NothingFound(const LoadOptions& options, const Places& places) {
  const std::string pod =
      RunsInCluster(options.environment)
          ? "--context " + options.context + " rules out the pod's service account"
          : "this is not a pod (KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set)";
  return Bad("no API server is configured: --kubeconfig is not given, " + pod + ", " +
             places.looked_at);
}

}  // namespace

std::string ClusterConfig::Describe() const {
  return server.scheme + "://" + server.Authority() + server.path + " (" + source + ")";
}

Result<ClusterConfig> LoadClusterConfig(const LoadOptions& options) {
  if (!options.kubeconfig.empty()) return FromFlag(options);
  // Only kubeconfigs have contexts, so a requested context rules out the pod's service account.
  if (options.context.empty() && RunsInCluster(options.environment)) {
    return InClusterConfig(options.environment, options.service_account);
  }
  const Places places = UsualPlaces(options);
  const Result<LoadedKubeconfig> loaded = LoadKubeconfig(places.files);
  if (!loaded) return loaded.error();
  if (loaded->found == 0) return NothingFound(options, places);
  return ResolveContext(loaded->config, options.context, base::Join(places.files, ", "),
                        options.environment);
}

}  // namespace client
