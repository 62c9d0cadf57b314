#include "tests/pkg/leader/leader_simulation.h"

#include <algorithm>
#include <utility>

namespace leader_simulation {

using leader::Elector;
using leader::ElectorOptions;
using leader::Step;
using Kind = leader::Step::Kind;
using namespace std::chrono_literals;

struct Simulation::Process {
  Process(ElectorOptions options, base::Duration clock_ahead, double clock_rate)
      : elector(std::move(options)), ahead(clock_ahead), rate(clock_rate) {}

  [[nodiscard]] base::TimePoint Clock(Time now) const {
    return base::TimePoint(ahead + std::chrono::duration_cast<base::Duration>(now * rate));
  }
  // The true time at which this process's clock shows `point`, or shortly after it.
  [[nodiscard]] Time TimeOf(base::TimePoint point) const {
    return std::chrono::duration_cast<Time>((point.time_since_epoch() - ahead) / rate) + 1us;
  }
  [[nodiscard]] bool Leads(Time now) const { return elector.Leads(Clock(now)); }

  Elector elector;
  base::Duration ahead;
  double rate;
  std::int64_t seen_version = 0;  // of what it last read or wrote
  int exchange = 0;               // the current one; answers to earlier ones are dropped
  Time stopped_until{};
  bool ended = false;
};

Simulation::Simulation(std::uint64_t seed, int processes, const ElectorOptions& options,
                       Faults faults)
    : random_(seed), faults_(faults) {
  for (int i = 0; i < processes; ++i) Add(options);
}
Simulation::~Simulation() = default;

int Simulation::RunUntil(Time end) {
  int most = 0;
  while (!events_.empty() && events_.begin()->first <= end) {
    now_ = std::max(now_, events_.begin()->first);
    const auto event = std::move(events_.begin()->second);
    events_.erase(events_.begin());
    most = std::max(most, Leaders());  // leadership may have ended by the clock alone
    event();
    most = std::max(most, Leaders());
  }
  now_ = end;
  return most;
}

int Simulation::Leaders() const {
  return static_cast<int>(std::count_if(processes_.begin(), processes_.end(),
                                        [&](const auto& p) { return p->Leads(now_); }));
}

double Simulation::Uniform(double from, double to) {
  return std::uniform_real_distribution<double>(from, to)(random_);
}

Time Simulation::Milliseconds(double from, double to) {
  return std::chrono::microseconds(static_cast<std::int64_t>(Uniform(from, to) * 1000));
}

Time Simulation::Way() { return Milliseconds(0.1, Happens(faults_.slow) ? 8'000 : 30); }

void Simulation::Add(ElectorOptions options) {
  options.identity = "p" + std::to_string(processes_.size());
  options.seed = random_();
  const auto ahead = std::chrono::seconds(static_cast<std::int64_t>(Uniform(1e5, 1e7)));
  processes_.push_back(std::make_shared<Process>(
      options, ahead, Uniform(faults_.slowest_clock, faults_.fastest_clock)));
  const std::size_t index = processes_.size() - 1;
  At(now_ + Milliseconds(0, 3000), [this, index] { Continue(index); });
}

void Simulation::In(std::size_t index, Time when, std::function<void()> what) {
  At(when, [this, index, what = std::move(what)] {
    const Process& p = *processes_[index];
    if (p.ended) return;
    if (p.stopped_until > now_) return In(index, p.stopped_until, what);
    what();
  });
}

void Simulation::Continue(std::size_t index) {
  Process& p = *processes_[index];
  if (p.ended) return;
  if (Happens(faults_.stop)) {
    p.stopped_until = now_ + Milliseconds(0, 40'000);
    return In(index, p.stopped_until, [this, index] { Continue(index); });
  }
  const base::WallTime wall(
      std::chrono::duration_cast<base::WallTime::duration>(p.Clock(now_).time_since_epoch()));
  const Step step = p.elector.Next(p.Clock(now_), wall);
  if (step.kind == Kind::kLost) {
    p.ended = true;
    ++restarts_;
    return Add(p.elector.options());
  }
  if (step.kind == Kind::kWait) {
    return In(index, std::max(p.TimeOf(step.by), now_ + 1us), [this, index] { Continue(index); });
  }
  Ask(index, step);
}

void Simulation::Ask(std::size_t index, const Step& step) {
  Process& p = *processes_[index];
  const int exchange = ++p.exchange;
  const Time arrives = now_ + Way();
  const Time returns = arrives + Way();
  // The server may perform a request long after nobody waits for it any more.
  if (!Happens(faults_.lost_request)) {
    const bool answered = !Happens(faults_.lost_answer);
    const std::int64_t version = p.seen_version;
    At(arrives, [=, this] { Serve(index, exchange, step, version, returns, answered); });
  }
  In(index, std::max(p.TimeOf(step.by), now_ + 1us), [&p, index, exchange, this] {
    Answer(index, exchange, [&p, this] { p.elector.OnFailed(p.Clock(now_)); });
  });
}

void Simulation::Serve(std::size_t index, int exchange, const Step& step, std::int64_t version,
                       Time returns, bool answered) {
  const bool write = step.kind != Kind::kRead;
  const bool free =
      step.kind == Kind::kCreate ? !server_.lease : server_.lease && server_.version == version;
  if (write && free) {
    server_.lease = step.record;
    ++server_.version;
  }
  if (!answered) return;
  const Server answer = server_;
  const bool done = !write || free;
  In(index, returns,
     [=, this] { Answer(index, exchange, [=, this] { Take(index, answer, write, done); }); });
}

void Simulation::Take(std::size_t index, const Server& answer, bool write, bool done) {
  Process& p = *processes_[index];
  if (!done) return p.elector.OnFailed(p.Clock(now_));
  p.seen_version = answer.version;
  if (write) return p.elector.OnWritten(p.Clock(now_), *answer.lease);
  p.elector.OnRead(p.Clock(now_), answer.lease);
}

void Simulation::Answer(std::size_t index, int exchange, const std::function<void()>& take) {
  Process& p = *processes_[index];
  if (p.exchange != exchange) return;
  ++p.exchange;
  take();
  Continue(index);
}

}  // namespace leader_simulation
