// The list of reservations in a quota: written and read again, it is the same, with the members of
// later versions. Merging never lowers the reserved amounts. An object that was observed has no
// reservation any more.

#include <algorithm>
#include <set>

#include "pkg/accounting/reserve.h"
#include "pkg/accounting/settle.h"
#include "tests/fuzz/target.h"

namespace {

using accounting::ReservationList;
using accounting::ResourceList;

// Has shown the objects in some namespaces, or all, and follows all resources.
class Shown final : public accounting::View {
 public:
  explicit Shown(std::set<std::string> namespaces) : namespaces_(std::move(namespaces)) {}
  [[nodiscard]] bool Follows(std::string_view) const override { return true; }
  [[nodiscard]] bool Ignores(std::string_view) const override { return false; }
  [[nodiscard]] bool HasShown(const accounting::ObjectRef& object) const override {
    return namespaces_.contains(std::string(object.ns));
  }
  [[nodiscard]] bool IsPast(const accounting::ObjectRef& object, std::string_view) const override {
    return HasShown(object);
  }
  [[nodiscard]] ResourceList Observed(const accounting::ObjectRef&) const override { return {}; }
  [[nodiscard]] std::string Newest(std::string_view) const override { return "7"; }
  [[nodiscard]] bool Reaches(std::string_view, std::string_view) const override { return true; }

 private:
  std::set<std::string> namespaces_;
};

// The owner of all lists.
constexpr std::string_view kUid = "uid-1";

ReservationList MustRead(const std::string& text) {
  auto list = ReservationList::Parse(text, kUid);
  if (!list) throw fuzz::Broken("what we write can be read");
  return std::move(*list);
}

void CheckFurther(const ReservationList& list) {
  std::size_t bytes = list.further.size();
  for (const auto& entry : list.entries()) bytes += entry.further.size();
  fuzz::Require(bytes <= ReservationList::kMostFurther, "unknown members are bounded");
}

void CheckNoLess(const ResourceList& before, const ResourceList& after) {
  for (const auto& [name, amount] : before) {
    fuzz::Require(after.Get(name) >= amount, "merged entries stand for no less");
  }
}

void CheckMerge(ReservationList list, const accounting::Bounds& bounds) {
  const ResourceList before = list.Reserved();
  const std::uint64_t number = 9'000'000'000;
  if (list.Find("fuzz", number) != nullptr) return;
  const bool merged = list.Merge(bounds, "fuzz", number);
  CheckNoLess(before, list.Reserved());
  fuzz::Require(list.objects() <= bounds.objects, "no more objects than are allowed");
  fuzz::Require(MustRead(list.Print()) == list, "and it can be read");
  if (merged) return;
  fuzz::Require(list.Print().size() <= bounds.bytes, "what fits is left alone");
}

std::size_t CountOver(const ReservationList& list, const Shown& view) {
  std::size_t over = 0;
  for (const auto& entry : list.entries()) {
    for (const auto& uid : entry.objects) over += accounting::IsOpen(entry, uid, view) ? 0 : 1;
  }
  return over;
}

// Each entry is of one namespace: those of the others stay.
void CheckSettle(ReservationList list) {
  std::set<std::string> namespaces;
  for (const auto& entry : list.entries()) namespaces.insert(entry.ns);
  for (const std::string& ns : namespaces) {
    const Shown view({ns});
    const std::size_t over = CountOver(list, view);
    const std::size_t before = list.objects();
    accounting::Settle(list, view);
    fuzz::Require(list.objects() + over == before, "what is over goes, and nothing else");
    for (const auto& entry : list.entries()) {
      fuzz::Require(entry.objects.empty() || entry.ns != ns, "what was shown is not reserved");
    }
  }
  fuzz::Require(list.objects() == 0, "all namespaces were shown");
  fuzz::Require(accounting::OutstandingOfObjects(list, Shown(namespaces)).empty(),
                "nothing is outstanding of objects that there are not");
}

void CheckWithdraw(const ReservationList& list) {
  accounting::Standing standing{list.Reserved(), list};
  const std::vector<accounting::Reservation>& entries = list.entries();
  for (const auto& entry : entries) {
    for (const auto& uid : entry.objects) {
      fuzz::Require(standing.list.Names(uid), "what is reserved is named");
      const ResourceList used = standing.used;
      fuzz::Require(accounting::Withdraw(standing, entry.by, entry.n, uid), "it can be taken back");
      for (const auto& [name, amount] : standing.used) {
        fuzz::Require(amount <= used.Get(name) && amount.Sign() >= 0, "and lowers what is used");
      }
    }
    if (!entry.objects.empty()) {
      fuzz::Require(standing.list.Find(entry.by, entry.n) == nullptr, "it goes with its last");
    }
  }
}

bool HasTwice(const accounting::Reservation& entry) {
  std::set<accounting::Uid> uids(entry.objects.begin(), entry.objects.end());
  return uids.size() != entry.objects.size();
}

FUZZ_TARGET(reservations) {
  const auto list = ReservationList::Parse(input, kUid);
  if (!list) {
    fuzz::Require(!list.error().message.empty(), "it is said why");
    return;
  }
  fuzz::Require(MustRead(list->Print()) == *list, "what is written again is read as the same");
  fuzz::Require(list->owner.empty() || list->owner == kUid, "it is the list of this quota");
  CheckFurther(*list);
  CheckMerge(*list, {});
  CheckMerge(*list, {.objects = 2, .bytes = 400, .merged = 2});
  if (std::ranges::any_of(list->entries(), HasTwice)) return;  // nobody writes that
  CheckSettle(*list);
  CheckWithdraw(*list);
}

}  // namespace
