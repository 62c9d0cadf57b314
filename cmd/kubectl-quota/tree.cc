#include "pkg/inspect/tree_view.h"

#include <algorithm>
#include <utility>

#include "cmd/kubectl-quota/cluster_quotas.h"
#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/documents.h"

namespace kubectl_quota {
namespace {

using Entries = std::vector<inspect::TreeEntry>;

base::Error NoSuchClusterQuota(const std::string& wanted, const inspect::Forest& forest) {
  std::string names;
  for (const std::string& name : forest.Names()) {
    names.append(names.empty() ? "; there are: " : ", ").append(name);
  }
  return {
      .code = base::ErrorCode::kNotFound,
      .message = "GET clusterquotas: 404 NotFound: clusterquotas.quota-controller-manager.io \"" +
                 wanted + "\" not found" + names,
      .http_status = 404,
      .reason = "NotFound"};
}

// "team-a", "clusterquota/team-a".
std::string NameIn(const std::string& argument) {
  const std::size_t slash = argument.find('/');
  if (slash == std::string::npos) return argument;
  const std::string kind = argument.substr(0, slash);
  const bool own = kind == "clq" || kind.starts_with("clusterquota");
  return own ? argument.substr(slash + 1) : argument;
}

base::Task<base::Result<inspect::TreeChoice>> Choose(Session& session,
                                                     const inspect::Forest& forest) {
  inspect::TreeChoice choice{.top = NameIn(session.options.tree.quota)};
  if (!choice.top.empty() && forest.Find(choice.top) == nullptr) {
    co_return NoSuchClusterQuota(choice.top, forest);
  }
  const std::string ns = session.options.place.ns;
  if (ns.empty()) co_return choice;
  auto reached = co_await ReachOf(session.cluster, forest, ns);
  if (!reached) co_return reached.error();
  std::vector<std::string>& only = choice.only.emplace();
  for (const quota::Quota& quota : reached->quotas) only.push_back(quota.key.name);
  co_return choice;
}

// A status is missing everywhere only where nobody writes it.
void WarnOfNoDaemon(Terminal& terminal, const Entries& entries) {
  const bool none = std::ranges::none_of(
      entries, [](const inspect::TreeEntry& entry) { return entry.quota->has_status_hard; });
  if (!entries.empty() && none) {
    terminal.Warn(
        "no quota has a status: nothing is counted or refused until quota-controller-manager runs "
        "with cluster among its --quota-apis");
  }
}

void ShowTree(Session& session, const inspect::Forest& forest, const Entries& entries) {
  Terminal& terminal = session.terminal();
  const std::string& output = session.options.output;
  if (IsDocument(output)) {
    terminal.Write(PrintDocument(inspect::TreeValue(forest, entries), output));
  } else if (output == "name") {
    terminal.Write(inspect::TreeNames(entries));
  } else if (entries.empty()) {
    const std::string& ns = session.options.place.ns;
    terminal.Fail(ns.empty() ? "No resources found\n"
                             : "No ClusterQuota selects namespace " + ns + ".\n");
  } else {
    const inspect::TreeStyle style{.wide = output == "wide", .unicode = terminal.traits().unicode};
    terminal.Write(
        inspect::PrintTable(inspect::TreeTable(forest, entries, style), session.style()));
  }
}

}  // namespace

base::Task<Outcome> Tree(Session& session) {
  auto forest = co_await ReadForest(session.cluster);
  if (!forest) co_return forest.error();
  if (*forest == nullptr) {
    co_return base::Error{.code = base::ErrorCode::kInvalidArgument,
                          .message = "the server doesn't have a resource type \"clusterquotas\""};
  }
  auto choice = co_await Choose(session, **forest);
  if (!choice) co_return choice.error();
  const Entries entries = inspect::TreeOf(**forest, *choice);
  session.terminal().Reading("");
  WarnOfNoDaemon(session.terminal(), entries);
  ShowTree(session, **forest, entries);
  co_return kYes;
}

}  // namespace kubectl_quota
