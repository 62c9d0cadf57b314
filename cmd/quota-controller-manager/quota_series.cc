#include "cmd/quota-controller-manager/quota_series.h"

#include <glog/logging.h>

#include <algorithm>

#include "controllers/quota/events/status_conditions.h"
#include "pkg/quota/cluster_spec.h"

namespace manager {
namespace {

// One step takes some hundred microseconds.
constexpr std::size_t kQuotasAStep = 64;
constexpr int kToldAStep = 64;

// The most limits for which refusals are counted. Refusals of further limits are not counted.
constexpr std::size_t kMostRefusals = 100'000;

double ToDouble(const quota::Quantity& quantity) {
  return static_cast<double>(quantity.nanos()) / 1e9;
}

// The mode of a quota that does not refuse what exceeds it; "" for every other quota.
std::string_view ModeOf(const quota::Quota& quota) {
  using Enforcement = quota::ClusterSpec::Enforcement;
  if (!quota.cluster || quota.cluster->enforcement == Enforcement::kDeny) return "";
  return quota::ToString(quota.cluster->enforcement);
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
        tell({{"namespace", key.quota.ns}, {"quota", key.quota.name}, {"quota_api", quota_api}},
             quota.threshold);
      });
  NewGauges(
      registry, "quota_enforcement_mode",
      "1 for a quota in mode Warn or Audit, which does not refuse what exceeds it.",
      [](const TellSeries& tell, const std::string& quota_api, const Key& key, const Shown& quota) {
        if (quota.mode.empty()) return;
        tell({{"mode", quota.mode},
              {"namespace", key.quota.ns},
              {"quota", key.quota.name},
              {"quota_api", quota_api}},
             1);
      });
  NewGauges(
      registry, "quota_condition",
      "1 for a condition that reports a problem of a quota: Ready is False, or Stale or OverLimit "
      "is True.",
      [](const TellSeries& tell, const std::string& quota_api, const Key& key, const Shown& quota) {
        for (const auto& [condition, reason] : quota.problems) {
          tell({{"condition", condition},
                {"namespace", key.quota.ns},
                {"quota", key.quota.name},
                {"quota_api", quota_api},
                {"reason", reason}},
               1);
        }
      });
  const auto tell_limit = [](const TellSeries& tell, const std::string& quota_api, const Key& key,
                             const std::string& name, double value) {
    tell({{"namespace", key.quota.ns},
          {"quota", key.quota.name},
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
  registry.NewCounters("quota_refused_requests_total",
                       "Requests that this process refused, by quota and limit. The limit is empty "
                       "if the request did not specify what the quota requires.",
                       InSteps([tell_limit](const TellSeries& tell, const std::string& quota_api,
                                            const Key& key, const Shown& quota) {
                         if (quota.refused_otherwise > 0) {
                           tell_limit(tell, quota_api, key, "", quota.refused_otherwise);
                         }
                         for (const Limit& limit : quota.limits) {
                           if (limit.refused > 0)
                             tell_limit(tell, quota_api, key, limit.name, limit.refused);
                         }
                       }));
  registry.NewCounters(
      "quota_admission_would_refuse_total",
      "Requests that this process admitted although they do not fit, because the quota is in mode "
      "Warn or Audit, by quota and limit.",
      InSteps([tell_limit](const TellSeries& tell, const std::string& quota_api, const Key& key,
                           const Shown& quota) {
        if (quota.would_refuse_otherwise > 0) {
          tell_limit(tell, quota_api, key, "", quota.would_refuse_otherwise);
        }
        for (const Limit& limit : quota.limits) {
          if (limit.would_refuse == 0) continue;
          tell_limit(tell, quota_api, key, limit.name, limit.would_refuse);
        }
      }));
}

void QuotaSeries::NewGauges(metrics::Registry& registry, const char* name, const char* help,
                            TellQuota tell_quota) {
  registry.NewGauges(name, help, InSteps(std::move(tell_quota)));
}

std::function<bool(const QuotaSeries::TellSeries&)> QuotaSeries::InSteps(TellQuota tell_quota) {
  return [this, tell_quota = std::move(tell_quota)](const TellSeries& tell) {
    auto next = told_ ? shown_.upper_bound(*told_) : shown_.begin();
    for (int told = 0; told < kToldAStep && next != shown_.end(); ++told, ++next) {
      tell_quota(tell, sources_[next->first.source].quota_api, next->first, next->second);
      told_ = next->first;
    }
    if (next != shown_.end()) return true;
    told_.reset();
    return false;
  };
}

void QuotaSeries::Add(std::string quota_api,
                      std::function<const controllers::QuotaStore*()> store) {
  sources_.push_back({std::move(quota_api), std::move(store)});
}

void QuotaSeries::CountRefusal(std::string_view quota_api, const api::ObjectKey& quota,
                               const std::vector<std::string>& exceeded, bool tried) {
  if (refusals_ >= kMostRefusals) return;
  Refused& refused = refused_[{std::string(quota_api), quota}];
  refused.seen = scrape_;
  const auto count = [&](const std::string& limit) {
    auto& counts = tried ? refused.would_refuse : refused.refused;
    const auto [entry, added] = counts.try_emplace(limit, 0);
    entry->second += 1;
    refusals_ += added ? 1 : 0;
  };
  if (exceeded.empty()) count("");
  for (const std::string& limit : exceeded) count(limit);
}

std::size_t QuotaSeries::Shown::series() const {
  std::size_t series = (threshold > 0 ? 1 : 0) + (mode.empty() ? 0 : 1) + problems.size() +
                       (refused_otherwise > 0 ? 1 : 0) + (would_refuse_otherwise > 0 ? 1 : 0);
  for (const Limit& limit : limits) series += limit.series();
  return series;
}

int QuotaSeries::Shown::used_tenths() const {
  // Its limit may not hold at all, however little is used.
  double share = !problems.empty() && problems.front().first == "Ready" ? 1 : 0;
  for (const Limit& limit : limits) {
    if (limit.used.value_or(0) <= 0) continue;
    share = std::max(share, limit.hard > 0 ? *limit.used / limit.hard : 1);
  }
  return static_cast<int>(std::min(share, 1.0) * 10);
}

// The previous scrape may have been abandoned at any step.
void QuotaSeries::Begin() {
  source_ = 0;
  place_ = {};
  shown_.clear();
  taken_ = omitted_ = 0;
  told_.reset();
  ++scrape_;
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
  Shown shown{
      .limits = {}, .threshold = std::max(0.0, quota.alert_threshold), .mode = ModeOf(quota)};
  for (const auto& [name, hard] : quota.status.hard) {
    Limit limit{.name = name, .hard = ToDouble(hard), .used = {}};
    if (const quota::Quantity* used = quota.status.used.Find(name)) limit.used = ToDouble(*used);
    shown.limits.push_back(std::move(limit));
  }
  for (const auto& problem : controllers::ProblemsIn(quota.further_status.Find("conditions"))) {
    shown.problems.emplace_back(problem.condition, problem.reason);
  }
  AddRefusals(quota.key, shown);
  const Key key{.free_tenths = 10 - shown.used_tenths(), .source = source_, .quota = quota.key};
  const std::size_t series = shown.series();
  if (!shown_.try_emplace(key, std::move(shown)).second) return;
  taken_ += series;
  // Keeps the first keys up to the bound, so the result does not depend on the order of visits.
  while (!shown_.empty() && taken_ - shown_.rbegin()->second.series() >= max_series_) DropLast();
}

void QuotaSeries::AddRefusals(const api::ObjectKey& quota, Shown& shown) {
  const auto found = refused_.find({sources_[source_].quota_api, quota});
  if (found == refused_.end()) return;
  found->second.seen = scrape_;
  const auto count = [](const Refused::Counts& counts, const std::string& limit) {
    const auto known = counts.find(limit);
    return known == counts.end() ? 0.0 : known->second;
  };
  const Refused& counted = found->second;
  shown.refused_otherwise = count(counted.refused, "");
  shown.would_refuse_otherwise = count(counted.would_refuse, "");
  for (Limit& limit : shown.limits) {
    limit.refused = count(counted.refused, limit.name);
    limit.would_refuse = count(counted.would_refuse, limit.name);
  }
}

void QuotaSeries::DropLast() {
  const auto last = std::prev(shown_.end());
  const std::size_t series = last->second.series();
  taken_ -= series;
  omitted_ += series;
  shown_.erase(last);
}

// The last quota that is shown has only as many limits as fit below the bound. Its mode is left out
// after them, because an alert about a limit depends on it, and its conditions last.
void QuotaSeries::EndLook() {
  while (taken_ > max_series_) {
    Shown& last = shown_.rbegin()->second;
    double* const alone = last.threshold > 0                ? &last.threshold
                          : last.refused_otherwise > 0      ? &last.refused_otherwise
                          : last.would_refuse_otherwise > 0 ? &last.would_refuse_otherwise
                                                            : nullptr;
    if (alone != nullptr || last.limits.empty()) {
      --taken_;
      ++omitted_;
      if (alone != nullptr) {
        *alone = 0;
      } else if (!last.mode.empty()) {
        last.mode = {};
      } else {
        last.problems.pop_back();
      }
      continue;
    }
    const std::size_t series = last.limits.back().series();
    taken_ -= series;
    omitted_ += series;
    last.limits.pop_back();
  }
  ForgetRefusals();
  SayOmitted();
}

// Removes the counts of deleted quotas.
void QuotaSeries::ForgetRefusals() {
  std::erase_if(refused_, [this](const auto& entry) {
    const bool gone = entry.second.seen != scrape_;
    if (gone) refusals_ -= entry.second.refused.size() + entry.second.would_refuse.size();
    return gone;
  });
}

void QuotaSeries::SayOmitted() {
  omitted_gauge_.Set(max_series_ == 0 ? 0 : static_cast<double>(omitted_));
  if (std::exchange(said_, omitted_ > 0) == said_ || max_series_ == 0) return;
  if (said_) {
    LOG(WARNING) << "metrics of quotas are omitted series=" << omitted_
                 << " max_quota_series=" << max_series_;
  } else {
    LOG(INFO) << "all metrics of quotas are exported again";
  }
}

}  // namespace manager
