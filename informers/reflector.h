#pragma once

// Keeps a sink equal to one collection on the API server: a paged list, then a watch. A broken
// watch resumes from its last version. The collection is listed again only when that version is no
// longer available. The same in Go: client-go v0.36.3, tools/cache/reflector.go.
//
// Guarantees:
// - The sink gets every object of a complete list between BeginList() and EndList(), then events in
//   order.
// - The resource version advances only after the sink has the event.
// - A list that fails half-way does not call EndList().
// - Every retry without progress waits with backoff.
// - A watch that is silent for too long is reopened. If the server was restored to a state older
//   than our version, the collection is listed again, because such a watch shows nothing.
// - A server that sends slowly is not waited for without end: lists have deadlines (lister.h), and
// a
//   watch must complete an event that it began within a minute. A list that replaces a known state
//   is reported as trouble after a minute, because nothing is followed while it runs.
//
// Unknown state is never taken for deletion. While lists or watches fail, for whatever reason, the
// sink keeps what it has, and state().trouble has the cause. An object larger than max_object_bytes
// makes only its own collection stale (the API server refuses objects a tenth of the default). An
// object without uid or name is left out, logged once and counted.
//
// Single-threaded. The client, sink and scheduler must outlive Run().

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "informers/watch_gap.h"
#include "pkg/api/resource.h"
#include "pkg/base/asio.h"
#include "pkg/base/backoff.h"
#include "pkg/base/error.h"
#include "pkg/base/gate.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/json/projection.h"
#include "pkg/json/value.h"

namespace metrics {
class InformerMetrics;
}

namespace informers {

// Receives a collection. Calls come one at a time and must not block.
class CollectionSink {
 public:
  virtual ~CollectionSink() = default;
  // A complete list follows. Called again before EndList() if a list failed half-way.
  virtual void BeginList() = 0;
  // The projected object from a list, or from an ADDED or MODIFIED event. It has metadata.uid.
  virtual void Upsert(const json::Value& object) = 0;
  // The last state of the object, from a DELETED event.
  virtual void Remove(const json::Value& object) = 0;
  // All objects of the list were passed. The list has this version.
  virtual void OnListed(std::string_view /*version*/) {}
  // Removes some of the objects that were not upserted since BeginList(). Called before EndList()
  // until it returns false, so that a very large sink yields the event loop between steps.
  virtual bool SweepSome() { return false; }
  // Everything that was not upserted since BeginList() is gone. From now on the collection is
  // synced.
  virtual void EndList() = 0;
  // Called when the state below changes (synced, failing, recovered), for logs, metrics and
  // readiness.
  virtual void OnState() {}
  // True if the sink has learned something beside the reflector that no event has shown yet. After
  // an outage the collection is then listed again: the server may have been restored to just the
  // version that the watch has reached.
  [[nodiscard]] virtual bool IsAhead() const { return false; }
};

struct ReflectorOptions {
  api::GroupVersionResource resource;
  // Dotted paths. If all of them are below metadata, or the list is empty, only metadata is
  // requested (PartialObjectMetadata). uid, name, namespace and resourceVersion are always
  // included.
  std::vector<std::string> fields;
  std::string ns = {};              // "": all namespaces
  std::string field_selector;       // "metadata.name=x"; "": the whole collection
  std::string label_selector = {};  // "app=web,!canary"; "": the whole collection
  bool protobuf = true;             // prefer it to JSON where it can be decoded
  std::size_t page_size = 500;      // 0: no limit
  std::size_t max_object_bytes = std::size_t{16} << 20;
  std::chrono::seconds watch_timeout_min{300};  // timeoutSeconds is drawn from [min, 2 min)
  std::chrono::seconds idle_timeout{150};       // reopen a watch after so long without a byte
  std::chrono::seconds list_idle_timeout{60};
  // A page that takes longer, or is slower than progress.h allows, fails. So does a list, with all
  // its pages and restarts. A million objects are 2000 pages.
  std::chrono::seconds list_page_timeout{600};
  std::chrono::seconds list_timeout{3600};
  base::BackoffOptions backoff;
  // Bounds how many collections are listed at once; must outlive the reflector; nullptr: no bound.
  // A list waits for its turn no longer than kLongestTurn, because others may hang.
  base::Gate* lists = nullptr;
  std::uint64_t seed = 0;                       // for jitter; 0: random
  metrics::InformerMetrics* metrics = nullptr;  // must outlive the reflector
};

struct ReflectorState {
  bool synced = false;                 // the sink has had a complete list
  std::string resource_version;        // "" before the first list
  std::optional<base::Error> trouble;  // why there is no progress; nullopt while there is
  // The last answer that tells whether we may list and watch was no (403). Remains during an
  // outage.
  bool forbidden = false;
  // The last event, bookmark, or opening of a watch; or the request of the last complete list.
  base::TimePoint current_as_of{};
  WatchGap gap;  // events stored during it may not have reached the sink
  std::uint64_t lists = 0;
  std::uint64_t watches = 0;
  std::uint64_t events = 0;    // bookmarks included
  std::uint64_t failures = 0;  // lists and watches
  std::uint64_t skipped = 0;   // objects without uid or name
};

inline constexpr std::chrono::seconds kLongestTurn{3};

class Reflector {
 public:
  virtual ~Reflector() = default;
  // Runs until cancelled.
  virtual base::Task<void> Run() = 0;
  // Gives up the current version and the open watch, and lists again. Call when the server is known
  // to have been restored to an earlier state.
  virtual void Relist() = 0;
  // Ends the open watch, and opens one from the same version. Call when the server is known to have
  // an object that the watch has not shown: its connection may be open and lead nowhere.
  virtual void Reopen() = 0;
  [[nodiscard]] virtual const ReflectorState& state() const = 0;
};

std::unique_ptr<Reflector> NewReflector(client::ApiClient& client, base::Scheduler& scheduler,
                                        CollectionSink& sink, ReflectorOptions options);

// Reads one complete, consistent list page by page, for the resync. Passes every object that has a
// uid and a name to `object`, and returns the list's resourceVersion. If a continue token expires,
// the list starts over after a call of `restart`, and objects are passed again. Without `restart`,
// an expired token is an error (kExpired).
base::Task<base::Result<std::string>> ListAll(client::ApiClient& client, const base::Clock& clock,
                                              ReflectorOptions options,
                                              std::function<void(const json::Value&)> object,
                                              std::function<void()> restart = nullptr);

}  // namespace informers
