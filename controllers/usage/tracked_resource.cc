#include "controllers/usage/tracked_resource.h"

#include <glog/logging.h>

#include <utility>

#include "pkg/accounting/timing.h"
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
// Longer than an admission call that began before the change may take.
constexpr std::chrono::seconds kRecent{30};
// Between two attempts to open a watch anew that does not show an object.
constexpr std::chrono::seconds kReopensAgain{10};
// Longer than a reservation is held.
constexpr std::chrono::seconds kGone{60};
static_assert(kGone > accounting::HoldFor(accounting::kLongestWebhook));

quota::Uid UidOf(const json::Value& object) { return quota::Uid::FromText(api::Uid(object)); }

quota::VersionMark VersionOf(const json::Value& object) {
  return quota::VersionMarkOf(api::ResourceVersion(object));
}

TrackingContext WithGate(TrackingContext context) {
  context.reflector.lists = context.lists;
  return context;
}

// Says which object is meant.
std::string WithKey(const json::Value& object, const std::string& why) {
  return api::KeyOf(object).ToString() + ": " + why;
}

}  // namespace

TrackedResource::TrackedResource(TrackingContext context, api::GroupVersionResource resource,
                                 const quota::Evaluator& evaluator)
    : SharedWatch(WithGate(std::move(context)), std::move(resource), evaluator, evaluator.fields),
      recent_(kRecent),
      gone_(kGone),
      expiry_(this->context().scheduler->NewAlarm()),
      reading_(this->context().scheduler->NewAlarm()),
      started_(Now()) {}

void TrackedResource::StartTasks(base::TaskGroup& tasks) {
  tasks.Spawn("expiry " + resource().ToString(), [this] { return WatchExpiry(); });
  tasks.Spawn("names " + resource().ToString(), [this] { return ReadUnread(); });
}

void TrackedResource::Relist() {
  recent_ = RecentVersions(kRecent);
  SharedWatch::Relist();
}

void TrackedResource::Await(const std::string& version) {
  const base::TimePoint now = Now();
  sync_state().Await(now, version);
  if (reopened_ && now - *reopened_ < kReopensAgain) return;
  reopened_ = now;
  LOG(WARNING) << "the server has an object that the watch does not show; opening the watch anew"
               << " resource=" << resource().ToString();
  reflector().Reopen();
}

bool TrackedResource::ByClass(std::string_view name) const {
  return evaluator().classes && evaluator().classes->concerns &&
         evaluator().classes->concerns(name);
}

void TrackedResource::Limit(std::string_view name) {
  const bool may_count = evaluator().owns(name) || ByClass(name);  // for some object
  if (!may_count || !limited_.Add(name)) return;
  unread_.OnLimited(name, Now());
  if (!unread_.empty()) reading_->Wake();
}

void TrackedResource::Unlimit(std::string_view name) {
  if (limited_.Remove(name)) unread_.OnUnlimited(name);
}

void TrackedResource::OnClasses() {
  for (const auto& [name, times] : limited_.All()) {
    if (ByClass(name)) unread_.OnClasses(name, Now());
  }
  if (!unread_.empty()) reading_->Wake();
}

void TrackedResource::Follow(const quota::Rules& rules) {
  if (std::exchange(rules_, rules) == rules || !evaluator().by_rules || ledger_.size() == 0) return;
  outdated_ = true;
  reading_->Wake();
}

void TrackedResource::BeginList() {
  drift_.reset();  // the new list finds what the resync was looking for
  unread_.OnReadingBegins();
  sync_state().OnListBegins();
  // After a relist only its result counts, as after a start: what was shown before may come from
  // the state before a restore of the server.
  gone_ = RecentVersions(kGone);
  newest_.clear();
  list_began_ = Now();
  ledger_.BeginSweep();
}

void TrackedResource::Upsert(const json::Value& object) {
  const quota::Uid uid = UidOf(object);
  const std::string ns(api::Namespace(object));
  if (drift_) drift_->OnEvent(uid);
  api::RaiseVersion(newest_, api::ResourceVersion(object));
  Count(object, ns, uid);
  ReportShown(ns, uid);
}

void TrackedResource::ReportShown(const std::string& ns, const quota::Uid& uid) {
  for (const User& user : users()) {
    if (listed()) user.listener->OnShown(ns, uid);
  }
  if (sync_state().OnShown(newest_)) TellState();
}

// The facts as the ledger keeps them.
base::Result<quota::ObjectFacts> TrackedResource::FactsOf(const json::Value& object) {
  base::Result<quota::ObjectFacts> facts = evaluator().facts_of(
      object,
      {.now = context().scheduler->WallNow(), .limited = limited_.AsFunction(), .rules = rules_});
  if (!facts) return facts;
  // The classes that one user knows: all users who need them read the same watch.
  const quota::ClassTable* known = nullptr;
  for (const User& user : users()) {
    if (evaluator().classes && known == nullptr) known = user.classes();
  }
  unread_.OnLeftOut(limited_.Bound(*facts, known));
  return facts;
}

void TrackedResource::Count(const json::Value& object, const std::string& ns,
                            const quota::Uid& uid) {
  base::Result<quota::ObjectFacts> facts = FactsOf(object);
  if (!facts) {
    LOG_EVERY_N(WARNING, 100)
        << "object cannot be counted; its namespace's usage is unknown resource="
        << resource().ToString() << " object=" << api::KeyOf(object).ToString()
        << " error=" << json::Quote(facts.error().message);
    const auto change = ledger_.SetUnknown(ns, uid, WithKey(object, facts.error().message),
                                           VersionOf(object), quota::NameMarkOf(api::Name(object)));
    if (change) Report(*change);
    return;
  }
  if (!facts->flaw.empty()) {
    LOG_EVERY_N(WARNING, 100) << "object has an amount that cannot be counted resource="
                              << resource().ToString()
                              << " object=" << api::KeyOf(object).ToString()
                              << " error=" << json::Quote(facts->flaw);
    facts->flaw = WithKey(object, facts->flaw);
  }
  const bool has_later = facts->later.has_value();
  auto change = ledger_.Set(ns, uid, std::move(*facts), VersionOf(object),
                            quota::NameMarkOf(api::Name(object)));
  if (has_later) expiry_->Wake();
  if (!change) return;
  change->version = api::ResourceVersion(object);
  if (change->before) recent_.OnChanged(Now(), uid, change->version);
  Report(*change);
}

void TrackedResource::Remove(const json::Value& object) {
  const quota::Uid uid = UidOf(object);
  const std::string ns(api::Namespace(object));
  const std::string_view version = api::ResourceVersion(object);
  const base::TimePoint now = Now();
  if (drift_) drift_->OnEvent(uid);
  api::RaiseVersion(newest_, version);
  gone_.OnChanged(now, uid, version);
  const auto change = ledger_.Remove(ns, uid);
  if (change) {
    recent_.OnChanged(now, uid, version);
    Report(*change);
  }
  ReportShown(ns, uid);
}

bool TrackedResource::IsGone(const quota::Uid& uid) const { return gone_.Has(Now(), uid); }

bool TrackedResource::Reaches(std::string_view version) const {
  return api::ReachesVersion(newest_, version) ||
         api::ReachesVersion(state().resource_version, version);
}

// Versions that cannot be ordered are compared with the held one.
bool TrackedResource::HasShown(std::string_view ns, const quota::Uid& uid,
                               std::string_view version) const {
  return Reaches(version) || IsGone(uid) ||
         ledger_.VersionOf(ns, uid) == quota::VersionMarkOf(version);
}

bool TrackedResource::HasLater(const quota::Uid& uid, std::string_view version) const {
  return recent_.HasLater(Now(), uid, version);
}

bool TrackedResource::SweepSome() {
  std::vector<quota::LedgerChange> removed;
  const bool more = ledger_.SweepSome(kChangesAStep, removed);
  for (const quota::LedgerChange& change : removed) Report(change);
  return more;
}

void TrackedResource::EndList() {
  listed_since_ = list_began_;
  if (sync_state().OnListEnds()) {
    LOG(INFO) << "counting resource=" << resource().ToString() << " objects=" << ledger_.size()
              << " distinct=" << ledger_.distinct_facts();
  }
  unread_.OnReadingEnds();
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
  for (const User& user : users()) user.listener->OnResourceState(evaluator());
}

// True if the wall clock was set back since the last call.
bool TrackedResource::WasSetBack(base::WallTime wall) {
  const base::Duration ahead = std::chrono::duration_cast<base::Duration>(wall.time_since_epoch()) -
                               Now().time_since_epoch();
  const std::optional<base::Duration> before = std::exchange(wall_ahead_, ahead);
  return before && ahead < *before - kClockTolerance;
}

base::Task<void> TrackedResource::WatchExpiry() {
  co_await base::DeferCancellation();
  bool too_early = false;
  while (!co_await base::Stopping()) {
    const base::WallTime wall = context().scheduler->WallNow();
    too_early = WasSetBack(wall) || too_early;
    // Facts that expired too early cannot be undone from the ledger, so the objects are read again.
    if (too_early && synced() && !drift_) {
      const auto listed = co_await Resync(kSettle, Depth::kWhole);
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

// Reads all objects again while names are unread, or facts made by other rules.
base::Task<void> TrackedResource::ReadUnread() {
  co_await base::DeferCancellation();
  while (!co_await base::Stopping()) {
    bool again = false;
    if ((!unread_.empty() || outdated_) && synced() && !drift_) {
      LOG(INFO) << "reading all objects again, because "
                << (outdated_ ? "the server counts by other rules"
                              : "a quota limits a name that was not counted")
                << " resource=" << resource().ToString();
      unread_.OnReadingBegins();
      const bool outdated = std::exchange(outdated_, false);
      const auto read = co_await Resync(kSettle, Depth::kWhole);
      const bool ended = read && read->has_value();
      outdated_ = outdated_ || (outdated && !ended);
      if (ended && unread_.OnReadingEnds()) TellState();
      again = ended && (!unread_.empty() || outdated_);
    }
    if (again) continue;
    const bool idle = unread_.empty() && !outdated_;
    co_await reading_->WaitUntil(idle ? base::TimePoint::max() : Now() + kReadsAgain);
  }
}

base::Task<base::Result<std::optional<DriftReport>>> TrackedResource::Resync(base::Duration settle,
                                                                             Depth depth) {
  const std::optional<DriftReport> superseded;
  if (!synced() || drift_) co_return superseded;
  // Those that the recounts after the last resync found.
  const std::size_t wrong = ledger_.TakeWrongSums();
  LOG_IF(ERROR, wrong > 0) << "sums were wrong and are right now; this is a defect resource="
                           << resource().ToString() << " sums=" << wrong;
  drift_.emplace(ledger_);
  base::Result<void> done = co_await ListVersions(depth);
  while (done && drift_ && drift_->LookForVanished()) co_await base::NextTurn();
  if (done && drift_ && drift_->HasSuspects()) co_await context().scheduler->Sleep(settle);
  if (done) done = co_await ReadSuspects();
  if (!done) {
    drift_.reset();
    co_return done.error();
  }
  DriftReport report;
  for (bool more = drift_.has_value(); more;) {
    more = drift_->Settle(report);
    for (const quota::LedgerChange& change : std::exchange(report.changes, {})) Report(change);
    if (more) co_await base::NextTurn();
    more = more && drift_;
  }
  // A relist during a suspension has reset `drift_`.
  if (!drift_) co_return superseded;
  drift_.reset();
  co_return std::optional<DriftReport>(std::move(report));
}

informers::ReflectorOptions TrackedResource::ListOptions() const {
  informers::ReflectorOptions options = context().reflector;
  options.resource = resource();
  options.fields = evaluator().fields;
  return options;
}

base::Task<base::Result<void>> TrackedResource::ListVersions(Depth depth) {
  informers::ReflectorOptions options = ListOptions();
  if (depth == Depth::kVersions) options.fields.clear();
  const auto listed = co_await informers::ListAll(
      *context().client, *context().scheduler, std::move(options),
      [this, depth](const json::Value& object) {
        if (!drift_) return;
        const quota::Uid uid = UidOf(object);
        const std::string ns(api::Namespace(object));
        const quota::VersionMark version = VersionOf(object);
        const bool same = version != quota::kNoVersion && ledger_.VersionOf(ns, uid) == version;
        drift_->OnListed(api::KeyOf(object), uid, version);
        if (depth == Depth::kVersions) return;
        // The same object as the held one, but its facts may have to be made anew.
        if (same) {
          Count(object, ns, uid);
        } else {
          TakeRead(object);
        }
      },
      [this] {
        if (drift_) drift_->OnRestart();
      });
  if (!listed) co_return listed.error();
  co_return base::Result<void>();
}

// Reads a few suspects by a list of one each, which needs only the rights of the watch. Reads all
// objects if there are many.
base::Task<base::Result<void>> TrackedResource::ReadSuspects() {
  constexpr std::size_t kMostLists = 32;
  if (!drift_) co_return base::Result<void>();
  const informers::ReflectorOptions all = ListOptions();
  std::vector<informers::ReflectorOptions> lists;
  for (const api::ObjectKey& object : drift_->Unread(kMostLists + 1)) {
    informers::ReflectorOptions& one = lists.emplace_back(all);
    one.ns = object.ns;
    one.field_selector = "metadata.name=" + object.name;
  }
  if (lists.size() > kMostLists) lists = {all};
  for (const informers::ReflectorOptions& list : lists) {
    const auto read = co_await informers::ListAll(
        *context().client, *context().scheduler, list,
        [this](const json::Value& object) { TakeRead(object); }, [] {});
    if (!read) co_return read.error();
  }
  co_return base::Result<void>();
}

void TrackedResource::TakeRead(const json::Value& object) {
  const quota::Uid uid = UidOf(object);
  if (!drift_ || !drift_->IsUnread(uid)) return;
  auto facts = FactsOf(object);
  if (facts && !facts->flaw.empty()) facts->flaw = WithKey(object, facts->flaw);
  if (facts) drift_->OnRead(uid, std::move(*facts), VersionOf(object));
}

}  // namespace controllers
