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
  drift_.emplace(ledger_);
  base::Result<void> done = co_await ListVersions(depth);
  while (done && drift_ && drift_->LookForVanished()) co_await base::NextTurn();
  if (done && drift_ && drift_->HasSuspects()) co_await context_.scheduler->Sleep(settle);
  if (done) done = co_await ReadSuspects();
  if (!done) {
    drift_.reset();
    co_return done.error();
  }
  DriftReport report;
  for (bool more = drift_.has_value(); more;) {
    more = drift_->Settle(report);
    for (const quota::LedgerChange& change : std::exchange(report.changes, {})) {
      objects_.report(change);
    }
    if (more) co_await base::NextTurn();
    more = more && drift_;
  }
  // A relist during a suspension has reset `drift_`.
  std::optional<DriftReport> ended;
  if (drift_) ended = std::move(report);
  drift_.reset();
  co_return ended;
}

base::Task<base::Result<void>> LedgerResync::ListVersions(Depth depth) {
  informers::ReflectorOptions list = list_;
  if (depth == Depth::kVersions) list.fields.clear();
  const auto listed = co_await informers::ListAll(
      *context_.client, *context_.scheduler, std::move(list),
      [this, depth](const json::Value& object) { TakeListed(object, depth); },
      [this] {
        if (drift_) drift_->OnRestart();
      });
  if (!listed) co_return listed.error();
  co_return base::Result<void>();
}

void LedgerResync::TakeListed(const json::Value& object, Depth depth) {
  if (!drift_) return;
  const quota::Uid uid = quota::Uid::FromText(api::Uid(object));
  const quota::VersionMark version = quota::VersionMarkOf(api::ResourceVersion(object));
  const bool same =
      version != quota::kNoVersion && ledger_.VersionOf(api::Namespace(object), uid) == version;
  drift_->OnListed(api::KeyOf(object), uid, version);
  if (depth == Depth::kVersions) return;
  // The same object as the held one, but its facts may have to be made anew.
  if (same) {
    objects_.count(object);
  } else {
    TakeRead(object);
  }
}

// Reads a few suspects by a list of one each, which needs only the rights of the watch. Reads all
// objects if there are many.
base::Task<base::Result<void>> LedgerResync::ReadSuspects() {
  constexpr std::size_t kMostLists = 32;
  if (!drift_) co_return base::Result<void>();
  std::vector<informers::ReflectorOptions> lists;
  for (const api::ObjectKey& object : drift_->Unread(kMostLists + 1)) {
    informers::ReflectorOptions& one = lists.emplace_back(list_);
    one.ns = object.ns;
    one.field_selector = "metadata.name=" + object.name;
  }
  if (lists.size() > kMostLists) lists = {list_};
  for (const informers::ReflectorOptions& list : lists) {
    const auto read = co_await informers::ListAll(
        *context_.client, *context_.scheduler, list,
        [this](const json::Value& object) { TakeRead(object); }, [] {});
    if (!read) co_return read.error();
  }
  co_return base::Result<void>();
}

void LedgerResync::TakeRead(const json::Value& object) {
  const quota::Uid uid = quota::Uid::FromText(api::Uid(object));
  if (!drift_ || !drift_->IsUnread(uid)) return;
  auto facts = objects_.facts_of(object);
  if (!facts) return;
  drift_->OnRead(uid, std::move(*facts), quota::VersionMarkOf(api::ResourceVersion(object)));
}

}  // namespace controllers
