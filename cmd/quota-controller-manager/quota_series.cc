#include "cmd/quota-controller-manager/quota_series.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace manager {
namespace {

double ToDouble(const quota::Quantity& quantity) {
  return static_cast<double>(quantity.nanos()) / 1e9;
}

}  // namespace

QuotaSeries::QuotaSeries(metrics::Registry& registry, std::size_t max_series)
    : max_series_(max_series) {
  using Tell = metrics::Registry::TellSeries;
  omitted_gauge_ = registry.NewGauge(
      "quota_series_omitted", "Series of quotas that are left out beyond --max-quota-series.");
  registry.OnScrape([this] { Look(); });
  registry.NewGauges(
      "quota_alert_threshold_ratio",
      "From which share of a limit on the quota's owner wants to be told, where one is given.",
      [this](const Tell& tell) {
        for (const Threshold& one : thresholds_) {
          tell({{"namespace", one.quota->key.ns},
                {"quota", one.quota->key.name},
                {"quota_api", *one.quota_api}},
               one.quota->alert_threshold);
        }
      });
  registry.NewGauges("quota_hard", "The limit, as enforced: status.hard.",
                     [this](const Tell& tell) {
                       for (const Limit& one : limits_) one.Tell(tell, one.hard);
                     });
  registry.NewGauges("quota_used", "What is used of the limit: status.used.",
                     [this](const Tell& tell) {
                       for (const Limit& one : limits_) {
                         if (one.used != nullptr) one.Tell(tell, ToDouble(*one.used));
                       }
                     });
}

void QuotaSeries::Limit::Tell(const metrics::Registry::TellSeries& tell, double value) const {
  tell({{"namespace", quota->key.ns},
        {"quota", quota->key.name},
        {"quota_api", *quota_api},
        {"resource", *name}},
       value);
}

void QuotaSeries::Add(std::string quota_api,
                      std::function<const controllers::QuotaStore*()> store) {
  sources_.push_back({std::move(quota_api), std::move(store)});
}

void QuotaSeries::Look() {
  limits_.clear();
  thresholds_.clear();
  taken_ = omitted_ = 0;
  for (const Source& source : sources_) {
    const controllers::QuotaStore* store = source.store();
    if (store == nullptr) continue;
    std::vector<api::ObjectKey> keys = store->All();
    std::ranges::sort(keys);
    for (const api::ObjectKey& key : keys) LookAt(source.quota_api, *store->Find(key));
  }
  SayOmitted();
}

void QuotaSeries::LookAt(const std::string& quota_api, const quota::Quota& quota) {
  for (const auto& [name, hard] : quota.status.hard) {
    const quota::Quantity* used = quota.status.used.Find(name);
    if (!Take(used == nullptr ? 1 : 2)) continue;
    limits_.push_back({&quota_api, &quota, &name, ToDouble(hard), used});
  }
  if (quota.alert_threshold > 0 && Take(1)) thresholds_.push_back({&quota_api, &quota});
}

bool QuotaSeries::Take(std::size_t series) {
  const bool fits = taken_ + series <= max_series_;
  (fits ? taken_ : omitted_) += series;
  return fits;
}

void QuotaSeries::SayOmitted() {
  omitted_gauge_.Set(static_cast<double>(omitted_));
  if (std::exchange(said_, omitted_ > 0) == said_ || max_series_ == 0) return;
  if (said_) {
    LOG(WARNING) << "metrics of quotas are left out series=" << omitted_
                 << " max_quota_series=" << max_series_;
  } else {
    LOG(INFO) << "no metrics of quotas are left out any more";
  }
}

}  // namespace manager
