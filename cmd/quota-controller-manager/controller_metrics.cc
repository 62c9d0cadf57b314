#include "cmd/quota-controller-manager/controller_metrics.h"

#include <algorithm>
#include <set>
#include <vector>

namespace manager {
namespace {

using Seconds = std::chrono::duration<double>;

const metrics::Buckets kReconcileBuckets{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05,
                                         0.1,    0.25,   0.5,   1,     2.5,  5,     15};
const metrics::Buckets kResyncBuckets{0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300};

constexpr std::size_t kMostStale = 100;

using Standings = controllers::QuotaConditions::Standings;

// The entries with the most quotas, and the sum of the others for each reason.
Standings Bounded(const Standings& standings) {
  if (standings.size() <= kMostStale) return standings;
  std::vector<const Standings::value_type*> all;
  all.reserve(standings.size());
  for (const auto& standing : standings) all.push_back(&standing);
  const auto rest = all.begin() + kMostStale;
  // Equal ones by their names, so that each scrape shows the same.
  std::ranges::nth_element(all, rest, [](const auto* one, const auto* other) {
    return one->second != other->second ? one->second > other->second : one->first < other->first;
  });
  Standings bounded;
  for (auto one = all.begin(); one != rest; ++one) bounded.insert(**one);
  for (auto one = rest; one != all.end(); ++one) {
    bounded[{"", (*one)->first.second}] += (*one)->second;
  }
  return bounded;
}

}  // namespace

ControllerMetrics::ControllerMetrics(metrics::Registry& registry, std::string quota_api)
    : registry_(registry), quota_api_(std::move(quota_api)) {
  for (const std::string_view result :
       {"written", "unchanged", "postponed", "conflict", "error", "following"}) {
    reconciles_.emplace(
        result, registry_.NewCounter("quota_reconcile_total", "Reconciled quotas, by result.",
                                     With({{"result", std::string(result)}})));
  }
  reconcile_seconds_ =
      registry_.NewHistogram("quota_reconcile_duration_seconds", "Time to reconcile one quota.",
                             kReconcileBuckets, With({}));
  external_charges_expired_ = registry_.NewCounter(
      "quota_foreign_charges_expired_total",
      "Increases of used by others whose objects did not appear in time.", With({}));
  bursts_ =
      registry_.NewCounter("quota_charged_in_advance_total",
                           "Status patches that reserve usage for future creations.", With({}));
  status_writes_ = registry_.NewCounter("quota_status_writes_total",
                                        "Status patches that the server accepted.", With({}));
  const auto resyncs = [&](const char* result) {
    return registry_.NewCounter("quota_resync_total",
                                "Periodic resyncs, by whether every list succeeded.",
                                With({{"result", result}}));
  };
  resyncs_ = resyncs("complete");
  failed_resyncs_ = resyncs("incomplete");
  resync_seconds_ =
      registry_.NewHistogram("quota_resync_duration_seconds",
                             "Time of one resync, including all lists.", kResyncBuckets, With({}));
  quotas_ = registry_.NewGauge("quota_quotas", "Managed quotas.", With({}));
  broken_quotas_ = registry_.NewGauge("quota_unreadable_quotas",
                                      "Quotas that cannot be read and are not updated.", With({}));
  reservations_ = registry_.NewGauge(
      "quota_reservations", "Objects that quotas reserve usage for, and that no watch has shown.",
      With({}));
  later_lists_ = registry_.NewGauge(
      "quota_lists_of_later_format",
      "Quotas whose reservations a later version wrote, so that this one does not write them.",
      With({}));
  oldest_reservation_ =
      registry_.NewGauge("quota_oldest_reservation_seconds",
                         "Time since this process first saw the oldest reservation.", With({}));
}

metrics::Labels ControllerMetrics::With(const metrics::Labels& more) const {
  metrics::Labels labels = more;
  labels["quota_api"] = quota_api_;
  return labels;
}

void ControllerMetrics::OnReconcile(std::string_view result, base::Duration took) {
  const auto found = reconciles_.find(result);
  if (found != reconciles_.end()) found->second.Increment();
  if (result == "written") status_writes_.Increment();
  reconcile_seconds_.Observe(Seconds(took).count());
}

void ControllerMetrics::CountDrift(const std::string& resource, std::string_view kind,
                                   std::size_t objects) {
  registry_
      .NewCounter("quota_resync_drift_objects_total",
                  "Objects that a resync found missing, deleted or different. Should stay zero.",
                  With({{"resource", resource}, {"kind", std::string(kind)}}))
      .Increment(static_cast<double>(objects));
}

void ControllerMetrics::OnDrift(const api::GroupResource& resource,
                                const controllers::DriftReport& report) {
  const std::string name = resource.ToString();
  CountDrift(name, "missing", report.drift.missing);
  CountDrift(name, "vanished", report.drift.vanished);
  CountDrift(name, "different", report.drift.different);
  // Names that only an earlier resync found different are 0 now.
  for (auto& [key, gauge] : drift_usage_) {
    if (key.starts_with(name + " ")) gauge.Set(0);
  }
  for (const auto& [usage, amount] : report.usage) {
    metrics::Gauge& gauge = drift_usage_[std::string(name).append(" ").append(usage)];
    gauge = registry_.NewGauge("quota_resync_drift_usage",
                               "Sum of the absolute usage differences that the last resync found.",
                               With({{"resource", name}, {"name", usage}}));
    gauge.Set(static_cast<double>(amount.nanos()) / 1e9);
  }
}

void ControllerMetrics::OnResync(base::Duration took, bool complete) {
  (complete ? resyncs_ : failed_resyncs_).Increment();
  resync_seconds_.Observe(Seconds(took).count());
}

void ControllerMetrics::OnExternalChargesExpired(std::size_t charges) {
  external_charges_expired_.Increment(static_cast<double>(charges));
}

void ControllerMetrics::OnBurst(const quota::Quota& /*quota*/,
                                const quota::ResourceList& /*usage*/) {
  bursts_.Increment();
}

ControllerMetrics::Tracked& ControllerMetrics::ForResource(const std::string& resource) {
  const auto [entry, added] = tracked_.try_emplace(resource);
  if (!added) return entry->second;
  const metrics::Labels labels = With({{"resource", resource}});
  entry->second = {
      .objects = registry_.NewGauge("quota_tracked_objects", "Counted objects.", labels),
      .distinct_facts = registry_.NewGauge("quota_tracked_distinct_facts",
                                           "Distinct facts of the counted objects.", labels),
      .synced = registry_.NewGauge("quota_tracked_synced",
                                   "1 while the count is complete, 0 while it is stale.", labels),
      .age = registry_.NewGauge("quota_tracked_age_seconds",
                                "Time since the server last confirmed what is counted.", labels)};
  return entry->second;
}

void ControllerMetrics::Forget(const Tracked& tracked) {
  for (const metrics::Gauge& gauge :
       {tracked.objects, tracked.distinct_facts, tracked.synced, tracked.age}) {
    registry_.Remove(gauge);
  }
}

void ControllerMetrics::ShowStale(const Standings& all) {
  const Standings standings = Bounded(all);
  std::erase_if(stale_, [&](const auto& entry) {
    if (standings.contains(entry.first)) return false;
    registry_.Remove(entry.second);
    return true;
  });
  for (const auto& [what, quotas] : standings) {
    const auto [entry, added] = stale_.try_emplace(what);
    if (added) {
      entry->second = registry_.NewGauge("quota_stale_quotas",
                                         "Quotas with names of this resource that are not counted. "
                                         "Most of many are counted together, without a name.",
                                         With({{"resource", what.first}, {"reason", what.second}}));
    }
    entry->second.Set(static_cast<double>(quotas));
  }
}

void ControllerMetrics::Refresh(const controllers::QuotaController& controller,
                                base::TimePoint now) {
  quotas_.Set(static_cast<double>(controller.store().size()));
  broken_quotas_.Set(static_cast<double>(controller.store().broken()));
  ShowStale(controller.conditions().Count());
  std::set<std::string> watched;
  for (const auto& tracked : controller.tracker().Watched()) {
    const std::string name = tracked->evaluator().resource.ToString();
    watched.insert(name);
    Tracked& gauges = ForResource(name);
    gauges.objects.Set(static_cast<double>(tracked->ledger().size()));
    gauges.distinct_facts.Set(static_cast<double>(tracked->ledger().distinct_facts()));
    gauges.synced.Set(tracked->synced() && !tracked->state().trouble ? 1 : 0);
    const base::TimePoint since = tracked->state().current_as_of;
    gauges.age.Set(Seconds(now - std::max(since, tracked->started())).count());
  }
  std::erase_if(tracked_, [&](const auto& entry) {
    if (watched.contains(entry.first)) return false;
    Forget(entry.second);
    return true;
  });
}

void ControllerMetrics::ShowReservations(const controllers::Accounts::Tally& tally,
                                         base::TimePoint now) {
  reservations_.Set(static_cast<double>(tally.reservations));
  later_lists_.Set(static_cast<double>(tally.later));
  oldest_reservation_.Set(tally.oldest ? Seconds(now - *tally.oldest).count() : 0);
  std::map<std::array<std::string, 3>, double> amounts;
  for (const auto& [reservations, largest] : tally.largest) {
    const auto& [key, reserved] = largest;
    for (const auto& [name, amount] : reserved) {
      amounts[{key.ns, key.name, name}] = static_cast<double>(amount.nanos()) / 1e9;
    }
  }
  std::erase_if(reserved_, [&](const auto& entry) {
    if (amounts.contains(entry.first)) return false;
    registry_.Remove(entry.second);
    return true;
  });
  for (const auto& [series, amount] : amounts) {
    metrics::Gauge& gauge = reserved_[series];
    gauge = registry_.NewGauge(
        "quota_reserved_usage",
        "Usage that reservations allow, for the ten quotas with the most reservations.",
        With({{"namespace", series[0]}, {"quota", series[1]}, {"resource", series[2]}}));
    gauge.Set(amount);
  }
}

void ControllerMetrics::Clear() {
  ShowReservations({}, {});
  quotas_.Set(0);
  broken_quotas_.Set(0);
  ShowStale({});
  for (const auto& [resource, tracked] : tracked_) Forget(tracked);
  tracked_.clear();
}

}  // namespace manager
