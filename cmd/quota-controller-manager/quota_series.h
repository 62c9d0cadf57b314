#pragma once

// quota_hard and quota_used of every quota, as stored in its status, and the threshold that its
// owner asked for. Nothing is kept between scrapes, so the series of a quota go with it.
//
// Tenants make quotas and name what is in them: so there is a bound. Beyond it series are left out,
// always the same while the quotas are the same; a metric says how many, and the log once.
//
// Single-threaded. The registry and the stores outlive the last scrape.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "controllers/quota/quota_store.h"
#include "pkg/metrics/registry.h"

namespace manager {

class QuotaSeries {
 public:
  QuotaSeries(metrics::Registry& registry, std::size_t max_series);

  // From now on also those of `store()`; null while the quota API is not served.
  void Add(std::string quota_api, std::function<const controllers::QuotaStore*()> store);

 private:
  struct Source {
    std::string quota_api;
    std::function<const controllers::QuotaStore*()> store;
  };
  struct Limit {
    const std::string* quota_api;
    const quota::Quota* quota;
    const std::string* name;
    double hard;
    const quota::Quantity* used;  // null: not counted yet
    void Tell(const metrics::Registry::TellSeries& tell, double value) const;
  };
  struct Threshold {
    const std::string* quota_api;
    const quota::Quota* quota;
  };
  void Look();
  void LookAt(const std::string& quota_api, const quota::Quota& quota);
  [[nodiscard]] bool Take(std::size_t series);
  void SayOmitted();

  const std::size_t max_series_;
  std::vector<Source> sources_;
  metrics::Gauge omitted_gauge_;
  // Of the scrape under way.
  std::vector<Limit> limits_;
  std::vector<Threshold> thresholds_;
  std::size_t taken_ = 0;
  std::size_t omitted_ = 0;
  bool said_ = false;
};

}  // namespace manager
