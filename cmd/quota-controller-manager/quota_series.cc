#include "cmd/quota-controller-manager/quota_series.h"

#include <glog/logging.h>

#include <algorithm>

namespace manager {
namespace {

// One step takes some hundred microseconds.
constexpr std::size_t kQuotasAStep = 64;
constexpr int kToldAStep = 64;

double ToDouble(const quota::Quantity& quantity) {
  return static_cast<double>(quantity.nanos()) / 1e9;
}

}  // namespace

QuotaSeries::QuotaSeries(metrics::Registry& registry, std::size_t max_series)
    : max_series_(max_series) {
  omitted_gauge_ = registry.NewGauge(
      "quota_series_omitted", "Series of quotas that are omitted because of --max-quota-series.");
  registry.OnScrape([this] { Begin(); });
  registry.OnScrapeInSteps([this] { return LookOn(); });
  NewGauges(
      registry, "quota_alert_threshold_ratio",
      "Share of a limit above which the quota's owner wants to be notified, if given.",
      [](const TellSeries& tell, const std::string& quota_api, const Key& key, const Shown& quota) {
        if (quota.threshold == 0) return;
        tell({{"namespace", key.second.ns}, {"quota", key.second.name}, {"quota_api", quota_api}},
             quota.threshold);
      });
  const auto tell_limit = [](const TellSeries& tell, const std::string& quota_api, const Key& key,
                             const std::string& name, double value) {
    tell({{"namespace", key.second.ns},
          {"quota", key.second.name},
          {"quota_api", quota_api},
          {"resource", name}},
         value);
  };
  NewGauges(registry, "quota_hard", "The enforced limit: status.hard.",
            [tell_limit](const TellSeries& tell, const std::string& quota_api, const Key& key,
                         const Shown& quota) {
              for (const Limit& limit : quota.limits) {
                tell_limit(tell, quota_api, key, limit.name, limit.hard);
              }
            });
  NewGauges(registry, "quota_used", "Usage of the limit: status.used.",
            [tell_limit](const TellSeries& tell, const std::string& quota_api, const Key& key,
                         const Shown& quota) {
              for (const Limit& limit : quota.limits) {
                if (limit.used) tell_limit(tell, quota_api, key, limit.name, *limit.used);
              }
            });
}

void QuotaSeries::NewGauges(metrics::Registry& registry, const char* name, const char* help,
                            TellQuota tell_quota) {
  registry.NewGauges(name, help, [this, tell_quota](const TellSeries& tell) {
    auto next = told_ ? shown_.upper_bound(*told_) : shown_.begin();
    for (int told = 0; told < kToldAStep && next != shown_.end(); ++told, ++next) {
      tell_quota(tell, sources_[next->first.first].quota_api, next->first, next->second);
      told_ = next->first;
    }
    if (next != shown_.end()) return true;
    told_.reset();
    return false;
  });
}

void QuotaSeries::Add(std::string quota_api,
                      std::function<const controllers::QuotaStore*()> store) {
  sources_.push_back({std::move(quota_api), std::move(store)});
}

std::size_t QuotaSeries::Shown::series() const {
  std::size_t series = threshold > 0 ? 1 : 0;
  for (const Limit& limit : limits) series += limit.used ? 2 : 1;
  return series;
}

// The previous scrape may have been abandoned at any step.
void QuotaSeries::Begin() {
  source_ = 0;
  place_ = {};
  shown_.clear();
  taken_ = omitted_ = 0;
  told_.reset();
}

// One step of the pass over all quotas. Returns false after the last one.
bool QuotaSeries::LookOn() {
  if (source_ < sources_.size()) {
    const controllers::QuotaStore* const store = sources_[source_].store();
    const bool more =
        store != nullptr && store->VisitSome(place_, kQuotasAStep,
                                             [this](const quota::Quota& quota) { LookAt(quota); });
    if (!more) {
      ++source_;
      place_ = {};
    }
    return true;
  }
  EndLook();
  return false;
}

void QuotaSeries::LookAt(const quota::Quota& quota) {
  Shown shown{.limits = {}, .threshold = std::max(0.0, quota.alert_threshold)};
  for (const auto& [name, hard] : quota.status.hard) {
    Limit limit{.name = name, .hard = ToDouble(hard), .used = {}};
    if (const quota::Quantity* used = quota.status.used.Find(name)) limit.used = ToDouble(*used);
    shown.limits.push_back(std::move(limit));
  }
  const std::size_t series = shown.series();
  // A pass in steps may visit a quota twice.
  if (!shown_.try_emplace({source_, quota.key}, std::move(shown)).second) return;
  taken_ += series;
  // Keeps the first keys up to the bound, whatever the order of the visits.
  while (!shown_.empty() && taken_ - shown_.rbegin()->second.series() >= max_series_) DropLast();
}

void QuotaSeries::DropLast() {
  const auto last = std::prev(shown_.end());
  const std::size_t series = last->second.series();
  taken_ -= series;
  omitted_ += series;
  shown_.erase(last);
}

// The last quota is shown with those of its limits that fit below the bound.
void QuotaSeries::EndLook() {
  while (taken_ > max_series_) {
    Shown& last = shown_.rbegin()->second;
    if (last.threshold > 0 || last.limits.empty()) {
      --taken_;
      ++omitted_;
      last.threshold = 0;
      continue;
    }
    const std::size_t series = last.limits.back().used ? 2 : 1;
    taken_ -= series;
    omitted_ += series;
    last.limits.pop_back();
  }
  SayOmitted();
}

void QuotaSeries::SayOmitted() {
  omitted_gauge_.Set(static_cast<double>(omitted_));
  if (std::exchange(said_, omitted_ > 0) == said_ || max_series_ == 0) return;
  if (said_) {
    LOG(WARNING) << "metrics of quotas are omitted series=" << omitted_
                 << " max_quota_series=" << max_series_;
  } else {
    LOG(INFO) << "all metrics of quotas are exported again";
  }
}

}  // namespace manager
