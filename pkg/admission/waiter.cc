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

BatchPlan PlanFor(const Waiters& waiters) {
  BatchQuotas quotas;
  std::vector<BatchRequest> requests;
  requests.reserve(waiters.size());
  const QuotaSource& source = waiters.front()->ask->source();
  for (const std::shared_ptr<Waiter>& waiter : waiters) {
    CHECK(&waiter->ask->source() == &source) << "a batch of two quota APIs";
    waiter->ask->LookAgain();
    const std::string& ns = waiter->pending->review.ns;
    const bool same = !requests.empty() && requests.back().ns == ns;
    const auto* by = same ? requests.back().by : quotas.Find(ns);
    if (by == nullptr) by = &quotas.Add(ns, source.book->Quotas(ns).quotas);
    requests.push_back({&waiter->ask->request(), ns, by});
  }
  return PlanBatch(requests, quotas);
}

}  // namespace admission
