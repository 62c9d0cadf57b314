#include "pkg/client/context_resolver.h"

#include "pkg/client/entry_place.h"
#include "pkg/client/overrides.h"
#include "pkg/client/user_resolver.h"

namespace client {
namespace {

using base::Result;

template <typename Entries>
std::string Names(const Entries& entries) {
  std::string names;
  for (const auto& [name, entry] : entries) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
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

// Returns the named context. Without a name it is empty if flags name the cluster.
Result<ContextEntry> FindContext(const Kubeconfig& config, const std::string& requested,
                                 const std::string& name, const std::string& files,
                                 const Overrides& flags) {
  const auto found = config.contexts.find(name);
  if (!name.empty() && found != config.contexts.end()) return found->second;
  const bool unneeded = !flags.cluster_name.empty() || !flags.cluster.server.empty();
  if (name.empty() && unneeded) return ContextEntry{};
  const std::string what =
      name.empty()
          ? "current-context is empty; choose one with --context"
          : (requested.empty() ? "current-context \"" : "context \"") + name + "\" is not defined";
  return Place{files}.Bad(what + " (there are: " + Names(config.contexts) + ")");
}

// One entry that is used, under the flags.
template <typename Entry>
struct Used {
  Place place;
  Entry entry;
};

// Finds the entry that the flag or else the context names. `needed`: the flags do not bring all of
// it.
template <typename Entry>
Result<Used<Entry>> FindEntry(const std::map<std::string, Entry>& entries, std::string_view kind,
                              const std::string& flag, const std::string& name,
                              const Place& context, const Place& files, bool needed) {
  const std::string& used = flag.empty() ? name : flag;
  const auto found = entries.find(used);
  if (found != entries.end()) {
    return Used<Entry>{PlaceOf(found->second.file, kind, used), found->second};
  }
  if (!flag.empty()) {
    return files.Bad(std::string(kind) + " \"" + flag + "\" of --" + std::string(kind) +
                     " is not defined (there are: " + Names(entries) + ")");
  }
  if (!needed) return Used<Entry>{Place{"the flags"}, {}};
  return context.Bad(used.empty() ? std::string(kind) + " is missing"
                                  : std::string(kind) + " \"" + used + "\" is not defined");
}

}  // namespace

Result<ClusterConfig> ResolveContext(const Kubeconfig& config, const std::string& context,
                                     const std::string& files, const Environment& environment,
                                     const Caller& caller) {
  const Overrides& flags = caller.flags;
  const std::string name = context.empty() ? config.current_context : context;
  const Result<ContextEntry> entry = FindContext(config, context, name, files, flags);
  if (!entry) return entry.error();
  const Place all{files};
  const Place place = name.empty() ? all : PlaceOf(entry->file, "context", name);
  Result<Used<ClusterEntry>> cluster =
      FindEntry(config.clusters, "cluster", flags.cluster_name, entry->cluster, place, all,
                flags.cluster.server.empty());
  if (!cluster) return cluster.error();
  const bool user_needed = !entry->user.empty() && !flags.HasCredential();
  Result<Used<UserEntry>> user =
      FindEntry(config.users, "user", flags.user_name, entry->user, place, all, user_needed);
  if (!user) return user.error();
  Override(flags.cluster, cluster->entry);
  Override(flags.user, user->entry);
  ClusterConfig result;
  result.source = name.empty() ? "the flags" : "context \"" + name + "\" of " + files;
  if (!entry->ns.empty()) result.ns = entry->ns;
  Result<void> applied = ApplyCluster(cluster->place, cluster->entry, environment, result);
  if (applied) applied = ApplyUser(user->place, user->entry, caller, result);
  if (!applied) return applied.error();
  return result;
}

}  // namespace client
