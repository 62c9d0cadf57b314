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

// Each call has a deadline, so they end.
base::Task<void> SwitchedBook::Close() {
  book_ = nullptr;
  while (inside_ > 0) co_await scheduler_.Sleep(kPoll);
}

std::vector<const quota::Quota*> SwitchedBook::InNamespace(std::string_view ns) const {
  if (book_ == nullptr) return {};
  return book_->InNamespace(ns);
}

const quota::Charge* SwitchedBook::Covering(const quota::Quota& quota, const quota::Uid& uid,
                                            std::string_view version) const {
  return book_ == nullptr ? nullptr : book_->Covering(quota, uid, version);
}

std::uint64_t SwitchedBook::Cover(const quota::Quota& quota, const quota::Uid& uid,
                                  std::string_view version) {
  return book_ == nullptr ? 0 : book_->Cover(quota, uid, version);
}

const quota::ClassTable* SwitchedBook::ClassesOf(const quota::Evaluator& evaluator) const {
  return book_ == nullptr ? nullptr : book_->ClassesOf(evaluator);
}

base::Result<quota::Resolved> SwitchedBook::SubjectOf(const quota::Evaluator& evaluator,
                                                      std::string_view ns, const quota::Uid& uid,
                                                      const quota::ObjectFacts& facts) const {
  if (book_ == nullptr) return quota::Resolved{facts.now};
  return book_->SubjectOf(evaluator, ns, uid, facts);
}

bool SwitchedBook::HasLater(const quota::Evaluator& evaluator, const quota::Uid& uid,
                            std::string_view resource_version) const {
  return book_ != nullptr && book_->HasLater(evaluator, uid, resource_version);
}

base::Task<base::Result<quota::ClassUsage>> SwitchedBook::ReadClass(
    const quota::Evaluator& evaluator, std::string name, base::TimePoint deadline) {
  if (book_ == nullptr) co_return quota::ClassUsage();
  const CountCall call(inside_);
  co_return co_await book_->ReadClass(evaluator, std::move(name), deadline);
}

quota::ResourceList SwitchedBook::AdvanceOf(const quota::Quota& quota) const {
  return book_ == nullptr ? quota::ResourceList() : book_->AdvanceOf(quota);
}

bool SwitchedBook::Draw(const ChargePlan& plan) { return book_ != nullptr && book_->Draw(plan); }

base::Task<base::Result<void>> SwitchedBook::Charge(ChargePlan plan, base::TimePoint deadline) {
  if (book_ == nullptr) {
    co_return base::Error{.code = base::ErrorCode::kConflict,
                          .message = "quota " + plan.quota.key.ToString() + " is gone"};
  }
  const CountCall call(inside_);
  co_return co_await book_->Charge(std::move(plan), deadline);
}

void SwitchedBook::Release(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) {
  if (book_ != nullptr) book_->Release(key, uid, grant);
}

base::Task<base::Result<void>> SwitchedBook::Refresh(std::string ns, base::TimePoint deadline) {
  if (book_ == nullptr) co_return base::Result<void>();
  const CountCall call(inside_);
  co_return co_await book_->Refresh(std::move(ns), deadline);
}

}  // namespace admission
