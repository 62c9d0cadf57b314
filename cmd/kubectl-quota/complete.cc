#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/completion.h"
#include "pkg/api/object_meta.h"
#include "pkg/base/text.h"
#include "pkg/quota/cluster/cluster_quota.h"

namespace kubectl_quota {
namespace {

using Known = std::vector<std::string>;

const api::GroupVersionResource kNamespaces{"", "v1", "namespaces"};
const api::GroupVersionResource kQuotas{"", "v1", "resourcequotas"};

struct WorkloadKind {
  const char* prefix;
  api::GroupVersionResource resource;
};
const WorkloadKind kWorkloads[] = {{"deployment/", {"apps", "v1", "deployments"}},
                                   {"statefulset/", {"apps", "v1", "statefulsets"}},
                                   {"daemonset/", {"apps", "v1", "daemonsets"}},
                                   {"job/", {"batch", "v1", "jobs"}},
                                   {"cronjob/", {"batch", "v1", "cronjobs"}}};

// Unreadable kinds are left out, because an error would disturb the shell.
base::Task<void> AddNames(Cluster& cluster, api::GroupVersionResource resource, std::string ns,
                          std::string prefix, Known& names) {
  const auto add = [&](const json::Value& object) {
    names.push_back(prefix + std::string(api::Name(object)));
  };
  co_await cluster.List(Listing(std::move(resource), std::move(ns), "metadata.name"), add, [] {});
}

}  // namespace

base::Task<Outcome> Complete(Session& session) {
  const Completion completion = CompletionOf(session.options.complete.words);
  Known names;
  switch (completion.names) {
    case Completion::Names::kNamespaces:
      co_await AddNames(session.cluster, kNamespaces, "", "", names);
      break;
    case Completion::Names::kQuotas:
      co_await AddNames(session.cluster, kQuotas, session.ns, "", names);
      co_await AddNames(session.cluster, quota::ClusterQuotaApi().resource, "", "clusterquota/",
                        names);
      break;
    case Completion::Names::kClusterQuotas:
      co_await AddNames(session.cluster, quota::ClusterQuotaApi().resource, "", "", names);
      break;
    case Completion::Names::kWorkloads:
      for (const WorkloadKind& kind : kWorkloads) {
        co_await AddNames(session.cluster, kind.resource, session.ns, kind.prefix, names);
      }
      break;
    case Completion::Names::kCommands:
    case Completion::Names::kFiles:
    case Completion::Names::kNone:
      break;
  }
  session.terminal().Write(CompletionText(completion, names));
  co_return kYes;
}

}  // namespace kubectl_quota
