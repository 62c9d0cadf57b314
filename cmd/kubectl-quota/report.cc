#include <utility>

#include "cmd/kubectl-quota/cluster_limits.h"
#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/inspect/page.h"

namespace kubectl_quota {
namespace {

// The names that interest users most.
std::vector<std::string> ReportedNames() { return {"requests.cpu", "requests.memory", "pods"}; }

constexpr std::size_t kMostReported = 20;

quota::Quota EveryQuota(const std::string& ns) {
  quota::Quota quota;
  quota.key.ns = ns;
  for (const std::string& name : ReportedNames()) quota.hard.Set(name, {});
  return quota;
}

// Returns the largest holders of the namespaces. If they cannot be read, they are left out with a
// note.
base::Task<std::vector<inspect::PageHolders>> MostHolders(Session& session,
                                                          std::vector<std::string>& notes) {
  inspect::Grouping grouping;
  grouping.namespaces = session.ns.empty();
  inspect::HolderBook book(EveryQuota(session.ns), ReportedNames(), grouping);
  std::vector<inspect::PageHolders> all;
  auto filled = co_await FillBook(session.cluster, session.cluster.core(), book);
  if (!filled) {
    notes.push_back("Shown without who uses most: " + ErrorText(filled.error()));
    co_return all;
  }
  for (const std::string& name : ReportedNames()) {
    inspect::PageHolders named{.name = name, .holders = book.HoldersOf(name)};
    if (named.holders.size() > kMostReported) named.holders.resize(kMostReported);
    all.push_back(std::move(named));
  }
  co_return all;
}

}  // namespace

base::Task<Outcome> MakeReport(Session& session) {
  auto quotas = co_await session.cluster.Quotas(session.ns, session.options.place.selector);
  if (!quotas) co_return quotas.error();
  inspect::Page page;
  page.title = session.ns.empty() ? "all namespaces" : session.ns;
  page.source = session.source;
  page.made = session.scheduler.WallNow();
  for (const ReadQuota& read : *quotas) {
    for (inspect::UsageLine& line : inspect::LinesOf(read.quota, read.of->kind)) {
      page.lines.push_back(std::move(line));
    }
  }
  const std::vector<quota::Quota> over_many =
      co_await ClusterQuotasIn(session.cluster, session.ns, session.options.place.selector);
  for (const quota::Quota& quota : over_many) {
    for (inspect::UsageLine& line : inspect::LinesOf(quota, "clusterquota")) {
      page.lines.push_back(std::move(line));
    }
  }
  inspect::SortByFullness(page.lines);
  page.holders = co_await MostHolders(session, page.notes);
  for (const std::string& warning : session.terminal().warnings()) page.notes.push_back(warning);
  session.terminal().Write(inspect::PageHtml(page));
  co_return kYes;
}

}  // namespace kubectl_quota
