#pragma once

// Decides what to ask the server about the reservations of one quota, and remembers the answers. It
// asks before an entry ends whose object no watch has shown, before strangers' usage is dropped,
// and if a floor is not reached for long. Decides only; no I/O, one thread.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "controllers/quota/quota_view.h"
#include "pkg/accounting/first_seen.h"
#include "pkg/accounting/strangers.h"

namespace controllers {

// The answers, by resource.
struct Listed {
  struct Object {
    std::string ns;
    std::string version;
  };
  std::string version;
  std::map<quota::Uid, Object> objects;
};
using Answers = std::map<std::string, Listed, std::less<>>;

// A resource to list.
struct Lists {
  api::GroupVersionResource resource;
  std::set<std::string> namespaces;  // "": all
};

struct Question {
  // by, n, object; an entry without objects has no object here.
  using Ended = std::tuple<std::string, std::uint64_t, quota::Uid>;
  std::vector<Ended> ends;
  bool strangers = false;              // whether objects of strangers' usage may still be shown
  std::vector<std::string> floors;     // resources whose floor was not reached for long
  std::map<std::string, Lists> lists;  // by the name of the resource
  [[nodiscard]] bool empty() const { return ends.empty() && !strangers && floors.empty(); }
};

class Questions {
 public:
  // How long entries and strangers' usage are held if their objects are not shown.
  struct Holds {
    base::Duration entries;
    [[nodiscard]] base::Duration Of(const accounting::Reservation& entry) const;
    [[nodiscard]] base::Duration OfStrangers() const;
  };
  // What has ended.
  struct Outcome {
    std::size_t ended = 0;      // objects that are not stored, and entries without objects
    std::size_t strangers = 0;  // parts of strangers' usage
    bool put_back = false;      // the server was restored: its state is older than a floor
    // The resources with a stored object that the watch has not shown, and the newest version of
    // such objects.
    std::map<std::string, std::string> unseen = {};
  };

  // Returns what to ask now: about entries and strangers' usage whose hold is over, and about
  // floors that were not reached for long. Leaves out what was asked a moment ago.
  [[nodiscard]] Question Due(base::TimePoint now, const accounting::ReservationList* list,
                             const accounting::FirstSeen& first_seen,
                             const accounting::Strangers& strangers, const Holds& holds,
                             const QuotaView& view);
  // Takes the answers. `asked`: when the question was sent.
  Outcome Take(base::TimePoint now, const Question& question, const Answers& answers,
               base::TimePoint asked, accounting::ReservationList* list,
               accounting::Strangers& strangers, const Holds& holds, const QuotaView& view);

  // Removes the objects and entries that the server does not have.
  void Drop(accounting::ReservationList& list) const;
  // The quota has this list now; null if it has none. Removes floors that the server has not
  // reached.
  void OnList(accounting::ReservationList* list);

 private:
  void AddDueEntries(base::TimePoint now, const accounting::ReservationList& list,
                     const accounting::FirstSeen& first_seen, const Holds& holds,
                     const QuotaView& view, Question& question) const;
  void AddDueFloors(base::TimePoint now, const accounting::ReservationList& list,
                    const QuotaView& view, Question& question);
  bool TakeFloors(const Question& question, const Answers& answers,
                  accounting::ReservationList& list);

  // when the server said that it may still be stored
  std::map<Question::Ended, base::TimePoint> asked_;
  std::set<Question::Ended> ended_;  // the server said that it is not stored
  base::TimePoint strangers_asked_{};
  std::optional<base::TimePoint> behind_since_;
  std::map<std::string, std::string> void_floors_;  // floors that the server has not reached
};

}  // namespace controllers
