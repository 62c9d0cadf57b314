// The end of QuotaAdmitter::Admit(): the quotas of all quota APIs that have to grow for a request
// reserve for it, or none of them does.

#include <algorithm>
#include <utility>

#include "pkg/admission/answers.h"
#include "pkg/admission/quota_admitter.h"

namespace admission {
namespace {

bool IsAllowed(const Answer& answer) { return answer.kind == Answer::Kind::kAllowed; }

// The first refusal, else the first answer that does not allow; null if there is none.
const Answer* FirstAgainst(const Waiters& waiters) {
  const Answer* against = nullptr;
  for (const std::shared_ptr<Waiter>& waiter : waiters) {
    if (!waiter->answer || IsAllowed(*waiter->answer)) continue;
    if (waiter->answer->kind == Answer::Kind::kRefused) return &*waiter->answer;
    if (against == nullptr) against = &*waiter->answer;
  }
  return against;
}

bool IsDecided(const Waiters& waiters) {
  const bool all =
      std::ranges::all_of(waiters, [](const auto& one) { return one->answer.has_value(); });
  return all || FirstAgainst(waiters) != nullptr;
}

// If this process was suspended meanwhile, the hold of a grant may be nearly over. So a late answer
// must not allow the request.
void DropLate(const Waiters& waiters) {
  for (const std::shared_ptr<Waiter>& waiter : waiters) {
    if (!waiter->answer || !IsAllowed(*waiter->answer)) continue;
    waiter->WithdrawAll();
    waiter->answer.reset();
  }
}

// However this ends, no grant stays without an allowed answer: the writers take back what they
// grant to an abandoned waiter later.
struct Leaving {
  const Waiters& waiters;
  bool allowed = false;

  ~Leaving() {
    for (const std::shared_ptr<Waiter>& waiter : waiters) {
      waiter->abandoned = !waiter->answer;
      if (!allowed) waiter->WithdrawAll();
    }
  }
};

}  // namespace

base::Task<Answer> QuotaAdmitter::Reserve(std::shared_ptr<Pending> pending, Waiters waiters,
                                          Answer all) {
  const WaitingLimit::Seat seat(waiting_, pending->review.ns);
  const std::optional<Answer> busy = seat.Busy();
  Leaving leaving{waiters};
  for (const std::shared_ptr<Waiter>& waiter : waiters) {
    // The last one has just been planned. The others may have been planned long ago.
    if (waiter != waiters.back()) waiter->plan = PlanFor(Waiters(1, waiter));
    if (writers_.GrantAtOnce(*waiter)) continue;
    if (busy) {
      waiter->answer = waiter->Tempered(*busy);
    } else {
      if (pending->alarm == nullptr) pending->alarm = scheduler_.NewAlarm();
      writers_.Enqueue(waiter);
    }
  }
  bool stopping = false;
  while (!IsDecided(waiters) && !stopping && scheduler_.Now() < pending->deadline) {
    co_await pending->alarm->WaitUntil(pending->deadline);
    stopping = co_await base::Stopping();
  }
  if (scheduler_.Now() >= pending->deadline) DropLate(waiters);
  if (const Answer* against = FirstAgainst(waiters)) co_return *against;
  for (const std::shared_ptr<Waiter>& waiter : waiters) {
    Answer answer = waiter->answer ? *std::move(waiter->answer) : waiter->TimedOut();
    if (!IsAllowed(answer)) co_return answer;
    if (!options_.warn_near_limits) answer.warnings.clear();
    for (std::size_t i = 0; i < answer.warnings.size(); ++i) {
      observer_.OnWarning(waiter->ask->source().api.name);
    }
    AddTo(all, std::move(answer));
  }
  leaving.allowed = true;
  co_return all;
}

}  // namespace admission
