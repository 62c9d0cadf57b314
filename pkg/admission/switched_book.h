#pragma once

// The book of a quota API whose controller comes and goes with what the server serves. While there
// is none there are no quotas: everything is admitted.
//
// Single-threaded. Closed, or never opened, when it is destroyed.

#include <cstddef>
#include <string>
#include <vector>

#include "pkg/admission/quota_book.h"
#include "pkg/base/scheduler.h"

namespace admission {

class SwitchedBook final : public QuotaBook {
 public:
  explicit SwitchedBook(base::Scheduler& scheduler) : scheduler_(scheduler) {}

  // `book` outlives it, or the Close().
  void Open(QuotaBook& book) { book_ = &book; }
  // Returns when nobody is in the book any more.
  base::Task<void> Close();

  [[nodiscard]] bool Current() const override { return book_ == nullptr || book_->Current(); }
  [[nodiscard]] std::vector<const quota::Quota*> InNamespace(std::string_view ns) const override;
  [[nodiscard]] const quota::Charge* Covering(const quota::Quota& quota, const quota::Uid& uid,
                                              std::string_view version) const override;
  std::uint64_t Cover(const quota::Quota& quota, const quota::Uid& uid,
                      std::string_view version) override;
  [[nodiscard]] const quota::ClassTable* ClassesOf(
      const quota::Evaluator& evaluator) const override;
  [[nodiscard]] base::Result<quota::Resolved> SubjectOf(
      const quota::Evaluator& evaluator, std::string_view ns, const quota::Uid& uid,
      const quota::ObjectFacts& facts) const override;
  [[nodiscard]] bool HasLater(const quota::Evaluator& evaluator, const quota::Uid& uid,
                              std::string_view resource_version) const override;
  base::Task<base::Result<quota::ClassUsage>> ReadClass(const quota::Evaluator& evaluator,
                                                        std::string name,
                                                        base::TimePoint deadline) override;
  [[nodiscard]] quota::ResourceList AdvanceOf(const quota::Quota& quota) const override;
  [[nodiscard]] bool Draw(const ChargePlan& plan) override;
  base::Task<base::Result<void>> Charge(ChargePlan plan, base::TimePoint deadline) override;
  void Release(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) override;
  base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline) override;

 private:
  base::Scheduler& scheduler_;
  QuotaBook* book_ = nullptr;
  std::size_t inside_ = 0;  // calls under way
};

}  // namespace admission
