#include "cmd/kubectl-quota/lacks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cmd/kubectl-quota/cluster_limits.h"
#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/needs.h"
#include "cmd/kubectl-quota/staying.h"

namespace kubectl_quota {
namespace {

struct Lacking {
  const ApiBook* of = nullptr;
  quota::Quota quota;
};

// Returns the quota of a line.
std::optional<Lacking> QuotaOfLine(const Books& books, const inspect::WhyQuota& line) {
  const bool cluster = !line.mode.empty();
  for (const auto& of : books.all()) {
    const std::vector<quota::Quota>& quotas = of->book.quotas();
    for (std::size_t i = 0; i < quotas.size(); ++i) {
      const bool same =
          of->book.NameOf(i) == line.quota && quotas[i].cluster.has_value() == cluster;
      if (same) return Lacking{of.get(), quotas[i]};
    }
  }
  return std::nullopt;
}

// Returns the holders of the lacking names. Adds those that would stay to the answer.
base::Task<base::Result<std::vector<inspect::LackHolders>>> HoldersOfLacks(
    Session& session, const Books& books, inspect::WhyAnswer& answer) {
  std::vector<inspect::LackHolders> lacks;
  Staying stay;
  for (const inspect::WhyQuota& line : answer.quotas) {
    std::vector<std::string> names;
    for (const inspect::WhyName& name : line.names) {
      if (name.lacks_for_all) names.push_back(name.name);
    }
    if (names.empty() || line.Tried()) continue;
    auto lacking = QuotaOfLine(books, line);
    if (!lacking) continue;
    // Holders in other namespaces are left out: the user cannot delete them.
    lacking->quota.key.ns = session.ns;
    const inspect::Grouping grouping{.finalizers = true};
    inspect::HolderBook book(lacking->quota, names, grouping);
    Onlooker look = stay.Look();
    auto filled = co_await FillBook(session.cluster, lacking->of->api, book, std::move(look));
    if (!filled) co_return filled.error();
    for (const std::string& name : names) {
      lacks.push_back({line.quota, name, book.HoldersOf(name), lacking->quota.cluster.has_value()});
    }
  }
  auto all = co_await stay.Find(session.cluster, session.ns);
  if (!all) co_return all.error();
  answer.stay.merge(*all);
  co_return lacks;
}

}  // namespace

base::Task<base::Result<std::unique_ptr<Books>>> ReadBooks(Session& session) {
  Cluster& cluster = session.cluster;
  auto quotas = co_await cluster.Quotas(session.ns, "");
  if (!quotas) co_return quotas.error();
  ClusterLimits limits(cluster);
  co_await limits.Read("");
  auto books = std::make_unique<Books>();
  const auto* definitions = co_await cluster.UsageDefinitions();
  if (definitions != nullptr) books->KnowDefinitions();
  const client::Discovered* kinds = co_await cluster.Kinds();
  const quota::Rules rules = co_await cluster.Rules();
  const std::vector<ServedQuotaApi>* apis = co_await cluster.QuotaApis();
  for (const ServedQuotaApi& of : *apis) {
    std::vector<quota::Quota> own;
    for (ReadQuota& read : *quotas) {
      if (read.of == &of) own.push_back(std::move(read.quota));
    }
    inspect::Reached reached;
    if (of.kind.empty()) reached = co_await limits.In(session.ns);
    ApiBook& book = books->Open(*kinds, of.api, rules,
                                inspect::FitBook(std::move(own), std::move(reached), of.kind));
    const std::set<std::string> names = LimitedNames(book.book.quotas());
    auto sources =
        co_await SourcesOf(cluster, of.api, std::vector<std::string>(names.begin(), names.end()));
    book.counters.SetClasses(std::move(sources));
  }
  co_return std::move(books);
}

base::Task<base::Result<void>> FindRoom(Session& session, const Books& books,
                                        inspect::WhyAnswer& answer) {
  if (!answer.Refused()) co_return base::Result<void>();
  auto lacks = co_await HoldersOfLacks(session, books, answer);
  if (!lacks) co_return lacks.error();
  answer.room = inspect::RoomFor(answer, *lacks);
  co_return base::Result<void>();
}

}  // namespace kubectl_quota
