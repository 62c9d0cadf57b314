#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "cmd/kubectl-quota/applied_quotas.h"
#include "cmd/kubectl-quota/cluster_quotas.h"
#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/documents.h"
#include "cmd/kubectl-quota/unused_claims.h"
#include "cmd/kubectl-quota/usage_names.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/base/text.h"
#include "pkg/inspect/usage_line.h"
#include "pkg/inspect/who_view.h"
#include "pkg/quota/cluster/cluster_quota.h"

namespace kubectl_quota {
namespace {

base::Error NoSuchQuota(const std::string& wanted, const std::string& ns,
                        const std::vector<ReadQuota>& there) {
  std::string text = "resourcequotas \"" + wanted + "\" not found in namespace " + ns;
  std::string titles;
  for (const ReadQuota& read : there) {
    const std::string prefix = read.of->kind.empty() ? "" : read.of->kind + "/";
    titles.append(titles.empty() ? "" : ", ").append(prefix).append(read.quota.key.name);
  }
  text += titles.empty() ? ", which has no quotas" : "; there are: " + titles;
  return {.code = base::ErrorCode::kNotFound,
          .message = "GET quota: 404 NotFound: " + text,
          .http_status = 404,
          .reason = "NotFound"};
}

// "compute", "resourcequota/compute", "karmadaquota/all", "karmadaquota.policy.karmada.io/all".
bool IsMeant(const ReadQuota& read, const std::string& wanted) {
  const std::size_t slash = wanted.find('/');
  if (slash == std::string::npos) return read.quota.key.name == wanted;
  const std::string kind = wanted.substr(0, slash);
  const std::string& own = read.of->kind;
  const bool of_kind = own.empty()
                           ? base::IsOneOf(kind, {"resourcequota", "resourcequotas", "quota"})
                           : kind == own || kind == own.substr(0, own.find('.'));
  return of_kind && read.quota.key.name == wanted.substr(slash + 1);
}

// Returns the names of the quota, the fullest first.
std::vector<std::string> NamesOf(const quota::Quota& quota) {
  auto lines = inspect::LinesOf(quota, "");
  inspect::SortByFullness(lines);
  std::vector<std::string> names;
  names.reserve(lines.size());
  for (const auto& line : lines) names.push_back(line.name);
  return names;
}

base::Result<std::vector<std::string>> WantedNames(const quota::Quota& quota,
                                                   const std::string& name) {
  std::vector<std::string> names = NamesOf(quota);
  if (name.empty()) return names;
  if (std::ranges::find(names, name) != names.end()) return std::vector{name};
  return base::Error{.code = base::ErrorCode::kInvalidArgument,
                     .message = "quota " + quota.key.name + " does not limit " + name + ", but " +
                                (names.empty() ? "nothing" : base::Join(names, ", "))};
}

void ShowHolders(Session& session, const quota::Quota& quota,
                 const std::vector<inspect::NamedHolders>& all) {
  const std::string& output = session.options.output;
  const WhoOptions& who = session.options.who;
  Terminal& terminal = session.terminal();
  if (IsDocument(output)) {
    json::Value value = inspect::WhoValue(quota, all);
    AddUnknown(terminal, value);
    terminal.Write(PrintDocument(value, output));
    return;
  }
  const bool csv = output == "csv";
  const inspect::Table table = inspect::WhoTable(
      all, {.most = csv ? 0 : who.most,
            .wide = output == "wide",
            .unused = who.unused,
            .now = csv ? std::nullopt : std::optional(std::chrono::system_clock::now())});
  terminal.Write(csv ? inspect::PrintCsv(table, session.options.headers)
                     : inspect::PrintTable(table, session.style()));
  if (table.rows.empty()) {
    terminal.Fail(who.unused ? "Pods use all its claims.\n" : "Nobody uses anything of it.\n");
  }
}

// The quota that the argument names, and the namespaces in which it counts.
struct Meant {
  quota::Quota quota;
  quota::QuotaApi api;
  std::optional<std::set<std::string>> namespaces = {};  // of a ClusterQuota
  bool in_part = false;                                  // its other namespaces cannot be seen
};

base::Task<base::Result<Meant>> ClusterQuotaMeant(Session& session, inspect::Forest& forest,
                                                  std::string name) {
  quota::QuotaApi api = co_await Defined(session.cluster, quota::ClusterQuotaApi());
  Meant meant{.quota = *forest.Find(name), .api = std::move(api)};
  auto namespaces = co_await NamespacesOf(session.cluster, forest, name);
  if (!namespaces) {
    session.terminal().Warn("which namespaces cluster quota " + name + " selects cannot be seen");
    co_return namespaces.error();
  }
  meant.namespaces = std::move(*namespaces);
  co_return base::Result<Meant>(std::move(meant));
}

// Users who may not list ClusterQuotas see the share of their namespace. `forbidden` is the error
// if the namespace has no such quota either.
base::Task<base::Result<Meant>> AppliedQuotaMeant(Session& session, std::string name,
                                                  base::Error forbidden) {
  if (session.ns.empty()) co_return forbidden;
  auto quotas = co_await AppliedQuotas(session.cluster, session.ns);
  const auto found =
      std::ranges::find(quotas, name, [](const quota::Quota& quota) { return quota.key.name; });
  if (found == quotas.end()) co_return forbidden;
  quota::QuotaApi api = co_await Defined(session.cluster, quota::ClusterQuotaApi());
  Meant meant{.quota = std::move(*found), .api = std::move(api)};
  meant.namespaces.emplace().insert(session.ns);
  meant.in_part = true;
  co_return base::Result<Meant>(std::move(meant));
}

// `unknown` is the error if there is no such ClusterQuota; nullopt: one that names them all.
base::Task<base::Result<Meant>> FindClusterQuota(Session& session, std::string name,
                                                 std::optional<base::Error> unknown) {
  auto forest = co_await ReadForest(session.cluster);
  if (!forest && forest.error().Is(base::ErrorCode::kForbidden)) {
    auto error = unknown.value_or(forest.error());
    co_return co_await AppliedQuotaMeant(session, std::move(name), std::move(error));
  }
  if (!forest && unknown) {
    WarnLeftOut(session.cluster, forest.error());
    co_return *unknown;
  }
  if (!forest) co_return forest.error();
  if (*forest == nullptr) co_return unknown.value_or(NoClusterQuotas(session.cluster));
  if ((*forest)->Find(name) == nullptr) {
    co_return unknown.value_or(NoSuchClusterQuota(name, **forest));
  }
  co_return co_await ClusterQuotaMeant(session, **forest, name);
}

// Finds the quota among those of the namespace first, then among the ClusterQuotas.
base::Task<base::Result<Meant>> FindMeant(Session& session) {
  const std::string wanted = session.options.who.quota;
  if (IsClusterQuota(wanted)) {
    const std::string name = NameOfClusterQuota(wanted);
    co_return co_await FindClusterQuota(session, name, std::nullopt);
  }
  const std::string selector = session.options.place.selector;
  auto quotas = co_await session.cluster.Quotas(session.ns, selector);
  if (!quotas) co_return quotas.error();
  const auto found =
      std::ranges::find_if(*quotas, [&](const auto& read) { return IsMeant(read, wanted); });
  if (found != quotas->end()) {
    Meant meant{.quota = found->quota, .api = found->of->api};
    co_return base::Result<Meant>(std::move(meant));
  }
  base::Error unknown = NoSuchQuota(wanted, session.ns, *quotas);
  if (!selector.empty()) co_return unknown;  // it selects quotas of the namespace
  std::optional<base::Error> error(std::move(unknown));
  co_return co_await FindClusterQuota(session, wanted, std::move(error));
}

// Leaves only the names under which claims count.
base::Result<std::vector<std::string>> NamesOfClaims(const Meant& meant,
                                                     std::vector<std::string> names) {
  std::erase_if(names, [&](const std::string& name) {
    return !MayCount(meant.api, {"", "persistentvolumeclaims"}, {name});
  });
  if (!names.empty()) return names;
  return base::Error{.code = base::ErrorCode::kInvalidArgument,
                     .message = "--unused is about PersistentVolumeClaims, of which quota " +
                                meant.quota.key.name + " limits nothing that you ask for"};
}

// Holders of a name or in a scope that only a definition explains cannot be seen without it.
base::Task<void> DoubtUndefined(Cluster& cluster, const Meant& meant,
                                std::vector<std::string> names) {
  const auto* definitions = co_await cluster.UsageDefinitions();
  if (definitions != nullptr) co_return;
  quota::Quota asked = meant.quota;
  asked.hard.EraseIf([&](const quota::ResourceList::Item& limit) {
    return std::ranges::find(names, limit.first) == names.end();
  });
  const std::string title = (meant.namespaces ? "clusterquota/" : "") + asked.key.name;
  for (const std::string& text : UndefinedOf(meant.api, asked, title, nullptr)) {
    cluster.terminal().Doubt(text);
  }
}

base::Task<base::Result<void>> FillFor(Session& session, const Meant& meant,
                                       inspect::HolderBook& book) {
  if (!meant.namespaces) return FillBook(session.cluster, meant.api, book);
  return FillBookWithin(session.cluster, meant.api, book, *meant.namespaces);
}

}  // namespace

base::Task<Outcome> Who(Session& session) {
  const WhoOptions& who = session.options.who;
  auto grouping = inspect::ParseGrouping(who.by);
  if (!grouping) co_return grouping.error();
  const auto meant = co_await FindMeant(session);
  if (!meant) co_return meant.error();
  auto names = WantedNames(meant->quota, who.name);
  if (names && who.unused) names = NamesOfClaims(*meant, std::move(*names));
  if (!names) co_return names.error();
  inspect::UnusedClaims unused;
  if (who.unused) {
    std::set<std::string> namespaces = meant->namespaces.value_or(std::set<std::string>());
    if (!meant->namespaces) namespaces.insert(meant->quota.key.ns);
    auto read = co_await ReadUnusedClaims(session.cluster, std::move(namespaces));
    if (!read) co_return read.error();
    unused = std::move(*read);
    grouping->unused = &unused;
  }
  grouping->namespaces = meant->namespaces.has_value();
  co_await DoubtUndefined(session.cluster, *meant, *names);
  inspect::HolderBook book(meant->quota, *names, *grouping);
  if (meant->in_part) book.SetIncomplete();
  auto filled = co_await FillFor(session, *meant, book);
  if (!filled) co_return filled.error();
  std::vector<inspect::NamedHolders> all;
  for (const std::string& name : *names) all.push_back({name, book.HoldersOf(name)});
  ShowHolders(session, meant->quota, all);
  co_return kYes;
}

}  // namespace kubectl_quota
