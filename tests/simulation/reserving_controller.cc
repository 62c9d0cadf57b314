// Events in, keys out.

#include "tests/simulation/reserving_controller.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>

#include "pkg/api/resource_version.h"
#include "pkg/quota/saturating.h"
#include "tests/simulation/reserving_view.h"

namespace simulation {
namespace {

using accounting::ReservationList;
using controllers::UsageSource;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

bool AnyLower(const quota::ResourceList& before, const quota::ResourceList& after) {
  return std::ranges::any_of(after, [&](const auto& entry) {
    const quota::Quantity* old = before.Find(entry.first);
    return old != nullptr && entry.second < *old;
  });
}

}  // namespace

ReservingController::ReservingController(controllers::TrackingContext context,
                                         const quota::QuotaApi& api,
                                         controllers::ServedResources& served,
                                         ReservingOptions options)
    : context_(std::move(context)),
      api_(api),
      served_(served),
      options_(std::move(options)),
      pulse_(context_.scheduler->Now()),
      store_(api.name, *this, api.selectors),
      tracker_(context_, api_, served, *this),
      queue_(*context_.scheduler,
             {.retry = {.cap = std::chrono::seconds(60), .jitter = 0.2}, .seed = options_.seed}) {
  informers::ReflectorOptions reflector = context_.reflector;
  reflector.resource = api_.resource;
  reflector.fields = api_.fields;
  quotas_ = informers::NewReflector(*context_.client, *context_.scheduler, store_, reflector);
}

base::Task<void> ReservingController::Run() {
  co_await base::DeferCancellation();
  base::TaskGroup sources(context_.executor);
  base::TaskGroup workers(context_.executor);
  sources.Spawn("quotas", [this] { return quotas_->Run(); });
  sources.Spawn("tracker", [this] { return tracker_.Run(); });
  for (int i = 0; i < 5; ++i) workers.Spawn("worker", [this] { return Work(); });
  pulse_ = controllers::Pulse(context_.scheduler->Now());
  const std::unique_ptr<base::Alarm> beat = context_.scheduler->NewAlarm();
  while (!co_await base::Stopping()) {
    co_await beat->WaitUntil(context_.scheduler->Now() + controllers::Pulse::kBeat);
    pulse_.Beat(context_.scheduler->Now());
  }
  co_await base::IgnoreCancellation();
  queue_.ShutDown();
  co_await workers.Join();
  sources.Cancel();
  co_await sources.Join();
}

base::Task<void> ReservingController::Work() {
  co_await base::DeferCancellation();
  while (true) {
    const std::optional<api::ObjectKey> key = co_await queue_.Pop();
    if (!key) co_return;
    const Outcome outcome = co_await Reconcile(*key);
    if (outcome.kind == Outcome::Kind::kRetry) {
      queue_.AddRateLimited(*key);
    } else {
      queue_.Forget(*key);
      if (outcome.kind == Outcome::Kind::kRevisit) queue_.AddAfter(*key, outcome.after);
    }
    queue_.Done(*key);
  }
}

void ReservingController::OnLeading() {
  for (const api::ObjectKey& key : All()) queue_.Add(key);
}

std::size_t ReservingController::reservations() const {
  std::size_t objects = 0;
  for (const auto& [key, memory] : memories_) {
    if (memory.list) objects += memory.list->entries().size();
  }
  return objects;
}

ReservationList ReservingController::ListOf(const quota::Quota& quota) const {
  auto list = ReservationList::Parse(quota.reservations);
  return list ? std::move(*list) : ReservationList();
}

ReservingController::Memory* ReservingController::FindMemory(const quota::Quota& quota) {
  const auto memory = memories_.find(quota.key);
  const bool same = memory != memories_.end() && memory->second.uid == quota.uid;
  return same ? &memory->second : nullptr;
}

const ReservingController::Memory* ReservingController::FindMemory(
    const quota::Quota& quota) const {
  return const_cast<ReservingController*>(this)->FindMemory(quota);
}

void ReservingController::SetSlowestWebhook(base::Duration slowest) {
  webhook_ = std::min<std::chrono::seconds>(
      std::chrono::ceil<std::chrono::seconds>(slowest),
      std::chrono::duration_cast<std::chrono::seconds>(accounting::kLongestWebhook));
  options_.hold = accounting::HoldFor(webhook_);
  for (const api::ObjectKey& key : All()) queue_.Add(key);
}

std::vector<api::ObjectKey> ReservingController::All() const {
  std::vector<api::ObjectKey> keys;
  controllers::QuotaStore::Place place;
  while (store_.VisitSome(place, 64, [&](const auto& quota) { keys.push_back(quota.key); })) {
  }
  return keys;
}

ReservingController::Memory& ReservingController::Remember(const quota::Quota& quota) {
  const auto [entry, added] = memories_.try_emplace(quota.key, *context_.scheduler);
  if (!added && entry->second.uid != quota.uid) entry->second = Memory(*context_.scheduler);
  if (entry->second.uid.empty()) entry->second.crowd = quota::Advance(options_.advance);
  entry->second.uid = quota.uid;
  return entry->second;
}

void ReservingController::OnQuota(const quota::Quota* before, const quota::Quota* after) {
  tracker_.OnQuota(before, after);
  if (after == nullptr) {
    memories_.erase(before->key);
    decisive_.erase(before->uid);
    return;
  }
  Memory& memory = Remember(*after);
  const base::TimePoint now = context_.scheduler->Now();
  auto list = ReservationList::Parse(after->reservations);
  const bool written = list && (!memory.list || memory.list->used != list->used);
  memory.list = list ? std::optional(std::move(*list)) : std::nullopt;
  for (const auto& [resource, version] : memory.void_floors) {
    if (!memory.list) break;
    const auto floor = memory.list->floor.find(resource);
    const bool is_void = floor != memory.list->floor.end() && floor->second == version;
    if (is_void) memory.list->floor.erase(floor);
  }
  memory.first_seen.See(now, memory.list.value_or(ReservationList()));
  memory.strangers.OnStatus(now, after->status.used, memory.list ? &*memory.list : nullptr,
                            before == nullptr || !store_.in_order());
  memory.met = memory.met || memory.list;
  if (!memory.list || memory.list->Unassigned().empty()) memory.appeared = {};
  std::erase_if(memory.ended, [&](const Ended& ended) {
    return !memory.list || !memory.list->Find(std::get<0>(ended), std::get<1>(ended));
  });
  std::erase_if(memory.asked, [&](const auto& asked) {
    return !memory.list || !memory.list->Find(std::get<0>(asked.first), std::get<1>(asked.first));
  });
  const bool lowered =
      before != nullptr && !written && AnyLower(before->status.used, after->status.used);
  if (lowered && memory.not_before <= now) memory.not_before = now + accounting::kContradicts;
  queue_.Add(after->key);
}

// Who lists again knows what the list shows, as one who starts.
void ReservingController::OnListing(const quota::Evaluator& evaluator) {
  shown_.erase(evaluator.resource.ToString());
}

void ReservingController::OnShown(const quota::Evaluator& evaluator, const json::Value& object,
                                  bool gone) {
  const quota::Uid uid = quota::Uid::FromText(object.StringAt({"metadata", "uid"}));
  const std::string version(object.StringAt({"metadata", "resourceVersion"}));
  Shown& shown = shown_[evaluator.resource.ToString()];
  if (gone) shown.versions.erase(uid);
  (gone ? shown.gone : shown.versions)[uid] = version;
  std::string& newest = shown.newest[std::string(object.StringAt({"metadata", "namespace"}))];
  if (newest.empty() || api::IsOlderVersion(newest, version).value_or(false)) newest = version;
  // An entry for it may be over, whether or not it uses something else now.
  for (const api::ObjectKey& key : store_.InNamespace(object.StringAt({"metadata", "namespace"}))) {
    queue_.Add(key);
  }
}

void ReservingController::OnUsageChange(const quota::Evaluator& evaluator,
                                        const quota::LedgerChange& change) {
  for (const api::ObjectKey& key : store_.InNamespace(change.ns)) {
    const quota::Quota* quota = store_.Find(key);
    if (tracker_.OwnedNames(evaluator, quota->hard).empty()) continue;
    const auto usage = [&](const std::shared_ptr<const quota::Facts>& facts) {
      const bool matches = facts && quota::MatchesObject(quota->selector, *facts, evaluator.scopes);
      const auto* tracked = tracker_.Find(evaluator.resource);
      if (!matches || tracked == nullptr) return quota::ResourceList();
      return KnownUsageOf(evaluator, *tracked, change.ns, change.uid, *facts);
    };
    Memory& memory = Remember(*quota);
    const bool ours = memory.list && !memory.list->Granted(change.uid).empty();
    if (!ours) {
      const quota::ResourceList grown = quota::Excess(usage(change.after), usage(change.before));
      memory.strangers.OnAppeared(grown);
      const bool unassigned = memory.list && !memory.list->Unassigned().empty();
      if (!change.before && unassigned) quota::AddTo(memory.appeared, grown);
    }
    queue_.Add(key);
  }
}

void ReservingController::OnResourceState(const quota::Evaluator& /*evaluator*/) {
  tracker_.OnResourceState();
  for (const api::ObjectKey& key : All()) queue_.Add(key);
}

void ReservingController::OnClassChange(const quota::Evaluator& /*evaluator*/,
                                        const std::string& /*name*/) {
  for (const api::ObjectKey& key : All()) queue_.Add(key);
}

void ReservingController::OnClassState(const quota::Evaluator& evaluator) {
  OnResourceState(evaluator);
}

}  // namespace simulation
