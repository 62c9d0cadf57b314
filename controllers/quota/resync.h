#pragma once

// The periodic resync. Compares every watched resource with a fresh list, one after the other and
// spread over the period. Then every quota is recounted. Single-threaded.

#include <functional>
#include <memory>
#include <optional>

#include "controllers/quota/base/controller_options.h"
#include "controllers/quota/events/once_log.h"
#include "controllers/usage/tracker.h"

namespace controllers {

class Resync {
 public:
  // All references must outlive it. `recount_all` is called after each round.
  Resync(base::Scheduler& scheduler, const Tracker& tracker, OnceLog& log_once,
         ControllerObserver& observer, const QuotaControllerOptions& options,
         std::function<void()> recount_all)
      : scheduler_(scheduler),
        tracker_(tracker),
        log_once_(log_once),
        observer_(observer),
        options_(options),
        recount_all_(std::move(recount_all)) {}

  // Runs until cancelled.
  base::Task<void> Run();

 private:
  // Each watched resource is resynced once in a round.
  struct Round {
    std::optional<api::GroupResource> last;  // the last resource that was resynced
    bool complete = true;
    base::Duration took{};
  };
  // Resyncs the next resource, and ends the round after the last one.
  base::Task<void> Next(Round& round);
  base::Task<bool> One(std::shared_ptr<TrackedResource> tracked);

  base::Scheduler& scheduler_;
  const Tracker& tracker_;
  OnceLog& log_once_;
  ControllerObserver& observer_;
  const QuotaControllerOptions& options_;
  std::function<void()> recount_all_;
};

}  // namespace controllers
