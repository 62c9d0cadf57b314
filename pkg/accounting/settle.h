#pragma once

// Entries against what the watches of one process have shown. Pure functions; any thread.

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

// What a process has been shown of one quota's objects.
class View {
 public:
  virtual ~View() = default;
  // False: the resource is being listed, or cannot be: nothing is said of its objects.
  [[nodiscard]] virtual bool Follows(std::string_view resource) const = 0;
  // True if no name of the quota counts such objects: their entries are over.
  [[nodiscard]] virtual bool Ignores(std::string_view resource) const = 0;
  // The object was shown, also if it is gone again.
  [[nodiscard]] virtual bool HasShown(const ObjectRef& object) const = 0;
  // The object was shown in a later version than this, or is gone.
  [[nodiscard]] virtual bool IsPast(const ObjectRef& object, std::string_view version) const = 0;
  // What the quota counts of it now.
  [[nodiscard]] virtual ResourceList Observed(const ObjectRef& object) const = 0;
  // The newest version of an object of this quota's namespace, or of any where it may have several,
  // that was shown; "": none.
  [[nodiscard]] virtual std::string Newest(std::string_view resource) const = 0;
  // All that happened up to this version was shown.
  [[nodiscard]] virtual bool Reaches(std::string_view resource, std::string_view version) const = 0;
};

// Whether a request that the entry stands for may still be stored, or is stored and not shown. A
// request from a version that is not the newest any more cannot be stored: the API server compares
// versions when it stores.
bool IsOpen(const Reservation& entry, const Uid& uid, const View& view);

// What the entries let objects use beyond what is observed of them.
ResourceList Outstanding(const ReservationList& list, const View& view);
// The same of entries that name their objects.
ResourceList OutstandingOfObjects(const ReservationList& list, const View& view);

// True if the view has not seen all that those had who dropped entries. `resources`: where.
bool IsBehind(const ReservationList& list, const View& view,
              std::vector<std::string>* resources = nullptr);

// The number of objects whose entries are over.
std::size_t CountOver(const ReservationList& list, const View& view);
// Drops them, and raises the floor to what the view has seen of their resources. `used` stays
// right: what it had for them it has for the objects now.
void Settle(ReservationList& list, const View& view);
// Raises the floor of all resources that the view follows of these: before a recount.
void RaiseFloor(ReservationList& list, const std::vector<std::string>& resources, const View& view);

}  // namespace accounting
