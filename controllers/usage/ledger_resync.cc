#include "controllers/usage/ledger_resync.h"

#include <glog/logging.h>

#include <utility>

#include "pkg/api/object_meta.h"

namespace controllers {

LedgerResync::LedgerResync(const TrackingContext& context, informers::ReflectorOptions list,
                           quota::Ledger& ledger, Objects objects)
    : context_(context), list_(std::move(list)), ledger_(ledger), objects_(std::move(objects)) {}

base::Task<base::Result<std::optional<DriftReport>>> LedgerResync::Run(base::Duration settle,
                                                                       Depth depth) {
  CHECK(!drift_) << "two resyncs at once of " << list_.resource.ToString();
  // Those that the recounts after the last resync found.
  const std::size_t wrong = ledger_.TakeWrongSums();
  LOG_IF(ERROR, wrong > 0) << "sums were wrong and are right now; this is a defect resource="
                           << list_.resource.ToString() << " sums=" << wrong;
  const SharedDrift drift = std::make_shared<DriftFinder>(ledger_);
  drift_ = drift;
  // False after a relist during a suspension.
  const auto runs = [&] { return drift_ == drift; };
  base::Result<void> done = co_await ListVersions(drift, depth);
  while (done && runs() && drift->LookForVanished()) co_await base::NextTurn();
  if (done && runs() && drift->HasSuspects()) co_await context_.scheduler->Sleep(settle);
  if (done) done = co_await ReadSuspects(drift);
  DriftReport report;
  for (bool more = done && runs(); more;) {
    more = drift->Settle(report);
    for (const quota::LedgerChange& change : std::exchange(report.changes, {})) {
      objects_.report(change);
    }
    if (more) co_await base::NextTurn();
    more = more && runs();
  }
  std::optional<DriftReport> ended;
  if (runs()) {
    ended = std::move(report);
    drift_.reset();
  }
  if (!done) co_return done.error();
  co_return ended;
}

base::Task<base::Result<void>> LedgerResync::ListVersions(SharedDrift drift, Depth depth) {
  informers::ReflectorOptions list = list_;
  if (depth == Depth::kVersions) list.fields.clear();
  const auto listed = co_await informers::ListAll(
      *context_.client, *context_.scheduler, std::move(list),
      [this, &drift, depth](const json::Value& object) { TakeListed(drift, object, depth); },
      [this, &drift] {
        if (drift_ == drift) drift->OnRestart();
      });
  if (!listed) co_return listed.error();
  co_return base::Result<void>();
}

void LedgerResync::TakeListed(const SharedDrift& drift, const json::Value& object, Depth depth) {
  if (drift_ != drift) return;
  const quota::Uid uid = quota::Uid::FromText(api::Uid(object));
  const quota::VersionMark version = quota::VersionMarkOf(api::ResourceVersion(object));
  const bool same =
      version != quota::kNoVersion && ledger_.VersionOf(api::Namespace(object), uid) == version;
  drift->OnListed(api::KeyOf(object), uid, version);
  if (depth == Depth::kVersions) return;
  // The same object as the held one, but its facts may have to be made anew.
  if (same) {
    objects_.count(object);
  } else {
    TakeRead(drift, object);
  }
}

// Reads a few suspects by a list of one each, which needs only the rights of the watch. Reads all
// objects if there are many.
base::Task<base::Result<void>> LedgerResync::ReadSuspects(SharedDrift drift) {
  constexpr std::size_t kMostLists = 32;
  if (drift_ != drift) co_return base::Result<void>();
  std::vector<informers::ReflectorOptions> lists;
  for (const api::ObjectKey& object : drift->Unread(kMostLists + 1)) {
    informers::ReflectorOptions& one = lists.emplace_back(list_);
    one.ns = object.ns;
    one.field_selector = "metadata.name=" + object.name;
  }
  if (lists.size() > kMostLists) lists = {list_};
  for (const informers::ReflectorOptions& list : lists) {
    if (drift_ != drift) co_return base::Result<void>();
    const auto read = co_await informers::ListAll(
        *context_.client, *context_.scheduler, list,
        [this, &drift](const json::Value& object) { TakeRead(drift, object); }, [] {});
    if (!read) co_return read.error();
  }
  co_return base::Result<void>();
}

void LedgerResync::TakeRead(const SharedDrift& drift, const json::Value& object) {
  const quota::Uid uid = quota::Uid::FromText(api::Uid(object));
  if (drift_ != drift || !drift->IsUnread(uid)) return;
  auto facts = objects_.facts_of(object);
  if (!facts) return;
  drift->OnRead(uid, std::move(*facts), quota::VersionMarkOf(api::ResourceVersion(object)));
}

}  // namespace controllers
