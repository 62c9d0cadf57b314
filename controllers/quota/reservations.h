#pragma once

// The book of quotas of one quota API for admission. It reserves usage by one guarded write for
// each quota (pkg/accounting/DESIGN.md). Every replica can do this; it needs no view of the
// objects.
//
// Single-threaded.

#include <functional>
#include <map>
#include <string>

#include "controllers/quota/base/reach.h"
#include "controllers/quota/shared_reads.h"
#include "controllers/quota/status_writer.h"
#include "controllers/usage/quota_view.h"
#include "pkg/admission/quota_book.h"
#include "pkg/quota/cluster/label_text.h"

namespace controllers {

class Reservations final : public admission::QuotaBook {
 public:
  // `look` enqueues the quota after this time. All references must outlive it.
  Reservations(const TrackingContext& context, const QuotaControllerOptions& options,
               ObservedQuotas& quotas, const ObservedUsage& usage, const Reach& reach,
               StatusWriter& writer, ControllerObserver& observer,
               std::function<void(const api::ObjectKey& key, base::Duration after)> look)
      : scheduler_(*context.scheduler),
        client_(*context.client),
        options_(options),
        quotas_(quotas),
        usage_(usage),
        reach_(reach),
        writer_(writer),
        observer_(observer),
        reads_(scheduler_, quotas),
        look_(std::move(look)) {}

  base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline) override;
  [[nodiscard]] Presence Look(std::string_view ns) const override;
  [[nodiscard]] admission::NamespaceQuotas Quotas(std::string_view ns) const override;
  base::Task<base::Result<quota::Quota>> Read(quota::Quota quota,
                                              base::TimePoint deadline) override {
    return reads_.Read(std::move(quota), deadline);
  }
  [[nodiscard]] bool Draw(const admission::ReservePlan& plan) override;
  base::Task<base::Result<void>> Reserve(admission::ReservePlan plan,
                                         base::TimePoint deadline) override;
  void Withdraw(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) override;

 private:
  // A namespace that was read live.
  struct Learnt {
    base::TimePoint at;
    quota::LabelText labels;
  };
  // Returns the stored labels of a namespace; none if it does not exist.
  base::Task<base::Result<quota::LabelText>> ReadLabels(std::string ns, base::TimePoint deadline);
  base::Task<base::Result<void>> Learn(std::string ns, base::TimePoint deadline);
  // The quotas that reach the namespace. If the live labels select other quotas than the known
  // ones, it returns both.
  [[nodiscard]] quota::QuotaTree::Reach Reaching(std::string_view ns) const;
  [[nodiscard]] admission::BookedQuota Book(const quota::Quota& quota) const;
  [[nodiscard]] std::string WriterOf(std::string_view ns,
                                     const quota::QuotaTree::Reach& reaching) const;
  base::Task<base::Result<void>> ReserveInside(admission::ReservePlan plan,
                                               base::TimePoint deadline);

  base::Scheduler& scheduler_;
  client::ApiClient& client_;
  const QuotaControllerOptions& options_;
  ObservedQuotas& quotas_;
  const ObservedUsage& usage_;
  const Reach& reach_;
  StatusWriter& writer_;
  ControllerObserver& observer_;
  SharedReads reads_;
  std::function<void(const api::ObjectKey& key, base::Duration after)> look_;
  std::map<std::string, Learnt, std::less<>> learnt_;  // namespaces that the watch has not shown
};

}  // namespace controllers
