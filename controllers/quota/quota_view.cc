#include "controllers/quota/quota_view.h"

#include <utility>

#include "pkg/api/resource_version.h"
#include "pkg/quota/saturating.h"

namespace controllers {

QuotaView::QuotaView(const Tracker& tracker, const ObservedUsage& usage, const quota::Quota& quota)
    : usage_(usage), quota_(quota) {
  for (UsageSource& source : tracker.SourcesOf(quota.hard)) {
    UsageSource& held = sources_[source.evaluator->resource.ToString()];
    if (held.tracked == nullptr) held = std::move(source);
  }
}

const UsageSource* QuotaView::Find(std::string_view resource) const {
  const auto source = sources_.find(resource);
  return source == sources_.end() ? nullptr : &source->second;
}

const TrackedResource* QuotaView::Tracked(std::string_view resource) const {
  const UsageSource* source = Find(resource);
  return source == nullptr ? nullptr : source->tracked;
}

bool QuotaView::IsAbsent(std::string_view resource) const {
  const UsageSource* source = Find(resource);
  return source != nullptr && source->tracked == nullptr && source->known_absent;
}

quota::ResourceList QuotaView::Counted(const accounting::ReservationList& list) const {
  const quota::ResourceList outstanding = accounting::OutstandingOfObjects(list, *this);
  quota::ResourceList counted;
  for (const auto& [name, amount] : usage_.Count(quota_, {}).observed.used) {
    counted.Set(name, quota::Sum(amount, outstanding.Get(name)));
  }
  return counted;
}

std::vector<std::string> QuotaView::resources() const {
  std::vector<std::string> resources;
  for (const auto& [resource, source] : sources_) resources.push_back(resource);
  return resources;
}

bool QuotaView::Follows(std::string_view resource) const {
  const TrackedResource* tracked = Tracked(resource);
  return tracked != nullptr && tracked->synced();
}

bool QuotaView::Ignores(std::string_view resource) const { return Find(resource) == nullptr; }

bool QuotaView::HasShown(std::string_view resource, const quota::Uid& uid) const {
  const TrackedResource* tracked = Tracked(resource);
  return tracked != nullptr &&
         (tracked->IsGone(uid) || tracked->ledger().Holds(quota_.key.ns, uid));
}

// Of what is up to date with a version, an object that is held in another one has a later one.
bool QuotaView::IsPast(std::string_view resource, const quota::Uid& uid,
                       std::string_view version) const {
  const TrackedResource* tracked = Tracked(resource);
  if (tracked == nullptr) return false;
  if (tracked->IsGone(uid)) return true;
  if (!Reaches(resource, version)) return false;
  return tracked->ledger().VersionOf(quota_.key.ns, uid) != quota::VersionMarkOf(version);
}

bool QuotaView::HasShownVersion(std::string_view resource, const quota::Uid& uid,
                                std::string_view version) const {
  const TrackedResource* tracked = Tracked(resource);
  if (tracked == nullptr) return false;
  if (tracked->IsGone(uid)) return true;
  if (!tracked->ledger().Holds(quota_.key.ns, uid)) return false;
  return tracked->ledger().VersionOf(quota_.key.ns, uid) == quota::VersionMarkOf(version) ||
         Reaches(resource, version);
}

quota::ResourceList QuotaView::Observed(std::string_view resource, const quota::Uid& uid) const {
  const UsageSource* source = Find(resource);
  if (source == nullptr || source->tracked == nullptr) return {};
  const auto facts = source->tracked->ledger().Find(quota_.key.ns, uid);
  if (!facts) return {};
  return usage_.UsageOf(quota_, *source->evaluator, uid, *facts);
}

std::string QuotaView::Newest(std::string_view resource) const {
  const TrackedResource* tracked = Tracked(resource);
  return tracked == nullptr ? "" : tracked->NewestIn(quota_.key.ns);
}

bool QuotaView::Reaches(std::string_view resource, std::string_view version) const {
  const TrackedResource* tracked = Tracked(resource);
  if (tracked == nullptr) return false;
  const auto reached = [&](std::string_view known) {
    return !known.empty() && api::IsOlderVersion(known, version) == std::optional(false);
  };
  return reached(tracked->NewestIn(quota_.key.ns)) || reached(tracked->state().resource_version);
}

}  // namespace controllers
