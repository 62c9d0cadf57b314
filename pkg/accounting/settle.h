#pragma once

// Compares entries with what the watches of one process have shown. Pure functions; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/accounting/reservation_list.h"

namespace accounting {

// An object that an entry names.
struct ObjectRef {
  std::string_view of;  // its resource
  std::string_view ns;  // "": the quota's own
  Uid uid;
};

// What the watches of a process have shown of one quota's objects.
class View {
 public:
  virtual ~View() = default;
  // False: the resource is still being listed, or cannot be listed. The view then knows nothing of
  // its objects.
  [[nodiscard]] virtual bool Follows(std::string_view resource) const = 0;
  // True if no name of the quota counts such objects. Their entries are then over.
  [[nodiscard]] virtual bool Ignores(std::string_view resource) const = 0;
  // True if the object was shown, even if it was deleted since.
  [[nodiscard]] virtual bool HasShown(const ObjectRef& object) const = 0;
  // True if a later version of the object was shown, or its deletion.
  [[nodiscard]] virtual bool IsPast(const ObjectRef& object, std::string_view version) const = 0;
  // Returns what the quota counts for the object now.
  [[nodiscard]] virtual ResourceList Observed(const ObjectRef& object) const = 0;
  // Returns the newest version of an object that was shown, in any namespace. "": none.
  [[nodiscard]] virtual std::string Newest(std::string_view resource) const = 0;
  // True if all changes up to this version were shown.
  [[nodiscard]] virtual bool Reaches(std::string_view resource, std::string_view version) const = 0;
};

// True if the request of the entry may still be stored, or was stored and not shown yet. The API
// server compares versions when it stores. So a request from a version that is no longer the newest
// cannot be stored.
bool IsOpen(const Reservation& entry, const Uid& uid, const View& view);

// Returns what the entries allow objects beyond their observed usage.
ResourceList Outstanding(const ReservationList& list, const View& view);
// The same, but only for entries that name their objects.
ResourceList OutstandingOfObjects(const ReservationList& list, const View& view);

// True if the view has not reached the floor. Adds the resources concerned to `resources`.
bool IsBehind(const ReservationList& list, const View& view,
              std::vector<std::string>* resources = nullptr);

// True if the floor covers an object of this version ("": none). Its entry may have been dropped.
bool IsWithinFloor(const ReservationList& list, const std::string& resource,
                   std::string_view version);

// Drops the entries that are over, and raises the floor of their resources to what the view has
// seen. For a recount, which computes `used` anew.
void Settle(ReservationList& list, const View& view);
// The same, but only for objects whose amounts are observed. `used` need not change: it has the
// same amounts for these objects. If less is observed, `used` still has the rest, and a repeated
// request of the object must not add it once more.
void DropObserved(ReservationList& list, const View& view);
// Raises the floor of those of these resources that the view follows. A recount does this.
void RaiseFloor(ReservationList& list, const std::vector<std::string>& resources, const View& view);

}  // namespace accounting
