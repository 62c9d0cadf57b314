#pragma once

// Kubeconfig files as values: parsed and merged, but not validated. A mistake in an entry matters
// only if the entry is used, so cluster_config.h checks combinations. Only shapes and types are
// checked here.
//
// Relative paths are resolved against the folder of the file that holds them (client-go v0.36.3,
// tools/clientcmd/loader.go). Every entry remembers its file, for messages. Only LoadKubeconfig()
// does I/O. Any thread.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/json/value.h"

namespace client {

struct ClusterEntry {
  std::string file;  // the file that defines it
  std::string server;
  std::string tls_server_name;
  bool insecure = false;
  std::string ca_file;
  std::string ca_data;  // base64
  std::string proxy_url;
  bool disable_compression = false;
  json::Value exec_config;  // the extension client.authentication.k8s.io/exec; null if absent
};

struct ExecEntry {
  std::string api_version;
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string install_hint;
  bool provide_cluster_info = false;
  std::string interactive_mode;
};

struct UserEntry {
  std::string file;
  std::string cert_file;
  std::string cert_data;  // base64
  std::string key_file;
  std::string key_data;  // base64
  std::string token;
  std::string token_file;
  std::string username;
  std::string password;
  std::string as;
  std::string as_uid;
  std::vector<std::string> as_groups;
  std::vector<std::pair<std::string, std::string>> as_extra;  // one pair for each value
  bool has_exec = false;
  ExecEntry exec;
  std::string auth_provider;  // its name; "" for none
  std::string id_token;       // of the auth-provider
};

struct ContextEntry {
  std::string file;
  std::string cluster;
  std::string user;
  std::string ns;
};

struct Kubeconfig {
  std::map<std::string, ClusterEntry> clusters;
  std::map<std::string, UserEntry> users;
  std::map<std::string, ContextEntry> contexts;
  std::string current_context;
};

// Parses one document of `file`. Errors: kInvalidArgument, naming file, entry and field.
base::Result<Kubeconfig> ParseKubeconfig(const json::Value& document, const std::string& file);

// Entries and the current context that `into` already has are kept; others are added.
void MergeKubeconfig(Kubeconfig& into, Kubeconfig other);

// The files merged in order of precedence. Missing files are skipped; `found` counts the others.
// Errors: kInvalidArgument if a file cannot be read or parsed.
struct LoadedKubeconfig {
  Kubeconfig config;
  std::size_t found = 0;
};
base::Result<LoadedKubeconfig> LoadKubeconfig(const std::vector<std::string>& files);

// Splits a $KUBECONFIG list; drops empty and repeated parts.
std::vector<std::string> SplitPathList(std::string_view list);

}  // namespace client
