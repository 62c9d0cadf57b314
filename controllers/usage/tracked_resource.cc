#include "controllers/usage/tracked_resource.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/api/resource_version.h"
#include "pkg/json/value.h"

namespace controllers {
namespace {

// The ledger is checked for expiries at least this often, because the wall clock may be set.
constexpr std::chrono::seconds kLongestExpiryWait{10};
// A smaller difference is a correction of the clock (slewing), not a set clock.
constexpr std::chrono::seconds kClockTolerance{1};
// Between two attempts to read all objects again.
constexpr std::chrono::seconds kReadsAgain{5};
constexpr std::chrono::seconds kSettle{1};  // how far a watch may lag behind a fresh list
// Changes that are reported in one turn of the event loop: each enqueues quotas.
constexpr std::size_t kChangesAStep = 64;
// Between two attempts to open a watch anew that does not show an object.
constexpr std::chrono::seconds kReopensAgain{10};

quota::Uid UidOf(const json::Value& object) { return quota::Uid::FromText(api::Uid(object)); }

quota::VersionMark VersionOf(const json::Value& object) {
  return quota::VersionMarkOf(api::ResourceVersion(object));
}

TrackingContext WithGate(TrackingContext context) {
  context.reflector.lists = context.lists;
  return context;
}

informers::ReflectorOptions ListOf(const TrackingContext& context,
                                   const api::GroupVersionResource& resource,
                                   const quota::Evaluator& evaluator) {
  informers::ReflectorOptions list = context.reflector;
  list.resource = resource;
  list.fields = evaluator.fields;
  return list;
}

// Says which object is meant.
std::string WithKey(const json::Value& object, const std::string& why) {
  return api::KeyOf(object).ToString() + ": " + why;
}

void NameFlaw(const json::Value& object, quota::ObjectFacts& facts) {
  if (!facts.flaw.empty()) facts.flaw = WithKey(object, facts.flaw);
}

// Notices that the wall clock was set.
class WallClock {
 public:
  // True if it was set back since the last call.
  bool WasSetBack(base::WallTime wall, base::TimePoint now) {
    const base::Duration ahead =
        std::chrono::duration_cast<base::Duration>(wall.time_since_epoch()) -
        now.time_since_epoch();
    const std::optional<base::Duration> before = std::exchange(ahead_, ahead);
    return before && ahead < *before - kClockTolerance;
  }

 private:
  std::optional<base::Duration> ahead_;  // of the monotonic clock, at the last call
};

}  // namespace

TrackedResource::TrackedResource(TrackingContext context, api::GroupVersionResource resource,
                                 const quota::Evaluator& evaluator)
    : SharedWatch(WithGate(std::move(context)), std::move(resource), evaluator, evaluator.fields),
      expiry_(this->context().scheduler->NewAlarm()),
      must_read_(this->context().scheduler->NewAlarm()),
      facts_(this->evaluator(), *this->context().scheduler, *must_read_),
      shown_(*this->context().scheduler),
      resync_(this->context(), ListOf(this->context(), this->resource(), this->evaluator()),
              ledger_,
              {.facts_of =
                   [this](const json::Value& object) {
                     base::Result<quota::ObjectFacts> facts = FactsOf(object);
                     if (facts) NameFlaw(object, *facts);
                     return facts;
                   },
               .count = [this](const json::Value& object) { Count(object, UidOf(object)); },
               .report = [this](const quota::LedgerChange& change) { Report(change); }}),
      started_(Now()) {}

void TrackedResource::StartTasks(base::TaskGroup& tasks) {
  tasks.Spawn("expiry " + resource().ToString(), [this] { return WatchExpiry(); });
  tasks.Spawn("names " + resource().ToString(), [this] { return ReadAgain(); });
}

void TrackedResource::Relist() {
  shown_.OnRelist();
  SharedWatch::Relist();
}

void TrackedResource::Await(const std::string& version) {
  const base::TimePoint now = Now();
  sync_state().Await(now, version);
  if (reopened_ && now - *reopened_ < kReopensAgain) return;
  reopened_ = now;
  if (const auto more = own_lines_.Take("", now)) {
    LOG(WARNING) << "the server has an object that the watch does not show; opening the watch anew"
                 << " resource=" << resource().ToString() << *more;
  }
  reflector().Reopen();
}

void TrackedResource::BeginList() {
  resync_.Abandon();
  facts_.OnReadingBegins();
  sync_state().OnListBegins();
  shown_.OnListBegins();
  ledger_.BeginSweep();
}

void TrackedResource::Upsert(const json::Value& object) {
  const quota::Uid uid = UidOf(object);
  resync_.OnEvent(uid);
  shown_.OnShown(api::ResourceVersion(object));
  Count(object, uid);
  ReportShown(std::string(api::Namespace(object)), uid);
}

void TrackedResource::ReportShown(const std::string& ns, const quota::Uid& uid) {
  for (const User& user : users()) {
    if (listed()) user.listener->OnShown(ns, uid);
  }
  if (sync_state().OnShown(shown_.newest())) TellState();
}

base::Result<quota::ObjectFacts> TrackedResource::FactsOf(const json::Value& object) {
  // The classes that one user knows: all users who need them read the same watch.
  const quota::ClassTable* known = nullptr;
  for (const User& user : users()) {
    if (evaluator().classes && known == nullptr) known = user.classes();
  }
  return facts_.Read(object, known);
}

void TrackedResource::Count(const json::Value& object, const quota::Uid& uid) {
  const std::string_view ns = api::Namespace(object);
  base::Result<quota::ObjectFacts> facts = FactsOf(object);
  if (!facts) {
    SayUncounted(object, "object cannot be counted; its namespace's usage is unknown",
                 facts.error().message);
    const auto change = ledger_.SetUnknown(ns, uid, WithKey(object, facts.error().message),
                                           VersionOf(object), quota::NameMarkOf(api::Name(object)));
    if (change) Report(*change);
    return;
  }
  if (!facts->flaw.empty()) {
    SayUncounted(object, "object has an amount that cannot be counted", facts->flaw);
  }
  NameFlaw(object, *facts);
  const bool has_later = facts->later.has_value();
  auto change = ledger_.Set(ns, uid, std::move(*facts), VersionOf(object),
                            quota::NameMarkOf(api::Name(object)));
  if (has_later) expiry_->Wake();
  if (!change) return;
  change->version = api::ResourceVersion(object);
  if (change->before) shown_.OnChanged(uid, change->version);
  Report(*change);
}

void TrackedResource::SayUncounted(const json::Value& object, std::string_view what,
                                   const std::string& why) {
  const auto more = lines_.Take(api::Namespace(object), Now());
  if (!more) return;
  LOG(WARNING) << what << " resource=" << resource().ToString()
               << " object=" << api::KeyOf(object).ToString() << *more
               << " error=" << json::Quote(why);
}

void TrackedResource::Remove(const json::Value& object) {
  const quota::Uid uid = UidOf(object);
  const std::string ns(api::Namespace(object));
  const std::string_view version = api::ResourceVersion(object);
  resync_.OnEvent(uid);
  shown_.OnDeleted(uid, version);
  const auto change = ledger_.Remove(ns, uid);
  if (change) {
    shown_.OnChanged(uid, version);
    Report(*change);
  }
  ReportShown(ns, uid);
}

bool TrackedResource::Reaches(std::string_view version) const {
  return api::ReachesVersion(shown_.newest(), version) ||
         api::ReachesVersion(state().resource_version, version);
}

// Versions that cannot be ordered are compared with the held one.
bool TrackedResource::HasShown(std::string_view ns, const quota::Uid& uid,
                               std::string_view version) const {
  return Reaches(version) || shown_.IsGone(uid) ||
         ledger_.VersionOf(ns, uid) == quota::VersionMarkOf(version);
}

bool TrackedResource::SweepSome() {
  std::vector<quota::LedgerChange> removed;
  const bool more = ledger_.SweepSome(kChangesAStep, removed);
  for (const quota::LedgerChange& change : removed) Report(change);
  return more;
}

void TrackedResource::EndList() {
  shown_.OnListEnds();
  if (sync_state().OnListEnds()) {
    LOG(INFO) << "counting resource=" << resource().ToString() << " objects=" << ledger_.size()
              << " distinct=" << ledger_.distinct_facts();
  }
  facts_.OnReadingEnds();
  for (const quota::LedgerChange& change : ledger_.EndSweep()) Report(change);
  TellState();
}

void TrackedResource::OnState() {
  sync_state().OnState(Now(), state());
  TellState();
}

// Before the first complete list nothing is known, so no change is reported.
void TrackedResource::Report(const quota::LedgerChange& change) const {
  if (!listed()) return;
  for (const User& user : users()) user.listener->OnUsageChange(evaluator(), change);
}

void TrackedResource::TellState() const {
  for (const User& user : users()) user.listener->OnResourceStates({&evaluator()});
}

base::Task<void> TrackedResource::WatchExpiry() {
  co_await base::DeferCancellation();
  WallClock clock;
  bool too_early = false;
  while (!co_await base::Stopping()) {
    const base::WallTime wall = context().scheduler->WallNow();
    too_early = clock.WasSetBack(wall, Now()) || too_early;
    // Facts that expired too early cannot be undone from the ledger, so the objects are read again.
    if (too_early && synced() && !resync_.running()) {
      const auto listed = co_await resync_.Run(kSettle, LedgerResync::Depth::kWhole);
      too_early = !listed.has_value();
    }
    for (const quota::LedgerChange& change : ledger_.Expire(wall, kChangesAStep)) Report(change);
    const auto next = ledger_.NextExpiry();
    if (next && *next <= wall) {
      co_await base::NextTurn();
      continue;
    }
    base::Duration wait = kLongestExpiryWait;
    if (next) wait = std::min<base::Duration>(wait, *next - wall + std::chrono::milliseconds(1));
    co_await expiry_->WaitUntil(Now() + wait);
  }
}

base::Task<void> TrackedResource::ReadAgain() {
  co_await base::DeferCancellation();
  while (!co_await base::Stopping()) {
    bool again = false;
    if (facts_.MustReadAgain() && synced() && !resync_.running()) {
      if (const auto more = own_lines_.Take("", Now())) {
        LOG(INFO) << "reading all objects again, because "
                  << (facts_.outdated() ? "the server counts by other rules"
                                        : "a quota limits a name that was not counted")
                  << " resource=" << resource().ToString() << *more;
      }
      facts_.OnReadingBegins();
      const auto read = co_await resync_.Run(kSettle, LedgerResync::Depth::kWhole);
      const bool ended = read && read->has_value();
      if (ended && facts_.OnReadingEnds()) TellState();
      again = ended && facts_.MustReadAgain();
    }
    if (again) continue;
    const bool idle = !facts_.MustReadAgain();
    co_await must_read_->WaitUntil(idle ? base::TimePoint::max() : Now() + kReadsAgain);
  }
}

base::Task<base::Result<std::optional<DriftReport>>> TrackedResource::Resync(
    base::Duration settle) {
  std::optional<DriftReport> superseded;
  if (!synced() || resync_.running()) co_return superseded;
  co_return co_await resync_.Run(settle, LedgerResync::Depth::kVersions);
}

}  // namespace controllers
