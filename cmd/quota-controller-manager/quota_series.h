#pragma once

// quota_hard and quota_used of every quota, from its status, and the threshold that its owner
// requested. Each scrape builds them anew, so the series of a deleted quota disappear.
//
// Tenants create quotas and name the resources in them, so the number of series is bounded. Series
// above the bound are omitted, always the same ones while the quotas are the same. A metric has
// their number, and the log says so once. There may be very many quotas, so a scrape handles them
// in steps.
//
// Single-threaded. The registry and the stores must outlive the last scrape.

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controllers/quota/quota_store.h"
#include "pkg/metrics/registry.h"

namespace manager {

class QuotaSeries {
 public:
  QuotaSeries(metrics::Registry& registry, std::size_t max_series);

  // Also exports the quotas of `store()`, which returns null while the quota API is not served.
  void Add(std::string quota_api, std::function<const controllers::QuotaStore*()> store);

 private:
  struct Source {
    std::string quota_api;
    std::function<const controllers::QuotaStore*()> store;
  };
  struct Limit {
    std::string name;
    double hard = 0;
    std::optional<double> used;  // nullopt: not counted yet
  };
  struct Shown {
    std::vector<Limit> limits;
    double threshold = 0;  // 0: none
    [[nodiscard]] std::size_t series() const;
  };
  // The order of the series; the last ones are omitted.
  using Key = std::pair<std::size_t, api::ObjectKey>;  // index of the source, quota
  using ShownQuotas = std::map<Key, Shown>;
  using TellSeries = metrics::Registry::TellSeries;
  using TellQuota = std::function<void(const TellSeries&, const std::string& quota_api, const Key&,
                                       const Shown&)>;

  void NewGauges(metrics::Registry& registry, const char* name, const char* help, TellQuota tell);
  void Begin();
  bool LookOn();
  void LookAt(const quota::Quota& quota);
  void DropLast();
  void EndLook();
  void SayOmitted();

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
};

}  // namespace manager
