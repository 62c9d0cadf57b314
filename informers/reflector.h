#pragma once

// Keeps a sink equal to one collection on the API server: paged list, then watch, resumed where it
// broke, listed again only when the place in history is gone. The same in Go: client-go v0.36.3,
// tools/cache/reflector.go.
//
// Promises: the sink sees every object of a complete list between BeginList() and EndList(), then
// events in order; the resource version advances only after the sink has the event; a list that
// fails half-way never ends with EndList(); every way round the loop that made no progress waits
// with backoff; a watch that says nothing for too long is reopened, or the collection listed again
// if the server has gone back behind our version (a restored backup): such a watch shows nothing.
//
// What cannot be known is never taken for gone: while lists or watches fail, for whatever reason,
// the sink keeps what it has, and state().trouble says why. An object above max_object_bytes makes
// its own collection stale in this way (the API server itself refuses objects a tenth of the
// default), and nothing else. An object without uid or name is left out, logged once and counted.
//
// Single-threaded. The client, sink and scheduler outlive Run().

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "informers/watch_gap.h"
#include "pkg/api/resource.h"
#include "pkg/base/asio.h"
#include "pkg/base/backoff.h"
#include "pkg/base/error.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/json/projection.h"
#include "pkg/json/value.h"

namespace metrics {
class InformerMetrics;
}

namespace informers {

// Where a collection goes. Calls come one at a time and must not block.
class CollectionSink {
 public:
  virtual ~CollectionSink() = default;
  // A complete list follows; may come again before EndList() when a list failed half-way.
  virtual void BeginList() = 0;
  // The projected object, of a list or of an ADDED or MODIFIED event. It has metadata.uid.
  virtual void Upsert(const json::Value& object) = 0;
  // The last state, of a DELETED event.
  virtual void Remove(const json::Value& object) = 0;
  // Called before EndList() for as long as it returns true: takes some of what was not upserted
  // since BeginList() for gone already. For sinks that hold very much; others have the loop between
  // two calls.
  virtual bool SweepSome() { return false; }
  // What was not upserted since BeginList() is gone. From here on the collection is synced.
  virtual void EndList() = 0;
  // Called when the state below changes (synced, failing, healed), for logs, metrics and readiness.
  virtual void OnState() {}
};

struct ReflectorOptions {
  api::GroupVersionResource resource;
  // Dotted paths. If all are below metadata, or none is given, only metadata is asked for
  // (PartialObjectMetadata). uid, name, namespace and resourceVersion always come.
  std::vector<std::string> fields;
  std::string ns;              // "": all namespaces
  std::string field_selector;  // "metadata.name=x"; "": the whole collection
  bool protobuf = true;        // asked for where it can be read, before JSON
  std::size_t page_size = 500;
  std::size_t max_object_bytes = std::size_t{16} << 20;
  std::chrono::seconds watch_timeout_min{300};  // timeoutSeconds is drawn from [min, 2 min)
  std::chrono::seconds idle_timeout{150};       // no byte for so long: reopen the watch
  std::chrono::seconds list_idle_timeout{60};
  base::BackoffOptions backoff;
  std::uint64_t seed = 0;                       // of jitter; 0: random
  metrics::InformerMetrics* metrics = nullptr;  // outlives the reflector
};

struct ReflectorState {
  bool synced = false;                 // a complete list reached the sink
  std::string resource_version;        // "" before the first list
  std::optional<base::Error> trouble;  // why it is not making progress; nullopt when it is
  base::TimePoint current_as_of{};     // when list, event, bookmark or healthy watch was last seen
  WatchGap gap;                        // what was stored in it may not have reached the sink
  std::uint64_t lists = 0;
  std::uint64_t watches = 0;
  std::uint64_t events = 0;    // bookmarks included
  std::uint64_t failures = 0;  // lists and watches
  std::uint64_t skipped = 0;   // objects without uid or name
};

class Reflector {
 public:
  virtual ~Reflector() = default;
  // Runs until cancelled.
  virtual base::Task<void> Run() = 0;
  // The place in history is given up, and the watch that is open: the server was put back to an
  // earlier state, as somebody has noticed.
  virtual void Relist() = 0;
  [[nodiscard]] virtual const ReflectorState& state() const = 0;
};

std::unique_ptr<Reflector> NewReflector(client::ApiClient& client, base::Scheduler& scheduler,
                                        CollectionSink& sink, ReflectorOptions options);

// One complete, consistent list, page by page, every object that has a uid handed to `object`;
// returns the list's resourceVersion. For the resync. When the server loses the place between two
// pages the list is started over and objects come again: `restart` is called before that; without
// it, that is an error (kExpired).
base::Task<base::Result<std::string>> ListAll(client::ApiClient& client, ReflectorOptions options,
                                              std::function<void(const json::Value&)> object,
                                              std::function<void()> restart = nullptr);

}  // namespace informers
