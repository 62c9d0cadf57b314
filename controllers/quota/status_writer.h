#pragma once

// Makes guarded writes of quota statuses with their reservations, and live reads. If the answer to
// a write that reserves is lost, the number of its last entry shows whether the write was made.
//
// Single-threaded.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "controllers/quota/cluster/cluster_reach.h"
#include "controllers/quota/controller_parts.h"
#include "controllers/quota/events/quota_reporter.h"
#include "controllers/usage/stall_detector.h"

namespace controllers {

class StatusWriter {
 public:
  // `quotas` watches the quotas. `reporter` is told of each write that was made, and of each that
  // the server refuses for a reason that lasts, such as a missing right or an admission policy.
  // `reach` is null if the quotas are namespaced. All references must outlive it.
  StatusWriter(const ControllerParts& parts, informers::Reflector& quotas,
               const StallDetector& stalls, QuotaReporter& reporter, ClusterReach* reach)
      : parts_(parts), quotas_(quotas), stalls_(stalls), reporter_(reporter), reach_(reach) {}

  // Returns the quota that the write made, and gives it to the store. Commits or aborts the write
  // in its account as soon as its outcome is known. Errors: kConflict also if the quota has
  // changed; otherwise the reason why the write was not made, as far as is known.
  base::Task<base::Result<quota::Quota>> Write(PendingWrite write, base::TimePoint deadline);
  // Returns the stored quota, and gives it to the store. Errors: kNotFound also if it was replaced
  // by another one of the same name.
  base::Task<base::Result<quota::Quota>> Read(quota::Quota quota, base::TimePoint deadline);
  // Reads the quotas of the namespace live, unless they are watched.
  base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline);
  // Returns the stored labels of a namespace; null if it has none or does not exist.
  base::Task<base::Result<json::Value>> ReadLabels(std::string ns, base::TimePoint deadline);
  // True if the quotas are listed and watched: the store lags only by the delay of an event.
  [[nodiscard]] bool Current() const;
  // An answer has proved that the server was restored to an earlier state. Watches that resume
  // would show nothing that was stored since, so everything is listed again, at most once a minute.
  void OnPutBack();
  // The error of a write whose quota has changed.
  static base::Error Changed(const quota::Quota& quota);

 private:
  // A list of one namespace that was read live.
  struct Listed {
    base::TimePoint asked;  // its answer may arrive much later, after the process was stopped
    std::string version;
  };
  base::Task<base::Result<quota::Quota>> Find(quota::Quota quota, std::uint64_t entry,
                                              base::Error error, base::TimePoint deadline);
  // True if the store has another version of the quota.
  [[nodiscard]] bool IsShownAfter(const quota::Quota& quota) const;
  // Tells the account the outcome of a write. `not_made`: its answer said so.
  void End(PendingWrite write, const base::Result<quota::Quota>& written, bool not_made);
  // The quotas of the namespace that the store has now, with their versions.
  using StoredVersion = std::pair<api::ObjectKey, std::string>;
  [[nodiscard]] std::vector<StoredVersion> StoredIn(const std::string& ns) const;
  void TakeList(Listed listed, const std::string& ns, const json::Array& quotas,
                bool true_if_older);

  const ControllerParts& parts_;
  informers::Reflector& quotas_;
  const StallDetector& stalls_;
  QuotaReporter& reporter_;
  ClusterReach* reach_;
  // namespaces that were read live while not Current()
  std::unordered_map<std::string, Listed> refreshed_;
  // The last time that OnPutBack() listed again, and the version of the quotas' watch then.
  std::optional<base::TimePoint> put_back_at_;
  std::string put_back_from_;
};

}  // namespace controllers
