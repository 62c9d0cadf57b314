#pragma once

// The metrics of one watched collection: its state, its resource version, its lists, watches and
// events. All start at zero. The registry must outlive it.

#include <chrono>
#include <cstdint>
#include <string>

#include "pkg/metrics/registry.h"

namespace metrics {

class InformerMetrics {
 public:
  struct Names {
    std::string name;  // of the informer: its purpose
    std::string group;
    std::string version;
    std::string resource;
  };
  InformerMetrics(Registry& registry, const Names& names);
  ~InformerMetrics();  // removes the series: the resource is no longer watched
  InformerMetrics(const InformerMetrics&) = delete;
  InformerMetrics& operator=(const InformerMetrics&) = delete;

  // informer_processing_latency_seconds: one event, from its bytes until the sink returns.
  void Processed(std::chrono::duration<double> took) { processing_.Observe(took.count()); }
  // informer_store_resource_version: the last 15 digits, which fit into a double.
  void SetResourceVersion(const std::string& version);
  void SetSynced(bool synced) { synced_.Set(synced ? 1 : 0); }
  void SetFailing(bool failing) { failing_.Set(failing ? 1 : 0); }
  void Listed() { lists_.Increment(); }
  void Watched() { watches_.Increment(); }
  void Received() { events_.Increment(); }
  void Failed() { failures_.Increment(); }
  void Skipped() { skipped_.Increment(); }  // an object without uid or name

 private:
  Registry& registry_;
  Gauge queued_;  // always 0: the sink handles each event before the next one is read
  Histogram processing_;
  Gauge version_;
  Gauge synced_;
  Gauge failing_;
  Counter lists_;
  Counter watches_;
  Counter events_;
  Counter failures_;
  Counter skipped_;
};

}  // namespace metrics
