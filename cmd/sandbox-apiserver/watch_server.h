#pragma once

// Streams watches: events, bookmarks, and the end after timeoutSeconds or when the client
// disconnects; as objects, metadata or tables. Knows all open watches, so that faults can be
// applied to them.
//
// Single-threaded; the objects and the scheduler outlive the streams.

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>

#include "cmd/sandbox-apiserver/exchange.h"
#include "cmd/sandbox-apiserver/faults.h"
#include "cmd/sandbox-apiserver/objects.h"
#include "pkg/base/scheduler.h"
#include "pkg/http/server.h"

namespace sandbox {

struct WatchServerOptions {
  std::chrono::nanoseconds bookmark_interval{std::chrono::minutes(1)};
  std::chrono::nanoseconds default_timeout{std::chrono::minutes(45)};
};

class WatchServer {
 public:
  WatchServer(Objects& objects, base::Scheduler& scheduler, WatchServerOptions options)
      : objects_(objects), scheduler_(scheduler), options_(options) {}

  // Answers one watch until it ends. Returns the status code of the answer. The exchange and the
  // writer must live until then.
  base::Task<int> Serve(const Exchange& exchange, http::ResponseWriter& writer);

  // Applies a fault to the open watches that it matches: kDropWatches, kSendEvent, kRepeatEvent,
  // kDelayWatch. kDelayWatch also applies to later watches.
  void Inject(const Fault& fault);
  // Call this before the history is dropped: watches that have read all events continue.
  void CatchUp();
  void ClearDelays() { delays_.clear(); }
  [[nodiscard]] std::size_t open() const { return streams_.size(); }

 private:
  struct Stream;

  base::Task<void> Run(Stream& stream);
  base::Task<bool> SendPending(Stream& stream);
  base::Task<bool> SendBookmark(Stream& stream);
  // Returns the text of all waiting events, up to a bound; "" if none waits.
  std::string NextBatch(Stream& stream);
  [[nodiscard]] std::string EventLine(Stream& stream, std::string_view type,
                                      const ObjectPtr& object) const;
  [[nodiscard]] std::string BookmarkLine(const Stream& stream, bool initial_end) const;
  [[nodiscard]] std::string FaultText(const Stream& stream, const Fault& fault) const;
  [[nodiscard]] base::TimePoint NextWake(const Stream& stream) const;
  [[nodiscard]] std::chrono::nanoseconds DelayOf(const ResourcePath& path) const;

  Objects& objects_;
  base::Scheduler& scheduler_;
  WatchServerOptions options_;
  std::list<Stream*> streams_;
  std::vector<Fault> delays_;  // kDelayWatch, newest last
};

}  // namespace sandbox
