#include "controllers/quota/child_looks.h"

namespace controllers {
namespace {

// Children that are enqueued in one turn of the event loop.
constexpr int kChildrenAStep = 64;

}  // namespace

bool ChildLooks::OnParent(const std::string& parent) {
  const quota::Quota* const quota = store_.Find({"", parent});
  const auto* const place = reach_.tree().Place(parent);
  if (quota == nullptr || place == nullptr || place->below.empty()) return false;
  if (clock_.Now() < accounts_.Of(*quota).children_told) return false;
  const auto telling = telling_.try_emplace(parent).first;
  const bool more = Tell(*telling);
  if (!more) telling_.erase(telling);
  return more;
}

bool ChildLooks::TellSome() {
  if (telling_.empty()) return false;
  if (!Tell(*telling_.begin())) telling_.erase(telling_.begin());
  return !telling_.empty();
}

bool ChildLooks::Tell(Telling::value_type& telling) {
  auto& [parent, last] = telling;
  const quota::Quota* const quota = store_.Find({"", parent});
  const auto* const place = reach_.tree().Place(parent);
  if (quota == nullptr || place == nullptr) return false;
  const quota::Lineage::Member after{last};
  auto child = place->below.upper_bound(&after);
  base::Duration period{};
  for (int i = 0; i < kChildrenAStep && child != place->below.end(); ++i, ++child) {
    last = (*child)->name;
    const quota::Quota* const known = store_.Find({"", last});
    if (known == nullptr) continue;
    period = status_.PeriodOf(*known);
    look_({"", last}, period);
  }
  const bool more = child != place->below.end();
  // While children are left, nothing begins anew.
  accounts_.Of(*quota).children_told = more ? base::TimePoint::max() : clock_.Now() + period;
  return more;
}

}  // namespace controllers
