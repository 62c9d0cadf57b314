#pragma once

// What the server is to be asked about one quota's reservations, and what it has said: before an
// entry ends whose object no watch has shown, before strangers' usage is let go, and where the
// floor is not reached for long. Deciding only; no I/O, one thread.

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

// What it says, by resource.
struct Listed {
  struct Object {
    std::string ns;
    std::string version;
  };
  std::string version;
  std::map<quota::Uid, Object> objects;
};
using Answers = std::map<std::string, Listed, std::less<>>;

struct Question {
  // by, n, object; of an entry without objects: none.
  using Ended = std::tuple<std::string, std::uint64_t, quota::Uid>;
  std::vector<Ended> ends;
  bool strangers = false;           // whether their objects are yet to be shown
  std::vector<std::string> floors;  // resources whose floor was not reached for long
  // The resources to be listed, and in which namespaces; "": in all.
  std::map<std::string, std::set<std::string>> lists;
  [[nodiscard]] bool empty() const { return ends.empty() && !strangers && floors.empty(); }
};

class Questions {
 public:
  // How long entries and strangers' usage are held without their objects being shown.
  struct Holds {
    base::Duration entries;
    [[nodiscard]] base::Duration Of(const accounting::Reservation& entry) const;
    [[nodiscard]] base::Duration OfStrangers() const;
  };
  // What ended.
  struct Outcome {
    std::size_t ended = 0;      // objects that are not stored, entries without objects
    std::size_t strangers = 0;  // parts of their usage
    bool put_back = false;      // the server is at an earlier state than a floor
  };

  // Whose time is over, and of which nobody has asked the server since.
  [[nodiscard]] Question Due(base::TimePoint now, const accounting::ReservationList* list,
                             const accounting::FirstSeen& first_seen,
                             const accounting::Strangers& strangers, const Holds& holds,
                             const QuotaView& view);
  // `asked`: when the question was put.
  Outcome Take(base::TimePoint now, const Question& question, const Answers& answers,
               base::TimePoint asked, accounting::ReservationList* list,
               accounting::Strangers& strangers, const Holds& holds, const QuotaView& view);

  // Takes out what the server does not have.
  void Drop(accounting::ReservationList& list) const;
  // The list as it stands now; null: there is none. What the server has not come to is no floor.
  void OnList(accounting::ReservationList* list);

 private:
  using Ended = Question::Ended;
  void AddDueEntries(base::TimePoint now, const accounting::ReservationList& list,
                     const accounting::FirstSeen& first_seen, const Holds& holds,
                     const QuotaView& view, Question& question) const;
  void AddDueFloors(base::TimePoint now, const accounting::ReservationList& list,
                    const QuotaView& view, Question& question);
  bool TakeFloors(const Question& question, const Answers& answers,
                  accounting::ReservationList& list);

  std::map<Ended, base::TimePoint> asked_;  // the server has it still: when that was said
  std::set<Ended> ended_;                   // the server says that it is not there
  base::TimePoint strangers_asked_{};
  std::optional<base::TimePoint> behind_since_;
  std::map<std::string, std::string> void_floors_;  // that the server has not come to
};

}  // namespace controllers
