#pragma once

// Holds one Lease for this process: acquires, renews and releases it. After a loss it does not try
// again: the process must end and start anew.
//
// Leads() reads the clock on every call, so a process that was suspended or stopped for long does
// no leader-only work after it resumes. Call it right before every write. It is false from the
// moment at which another may hold the lease, even before on_lost is called.
//
// Trouble with the lease is logged once for each error code. "<identity> became leader" and "…
// stopped leading" are events on the Lease.
//
// Single-threaded. Constructor arguments must outlive it. Run() must have returned before it is
// destroyed.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "pkg/base/reminder.h"
#include "pkg/base/scheduler.h"
#include "pkg/leader/elector.h"
#include "pkg/leader/lease_lock.h"

namespace leader {

struct LeaderOptions {
  api::ObjectKey lease;
  std::map<std::string, std::string> labels;  // of a Lease that this process creates
  ElectorOptions elector;
  // A clock that advances while the machine is suspended. Null: the scheduler's clock.
  std::function<base::TimePoint()> now;
  // Each may be null. They run on the thread of Run() and must not block.
  std::function<void()> on_started_leading;
  std::function<void(const std::string& why)> on_lost;  // also if it never led
};

class LeaderRunner {
 public:
  // `events` may be null.
  LeaderRunner(base::Scheduler& scheduler, client::ApiClient& client, client::EventRecorder* events,
               LeaderOptions options);

  // Returns when the lease is lost, or on cancellation. A cancelled leader releases its lease,
  // within seconds, so leader-only work must have ended before.
  base::Task<void> Run();

  [[nodiscard]] bool Leads() const { return elector_.Leads(Now()); }
  // The last known holder; "" if nobody.
  [[nodiscard]] const std::string& Holder() const { return elector_.holder(); }
  // How long ago our lease ended while Run() has not noticed; else zero. A larger value means that
  // this process is stuck.
  [[nodiscard]] base::Duration Overdue() const;
  [[nodiscard]] const LeaderOptions& options() const { return options_; }

 private:
  [[nodiscard]] base::TimePoint Now() const;
  [[nodiscard]] std::chrono::milliseconds Left(base::TimePoint by) const;
  base::Task<void> Do(Step step);
  base::Task<void> Release();
  void AfterWrite(const base::Result<LeaseRecord>& stored);
  void Complain(base::Reminder& trouble, const base::Error& error);
  void Recover(base::Reminder& trouble);
  void Tell();
  void Say(const std::string& what);

  base::Scheduler& scheduler_;
  client::EventRecorder* events_;
  LeaderOptions options_;
  Elector elector_;
  LeaseLock lock_;
  std::unique_ptr<base::Alarm> alarm_;
  bool led_ = false;  // it led, and this was logged
  base::Reminder read_trouble_;
  base::Reminder write_trouble_;
  std::string holder_;  // logged last
};

// A clock that advances while the machine is suspended.
base::TimePoint NowWithSuspend();

// Returns "<host>_<random>", unique for this process.
std::string NewIdentity(const std::string& host);

}  // namespace leader
