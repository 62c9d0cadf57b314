#include "pkg/inspect/gangs.h"

#include <algorithm>
#include <limits>
#include <map>

#include "pkg/inspect/counted.h"
#include "pkg/inspect/workload_kinds.h"

namespace inspect {
namespace {

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

// The quotas while objects are created one after another.
class Admittance {
 public:
  // `book` must outlive it.
  explicit Admittance(const FitBook& book)
      : quotas_(book.quotas()), standings_(book.Standings()), admitted_(quotas_.size()) {}

  // Charges as many as fit, and returns their number.
  std::int64_t Admit(const Ask& ask) {
    const std::int64_t count = MostOf(ask);
    // A rollout that does not fit goes on until nothing is free.
    const std::int64_t charged = ask.rollout ? ask.count : ask.passing ? 0 : count;
    AddTo(admitted_, ask.each, charged);
    if (count > 0) AddTo(admitted_, ask.freed, -1);
    return count;
  }

 private:
  using Lists = std::vector<quota::ResourceList>;

  [[nodiscard]] std::int64_t MostOf(const Ask& ask) const {
    if (ask.refused) return 0;
    const bool needs =
        std::ranges::any_of(ask.each, [](const auto& list) { return !list.empty(); });
    if (!needs) return ask.count;
    std::int64_t fits = 0;
    std::int64_t most = ask.count;
    while (fits < most) {
      const std::int64_t middle = most - (most - fits) / 2;
      if (Fits(ask, middle)) {
        fits = middle;
      } else {
        most = middle - 1;
      }
    }
    return fits;
  }

  [[nodiscard]] bool Fits(const Ask& ask, std::int64_t count) const {
    Lists after = admitted_;
    AddTo(after, ask.each, count);
    for (std::size_t i = 0; i < quotas_.size(); ++i) {
      if (IsTried(quotas_[i])) continue;
      for (const auto& [name, amount] : ask.each[i]) {
        if (amount.Sign() <= 0) continue;
        const quota::Quantity total = standings_[i]
                                          .used.Get(name)
                                          .Add(after[i].Get(name))
                                          .Add(HeldBack(standings_, after, i, name));
        if (!quota::Above(total, LimitsOf(quotas_[i]).Get(name)).IsZero()) return false;
      }
    }
    return true;
  }

  static void AddTo(Lists& lists, const Lists& each, std::int64_t times) {
    for (std::size_t i = 0; i < each.size(); ++i) lists[i].Add(each[i], times);
  }

  const std::vector<quota::Quota>& quotas_;
  const std::vector<quota::Standing> standings_;
  Lists admitted_;
};

std::map<std::string, Gang> GangsOf(const PodGroups& groups) {
  std::map<std::string, Gang> gangs;
  for (const auto& [name, group] : groups) {
    const auto least = NumberAt(group, {"spec", "schedulingPolicy", "gang", "minCount"}, 0);
    if (least <= 0) continue;
    gangs[name] = {.of = {"podgroup", std::string(kPodGroup.group), name}, .least = least};
  }
  return gangs;
}

// Returns how many pods of the same manifest lack what was refused of it: a claim is lacking to one
// pod, and any other object, such as a Job, to all.
std::int64_t LostBy(const Ask& ask, std::int64_t admitted) {
  if (ask.kind == kPod.kind || admitted == ask.count) return 0;
  return ask.kind.ends_with("Claim") ? ask.count - admitted : kAll;
}

std::string NoteOn(const Gang& gang, std::int64_t existing) {
  std::string text = gang.of.ToString() + ": minCount is " + std::to_string(gang.least) + ", but ";
  text += gang.fit == 0 ? "none" : "only " + std::to_string(gang.fit);
  text += " of its " + Counted(gang.asked, "new pod") + (gang.fit > 1 ? " fit" : " fits");
  if (existing > 0) {
    text += " and " + Counted(existing, "pod") + (existing > 1 ? " exist" : " exists");
  }
  if (gang.created > 0) text += ": those that are created hold quota and do not start";
  return text;
}

}  // namespace

std::vector<Gang> ShortGangs(const FitBook& book, const PodGroups& groups) {
  std::map<std::string, Gang> gangs = GangsOf(groups);
  if (gangs.empty() || book.Fits()) return {};
  Admittance admittance(book);
  std::map<ObjectName, std::int64_t> lost_of;  // pods, by manifest
  for (const Ask& ask : book.asks()) {
    std::int64_t& lost = lost_of[ask.of];
    const std::int64_t admitted = lost == kAll ? 0 : admittance.Admit(ask);
    lost = std::max(lost, LostBy(ask, admitted));
    const auto found = gangs.find(ask.group);
    if (found == gangs.end()) continue;
    Gang& gang = found->second;
    gang.asked += ask.count;
    gang.created += admitted;
    gang.fit += std::clamp<std::int64_t>(ask.count - lost, 0, admitted);
  }
  std::vector<Gang> shorts;
  for (auto& [name, gang] : gangs) {
    if (lost_of[gang.of] > 0) gang.fit = 0;
    if (gang.fit < std::min(gang.asked, gang.least)) shorts.push_back(gang);
  }
  return shorts;
}

std::vector<std::string> GangNotes(const std::vector<Gang>& gangs, const Members& existing) {
  std::vector<std::string> notes;
  for (const Gang& gang : gangs) {
    const auto found = existing.find(gang.of.name);
    const std::int64_t pods = found == existing.end() ? 0 : found->second;
    if (gang.fit + pods < gang.least) notes.push_back(NoteOn(gang, pods));
  }
  return notes;
}

}  // namespace inspect
