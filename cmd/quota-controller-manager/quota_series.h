#pragma once

// Exports quota_hard and quota_used of every quota from its status, the conditions that report a
// problem, the threshold that its owner requested, its mode if it does not refuse, and the number
// of requests that it refused here. Each scrape builds the series anew, so those of a deleted quota
// disappear.
//
// Tenants create quotas and name the resources in them, so the number of series is bounded. The
// fullest quotas are exported. They are ordered by the tenths of their fullest limit, so that
// quotas in the middle do not come and go with each object. A metric counts the series that are
// left out, and the log mentions them once. A quota that is not ready counts as a full one. The
// number of quotas has no bound, so a scrape is done in steps.
//
// Single-threaded. The registry and the stores must outlive the last scrape.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/quota/base/quota_store.h"
#include "pkg/metrics/registry.h"

namespace manager {

class QuotaSeries {
 public:
  QuotaSeries(metrics::Registry& registry, std::size_t max_series);

  // Also exports the quotas of `store()`, which returns null while the quota API is not served.
  void Add(std::string quota_api, std::function<const controllers::QuotaStore*()> store);

  // A request was refused because of these limits; none if it did not specify what the quota
  // requires. `tried`: the quota is in mode Warn or Audit, so the request was admitted.
  void CountRefusal(std::string_view quota_api, const api::ObjectKey& quota,
                    const std::vector<std::string>& exceeded, bool tried = false);

 private:
  struct Source {
    std::string quota_api;
    std::function<const controllers::QuotaStore*()> store;
  };
  struct Limit {
    std::string name;
    double hard = 0;
    std::optional<double> used;  // nullopt: not counted yet
    double refused = 0;          // requests
    double would_refuse = 0;     // requests
    [[nodiscard]] std::size_t series() const {
      return 1 + (used ? 1 : 0) + (refused > 0 ? 1 : 0) + (would_refuse > 0 ? 1 : 0);
    }
  };
  struct Shown {
    std::vector<Limit> limits;
    double threshold = 0;                                       // 0: none
    std::string_view mode;                                      // "Warn" or "Audit"; "": it refuses
    std::vector<std::pair<std::string, std::string>> problems;  // condition and reason
    double refused_otherwise = 0;                               // requests, without a limit
    double would_refuse_otherwise = 0;
    [[nodiscard]] std::size_t series() const;
    // Used tenths of the fullest limit: 10 if nothing is free.
    [[nodiscard]] int used_tenths() const;
  };
  // The order of the series; the last ones are omitted.
  struct Key {
    int free_tenths = 0;
    std::size_t source = 0;  // index
    api::ObjectKey quota;
    auto operator<=>(const Key&) const = default;
  };
  using ShownQuotas = std::map<Key, Shown>;
  using TellSeries = metrics::Registry::TellSeries;
  using TellQuota = std::function<void(const TellSeries&, const std::string& quota_api, const Key&,
                                       const Shown&)>;

  void NewGauges(metrics::Registry& registry, const char* name, const char* help, TellQuota tell);
  // Returns a function that reports some quotas in each step.
  std::function<bool(const TellSeries&)> InSteps(TellQuota tell_quota);
  void Begin();
  bool LookOn();
  void LookAt(const quota::Quota& quota);
  void AddRefusals(const api::ObjectKey& quota, Shown& shown);
  void DropLast();
  void EndLook();
  void ForgetRefusals();
  void SayOmitted();

  struct Refused {
    using Counts = std::map<std::string, double, std::less<>>;  // by limit; "": without a limit
    Counts refused;
    Counts would_refuse;
    std::uint64_t seen = 0;  // the scrape that found the quota last, or in which one was refused
  };
  using RefusedQuotas = std::map<std::pair<std::string, api::ObjectKey>, Refused>;

  const std::size_t max_series_;
  std::vector<Source> sources_;
  metrics::Gauge omitted_gauge_;
  // Of the current scrape:
  std::size_t source_ = 0;
  controllers::QuotaStore::Place place_;
  ShownQuotas shown_;
  std::size_t taken_ = 0;
  std::size_t omitted_ = 0;
  std::optional<Key> told_;  // the last key that was reported of the current family
  bool said_ = false;
  RefusedQuotas refused_;     // of quotas that existed at the last scrape, and of newer ones
  std::size_t refusals_ = 0;  // number of limits in refused_
  std::uint64_t scrape_ = 0;
};

}  // namespace manager
