#pragma once

// The books of a quota API whose controller comes and goes with what the server serves. While there
// is none there are no quotas: everything is admitted.
//
// Single-threaded. Closed, or never opened, when it is destroyed.

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

  // They outlive it, or the Close().
  void Open(QuotaBook& quotas, ObjectBook& objects) {
    quotas_ = &quotas;
    objects_ = &objects;
  }
  // Returns when nobody is in the books any more.
  base::Task<void> Close();

  base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline) override;
  [[nodiscard]] std::vector<BookedQuota> Quotas(std::string_view ns) const override;
  [[nodiscard]] std::vector<quota::TreePlace> PlacesOf(
      const std::vector<BookedQuota>& quotas) const override;
  [[nodiscard]] std::string WriterOf(std::string_view ns) override;
  [[nodiscard]] bool MayLimit(std::string_view ns) const override;
  [[nodiscard]] const quota::ResourceList* Reserved(const quota::Quota& quota,
                                                    const quota::Uid& uid,
                                                    std::string_view version) const override;
  std::uint64_t Rely(const quota::Quota& quota, const quota::Uid& uid,
                     std::string_view version) override;
  [[nodiscard]] bool Draw(const ReservePlan& plan) override;
  base::Task<base::Result<void>> Reserve(ReservePlan plan, base::TimePoint deadline) override;
  void Withdraw(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) override;

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

 private:
  base::Scheduler& scheduler_;
  QuotaBook* quotas_ = nullptr;
  ObjectBook* objects_ = nullptr;
  std::size_t inside_ = 0;  // calls under way
};

}  // namespace admission
