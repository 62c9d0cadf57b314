#pragma once

// What kubectl's flags set over a kubeconfig (client-go v0.36.3, tools/clientcmd/client_config.go,
// getCluster() and getAuthInfo()). Values; any thread.

#include <chrono>
#include <string>

#include "pkg/base/clock.h"
#include "pkg/client/kubeconfig.h"

namespace client {

struct Overrides {
  std::string cluster_name;  // --cluster; "": the context's
  std::string user_name;     // --user; "": the context's
  ClusterEntry cluster;      // --server, --certificate-authority, …
  UserEntry user;            // --token, --as, …

  // True if the user brings a credential, so that the context's is not needed.
  [[nodiscard]] bool HasCredential() const {
    return !user.token.empty() || !user.cert_file.empty() || !user.username.empty();
  }
};

// A CA takes the place of the entry's trust, and so does --insecure-skip-tls-verify. With another
// server the entry's tls-server-name is not used.
void Override(const ClusterEntry& flags, ClusterEntry& entry);
// A token is used instead of a token file. All else that the entry has stays, so it may be that
// both exclude each other.
void Override(const UserEntry& flags, UserEntry& entry);

// What an exec plugin may do with our standard input.
enum class PluginInput {
  kDaemon,       // nothing, and no user waits for it: it must end within a minute
  kNotTerminal,  // nothing
  kTaken,        // nothing: `-f -` reads it
  kTerminal,     // read it
};

// Who connects, beside what the kubeconfig says.
struct Caller {
  Overrides flags;
  PluginInput input = PluginInput::kDaemon;
  base::WallTime now = std::chrono::system_clock::now();

  [[nodiscard]] bool IsUser() const { return input != PluginInput::kDaemon; }
};

}  // namespace client
