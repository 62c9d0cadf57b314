#pragma once

// Why a reflector makes no progress, in its state, its metrics and the log. One thread. Constructor
// arguments must outlive it.

#include <cstdint>
#include <string>
#include <utility>

#include "informers/reflector.h"
#include "pkg/base/reminder.h"

namespace informers {

class Trouble {
 public:
  // `metrics` may be null. The sink is told when the state changes.
  Trouble(std::string resource, const base::Clock& clock, metrics::InformerMetrics* metrics,
          ReflectorState& state, CollectionSink& sink)
      : resource_(std::move(resource)),
        clock_(clock),
        metrics_(metrics),
        state_(state),
        sink_(sink) {}

  // Logs the first failure, each new error code, and a reminder while it lasts; further ones are
  // only counted.
  void OnFailure(const base::Error& error);
  // There is progress.
  void OnProgress();

 private:
  const std::string resource_;
  const base::Clock& clock_;
  metrics::InformerMetrics* const metrics_;
  ReflectorState& state_;
  CollectionSink& sink_;
  base::TimePoint failing_since_{};
  std::uint64_t failures_in_a_row_ = 0;
  base::Reminder said_;
};

}  // namespace informers
