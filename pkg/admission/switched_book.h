#pragma once

// The books of a quota API whose controller starts and stops when the API server starts or stops
// serving its kinds. While there is no controller there are no quotas, and all requests are
// admitted.
//
// Single-threaded. It must be closed, or never opened, when it is destroyed.

#include <cstddef>
#include <string>
#include <vector>

#include "pkg/admission/object_book.h"
#include "pkg/admission/quota_book.h"
#include "pkg/base/scheduler.h"

namespace admission {

class SwitchedBook final : public QuotaBook, public ObjectBook {
 public:
  explicit SwitchedBook(base::Scheduler& scheduler) : scheduler_(scheduler) {}

  // Both must outlive this object, or live until Close() returns.
  void Open(QuotaBook& quotas, ObjectBook& objects) {
    quotas_ = &quotas;
    objects_ = &objects;
  }
  // Returns when no call uses the books any more.
  base::Task<void> Close();

  base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline) override;
  [[nodiscard]] NamespaceQuotas Quotas(std::string_view ns) const override;
  [[nodiscard]] Presence Look(std::string_view ns) const override;
  base::Task<base::Result<quota::Quota>> Read(quota::Quota quota,
                                              base::TimePoint deadline) override;
  [[nodiscard]] bool Draw(const ReservePlan& plan) override;
  base::Task<base::Result<void>> Reserve(ReservePlan plan, base::TimePoint deadline) override;
  void Withdraw(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) override;

  [[nodiscard]] quota::Rules RulesNow() const override;
  [[nodiscard]] const quota::ClassTable* ClassesOf(
      const quota::Evaluator& evaluator) const override;
  [[nodiscard]] base::Result<quota::Resolved> SubjectOf(
      const quota::Evaluator& evaluator, std::string_view ns,
      const quota::ObjectFacts& facts) const override;
  [[nodiscard]] bool HasLater(const quota::Evaluator& evaluator, const quota::Uid& uid,
                              std::string_view resource_version) const override;
  base::Task<base::Result<quota::ClassUsage>> ReadClass(const quota::Evaluator& evaluator,
                                                        std::string name,
                                                        base::TimePoint deadline) override;
  base::Task<bool> IsTaken(const quota::Evaluator& evaluator, std::string ns, std::string name,
                           quota::Uid uid, base::TimePoint deadline) override;

 private:
  base::Scheduler& scheduler_;
  QuotaBook* quotas_ = nullptr;
  ObjectBook* objects_ = nullptr;
  std::size_t inside_ = 0;  // calls in flight
};

}  // namespace admission
