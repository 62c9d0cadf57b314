#include "pkg/client/user_resolver.h"

#include <glog/logging.h>

#include "pkg/client/auth_provider.h"
#include "pkg/client/files.h"

namespace client {
namespace {

using base::Result;

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
  if (!mode.empty() && mode != "Never" && mode != "IfAvailable" && mode != "Always") {
    return place.Bad("exec.interactiveMode \"" + mode + "\" must be Never, IfAvailable or Always");
  }
  return {};
}

// Checks that a plugin gets the terminal that it needs.
Result<void> CheckInput(const Place& place, const ExecEntry& exec, PluginInput input) {
  if (exec.interactive_mode != "Always") return {};
  const std::string always = "exec.interactiveMode is Always, and ";
  switch (input) {
    case PluginInput::kDaemon:
      return place.Bad(always + "a daemon has no terminal");
    case PluginInput::kNotTerminal:
      return place.Bad(always + "standard input is not a terminal");
    case PluginInput::kTaken:
      return place.Bad(always + "-f - reads standard input");
    case PluginInput::kTerminal:
      break;
  }
  return {};
}

// Checks that the authentication methods of a user do not exclude each other.
Result<void> CheckMethods(const Place& place, const UserEntry& user) {
  const bool token = !user.token.empty() || !user.token_file.empty();
  const bool basic = !user.username.empty() || !user.password.empty();
  if (token && basic) return place.Bad("a token and username/password are mutually exclusive");
  if (user.has_exec) return CheckExec(place, user);
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

// True if something goes before an exec plugin and an auth-provider (client-go v0.36.3,
// plugin/pkg/client/auth/exec/exec.go, UpdateTransportConfig).
bool IsIdentified(const ClusterConfig& config) {
  return !config.token.empty() || !config.username.empty() || !config.password.empty() ||
         !config.tls.cert_pem.empty();
}

// Uses what gives a credential on demand. REQUIRES: all else is applied.
Result<void> ApplyProvider(const Place& place, const UserEntry& user, const Caller& caller,
                           ClusterConfig& into) {
  if (IsIdentified(into)) return {};
  if (user.has_exec) {
    into.exec = user.exec;
    into.plugin_input = caller.input;
    return CheckInput(place, user.exec, caller.input);
  }
  if (user.auth_provider.empty()) return {};
  Result<std::string> token = TokenOfAuthProvider(user.auth_provider, user.id_token, caller.now);
  if (!token) return place.Bad(token.error().message);
  into.token = std::move(*token);
  LOG_IF(WARNING, !caller.IsUser())
      << place.text << ": nothing here renews the id-token of auth-provider oidc";
  return {};
}

bool HasCredential(const UserEntry& user) {
  return !(user.token + user.token_file + user.username + user.password + user.cert_file +
           user.cert_data + user.auth_provider)
              .empty() ||
         user.has_exec;
}

}  // namespace

Result<void> ApplyUser(const Place& place, const UserEntry& user, const Caller& caller,
                       ClusterConfig& into) {
  if (Result<void> checked = CheckMethods(place, user); !checked) return checked;
  if (Result<void> applied = ApplyImpersonation(place, user, into); !applied) return applied;
  if (into.server.scheme != "https") {
    LOG_IF(WARNING, HasCredential(user)) << place.text << ": the server " << into.server.Authority()
                                         << " is not https, so no credential is sent to it";
    return {};
  }
  if (Result<void> applied = ApplyCertificate(place, user, into); !applied) return applied;
  into.username = user.username;
  into.password = user.password;
  if (Result<void> applied = ApplyToken(place, user, into); !applied) return applied;
  return ApplyProvider(place, user, caller, into);
}

}  // namespace client
