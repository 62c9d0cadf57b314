#include <map>
#include <memory>
#include <utility>

#include "cmd/kubectl-quota/cluster_limits.h"
#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/documents.h"
#include "pkg/api/object_meta.h"
#include "pkg/base/task_group.h"
#include "pkg/inspect/foreign_text.h"
#include "pkg/inspect/top_view.h"

namespace kubectl_quota {
namespace {

using inspect::UsageLine;

// Prints lines in the requested form, once or repeatedly.
class LinePrinter {
 public:
  explicit LinePrinter(Session& session) : session_(session), printer_(session.style()) {}

  bool Print(const std::vector<UsageLine>& lines) {
    const std::string& output = session_.options.output;
    const bool titles = session_.options.headers && !std::exchange(began_, true);
    if (IsDocument(output)) {
      json::Value value = inspect::TopValue(lines);
      AddUnknown(session_.terminal(), value);
      return session_.terminal().Write(PrintDocument(value, output));
    }
    if (output == "csv") {
      return session_.terminal().Write(inspect::PrintCsv(inspect::TopSheet(lines), titles));
    }
    const inspect::TopStyle style{.namespaces = session_.ns.empty(),
                                  .wide = output == "wide",
                                  .unicode = session_.terminal().traits().unicode};
    return session_.terminal().Write(printer_.Print(inspect::TopTable(lines, style)));
  }

 private:
  Session& session_;
  inspect::TablePrinter printer_;
  bool began_ = false;
};

// Watches the quotas of one API and prints lines that changed.
class ChangePrinter final : public informers::CollectionSink {
 public:
  ChangePrinter(const ServedQuotaApi& served, LinePrinter& lines, base::Alarm& end)
      : served_(served), lines_(lines), end_(end) {}

  void Shown(const quota::Quota& quota) { shown_[quota.key] = quota.status; }

  void BeginList() override {}
  void Upsert(const json::Value& object) override {
    const auto quota = quota::ParseQuota(object, served_.api.form);
    if (!quota) return;
    quota::QuotaStatus& last = shown_[quota->key];
    std::vector<UsageLine> changed;
    for (UsageLine& line : inspect::LinesOf(*quota, served_.kind)) {
      if (!IsAsIn(last, line)) changed.push_back(std::move(line));
    }
    last = quota->status;
    if (!changed.empty() && !lines_.Print(changed)) end_.Wake();
  }
  void Remove(const json::Value& object) override { shown_.erase(api::KeyOf(object)); }
  void EndList() override {}

 private:
  static bool IsAsIn(const quota::QuotaStatus& status, const UsageLine& line) {
    const quota::Quantity* hard = status.hard.Find(line.name);
    const quota::Quantity* used = status.used.Find(line.name);
    return hard != nullptr && *hard == line.hard &&
           (used == nullptr ? !line.used : line.used && *line.used == *used);
  }

  const ServedQuotaApi& served_;
  LinePrinter& lines_;
  base::Alarm& end_;
  std::map<api::ObjectKey, quota::QuotaStatus> shown_;
};

// Runs until the reader closes the pipe or the program is interrupted.
base::Task<void> Follow(Session& session, const std::vector<ReadQuota>& shown, LinePrinter& lines) {
  auto executor = co_await base::asio::this_coro::executor;
  const auto end = session.scheduler.NewAlarm();
  base::TaskGroup watches(executor);
  std::vector<std::unique_ptr<ChangePrinter>> printers;
  std::vector<std::unique_ptr<informers::Reflector>> reflectors;
  const std::vector<ServedQuotaApi>* apis = co_await session.cluster.QuotaApis();
  for (const ServedQuotaApi& served : *apis) {
    printers.push_back(std::make_unique<ChangePrinter>(served, lines, *end));
    for (const ReadQuota& read : shown) {
      if (read.of == &served) printers.back()->Shown(read.quota);
    }
    reflectors.push_back(
        informers::NewReflector(session.cluster.client(), session.scheduler, *printers.back(),
                                QuotaList(served.api, session.ns, session.options.place.selector)));
    watches.Spawn("watch", [reflector = reflectors.back().get()] { return reflector->Run(); });
  }
  co_await base::DeferCancellation();
  co_await end->WaitUntil(base::TimePoint::max());
  watches.Cancel();
  co_await watches.Join();
}

}  // namespace

base::Task<Outcome> Top(Session& session) {
  auto quotas = co_await session.cluster.Quotas(session.ns, session.options.place.selector);
  if (!quotas) co_return quotas.error();
  std::vector<UsageLine> lines;
  for (const ReadQuota& read : *quotas) {
    for (UsageLine& line : inspect::LinesOf(read.quota, read.of->kind)) {
      lines.push_back(std::move(line));
    }
  }
  const std::vector<quota::Quota> over_many =
      co_await ClusterQuotasIn(session.cluster, session.ns, session.options.place.selector);
  for (const quota::Quota& quota : over_many) {
    for (UsageLine& line : inspect::LinesOf(quota, "clusterquota")) {
      lines.push_back(std::move(line));
    }
  }
  session.terminal().Reading("");
  inspect::SortByFullness(lines);
  LinePrinter printer(session);
  if (lines.empty() && !IsDocument(session.options.output)) {
    session.terminal().Fail(
        session.ns.empty() ? "No resources found\n"
                           : inspect::Line("No resources found in " + session.ns + " namespace."));
  } else {
    printer.Print(lines);
  }
  if (session.options.watch) co_await Follow(session, *quotas, printer);
  co_return kYes;
}

}  // namespace kubectl_quota
