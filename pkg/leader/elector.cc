#include "pkg/leader/elector.h"

#include <glog/logging.h>

#include <algorithm>
#include <limits>

#include "pkg/api/time.h"
#include "pkg/base/duration.h"

namespace leader {
namespace {

using std::chrono::duration_cast;

// The deadline of one request. Two requests fit into one renew deadline.
base::Duration RequestTimeout(const ElectorOptions& options) {
  return std::max<base::Duration>(std::chrono::seconds(1), options.renew_deadline / 2);
}

// Rounds up: others must not wait for less than the lease that we rely on.
std::int64_t WholeSeconds(base::Duration duration) {
  return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

}  // namespace

Elector::Elector(ElectorOptions options) : options_(std::move(options)), random_(options_.seed) {}

Step Elector::Next(base::TimePoint now, base::WallTime wall) {
  if (leads_ && now >= valid_until_) {
    Lose("it was not renewed for " + base::FormatDuration(options_.renew_deadline));
  }
  if (!why_lost_.empty()) return {.kind = Step::Kind::kLost};
  if (todo_ == Todo::kWait && now < next_try_) {
    return {.kind = Step::Kind::kWait,
            .by = leads_ ? std::min(next_try_, valid_until_) : next_try_};
  }
  if (todo_ == Todo::kWait) {
    // A leader renews without a read, and reads only after that failed (client-go's fast path).
    quick_ = leads_;
    todo_ = quick_ ? Todo::kWrite : Todo::kRead;
  }
  base::TimePoint by = now + RequestTimeout(options_);
  if (leads_) by = std::min(by, valid_until_);
  if (todo_ == Todo::kRead) return {.kind = Step::Kind::kRead, .by = by};
  // The lease begins here, not at the answer: a slow answer must not lengthen it.
  sent_ = now;
  return Write(by, wall);
}

Step Elector::Write(base::TimePoint by, base::WallTime wall) {
  Step step{.kind = exists_ ? Step::Kind::kUpdate : Step::Kind::kCreate, .by = by};
  LeaseRecord& record = step.record;
  record.holder = options_.identity;
  record.duration_seconds = WholeSeconds(options_.lease_duration);
  record.renew_time = api::FormatMicroTime(wall);
  record.acquire_time = record.renew_time;
  if (!exists_) return step;
  record.transitions = observed_.transitions;
  if (observed_.holder != options_.identity) {
    // Stop at the API's int32 maximum: a larger number would be refused, and nobody could lead.
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    record.transitions = std::min(record.transitions, kMost - 1) + 1;
  } else if (!observed_.acquire_time.empty()) {
    record.acquire_time = observed_.acquire_time;
  }
  return step;
}

void Elector::Observe(base::TimePoint now, const LeaseRecord& record) {
  // An unchanged record keeps its first time: its age counts from when it was first seen here.
  if (exists_ && observed_ == record) return;
  exists_ = true;
  observed_ = record;
  observed_at_ = now;
}

// A record without a duration was not written by the protocol. It is honoured for as long as ours.
bool Elector::IsOthers(base::TimePoint now) const {
  if (observed_.holder.empty() || observed_.holder == options_.identity) return false;
  // API servers store at most this; a larger number would overflow the clock's count.
  constexpr std::int64_t kLongest = std::numeric_limits<std::int32_t>::max();
  const std::int64_t seconds = std::min(observed_.duration_seconds, kLongest);
  const base::Duration duration =
      seconds > 0 ? std::chrono::seconds(seconds) : options_.lease_duration;
  return now < observed_at_ + duration;
}

void Elector::OnRead(base::TimePoint now, const std::optional<LeaseRecord>& stored) {
  CHECK(todo_ == Todo::kRead) << "the lease was read, and Next() did not ask for it";
  if (stored) {
    Observe(now, *stored);
  } else {
    exists_ = false;  // deleted, but its holder may not know yet and still leads
  }
  const bool others = IsOthers(now);
  if (!leads_) return others ? Fail(now) : void(todo_ = Todo::kWrite);
  // The new holder may already lead, however much time our own lease has left.
  const bool taken = stored && !stored->holder.empty() && stored->holder != options_.identity;
  if (taken) return Lose("it is held by " + stored->holder);
  todo_ = Todo::kWrite;
}

void Elector::OnWritten(base::TimePoint now, const LeaseRecord& stored) {
  CHECK(todo_ == Todo::kWrite) << "the lease was written, and Next() did not ask for it";
  CHECK(why_lost_.empty()) << "the lease is written again after it was lost: " << why_lost_;
  Observe(now, stored);
  if (stored.holder != options_.identity) return Fail(now);
  const base::TimePoint until = sent_ + options_.renew_deadline;
  // The answer came after the lease ended.
  if (now >= (leads_ ? valid_until_ : until)) return Fail(now);
  CHECK(!leads_ || until >= valid_until_) << "a renewal shortens the lease: the clock went back";
  leads_ = true;
  valid_until_ = until;
  todo_ = Todo::kWait;
  next_try_ = sent_ + options_.retry_period;
}

void Elector::OnFailed(base::TimePoint now) {
  CHECK(todo_ != Todo::kWait) << "a request failed that Next() did not ask for";
  // After a failed renewal without a read, read at once: the Lease may only have a newer version.
  const bool look = todo_ == Todo::kWrite && quick_;
  quick_ = false;
  if (!look) return Fail(now);
  todo_ = Todo::kRead;
}

void Elector::Fail(base::TimePoint now) {
  todo_ = Todo::kWait;
  // Candidates spread their tries by jitter; a leader renews in time.
  std::uniform_real_distribution<double> stretch(1.0, 1.0 + kJitter);
  const double periods = leads_ ? 1.0 : stretch(random_);
  next_try_ = now + duration_cast<base::Duration>(options_.retry_period * periods);
}

void Elector::Resign() { Lose("it was released"); }

void Elector::Lose(std::string why) {
  leads_ = false;
  if (why_lost_.empty()) why_lost_ = std::move(why);
}

LeaseRecord Released(const LeaseRecord& stored, base::WallTime wall) {
  const std::string now = api::FormatMicroTime(wall);
  return {.holder = "",
          .duration_seconds = 1,
          .acquire_time = now,
          .renew_time = now,
          .transitions = stored.transitions};
}

}  // namespace leader
