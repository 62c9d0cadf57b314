#include "pkg/client/context_resolver.h"

#include <glog/logging.h>

#include "pkg/base/base64.h"
#include "pkg/client/files.h"

namespace client {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

// Names one entry in messages: `/home/a/config: user "admin"`.
struct Place {
  std::string text;
  [[nodiscard]] Error Bad(std::string_view what) const {
    return {.code = ErrorCode::kInvalidArgument, .message = text + ": " + std::string(what)};
  }
};

Place PlaceOf(const std::string& file, std::string_view kind, const std::string& name) {
  return {file + ": " + std::string(kind) + " \"" + name + "\""};
}

template <typename Entries>
std::string Names(const Entries& entries) {
  std::string names;
  for (const auto& [name, entry] : entries) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

Result<std::string> CheckPem(Result<std::string> content, const Place& place,
                             std::string_view field) {
  if (!content) return place.Bad(std::string(field) + ": " + content.error().message);
  if (content->find("-----BEGIN ") == std::string::npos) {
    return place.Bad(std::string(field) + " holds no PEM block");
  }
  return content;
}

// Returns the PEM of a field that is given as data or as a path; "" if it is not given.
Result<std::string> ReadPem(const Place& place, const std::string& data, const std::string& path,
                            const std::string& field) {
  if (!data.empty() && !path.empty()) {
    return place.Bad(field + " and " + field + "-data are both set; only one is allowed");
  }
  if (!data.empty()) return CheckPem(base::DecodeBase64(data), place, field + "-data");
  if (!path.empty()) return CheckPem(ReadFile(path), place, field);
  return std::string();
}

Result<http::Url> ParseServer(const Place& place, const ClusterEntry& cluster, bool tls_wanted) {
  if (cluster.server.empty()) return place.Bad("server is missing");
  std::string text = cluster.server;
  if (text.find("://") == std::string::npos) {
    text = std::string(tls_wanted ? "https://" : "http://") + text;
  }
  Result<http::Url> url = http::ParseUrl(text);
  if (!url) return place.Bad("server: " + url.error().message);
  if (url->scheme != "https" && url->scheme != "http") {
    return place.Bad("server \"" + http::WithoutCredentials(cluster.server) +
                     "\" must begin with https:// or http://");
  }
  return url;
}

Result<void> ApplyProxy(const Place& place, const ClusterEntry& cluster,
                        const Environment& environment, ClusterConfig& into) {
  if (cluster.proxy_url.empty()) {
    Result<std::optional<http::Url>> proxy = ProxyFromEnvironment(into.server, environment);
    if (!proxy) return proxy.error();
    into.proxy = std::move(*proxy);
    return {};
  }
  if (cluster.proxy_url.find("://") == std::string::npos) {
    return place.Bad("proxy-url must begin with http://, https:// or socks5://");
  }
  Result<http::Url> proxy = ParseProxyUrl(cluster.proxy_url);
  if (!proxy) return place.Bad("proxy-url: " + proxy.error().message);
  into.proxy = std::move(*proxy);
  into.proxy_url = cluster.proxy_url;
  return {};
}

Result<void> ApplyCluster(const Place& place, const ClusterEntry& cluster,
                          const Environment& environment, ClusterConfig& into) {
  const bool has_ca = !cluster.ca_file.empty() || !cluster.ca_data.empty();
  if (cluster.insecure && has_ca) {
    return place.Bad("insecure-skip-tls-verify and certificate-authority are mutually exclusive");
  }
  Result<std::string> ca =
      ReadPem(place, cluster.ca_data, cluster.ca_file, "certificate-authority");
  if (!ca) return ca.error();
  Result<http::Url> server = ParseServer(place, cluster, has_ca || cluster.insecure);
  if (!server) return server.error();
  into.server = std::move(*server);
  into.tls.ca_pem = std::move(*ca);
  into.tls.server_name = cluster.tls_server_name;
  into.tls.insecure = cluster.insecure;
  into.ca_file = cluster.ca_file;
  into.disable_compression = cluster.disable_compression;
  into.exec_config = cluster.exec_config;
  return ApplyProxy(place, cluster, environment, into);
}

Result<void> CheckExec(const Place& place, const UserEntry& user) {
  const ExecEntry& exec = user.exec;
  if (!user.auth_provider.empty())
    return place.Bad("exec and auth-provider are mutually exclusive");
  if (exec.command.empty()) return place.Bad("exec.command is missing");
  const bool stable = exec.api_version == "client.authentication.k8s.io/v1";
  if (!stable && exec.api_version != "client.authentication.k8s.io/v1beta1") {
    return place.Bad("exec.apiVersion \"" + exec.api_version +
                     "\" must be client.authentication.k8s.io/v1 or …/v1beta1");
  }
  for (const auto& [name, value] : exec.env) {
    if (name.empty()) return place.Bad("exec.env has an entry without a name");
  }
  const std::string& mode = exec.interactive_mode;
  if (mode.empty() && stable) return place.Bad("exec.interactiveMode is missing");
  if (mode == "Always") {
    return place.Bad("exec.interactiveMode is Always, and a daemon has no terminal");
  }
  if (!mode.empty() && mode != "Never" && mode != "IfAvailable") {
    return place.Bad("exec.interactiveMode \"" + mode + "\" must be Never, IfAvailable or Always");
  }
  return {};
}

// Checks that the authentication methods of a user do not exclude each other.
Result<void> CheckMethods(const Place& place, const UserEntry& user) {
  const bool token = !user.token.empty() || !user.token_file.empty();
  const bool basic = !user.username.empty() || !user.password.empty();
  if (token && basic) return place.Bad("a token and username/password are mutually exclusive");
  if (user.has_exec) return CheckExec(place, user);
  if (!user.auth_provider.empty()) {
    return place.Bad("auth-provider \"" + user.auth_provider +
                     "\" is not supported; use an exec credential plugin instead");
  }
  return {};
}

Result<void> ApplyImpersonation(const Place& place, const UserEntry& user, ClusterConfig& into) {
  const bool others = !user.as_uid.empty() || !user.as_groups.empty() || !user.as_extra.empty();
  if (user.as.empty() && others) {
    return place.Bad("as-uid, as-groups and as-user-extra need \"as\"");
  }
  std::string all = user.as + user.as_uid;
  for (const std::string& group : user.as_groups) all += group;
  for (const auto& [key, value] : user.as_extra) all += value;
  if (all.find_first_of("\r\n") != std::string::npos) {
    return place.Bad("a field of impersonation (as…) has a line break");
  }
  into.impersonate = {user.as, user.as_uid, user.as_groups, user.as_extra};
  return {};
}

Result<void> ApplyCertificate(const Place& place, const UserEntry& user, ClusterConfig& into) {
  Result<std::string> cert = ReadPem(place, user.cert_data, user.cert_file, "client-certificate");
  if (!cert) return cert.error();
  Result<std::string> key = ReadPem(place, user.key_data, user.key_file, "client-key");
  if (!key) return key.error();
  if (cert->empty() != key->empty()) {
    return place.Bad(key->empty() ? "client-certificate needs client-key"
                                  : "client-key needs client-certificate");
  }
  into.tls.cert_pem = std::move(*cert);
  into.tls.key_pem = std::move(*key);
  into.cert_file = user.cert_file;
  into.key_file = user.key_file;
  return {};
}

Result<void> ApplyToken(const Place& place, const UserEntry& user, ClusterConfig& into) {
  into.token = user.token;
  into.token_file = user.token_file;
  if (user.token.find_first_of("\r\n") != std::string::npos) {
    return place.Bad("token has a line break");
  }
  if (user.token_file.empty() || !user.token.empty()) return {};
  const Result<std::string> token = ReadFile(user.token_file);
  if (!token) return place.Bad("tokenFile: " + token.error().message);
  into.token = Trim(*token);
  if (into.token.empty()) return place.Bad("tokenFile: " + user.token_file + " is empty");
  return {};
}

Result<void> ApplyUser(const Place& place, const UserEntry& user, ClusterConfig& into) {
  if (Result<void> checked = CheckMethods(place, user); !checked) return checked;
  if (Result<void> applied = ApplyImpersonation(place, user, into); !applied) return applied;
  if (into.server.scheme != "https") {
    LOG(WARNING) << place.text << ": the server " << into.server.Authority()
                 << " is not https, so no credential is sent to it";
    return {};
  }
  if (Result<void> applied = ApplyCertificate(place, user, into); !applied) return applied;
  into.username = user.username;
  into.password = user.password;
  if (user.has_exec) into.exec = user.exec;
  return ApplyToken(place, user, into);
}

}  // namespace

Result<ClusterConfig> ResolveContext(const Kubeconfig& config, const std::string& context,
                                     const std::string& files, const Environment& environment) {
  const std::string name = context.empty() ? config.current_context : context;
  if (name.empty()) {
    return Place{files}.Bad("current-context is empty; choose one with --context (there are: " +
                            Names(config.contexts) + ")");
  }
  const auto chosen = config.contexts.find(name);
  if (chosen == config.contexts.end()) {
    return Place{files}.Bad((context.empty() ? "current-context" : "context") + std::string(" \"") +
                            name + "\" is not defined (there are: " + Names(config.contexts) + ")");
  }
  const ContextEntry& entry = chosen->second;
  const Place place = PlaceOf(entry.file, "context", name);
  if (entry.cluster.empty()) return place.Bad("cluster is missing");
  const auto cluster = config.clusters.find(entry.cluster);
  if (cluster == config.clusters.end()) {
    return place.Bad("cluster \"" + entry.cluster + "\" is not defined");
  }
  ClusterConfig result;
  result.source = "context \"" + name + "\" of " + files;
  if (!entry.ns.empty()) result.ns = entry.ns;
  const Place cluster_place = PlaceOf(cluster->second.file, "cluster", entry.cluster);
  Result<void> applied = ApplyCluster(cluster_place, cluster->second, environment, result);
  if (!applied) return applied.error();
  if (entry.user.empty()) return result;
  const auto user = config.users.find(entry.user);
  if (user == config.users.end()) {
    return place.Bad("user \"" + entry.user + "\" is not defined");
  }
  applied = ApplyUser(PlaceOf(user->second.file, "user", entry.user), user->second, result);
  if (!applied) return applied.error();
  return result;
}

}  // namespace client
