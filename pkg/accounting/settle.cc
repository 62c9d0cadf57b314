#include "pkg/accounting/settle.h"

#include <map>
#include <set>

#include "pkg/api/resource_version.h"

namespace accounting {
namespace {

// True for an entry that names no object, if the quota no longer counts objects of its resource.
bool IsVoid(const Reservation& entry, const View& view) {
  return entry.objects.empty() && !entry.of.empty() && view.Ignores(entry.of);
}

// Drops the objects for which `is_done` is true, and entries that lose their last one. Raises the
// floor of their resources.
template <typename IsDone>
void DropObjects(ReservationList& list, const View& view, IsDone is_done) {
  std::set<std::string> resources;
  for (Reservation& entry : list.entries()) {
    if (std::erase_if(entry.objects, [&](const Uid& uid) { return is_done(entry, uid); }) == 0) {
      continue;
    }
    resources.insert(entry.of);
    if (entry.objects.empty()) entry.by.clear();  // marks it for removal
  }
  std::erase_if(list.entries(), [](const Reservation& entry) { return entry.by.empty(); });
  RaiseFloor(list, {resources.begin(), resources.end()}, view);
}

}  // namespace

bool IsOpen(const Reservation& entry, const Uid& uid, const View& view) {
  if (view.Ignores(entry.of)) return false;
  if (!view.Follows(entry.of)) return true;
  const ObjectRef object{.of = entry.of, .ns = entry.ns, .uid = uid};
  return entry.from.empty() ? !view.HasShown(object) : !view.IsPast(object, entry.from);
}

ResourceList Outstanding(const ReservationList& list, const View& view) {
  ResourceList outstanding = OutstandingOfObjects(list, view);
  for (const Reservation& entry : list.entries()) {
    if (entry.objects.empty() && !IsVoid(entry, view)) outstanding.Add(entry.usage);
  }
  return outstanding;
}

ResourceList OutstandingOfObjects(const ReservationList& list, const View& view) {
  struct Granted {
    std::string_view of;
    std::string_view ns;
    ResourceList usage;
  };
  std::map<Uid, Granted> granted;  // not hashed: others may write the text with these uids
  ResourceList outstanding;
  for (const Reservation& entry : list.entries()) {
    for (const Uid& uid : entry.objects) {
      if (!IsOpen(entry, uid, view)) continue;
      Granted& object = granted[uid];
      object.of = entry.of;
      object.ns = entry.ns;
      // At most one of several requests for an object is stored, so entries are not added up.
      object.usage = quota::Larger(object.usage, entry.usage);
    }
  }
  for (const auto& [uid, object] : granted) {
    outstanding.Add(quota::Excess(object.usage, view.Observed({object.of, object.ns, uid})));
  }
  return outstanding;
}

bool IsBehind(const ReservationList& list, const View& view, std::vector<std::string>* resources) {
  bool behind = false;
  for (const auto& [resource, version] : list.floor) {
    if (!view.Follows(resource) || view.Reaches(resource, version)) continue;
    behind = true;
    if (resources != nullptr) resources->push_back(resource);
  }
  return behind;
}

bool IsWithinFloor(const ReservationList& list, const std::string& resource,
                   std::string_view version) {
  const auto floor = list.floor.find(resource);
  return floor != list.floor.end() && api::ReachesVersion(floor->second, version);
}

void Settle(ReservationList& list, const View& view) {
  std::erase_if(list.entries(), [&](const Reservation& entry) { return IsVoid(entry, view); });
  DropObjects(list, view,
              [&](const Reservation& entry, const Uid& uid) { return !IsOpen(entry, uid, view); });
}

void DropObserved(ReservationList& list, const View& view) {
  DropObjects(list, view, [&](const Reservation& entry, const Uid& uid) {
    if (IsOpen(entry, uid, view)) return false;
    const ResourceList observed = view.Observed({.of = entry.of, .ns = entry.ns, .uid = uid});
    return quota::Excess(entry.usage, observed).empty();
  });
}

void RaiseFloor(ReservationList& list, const std::vector<std::string>& resources,
                const View& view) {
  for (const std::string& resource : resources) {
    if (!view.Follows(resource)) continue;
    const std::string newest = view.Newest(resource);
    if (api::IsDecimalVersion(newest)) api::RaiseVersion(list.floor[resource], newest);
  }
}

}  // namespace accounting
