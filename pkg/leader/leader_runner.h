#pragma once

// Keeps one Lease for this process: acquires it, renews it, gives it back. One that lost it stays
// without: the process is to end and start anew.
//
// Leads() looks at the clock each time it is asked, so that a process that slept, or was stopped
// for long, does no leader's work before it has noticed: ask right before every write. It says
// false from the moment the lease may be another's, not only from when on_lost is called.
//
// Trouble with the lease is logged once for each kind of it. "<identity> became leader" and "…
// stopped leading" are events on the Lease.
//
// Single-threaded. What it is given outlives it; Run() must have returned before it is destroyed.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "pkg/base/scheduler.h"
#include "pkg/leader/elector.h"
#include "pkg/leader/lease_lock.h"

namespace leader {

struct LeaderOptions {
  api::ObjectKey lease;
  std::map<std::string, std::string> labels;  // of a Lease that is made here
  ElectorOptions elector;
  // A clock that also counts the time the machine was suspended. Null: the scheduler's.
  std::function<base::TimePoint()> now;
  // All may be null. They run on the thread of Run() and must not wait.
  std::function<void()> on_started_leading;
  std::function<void(const std::string& why)> on_lost;  // also where it never led any more
};

class LeaderRunner {
 public:
  // `events` may be null.
  LeaderRunner(base::Scheduler& scheduler, client::ApiClient& client, client::EventRecorder* events,
               LeaderOptions options);

  // Returns when the lease is lost, or when cancelled; then a lease that is held is given back,
  // within seconds. Leader's work must have ended before it is cancelled.
  base::Task<void> Run();

  [[nodiscard]] bool Leads() const { return elector_.Leads(Now()); }
  // Who holds the lease as far as is known; "" if nobody.
  [[nodiscard]] const std::string& Holder() const { return elector_.holder(); }
  // How long ago the lease ended that we still believed to hold when we last looked; zero if it did
  // not. More than an instant means that this process is stuck.
  [[nodiscard]] base::Duration Overdue() const;
  [[nodiscard]] const LeaderOptions& options() const { return options_; }

 private:
  [[nodiscard]] base::TimePoint Now() const;
  [[nodiscard]] std::chrono::milliseconds Left(base::TimePoint by) const;
  base::Task<void> Do(Step step);
  base::Task<void> Release();
  void AfterWrite(const base::Result<LeaseRecord>& stored);
  void Complain(std::string& said, const base::Error& error);
  void Recover(std::string& said);
  void Tell();
  void Say(const std::string& what);

  base::Scheduler& scheduler_;
  client::EventRecorder* events_;
  LeaderOptions options_;
  Elector elector_;
  LeaseLock lock_;
  std::unique_ptr<base::Alarm> alarm_;
  bool led_ = false;           // and said so
  std::string read_trouble_;   // said last; "" when all is well
  std::string write_trouble_;  // the same
  std::string holder_;         // said last
};

// The clock that goes on while the machine sleeps.
base::TimePoint NowWithSuspend();

// "<host>_<random>": no other process's.
std::string NewIdentity(const std::string& host);

}  // namespace leader
