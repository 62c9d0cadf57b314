#include "pkg/client/in_cluster.h"

#include <glog/logging.h>

#include "pkg/client/context_resolver.h"
#include "pkg/client/entry_place.h"
#include "pkg/client/files.h"

namespace client {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

constexpr const char* kSource = "the pod's service account";

std::string Variable(const Environment& environment, std::string_view name) {
  return environment(name).value_or("");
}

std::string OwnNamespace(const Environment& environment, const std::string& file) {
  // The variable takes precedence over the file (client-go v0.36.3,
  // tools/clientcmd/client_config.go).
  std::string named = Variable(environment, "POD_NAMESPACE");
  if (!named.empty()) return named;
  const Result<std::string> content = ReadFile(file);
  const std::string_view trimmed = content ? Trim(*content) : std::string_view();
  return trimmed.empty() ? "default" : std::string(trimmed);
}

}  // namespace

bool RunsInCluster(const Environment& environment) {
  return !Variable(environment, "KUBERNETES_SERVICE_HOST").empty() &&
         !Variable(environment, "KUBERNETES_SERVICE_PORT").empty();
}

Result<ClusterConfig> InClusterConfig(const Environment& environment,
                                      const std::string& service_account, const Caller& caller) {
  const std::string host = Variable(environment, "KUBERNETES_SERVICE_HOST");
  const bool bare_v6 = host.find(':') != std::string::npos && host.front() != '[';
  const std::string server = "https://" + (bare_v6 ? "[" + host + "]" : host) + ":" +
                             Variable(environment, "KUBERNETES_SERVICE_PORT");
  if (const Result<http::Url> url = http::ParseUrl(server); !url) {
    return Error{
        .code = ErrorCode::kInvalidArgument,
        .message = "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: " + url.error().message};
  }
  // A kubeconfig of one context, so that flags mean the same as over any other one.
  const std::string name = "pod";
  Kubeconfig account;
  account.contexts[name] = {.file = kSource,
                            .cluster = name,
                            .user = name,
                            .ns = OwnNamespace(environment, service_account + "/namespace")};
  UserEntry& user = account.users[name];
  user.file = kSource;
  user.token_file = service_account + "/token";
  const Result<std::string> token = ReadFile(user.token_file);
  if (caller.flags.user.token.empty() && (!token || Trim(*token).empty())) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .message = "in-cluster configuration: " +
                            (token ? user.token_file + " is empty" : token.error().message)};
  }
  ClusterEntry& cluster = account.clusters[name];
  cluster.file = kSource;
  cluster.server = server;
  const std::string ca_file = service_account + "/ca.crt";
  const Result<std::string> ca = ReadPem({"in-cluster configuration"}, "", ca_file, "ca.crt");
  if (ca) cluster.ca_file = ca_file;
  LOG_IF(WARNING, !ca) << ca.error().message << "; the system's trusted roots are used";
  Result<ClusterConfig> config = ResolveContext(account, name, kSource, environment, caller);
  if (!config) return config;
  config->in_cluster = true;
  config->source = kSource;
  return config;
}

}  // namespace client
