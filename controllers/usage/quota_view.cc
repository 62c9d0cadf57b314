#include "controllers/usage/quota_view.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace controllers {

const QuotaView::Sources& QuotaView::sources() const {
  if (sources_) return *sources_;
  sources_.emplace();
  for (UsageSource& source : tracker_.SourcesOf(quota_.hard)) {
    UsageSource& held = (*sources_)[source.evaluator->resource.ToString()];
    if (held.tracked == nullptr) std::swap(held, source);
    std::ranges::copy(source.names, std::back_inserter(held.names));
  }
  return *sources_;
}

const QuotaView::Counting& QuotaView::counting() const {
  if (counting_) return *counting_;
  counting_.emplace();
  for (const auto& [resource, source] : sources()) {
    for (const std::string& name : source.names) (*counting_)[name].insert(resource);
    // Also names that these objects count by class, once the classes are known.
    for (const std::string& name : quota::NamesOfClasses(*source.evaluator, quota_.hard)) {
      (*counting_)[name].insert(resource);
    }
  }
  return *counting_;
}

const UsageSource* QuotaView::Find(std::string_view resource) const {
  const auto source = sources().find(resource);
  return source == sources().end() ? nullptr : &source->second;
}

const TrackedResource* QuotaView::Tracked(std::string_view resource) const {
  const UsageSource* source = Find(resource);
  return source == nullptr ? nullptr : source->tracked;
}

const TrackedResource* QuotaView::Watched(const accounting::ObjectRef& object) const {
  const NamespaceLabels* const labels = usage_.LabelsOf(quota_);
  const std::string_view ns = NamespaceOf(object.ns);
  const bool reached = labels == nullptr || ns.empty() || labels->HasShown(ns);
  return reached ? Tracked(object.of) : nullptr;
}

base::TimePoint QuotaView::ShownUntil(std::string_view resource) const {
  const UsageSource* source = Find(resource);
  const bool none = source == nullptr || (source->tracked == nullptr && source->known_absent);
  if (none) return base::TimePoint::max();
  const TrackedResource* tracked = source->tracked;
  return tracked != nullptr && tracked->synced() ? tracked->shown().listed_since()
                                                 : base::TimePoint::min();
}

quota::ResourceList QuotaView::Counted(const quota::ResourceList& observed,
                                       const accounting::ReservationList& list) const {
  const quota::ResourceList outstanding = accounting::OutstandingOfObjects(list, *this);
  quota::ResourceList counted = observed;
  for (const auto& [name, amount] : observed) {
    counted.Set(name, amount.Add(outstanding.Get(name)));
  }
  return counted;
}

std::vector<std::string> QuotaView::resources() const {
  std::vector<std::string> resources;
  for (const auto& [resource, source] : sources()) resources.push_back(resource);
  return resources;
}

std::vector<std::string> QuotaView::ResourcesOf(std::string_view name) const {
  const auto resources = counting().find(name);
  if (resources == counting().end()) return {};
  return {resources->second.begin(), resources->second.end()};
}

std::vector<std::string> QuotaView::floor_resources() const {
  std::vector<std::string> all = resources();
  const NamespaceLabels* const labels = usage_.LabelsOf(quota_);
  if (labels != nullptr) all.push_back(kNamespaces.WithoutVersion().ToString());
  return all;
}

const NamespaceLabels* QuotaView::FindLabels(std::string_view resource) const {
  const bool is_it = resource == kNamespaces.WithoutVersion().ToString();
  return is_it ? usage_.LabelsOf(quota_) : nullptr;
}

std::size_t QuotaView::SizeOf(std::string_view resource) const {
  if (const TrackedResource* tracked = Tracked(resource)) return tracked->ledger().size();
  const NamespaceLabels* labels = FindLabels(resource);
  return labels == nullptr ? 0 : labels->size();
}

std::optional<api::GroupVersionResource> QuotaView::Served(std::string_view resource) const {
  if (const TrackedResource* tracked = Tracked(resource)) return tracked->resource();
  if (FindLabels(resource) != nullptr) return kNamespaces;
  return std::nullopt;
}

bool QuotaView::Follows(std::string_view resource) const {
  if (const TrackedResource* tracked = Tracked(resource)) return tracked->synced();
  const NamespaceLabels* const labels = FindLabels(resource);
  return labels != nullptr && !labels->Incomplete({});
}

bool QuotaView::Ignores(std::string_view resource) const { return Find(resource) == nullptr; }

bool QuotaView::HasShown(const accounting::ObjectRef& object) const {
  const TrackedResource* tracked = Watched(object);
  return tracked != nullptr && (tracked->shown().IsGone(object.uid) ||
                                tracked->ledger().Holds(NamespaceOf(object.ns), object.uid));
}

// The ledger has only a hash of the version. If the watch has passed `version` and the object has
// another version, that version is later.
bool QuotaView::IsPast(const accounting::ObjectRef& object, std::string_view version) const {
  const TrackedResource* tracked = Watched(object);
  if (tracked == nullptr) return false;
  if (tracked->shown().IsGone(object.uid)) return true;
  if (!Reaches(object.of, version)) return false;
  const auto held = tracked->ledger().VersionOf(NamespaceOf(object.ns), object.uid);
  return held != quota::VersionMarkOf(version);
}

bool QuotaView::HasShownVersion(const accounting::ObjectRef& object,
                                std::string_view version) const {
  const TrackedResource* tracked = Watched(object);
  return tracked != nullptr && tracked->HasShown(NamespaceOf(object.ns), object.uid, version);
}

quota::ResourceList QuotaView::Observed(const accounting::ObjectRef& object) const {
  const TrackedResource* tracked = Watched(object);
  if (tracked == nullptr) return {};
  const std::string_view ns = NamespaceOf(object.ns);
  const auto facts = tracked->ledger().Find(ns, object.uid);
  if (!facts) return {};
  return usage_.UsageOf(quota_, *Find(object.of)->evaluator, ns, object.uid, *facts);
}

std::string QuotaView::Newest(std::string_view resource) const {
  if (const TrackedResource* tracked = Tracked(resource)) return tracked->shown().newest();
  const NamespaceLabels* const labels = FindLabels(resource);
  return labels == nullptr ? "" : labels->Newest();
}

std::string QuotaView::ShownVersion(std::string_view resource) const {
  const TrackedResource* const tracked = Tracked(resource);
  if (tracked == nullptr) return Newest(resource);
  return tracked->synced() ? tracked->state().resource_version : "";
}

bool QuotaView::Reaches(std::string_view resource, std::string_view version) const {
  if (const TrackedResource* tracked = Tracked(resource)) return tracked->Reaches(version);
  const NamespaceLabels* const labels = FindLabels(resource);
  return labels != nullptr && labels->Reaches(version);
}

}  // namespace controllers
