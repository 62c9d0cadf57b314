#include <algorithm>
#include <utility>

#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/documents.h"
#include "pkg/inspect/usage_line.h"
#include "pkg/inspect/who_view.h"

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
  const bool of_kind = own.empty() ? kind == "resourcequota" || kind == "quota"
                                   : kind == own || kind == own.substr(0, own.find('.'));
  return of_kind && read.quota.key.name == wanted.substr(slash + 1);
}

// The names of the quota, the fullest first.
std::vector<std::string> NamesOf(const quota::Quota& quota) {
  auto lines = inspect::LinesOf(quota, "");
  inspect::SortByFullness(lines);
  std::vector<std::string> names;
  for (const auto& line : lines) names.push_back(line.name);
  return names;
}

base::Result<std::vector<std::string>> WantedNames(const quota::Quota& quota,
                                                   const std::string& name) {
  std::vector<std::string> names = NamesOf(quota);
  if (name.empty()) return names;
  if (std::ranges::find(names, name) != names.end()) return std::vector{name};
  std::string text;
  for (const std::string& other : names) text.append(text.empty() ? "" : ", ").append(other);
  return base::Error{.code = base::ErrorCode::kInvalidArgument,
                     .message = "quota " + quota.key.name + " does not limit " + name + ", but " +
                                (text.empty() ? "nothing" : text)};
}

void ShowHolders(Session& session, const quota::Quota& quota,
                 const std::vector<inspect::NamedHolders>& all) {
  const std::string& output = session.options.output;
  Terminal& terminal = session.terminal();
  if (IsDocument(output)) {
    terminal.Write(PrintDocument(inspect::WhoValue(quota, all), output));
    return;
  }
  const bool csv = output == "csv";
  const inspect::Table table = inspect::WhoTable(
      all, {.most = csv ? 0 : session.options.who.most, .wide = output == "wide"});
  terminal.Write(csv ? inspect::PrintCsv(table, session.options.headers)
                     : inspect::PrintTable(table, session.style()));
  if (table.rows.empty()) terminal.Fail("Nobody uses anything of it.\n");
}

}  // namespace

base::Task<Outcome> Who(Session& session) {
  const WhoOptions& who = session.options.who;
  const auto grouping = inspect::ParseGrouping(who.by);
  if (!grouping) co_return grouping.error();
  auto quotas = co_await session.cluster.Quotas(session.ns, session.options.place.selector);
  if (!quotas) co_return quotas.error();
  const auto found =
      std::ranges::find_if(*quotas, [&](const auto& read) { return IsMeant(read, who.quota); });
  if (found == quotas->end()) co_return NoSuchQuota(who.quota, session.ns, *quotas);
  const auto names = WantedNames(found->quota, who.name);
  if (!names) co_return names.error();
  inspect::HolderBook book(found->quota, *names, *grouping);
  auto filled = co_await FillBook(session.cluster, found->of->api, book);
  if (!filled) co_return filled.error();
  std::vector<inspect::NamedHolders> all;
  for (const std::string& name : *names) all.push_back({name, book.HoldersOf(name)});
  ShowHolders(session, found->quota, all);
  co_return kYes;
}

}  // namespace kubectl_quota
