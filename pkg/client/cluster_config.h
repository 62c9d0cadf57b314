#pragma once

// Where the API server is and how to authenticate. Resolved from flags, environment and files, and
// every path and combination is checked (client-go v0.36.3, tools/clientcmd and rest/config.go).
//
// Precedence for a daemon: --kubeconfig alone if it is given; else the pod's service account, if
// the environment is that of a pod and no context was requested; else $KUBECONFIG; else
// ~/.kube/config. For a user, as in kubectl, the pod's service account is last: it is used if no
// file names a current context, and no flag names a server, a context, a cluster or a user. All
// errors are kInvalidArgument: a start with this configuration can never work.
//
// Values; any thread. Never log a ClusterConfig: it holds secrets. Describe() may be logged.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/client/kubeconfig.h"
#include "pkg/client/overrides.h"
#include "pkg/client/proxy.h"
#include "pkg/http/client.h"
#include "pkg/http/message.h"

namespace client {

struct Impersonation {
  std::string user;
  std::string uid;
  std::vector<std::string> groups;
  std::vector<std::pair<std::string, std::string>> extra;
};

struct ClusterConfig {
  bool in_cluster = false;  // the pod's service account is used
  std::string source;  // "context \"kind\" of /home/a/.kube/config", "the pod's service account"
  http::Url server;
  http::TlsOptions tls;  // as read at start; the files below are read again
  std::string ca_file;   // "" if the data was inline
  std::string cert_file;
  std::string key_file;
  std::optional<http::Url> proxy;
  bool disable_compression = false;
  std::string ns = "default";  // the context's, or the pod's
  // At most one of: token or token_file; username; exec. With a token_file, `token` is its first
  // content. With exec, a token, a user name or a client certificate is used instead of the plugin.
  std::string token;
  std::string token_file;
  std::string username;
  std::string password;
  std::optional<ExecEntry> exec;
  json::Value exec_config;  // for the plugin, from the cluster's extensions
  std::string proxy_url;    // for the plugin, as in the file
  PluginInput plugin_input = PluginInput::kDaemon;
  Impersonation impersonate;

  // "https://10.0.0.1:6443 (context \"kind\" of …)", without secrets.
  [[nodiscard]] std::string Describe() const;
};

struct LoadOptions {
  std::string kubeconfig;  // --kubeconfig
  std::string context;     // --context
  Environment environment;
  std::string home;  // "" if unknown
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
  Caller caller;
};

base::Result<ClusterConfig> LoadClusterConfig(const LoadOptions& options);

}  // namespace client
