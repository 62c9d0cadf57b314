#pragma once

// Events about objects, for `kubectl describe` and `kubectl get events` (client-go v0.36.3,
// tools/record/event.go). Record() never blocks and never fails the caller: an event is not worth a
// delay.
//
// Guarantees of the recorder that sends them: a repetition within ten minutes raises the count of
// the first event; an object with too many events is silenced (EventCorrelator); the queue is
// bounded; at most `per_second` requests reach the server; a server that forbids events is logged
// once, and one that does not answer every five minutes. When Run() is cancelled, queued events
// have two more seconds.
//
// Single-threaded; on the executor's thread. The client and the scheduler must outlive the
// recorder.

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "pkg/base/asio.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"

namespace client {

// The object that an event is about.
struct ObjectReference {
  std::string api_version;  // "v1"
  std::string kind;         // "ResourceQuota"
  std::string ns;           // "" for a cluster-scoped object: its events are stored in "default"
  std::string name;
  std::string uid;
  std::string resource_version;
};

enum class EventType { kNormal, kWarning };

struct Event {
  ObjectReference about;
  EventType type = EventType::kNormal;
  std::string reason;   // CamelCase, for machines: "QuotaStale"
  std::string message;  // for people; the first 1024 bytes are kept
};

class EventRecorder {
 public:
  virtual ~EventRecorder() = default;
  // False if the event was dropped because the queue is full: the caller may record it again later.
  virtual bool Record(Event event) = 0;
};

// For metrics. `outcome` is "created", "repeated" (the count of an earlier event was raised),
// "silenced" (its object has too many events), "queue_full", "refused" (by the server), "unsent"
// (no answer after all tries) or "namespace_gone".
class EventObserver {
 public:
  virtual ~EventObserver() = default;
  virtual void OnEvent(std::string_view outcome) = 0;
};

struct EventRecorderOptions {
  std::string component;  // the reporting component: "quota-controller-manager"
  std::string instance;   // its instance: the host or pod name
  std::size_t queue = 1000;
  int burst = 100;  // requests without a pause, then `per_second`
  int per_second = 20;
  int tries = 12;                                // for one event, while the server does not answer
  std::chrono::milliseconds first_pause{1'000};  // between tries; doubles up to the longest
  std::chrono::milliseconds longest_pause{10'000};
  std::chrono::milliseconds timeout{10'000};  // for one request
  std::chrono::milliseconds flush{2'000};     // how long to send queued events after a cancellation
  EventObserver* observer = nullptr;          // may be null; must outlive the recorder
};

// The recorder that sends to an API server.
class ApiEventRecorder : public EventRecorder {
 public:
  // Sends until cancelled, then flushes.
  virtual base::Task<void> Run() = 0;
};

std::unique_ptr<ApiEventRecorder> NewEventRecorder(ApiClient& client, base::Scheduler& scheduler,
                                                   EventRecorderOptions options);

}  // namespace client
