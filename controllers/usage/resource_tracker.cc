#include "controllers/usage/resource_tracker.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace controllers {

ResourceTracker::ResourceTracker(TrackingContext context, const quota::QuotaApi& api,
                                 ServedResources& served, SharedResources& shared,
                                 UsageListener& listener, const QuotaLimits& limits,
                                 const ClassTracker& classes, base::Alarm& changed)
    : context_(std::move(context)),
      api_(api),
      served_(served),
      shared_(shared),
      listener_(listener),
      limits_(limits),
      classes_(classes),
      wanted_(api_, *context_.scheduler, changed) {}

void ResourceTracker::SetGroups(std::string_view ns, std::vector<std::string> groups) {
  for (const auto& tracked : wanted_.Watched()) tracked->SetGroups(ns, groups);
  if (groups.empty()) {
    if (const auto known = groups_.find(ns); known != groups_.end()) groups_.erase(known);
  } else {
    groups_.insert_or_assign(std::string(ns), std::move(groups));
  }
}

bool ResourceTracker::Settled() const {
  return std::ranges::all_of(wanted_.entries(), [](const auto& entry) {
    const Wanted& wanted = entry.second;
    if (wanted.names == 0 || wanted.known_absent) return true;
    const TrackedResource* const tracked = wanted.current();
    return tracked != nullptr && (tracked->synced() || tracked->state().trouble);
  });
}

bool ResourceTracker::AnyUnresolved(base::TimePoint since) const {
  return std::ranges::any_of(wanted_.entries(), [&](const auto& entry) {
    const Wanted& wanted = entry.second;
    if (wanted.names == 0 || wanted.since <= since) return false;
    if (!wanted.tracked) return true;
    const auto& trouble = wanted.tracked->state().trouble;
    return trouble && trouble->Is(base::ErrorCode::kNotFound);
  });
}

base::TimePoint ResourceTracker::NextDrop(base::TimePoint latest) const {
  for (const auto& [resource, wanted] : wanted_.entries()) {
    if (wanted.names == 0) latest = std::min(latest, wanted.unneeded_since + kKeepUnneeded);
  }
  return latest;
}

void ResourceTracker::StartServed() {
  for (auto& [resource, wanted] : wanted_.entries()) {
    if (wanted.tracked || wanted.names == 0) continue;
    const auto served = ServedFor(*wanted.evaluator);
    if (!served) continue;
    wanted.known_absent = false;
    const auto classes = [this, of = resource] { return classes_.Of(of).table; };
    wanted.tracked =
        shared_.Acquire(context_, api_, *served, *wanted.evaluator, listener_, classes);
    TrackedResource& tracked = *wanted.tracked;
    for (const auto& [name, quotas] : limits_.names()) tracked.facts().Limit(name);
    for (const auto& [ns, groups] : groups_) tracked.SetGroups(ns, groups);
    tracked.Start();
    // Nobody tells what a shared resource has listed before.
    if (tracked.synced() || tracked.state().trouble) {
      listener_.OnResourceStates({wanted.evaluator.get()});
    }
  }
}

// A first status does not wait for resources that the server does not serve, or whose group is
// stale.
void ResourceTracker::NoteUnserved() {
  constexpr std::size_t kMostNamed = 10;
  UsageListener::Evaluators unserved;
  std::string named;
  for (auto& [resource, wanted] : wanted_.entries()) {
    if (wanted.tracked || wanted.names == 0) continue;
    const bool absent = served_.IsAbsent(resource);
    if (!absent && !served_.IsUnknown(resource)) continue;
    if (std::exchange(wanted.known_absent, true)) continue;
    unserved.push_back(wanted.evaluator.get());
    if (unserved.size() > kMostNamed) continue;
    named += (named.empty() ? "" : ", ") + resource.ToString();
    if (!absent) named += " (the server cannot say that it serves it)";
  }
  if (unserved.empty()) return;
  // A quota may name as many as its owner can invent.
  if (const auto more = unserved_lines_.Take("", context_.scheduler->Now())) {
    LOG(WARNING) << "quotas name resources that the server does not serve quota_api=" << api_.name
                 << " number=" << unserved.size() << *more << " resources=" << named
                 << (unserved.size() > kMostNamed ? ", …" : "");
  }
  listener_.OnResourceStates(unserved);
}

bool ResourceTracker::MustStop(const Wanted& wanted) const {
  return wanted.current() == nullptr || wanted.tracked->IsOver(served_, ResourceScope::kNamespaced);
}

// A resource that others use keeps nothing of ours. It must be released then.
std::shared_ptr<TrackedResource> ResourceTracker::Leave(Wanted& wanted) {
  std::shared_ptr<TrackedResource> tracked = std::exchange(wanted.tracked, {});
  for (const auto& [name, quotas] : limits_.names()) tracked->facts().Unlimit(name);
  for (const auto& [ns, groups] : groups_) tracked->SetGroups(ns, {});
  return tracked;
}

base::Task<void> ResourceTracker::StopUnneeded() {
  const base::TimePoint now = context_.scheduler->Now();
  std::vector<std::shared_ptr<TrackedResource>> stopping;
  for (auto entry = wanted_.entries().begin(); entry != wanted_.entries().end();) {
    Wanted& wanted = entry->second;
    const bool unneeded = wanted.names == 0 && now - wanted.unneeded_since >= kKeepUnneeded;
    if (wanted.tracked && (unneeded || MustStop(wanted))) {
      stopping.push_back(Leave(wanted));
      wanted.known_absent = wanted.known_absent || served_.IsAbsent(entry->first);
    }
    entry = unneeded ? wanted_.Erase(entry) : std::next(entry);
  }
  StartServed();  // restarts the ones that move to another version
  for (const std::shared_ptr<TrackedResource>& tracked : stopping) {
    LOG(INFO) << "no longer counting resource=" << tracked->resource().ToString()
              << " quota_api=" << api_.name;
    co_await shared_.Release(tracked, listener_);
    listener_.OnResourceStates({&tracked->evaluator()});
  }
}

base::Task<void> ResourceTracker::StopAll() {
  std::vector<std::shared_ptr<TrackedResource>> stopping;
  for (auto& [resource, wanted] : wanted_.entries()) {
    if (wanted.tracked) stopping.push_back(Leave(wanted));
  }
  for (const auto& tracked : stopping) co_await shared_.Release(tracked, listener_);
}

}  // namespace controllers
