#pragma once

// Exports the outcomes of events as event_recorder_events_total. Single-threaded; the registry must
// outlive it.

#include <map>
#include <string>

#include "pkg/client/event_recorder.h"
#include "pkg/metrics/registry.h"

namespace manager {

class EventMetrics final : public client::EventObserver {
 public:
  explicit EventMetrics(metrics::Registry& registry) {
    for (const char* result :
         {"created", "repeated", "silenced", "queue_full", "refused", "unsent", "namespace_gone"}) {
      results_.emplace(
          result, registry.NewCounter("event_recorder_events_total", "Recorded events, by outcome.",
                                      {{"result", result}}));
    }
  }

  void OnEvent(std::string_view outcome) override {
    const auto found = results_.find(outcome);
    if (found != results_.end()) found->second.Increment();
  }

 private:
  std::map<std::string, metrics::Counter, std::less<>> results_;
};

}  // namespace manager
