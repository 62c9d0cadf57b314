#include "pkg/client/in_cluster.h"

#include <glog/logging.h>

#include "pkg/client/files.h"

namespace client {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

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
                                      const std::string& service_account) {
  const std::string host = Variable(environment, "KUBERNETES_SERVICE_HOST");
  const bool bare_v6 = host.find(':') != std::string::npos && host.front() != '[';
  const std::string authority =
      (bare_v6 ? "[" + host + "]" : host) + ":" + Variable(environment, "KUBERNETES_SERVICE_PORT");
  ClusterConfig config;
  config.in_cluster = true;
  config.source = "the pod's service account";
  Result<http::Url> server = http::ParseUrl("https://" + authority);
  if (!server) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .message = "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: " +
                            server.error().message};
  }
  config.server = std::move(*server);
  config.token_file = service_account + "/token";
  const Result<std::string> token = ReadFile(config.token_file);
  if (token) config.token = Trim(*token);
  if (config.token.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .message = "in-cluster configuration: " +
                            (token ? config.token_file + " is empty" : token.error().message)};
  }
  const std::string ca_file = service_account + "/ca.crt";
  if (Result<std::string> ca = ReadFile(ca_file)) {
    config.tls.ca_pem = std::move(*ca);
    config.ca_file = ca_file;
  } else {
    LOG(WARNING) << "in-cluster configuration: " << ca.error().message
                 << "; the system's trusted roots are used";
  }
  config.ns = OwnNamespace(environment, service_account + "/namespace");
  Result<std::optional<http::Url>> proxy = ProxyFromEnvironment(config.server, environment);
  if (!proxy) return proxy.error();
  config.proxy = std::move(*proxy);
  return config;
}

}  // namespace client
