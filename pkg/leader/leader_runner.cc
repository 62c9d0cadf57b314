#include "pkg/leader/leader_runner.h"

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "pkg/json/value.h"

namespace leader {
namespace {

using base::ErrorCode;
using std::chrono::milliseconds;

// Releasing only helps the next leader, so it must not delay a stop for longer.
constexpr std::chrono::seconds kReleaseTime{3};
constexpr int kReleaseTries = 3;

}  // namespace

LeaderRunner::LeaderRunner(base::Scheduler& scheduler, client::ApiClient& client,
                           client::EventRecorder* events, LeaderOptions options)
    : scheduler_(scheduler),
      events_(events),
      options_(std::move(options)),
      elector_(options_.elector),
      lock_(client, options_.lease, options_.labels),
      alarm_(scheduler.NewAlarm()) {}

base::TimePoint LeaderRunner::Now() const {
  return options_.now ? options_.now() : scheduler_.Now();
}

milliseconds LeaderRunner::Left(base::TimePoint by) const {
  return std::max(milliseconds(1), std::chrono::duration_cast<milliseconds>(by - Now()));
}

base::Duration LeaderRunner::Overdue() const {
  if (!led_ || !elector_.why_lost().empty()) return base::Duration::zero();
  return std::max(base::Duration::zero(), Now() - elector_.valid_until());
}

base::Task<void> LeaderRunner::Run() {
  co_await base::DeferCancellation();
  while (!co_await base::Stopping()) {
    const Step step = elector_.Next(Now(), scheduler_.WallNow());
    if (step.kind == Step::Kind::kLost) {
      LOG(ERROR) << "leader election: the lease is lost lease=" << lock_.key().ToString()
                 << " why=" << json::Quote(elector_.why_lost());
      Say("stopped leading");
      if (options_.on_lost) options_.on_lost(elector_.why_lost());
      co_return;
    }
    co_await Do(step);
    Tell();
  }
  // The cancellation that ended the loop must not cut the release short.
  co_await base::IgnoreCancellation();
  co_await Release();
}

base::Task<void> LeaderRunner::Do(Step step) {
  if (step.kind == Step::Kind::kWait) {
    // The alarm uses the scheduler's clock, which may stand still while the machine is suspended.
    co_await alarm_->WaitUntil(scheduler_.Now() + (step.by - Now()));
    co_return;
  }
  const milliseconds left = Left(step.by);
  if (step.kind == Step::Kind::kRead) {
    const auto read = co_await lock_.Read(left);
    if (!read) {
      Complain(read_trouble_, read.error());
      co_return elector_.OnFailed(Now());
    }
    Recover(read_trouble_);
    co_return elector_.OnRead(Now(), *read);
  }
  if (step.kind == Step::Kind::kCreate) {
    const auto created = co_await lock_.Create(std::move(step.record), left);
    co_return AfterWrite(created);
  }
  const auto updated = co_await lock_.Update(std::move(step.record), left);
  AfterWrite(updated);
}

void LeaderRunner::AfterWrite(const base::Result<LeaseRecord>& stored) {
  if (stored) {
    Recover(write_trouble_);
    return elector_.OnWritten(Now(), *stored);
  }
  const base::Error& error = stored.error();
  // Another candidate was faster, which is no trouble.
  const bool raced = error.Is(ErrorCode::kConflict) || error.Is(ErrorCode::kAlreadyExists);
  if (!raced) Complain(write_trouble_, error);
  elector_.OnFailed(Now());
}

void LeaderRunner::Complain(base::Reminder& trouble, const base::Error& error) {
  if (error.Is(ErrorCode::kCancelled)) return;
  if (!trouble.Meet(base::ToString(error.code), Now())) return;
  LOG(ERROR) << "leader election: cannot use the lease, retrying lease=" << lock_.key().ToString()
             << " error=" << json::Quote(error.message);
}

void LeaderRunner::Recover(base::Reminder& trouble) {
  if (!trouble.Solve()) return;
  LOG(INFO) << "leader election: the lease can be used again lease=" << lock_.key().ToString();
}

void LeaderRunner::Tell() {
  if (Leads()) {
    if (std::exchange(led_, true)) return;
    LOG(INFO) << "leader election: became leader lease=" << lock_.key().ToString()
              << " identity=" << options_.elector.identity;
    Say("became leader");
    if (options_.on_started_leading) options_.on_started_leading();
    return;
  }
  const std::string& holder = elector_.holder();
  const bool others = !holder.empty() && holder != options_.elector.identity;
  if (led_ || !others || std::exchange(holder_, holder) == holder) return;
  LOG(INFO) << "leader election: following lease=" << lock_.key().ToString()
            << " holder=" << holder;
}

void LeaderRunner::Say(const std::string& what) {
  if (!led_ || events_ == nullptr) return;
  events_->Record({.about = lock_.Reference(),
                   .type = client::EventType::kNormal,
                   .reason = "LeaderElection",
                   .message = options_.elector.identity + " " + what});
}

base::Task<void> LeaderRunner::Release() {
  const bool leads = Leads();
  // First, so that Leads() is false before another candidate can take the lease.
  elector_.Resign();
  if (!leads) co_return;
  Say("stopped leading");
  const base::TimePoint by = Now() + kReleaseTime;
  for (int i = 0; i < kReleaseTries; ++i) {
    // The server may have stored a renewal whose answer was lost, so read the version again.
    const auto read = co_await lock_.Read(Left(by));
    const bool ours = read && *read && (*read)->holder == options_.elector.identity;
    if (read && !ours) co_return;
    if (!read) break;
    const LeaseRecord released = Released(**read, scheduler_.WallNow());
    const auto written = co_await lock_.Update(released, Left(by));
    if (written) {
      LOG(INFO) << "leader election: released the lease lease=" << lock_.key().ToString();
      co_return;
    }
    if (!written.error().Is(ErrorCode::kConflict)) break;
  }
  LOG(WARNING) << "leader election: could not release the lease, it will expire lease="
               << lock_.key().ToString();
}

base::TimePoint NowWithSuspend() {
  timespec time{};
  CHECK_EQ(clock_gettime(CLOCK_BOOTTIME, &time), 0);
  return base::TimePoint(std::chrono::seconds(time.tv_sec) +
                         std::chrono::nanoseconds(time.tv_nsec));
}

std::string NewIdentity(const std::string& host) {
  std::random_device random;
  std::array<char, 33> text{};
  for (std::size_t i = 0; i < 4; ++i) {
    std::snprintf(text.data() + 8 * i, 9, "%08x", static_cast<unsigned>(random()));
  }
  return host + "_" + text.data();
}

}  // namespace leader
