#pragma once

// Knows whether admission enforces the quotas of one API: for their events, and for the condition
// Ready of those that have conditions. An admin may let all requests pass, and the API server may
// lack the rules by which it asks us.
//
// All quotas learn of such a change one after the other, a hundred at once, then twenty a second,
// because each of them needs an event, or a write. Until then the condition of a quota stays as it
// is stored.
//
// Single-threaded. All references must outlive it; Run() must have returned before it is destroyed.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "controllers/quota/base/controller_options.h"
#include "controllers/quota/base/quota_store.h"
#include "controllers/usage/tracker.h"
#include "pkg/api/resource.h"
#include "pkg/base/asio.h"
#include "pkg/base/scheduler.h"
#include "pkg/base/token_bucket.h"

namespace controllers {

class EnforcementWatch {
 public:
  // What nobody decided is reported after this time: rules are often stored again in a moment.
  static constexpr base::Duration kLasts = std::chrono::seconds(10);

  // `ask` is QuotaControllerOptions::unenforced. `look` has the quota recounted, or reported.
  EnforcementWatch(base::Scheduler& scheduler, std::function<std::optional<Unenforced>()> ask,
                   const Tracker& tracker, const QuotaStore& store,
                   std::function<void(const api::ObjectKey& key)> look);

  // Why the quota is not enforced; "": it is. nullopt: what its stored condition says about it
  // holds, or without one: nothing is known yet.
  [[nodiscard]] std::optional<std::string> WhyNot(const quota::Quota& quota) const;
  // This replica writes from now on: all quotas are told again, one after the other.
  void Restart();
  // Asks and tells until cancelled.
  base::Task<void> Run();

 private:
  struct State {
    std::string why;
    std::set<api::GroupResource> resources;
    bool operator==(const State&) const = default;
  };
  void Learn(const Unenforced& now_is);

  base::Scheduler& scheduler_;
  std::function<std::optional<Unenforced>()> ask_;
  const Tracker& tracker_;
  const QuotaStore& store_;
  std::function<void(const api::ObjectKey& key)> look_;
  base::TokenBucket bucket_;
  std::optional<base::TimePoint> why_since_;
  std::map<api::GroupResource, base::TimePoint> since_;  // resources that are not asked about
  std::optional<State> state_;                           // nullopt: not known yet
  bool telling_ = false;
  QuotaStore::Place told_;  // while telling_: the quotas up to this one know state_
};

}  // namespace controllers
