#pragma once

// Decides what to ask the server about the reservations of one quota, and remembers the answers. It
// asks before an entry ends whose object no watch has shown, before external charges are dropped,
// and if a floor is not reached for long. Decides only; no I/O, one thread.
//
// A floor that the server has not reached is void (DESIGN.md, "A server that was restored"). It
// hides the floor that other processes write, because they keep the larger of two. So it is
// replaced by a version that is at least as new as each stored object whose entry was dropped. If
// no object is stored, it is removed.
//
// An entry that names its object ends when a list of the namespace does not have the object. Usage
// without an object ends when the watches have shown everything of the kinds that count under its
// names that was stored when its hold was over (DESIGN.md, "Quotas over many namespaces").

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "controllers/usage/quota_view.h"
#include "pkg/accounting/external_charges.h"
#include "pkg/accounting/first_seen.h"

namespace controllers {

// The answers, by resource. A resource that could not be listed is absent.
struct Listed {
  struct Object {
    std::string ns;
    std::string version;
  };
  std::string version;                   // of the collection
  std::map<quota::Uid, Object> objects;  // those of Lists::objects that are stored
  // With Lists::whole: the newest version of an object, and that of an object that the watch had
  // not shown. "": none.
  std::string newest;
  std::string unshown;
};
using Answers = std::map<std::string, Listed, std::less<>>;

// What to ask about one resource.
struct Lists {
  api::GroupVersionResource resource;
  std::set<std::string> namespaces;  // to list, for `objects`
  std::set<quota::Uid> objects;
  bool whole = false;       // list everything in `within`, for Listed::newest and unshown
  std::string within = {};  // the namespace of the quota; "": all
};

struct Question {
  // by, n, object; an entry without objects has no object here.
  using Ended = std::tuple<std::string, std::uint64_t, quota::Uid>;
  std::vector<Ended> ends;          // entries whose objects are listed
  std::vector<std::string> floors;  // resources whose floor was not reached for long
  // Resources of which everything must be shown that is stored now.
  std::vector<std::string> collections;
  std::map<std::string, Lists> lists;  // by the name of the resource
  bool large = false;                  // all objects of a large collection are listed
  [[nodiscard]] bool empty() const { return lists.empty(); }
};

class Questions {
 public:
  // How long entries and external charges are held if their objects are not shown. A replica of an
  // old version may store its object as late as we do, so its charges are held as long.
  struct Holds {
    base::Duration usual;
    [[nodiscard]] base::Duration Of(const accounting::Reservation& entry) const;
  };
  // What has ended.
  struct Outcome {
    std::size_t ended = 0;     // objects that are not stored, and entries without objects
    std::size_t external = 0;  // parts of external charges
    // The resources with a stored object that the watch has not shown, and the newest version of
    // such objects.
    std::map<std::string, std::string> unseen = {};
    bool replaced = false;  // a void floor was replaced: store the list
  };

  // Ends usage without an object of which the watches have shown everything meanwhile.
  Outcome Settle(base::TimePoint now, const accounting::ReservationList* list,
                 const accounting::FirstSeen& first_seen, accounting::ExternalCharges& external,
                 const Holds& holds, const QuotaView& view);
  // Returns what to ask now: about entries and external charges whose hold is over, and about
  // floors that were not reached for long. Leaves out what was asked a moment ago.
  [[nodiscard]] Question Due(base::TimePoint now, const accounting::ReservationList* list,
                             const accounting::FirstSeen& first_seen,
                             const accounting::ExternalCharges& external, const Holds& holds,
                             const QuotaView& view);
  // Takes the answers. `asked`: when the question was sent. `list` is that of now; null if there is
  // none. `same`: it is the list of then. Call Settle() afterwards.
  Outcome Take(base::TimePoint now, const Question& question, const Answers& answers,
               base::TimePoint asked, accounting::ReservationList* list, bool same,
               const QuotaView& view);

  // Removes the objects and entries that the server does not have.
  void Drop(accounting::ReservationList& list) const;
  // The quota has this list now; null if it has none.
  void OnList(const accounting::ReservationList* list);

 private:
  // What is known of one collection.
  struct Collection {
    base::TimePoint shown = base::TimePoint::min();  // what was stored before is shown
    // The last question: everything that was stored at `asked` is shown when the watch reaches
    // `version` ("": no answer).
    std::optional<base::TimePoint> asked = std::nullopt;
    std::string version = {};
    base::TimePoint told{};  // when the answer came, or was given up
  };
  // What was stored of these resources before this time is shown.
  [[nodiscard]] base::TimePoint ShownUntil(const std::vector<std::string>& resources,
                                           const QuotaView& view) const;
  void AddCollections(base::TimePoint now, const std::vector<std::string>& resources,
                      base::TimePoint since, const QuotaView& view, Question& question) const;
  void AddDueFloors(base::TimePoint now, const accounting::ReservationList& list,
                    const QuotaView& view, Question& question);
  static bool ReplaceFloors(const Question& question, const Answers& answers,
                            accounting::ReservationList& list);
  void TakeCollections(base::TimePoint now, const Question& question, const Answers& answers,
                       base::TimePoint asked, Outcome& outcome);

  // when the server said that it may still be stored
  std::map<Question::Ended, base::TimePoint> asked_;
  std::set<Question::Ended> ended_;                // the server said that it is not stored
  std::map<std::string, Collection> collections_;  // by resource; those that were asked about
  std::optional<base::TimePoint> behind_since_;
};

}  // namespace controllers
