#include "pkg/admission/waiter.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "pkg/admission/answers.h"

namespace admission {

bool Waiter::MayBeRefused() const {
  return std::ranges::any_of(ask->Quotas(),
                             [](const auto* quota) { return quota::MayRefuse(*quota); });
}

Answer Waiter::Tempered(Answer plain) const {
  if (plain.kind == Answer::Kind::kAllowed || MayBeRefused()) return plain;
  const std::vector<const quota::Quota*> quotas = ask->Quotas();
  if (quotas.empty()) return plain;
  Answer admitted;
  for (const quota::Quota* quota : quotas) {
    quota::WouldRefuse would{.mode = quota->cluster->enforcement,
                             .message = "not decided: " + plain.message,
                             .quota = {.name = quota->key.name, .uid = quota->uid}};
    admitted.would_refuse.push_back({ask->source().api.name, std::move(would)});
  }
  return admitted;
}

Answer Waiter::TimedOut() const {
  const std::string why = trouble.empty() ? "" : ": " + trouble;
  return Tempered(Unavailable("resource quota evaluation timed out" + why));
}

void Waiter::Conclude(Answer plain) {
  CHECK(!answer) << "a review is answered twice";
  CHECK(pending->alarm != nullptr) << "a review is answered that nobody waits for";
  if (abandoned || plain.kind != Answer::Kind::kAllowed) WithdrawAll();
  answer = Tempered(std::move(plain));
  pending->alarm->Wake();
}

void Waiter::RelyOn(const ReservePlan& made, const Grant& grant) {
  granted.push_back({made.quota.key, grant.uid, grant.number});
}

void Waiter::WithdrawAll() {
  const std::vector<Granted> all = std::exchange(granted, {});
  for (auto last = all.rbegin(); last != all.rend(); ++last) {
    ask->source().book->Withdraw(last->quota, last->uid, last->number);
  }
}

WaitingLimit::Seat::~Seat() {
  CHECK_LE(entry_->second, limit_.waiting_) << "more reviews wait in one namespace than in all";
  --limit_.waiting_;
  if (--entry_->second == 0) limit_.waiting_in_.erase(entry_);
  CHECK_EQ(limit_.waiting_ == 0, limit_.waiting_in_.empty())
      << "the reviews of all namespaces are not those that wait";
}

const Answer* FirstAgainst(const Waiters& waiters) {
  const Answer* against = nullptr;
  for (const std::shared_ptr<Waiter>& waiter : waiters) {
    if (!waiter->answer || waiter->IsAllowed()) continue;
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

void DropGrants(const Waiters& waiters) {
  for (const std::shared_ptr<Waiter>& waiter : waiters) {
    if (!waiter->IsAllowed()) continue;
    waiter->WithdrawAll();
    waiter->answer.reset();
  }
}

bool KeepUnanswered(Waiters& batch) {
  std::erase_if(batch, [](const std::shared_ptr<Waiter>& waiter) {
    if (waiter->abandoned) {
      waiter->WithdrawAll();
    } else if (!waiter->answer && !waiter->ask->source().open) {
      waiter->Conclude(Answer{});
    }
    return waiter->abandoned || waiter->answer;
  });
  return !batch.empty();
}

}  // namespace admission
