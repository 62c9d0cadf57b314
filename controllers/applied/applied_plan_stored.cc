// Processes the watch of AppliedClusterQuotas.

#include <algorithm>

#include "controllers/applied/applied_plan.h"
#include "pkg/api/resource_version.h"

namespace controllers {
namespace {

constexpr int kSweptAStep = 256;

std::string SpaceNameOf(const json::Value& object) {
  return std::string(object.StringAt({"metadata", "namespace"}));
}

}  // namespace

AppliedPlan::Entry* AppliedPlan::Find(std::string_view ns, std::string_view name) {
  const auto space = spaces_.find(ns);
  if (space == spaces_.end()) return nullptr;
  std::vector<Entry>& entries = space->second.entries;
  const auto at = std::ranges::lower_bound(entries, name, {}, &Entry::name);
  return at != entries.end() && at->name == name ? &*at : nullptr;
}

AppliedPlan::Entry& AppliedPlan::Add(Space& space, std::string_view name) {
  const auto at = std::ranges::lower_bound(space.entries, name, {}, &Entry::name);
  if (at != space.entries.end() && at->name == name) return *at;
  Entry entry;
  entry.name = name;
  return *space.entries.insert(at, std::move(entry));
}

void AppliedPlan::Take(Entry& entry, std::string_view version, std::uint64_t digest) {
  entry.list = list_;
  entry.taken = false;
  if (api::IsKnownOlder(version, entry.version)) return;
  entry.version = version;
  entry.digest = digest;
}

// Call if the object is not stored any more, or belongs to somebody else now.
void AppliedPlan::Lose(const std::string& ns, Space& space, Entry& entry) {
  entry.version.clear();
  entry.digest = 0;
  space.moved = true;
  Mark(entry);
  soon_.Add(ns);
}

void AppliedPlan::BeginList() {
  listing_ = true;
  ++list_;
  swept_.clear();
}

bool AppliedPlan::OnStored(const json::Value& object) {
  const std::string ns = SpaceNameOf(object);
  const std::string_view name = object.StringAt({"metadata", "name"});
  const std::string_view version = object.StringAt({"metadata", "resourceVersion"});
  const bool ours = IsOurs(object);
  Entry* entry = Find(ns, name);
  if (entry == nullptr && !ours) return false;
  Space& space = spaces_[ns];
  if (entry == nullptr) entry = &Add(space, name);
  const bool known = entry->version == version;
  if (!listing_ && api::IsKnownOlder(version, entry->version)) return false;
  if (!ours) {
    entry->list = list_;
    if (!entry->version.empty()) Lose(ns, space, *entry);
    return !std::exchange(entry->taken, true) && entry->wanted;
  }
  const std::uint64_t digest = DigestOf(object);
  // The event of our own write may arrive before the answer. Then it is not an edit.
  const bool written = in_flight_ && in_flight_->ns == ns && in_flight_->name == name &&
                       in_flight_->digest == digest;
  const bool different = digest != entry->digest && !written;
  if (listing_) entry->version.clear();  // a list is right even if it is older (restored etcd)
  Take(*entry, version, digest);
  if (known || !different) return false;
  Mark(*entry);
  space.moved = space.moved || !entry->wanted;
  soon_.Add(ns);
  return false;
}

void AppliedPlan::OnGone(const json::Value& object) {
  const std::string ns = SpaceNameOf(object);
  Entry* const entry = Find(ns, object.StringAt({"metadata", "name"}));
  if (entry == nullptr) return;
  const std::string_view version = object.StringAt({"metadata", "resourceVersion"});
  if (api::IsKnownOlder(version, entry->version)) return;
  if (in_flight_ && in_flight_->ns == ns && in_flight_->name == entry->name) {
    in_flight_->gone = version;
  }
  entry->taken = false;
  Lose(ns, spaces_[ns], *entry);
}

bool AppliedPlan::SweepSome() {
  auto at = spaces_.upper_bound(swept_);
  for (int i = 0; i < kSweptAStep && at != spaces_.end(); ++i, ++at) {
    for (Entry& entry : at->second.entries) {
      const bool stood = entry.taken || !entry.version.empty();
      if (!stood || entry.list == list_) continue;
      entry.taken = false;
      Lose(at->first, at->second, entry);
    }
    swept_ = at->first;
  }
  return at != spaces_.end();
}

void AppliedPlan::EndList() {
  while (SweepSome()) continue;
  listing_ = false;
  listed_ = true;
}

}  // namespace controllers
