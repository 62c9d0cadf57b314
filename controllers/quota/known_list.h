#pragma once

// The list of reservations of one quota, as far as this process knows it. What the quota has may be
// unreadable, forged, or of a later version of this program.
//
// No I/O, one thread.

#include <cstddef>
#include <optional>
#include <string>

#include "controllers/quota/own_reservations.h"
#include "pkg/accounting/reservation_list.h"

namespace controllers {

class KnownList {
 public:
  // `author` must outlive it.
  explicit KnownList(const Author& author) : author_(&author) {}

  // The quota of this uid has this text now.
  void Take(base::TimePoint now, const std::string& text, const std::string& uid);
  // The quota has the list that our write stores.
  void TakeOurs(const accounting::ReservationList& list);
  // The server was restored. What the list had came later, so it is not stored any more.
  void OnRestored() { list_.reset(); }
  // A void floor was replaced: the next write stores the list.
  void OnRepaired() { lost_ = true; }

  // The list; null if there is none.
  [[nodiscard]] const accounting::ReservationList* Find() const {
    return list_ ? &*list_ : nullptr;
  }
  [[nodiscard]] accounting::ReservationList* Find() { return list_ ? &*list_ : nullptr; }
  // The list; empty if there is none.
  [[nodiscard]] const accounting::ReservationList& known() const;
  // Somebody removed or overwrote the list while it had reservations, or forged an entry in our
  // name. Their objects may be stored, or be on their way. So it has what the last good one had,
  // and the next write stores it. Also true after OnRepaired().
  [[nodiscard]] bool lost() const { return lost_; }
  // Why the stored text, or an entry in it, is not taken; "": it is.
  [[nodiscard]] const std::string& rejected() const { return rejected_; }
  // Set while a list of a later version of this program stands in the quota. Its format says that
  // this version must not write it. So nobody here writes the quota until that list has stayed the
  // same for kLaterFormat, which is then: all of its reservations are over, and it is taken for
  // none.
  [[nodiscard]] std::optional<base::TimePoint> later_until() const {
    return later_ ? std::optional(later_->until) : std::nullopt;
  }

 private:
  struct Later {
    std::size_t text = 0;  // its hash: whoever changes it is still running
    base::TimePoint until;
  };
  // Sets `rejected_`, and perhaps `later_`, if it returns nothing.
  std::optional<accounting::ReservationList> Parse(base::TimePoint now, const std::string& text,
                                                   const std::string& uid);
  // Removes the entries in our name that we have not written, and adds those that we know instead.
  // Returns true if there were some. Then sets `rejected_`.
  bool TakeForgedFrom(accounting::ReservationList& shown);

  const Author* author_;
  std::optional<accounting::ReservationList> list_;  // of the quota in the store, unless it is lost
  bool lost_ = false;
  std::string rejected_;
  std::optional<Later> later_;
};

}  // namespace controllers
