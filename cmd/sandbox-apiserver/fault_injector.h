#pragma once

// Applies faults: takes them at /sandbox/faults, acts at once or waits for the requests that they
// match, and spoils the answers to these.
//
// Single-threaded; constructor arguments outlive it.

#include <optional>

#include "cmd/sandbox-apiserver/faults.h"
#include "cmd/sandbox-apiserver/objects.h"
#include "cmd/sandbox-apiserver/watch_server.h"
#include "pkg/base/asio.h"
#include "pkg/base/scheduler.h"
#include "pkg/http/message.h"
#include "pkg/http/server.h"

namespace sandbox {

class FaultInjector {
 public:
  FaultInjector(Objects& objects, WatchServer& watches, base::Scheduler& scheduler)
      : objects_(objects), watches_(watches), scheduler_(scheduler) {}

  // POST, GET and DELETE of /sandbox/faults.
  http::Response Answer(const http::Request& request);

  // The fault for this request, if there is one; it is used up by this.
  std::optional<Fault> Take(Verb verb, const ResourcePath& path) { return table_.Take(verb, path); }
  [[nodiscard]] const StaleGroups& stale_groups() const { return table_.stale_groups(); }

  // The answer of a fault kAnswer.
  static http::Response AnswerOf(const Fault& fault);
  // Sends the answer as any other fault wants it.
  base::Task<void> Send(http::Response response, Fault fault, http::ResponseWriter& writer);

 private:
  void Apply(const Fault& fault);

  Objects& objects_;
  WatchServer& watches_;
  base::Scheduler& scheduler_;
  FaultTable table_;
};

}  // namespace sandbox
