#include "controllers/quota/known_list.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "pkg/accounting/timing.h"

namespace controllers {

const accounting::ReservationList& KnownList::known() const {
  static const accounting::ReservationList none;
  return list_ ? *list_ : none;
}

void KnownList::TakeOurs(const accounting::ReservationList& list) {
  rejected_.clear();
  later_.reset();
  lost_ = false;
  list_ = list;
}

void KnownList::Take(base::TimePoint now, const std::string& text, const std::string& uid) {
  rejected_.clear();
  const std::optional<Later> before = std::exchange(later_, std::nullopt);
  std::optional<accounting::ReservationList> taken;
  if (!text.empty()) taken = Parse(now, text, uid);
  if (later_ && before && before->text == later_->text) later_->until = before->until;
  // A later version reads our lists. So its list has what is still needed of the one that we know.
  lost_ = !taken && !later_ && !known().entries().empty();
  if (taken && TakeForgedFrom(*taken)) lost_ = true;
  if (taken || !lost_) list_ = std::move(taken);
}

// Whoever forged an entry of ours may have removed others. The processes that are not named in it
// take the rest of the list, and may have added to it since.
bool KnownList::TakeForgedFrom(accounting::ReservationList& shown) {
  const auto is_forged = [&](const auto& e) { return e.by == author_->by && e.n > author_->n; };
  if (std::erase_if(shown.entries(), is_forged) == 0) return false;
  rejected_ = "an entry in our name that we have not written";
  for (const accounting::Reservation& entry : known().entries()) {
    if (shown.Find(entry.by, entry.n) == nullptr) shown.Add(entry);
  }
  return true;
}

std::optional<accounting::ReservationList> KnownList::Parse(base::TimePoint now,
                                                            const std::string& text,
                                                            const std::string& uid) {
  auto parsed = accounting::ReservationList::Parse(text, uid);
  if (parsed) return std::move(*parsed);
  rejected_ = parsed.error().message;
  if (parsed.error().Is(base::ErrorCode::kInvalid)) {
    later_ = {.text = std::hash<std::string>()(text), .until = now + accounting::kLaterFormat};
  }
  return std::nullopt;
}

}  // namespace controllers
