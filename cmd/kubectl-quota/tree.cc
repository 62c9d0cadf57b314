#include "pkg/inspect/tree_view.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "cmd/kubectl-quota/applied_quotas.h"
#include "cmd/kubectl-quota/cluster_quotas.h"
#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/documents.h"
#include "pkg/inspect/foreign_text.h"

namespace kubectl_quota {
namespace {

using Entries = std::vector<inspect::TreeEntry>;

struct Chosen {
  std::unique_ptr<inspect::Forest> forest;
  inspect::TreeChoice choice;
};

base::Result<Chosen> ChooseTop(Session& session, std::unique_ptr<inspect::Forest> forest) {
  Chosen chosen{.forest = std::move(forest),
                .choice = {.top = NameOfClusterQuota(session.options.tree.quota)}};
  const std::string& top = chosen.choice.top;
  if (!top.empty() && chosen.forest->Find(top) == nullptr) {
    return NoSuchClusterQuota(top, *chosen.forest);
  }
  return chosen;
}

base::Task<base::Result<Chosen>> ChooseListed(Session& session) {
  auto forest = co_await ReadForest(session.cluster);
  if (!forest) co_return forest.error();
  if (*forest == nullptr) co_return NoClusterQuotas(session.cluster);
  auto chosen = ChooseTop(session, std::move(*forest));
  const std::string ns = session.options.place.ns;
  if (!chosen || ns.empty()) co_return chosen;
  auto reached = co_await ReachOf(session.cluster, *chosen->forest, ns);
  if (!reached) co_return reached.error();
  std::vector<std::string>& only = chosen->choice.only.emplace();
  for (const quota::Quota& quota : reached->quotas) only.push_back(quota.key.name);
  co_return chosen;
}

// Users who may not list ClusterQuotas see those that limit their namespace.
base::Task<base::Result<Chosen>> Choose(Session& session) {
  auto listed = co_await ChooseListed(session);
  if (listed || !listed.error().Is(base::ErrorCode::kForbidden)) co_return listed;
  if (session.ns.empty()) co_return listed;
  auto quotas = co_await AppliedQuotas(session.cluster, session.ns);
  if (quotas.empty()) co_return listed;
  co_return ChooseTop(session, std::make_unique<inspect::Forest>(std::move(quotas)));
}

// No status at all means that no daemon counts ClusterQuotas.
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
                             : inspect::Line("No ClusterQuota selects namespace " + ns + "."));
  } else {
    const inspect::TreeStyle style{.wide = output == "wide", .unicode = terminal.traits().unicode};
    terminal.Write(
        inspect::PrintTable(inspect::TreeTable(forest, entries, style), session.style()));
  }
}

}  // namespace

base::Task<Outcome> Tree(Session& session) {
  auto chosen = co_await Choose(session);
  if (!chosen) co_return chosen.error();
  const inspect::Forest& forest = *chosen->forest;
  const Entries entries = inspect::TreeOf(forest, chosen->choice);
  session.terminal().Reading("");
  WarnOfNoDaemon(session.terminal(), entries);
  ShowTree(session, forest, entries);
  co_return kYes;
}

}  // namespace kubectl_quota
