#pragma once

// What follows from whether the API server answers: a replica that cannot use it is not ready, so
// that reviews go to the others (also those on connections that are kept), and one whose
// credentials have ended ends, because some are read only once (those in a kubeconfig). A leader
// ends before that, when it loses its lease.
//
// Watches may be silent for a minute, and a daemon without leader election may ask nothing else. So
// this asks for something whenever nothing was answered for some seconds, or for one second while
// the server does not answer: trouble is noticed, and its end at once. A request that always fails
// for a reason of its own, such as an answer that is too large, does not look like trouble then.
//
// Single-threaded. Constructor arguments must outlive it; Run() must have returned before it is
// destroyed.

#include <functional>

#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/client/reachability.h"
#include "pkg/debug/health.h"

namespace manager {

struct ServerContactCallbacks {
  std::function<void(bool)> on_contact;  // with false: the server does not answer; true: it does
  std::function<void()> on_refused;      // called once: credentials have ended
};

class ServerContact {
 public:
  // `reachability` learns from `client`.
  ServerContact(base::Scheduler& scheduler, client::ApiClient& client,
                const client::Reachability& reachability, ServerContactCallbacks callbacks)
      : scheduler_(scheduler),
        client_(client),
        reachability_(reachability),
        callbacks_(std::move(callbacks)) {}

  // Adds a check that fails while the API server does not answer.
  void AddChecks(debug::Health& health);
  // Runs until credentials have ended, or until cancelled.
  base::Task<void> Run();

 private:
  void Tell();  // what has changed

  base::Scheduler& scheduler_;
  client::ApiClient& client_;
  const client::Reachability& reachability_;
  ServerContactCallbacks callbacks_;
  bool lost_ = false;
};

}  // namespace manager
