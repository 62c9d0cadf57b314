#include "pkg/admission/switched_book.h"

#include <utility>

namespace admission {
namespace {

constexpr std::chrono::milliseconds kPoll{10};

struct CountCall {
  explicit CountCall(std::size_t& calls) : calls_(calls) { ++calls_; }
  ~CountCall() { --calls_; }
  CountCall(const CountCall&) = delete;
  CountCall& operator=(const CountCall&) = delete;

 private:
  std::size_t& calls_;
};

}  // namespace

// Polls until all calls have returned. Each call has a deadline.
base::Task<void> SwitchedBook::Close() {
  quotas_ = nullptr;
  objects_ = nullptr;
  while (inside_ > 0) co_await scheduler_.Sleep(kPoll);
}

base::Task<base::Result<void>> SwitchedBook::Refresh(std::string ns, base::TimePoint deadline) {
  if (quotas_ == nullptr) co_return base::Result<void>();
  const CountCall call(inside_);
  co_return co_await quotas_->Refresh(std::move(ns), deadline);
}

NamespaceQuotas SwitchedBook::Quotas(std::string_view ns) const {
  if (quotas_ == nullptr) return {};
  return quotas_->Quotas(ns);
}

QuotaBook::Presence SwitchedBook::Look(std::string_view ns) const {
  if (quotas_ == nullptr) return {};
  return quotas_->Look(ns);
}

base::Task<base::Result<quota::Quota>> SwitchedBook::Read(quota::Quota quota,
                                                          base::TimePoint deadline) {
  if (quotas_ == nullptr) {
    co_return base::Error{.code = base::ErrorCode::kNotFound,
                          .message = "quota " + quota.key.ToString() + " is gone"};
  }
  const CountCall call(inside_);
  co_return co_await quotas_->Read(std::move(quota), deadline);
}

bool SwitchedBook::Draw(const ReservePlan& plan) {
  return quotas_ != nullptr && quotas_->Draw(plan);
}

base::Task<base::Result<void>> SwitchedBook::Reserve(ReservePlan plan, base::TimePoint deadline) {
  if (quotas_ == nullptr) {
    // The admitter decides again after a conflict, and then finds no quota.
    co_return base::Error{.code = base::ErrorCode::kConflict,
                          .message = "quota " + plan.quota.key.ToString() + " is gone"};
  }
  const CountCall call(inside_);
  co_return co_await quotas_->Reserve(std::move(plan), deadline);
}

void SwitchedBook::Withdraw(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) {
  if (quotas_ != nullptr) quotas_->Withdraw(key, uid, grant);
}

quota::Rules SwitchedBook::RulesNow() const {
  return objects_ == nullptr ? quota::Rules() : objects_->RulesNow();
}

const quota::ClassTable* SwitchedBook::ClassesOf(const quota::Evaluator& evaluator) const {
  return objects_ == nullptr ? nullptr : objects_->ClassesOf(evaluator);
}

base::Result<quota::Resolved> SwitchedBook::SubjectOf(const quota::Evaluator& evaluator,
                                                      std::string_view ns,
                                                      const quota::ObjectFacts& facts) const {
  if (objects_ == nullptr) return quota::Resolved{facts.now};
  return objects_->SubjectOf(evaluator, ns, facts);
}

bool SwitchedBook::HasLater(const quota::Evaluator& evaluator, const quota::Uid& uid,
                            std::string_view resource_version) const {
  return objects_ != nullptr && objects_->HasLater(evaluator, uid, resource_version);
}

base::Task<base::Result<quota::ClassUsage>> SwitchedBook::ReadClass(
    const quota::Evaluator& evaluator, std::string name, base::TimePoint deadline) {
  if (objects_ == nullptr) co_return quota::ClassUsage();
  const CountCall call(inside_);
  co_return co_await objects_->ReadClass(evaluator, std::move(name), deadline);
}

base::Task<bool> SwitchedBook::IsTaken(const quota::Evaluator& evaluator, std::string ns,
                                       std::string name, quota::Uid uid, base::TimePoint deadline) {
  if (objects_ == nullptr) co_return false;
  const CountCall call(inside_);
  co_return co_await objects_->IsTaken(evaluator, std::move(ns), std::move(name), uid, deadline);
}

}  // namespace admission
