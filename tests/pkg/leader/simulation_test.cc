// Electors compete in virtual time: clocks differ in time and rate, processes stop for a while,
// requests and answers are late or lost. Two of them must never believe at the same time that they
// lead.

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "pkg/leader/elector.h"

namespace simulation_test {

using leader::Elector;
using leader::ElectorOptions;
using leader::LeaseRecord;
using leader::Step;
using Kind = leader::Step::Kind;
using namespace std::chrono_literals;

namespace {

using Time = std::chrono::nanoseconds;  // true time since the start

struct Faults {
  double slowest_clock = 0.85;
  double fastest_clock = 1.15;
  double lost_request = 0.05;
  double lost_answer = 0.05;
  double slow = 0.2;  // the share of slow requests and answers
  double stop = 0.05;
};

// The lease on the server.
struct Server {
  std::optional<LeaseRecord> lease;
  std::int64_t version = 0;
};

struct Process {
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

class Simulation {
 public:
  Simulation(std::uint64_t seed, int processes, const ElectorOptions& options, Faults faults)
      : random_(seed), faults_(faults) {
    for (int i = 0; i < processes; ++i) Add(options);
  }

  // Runs until `end`; returns the largest number of leaders at one time.
  int RunUntil(Time end) {
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
  void StopFaults() { faults_ = {.lost_request = 0, .lost_answer = 0, .slow = 0, .stop = 0}; }
  [[nodiscard]] int Leaders() const {
    return static_cast<int>(std::count_if(processes_.begin(), processes_.end(),
                                          [&](const auto& p) { return p->Leads(now_); }));
  }
  // A process that lost the lease ends and starts again.
  int restarts = 0;
  std::int64_t transitions() const { return server_.lease ? server_.lease->transitions : 0; }

 private:
  double Uniform(double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random_);
  }
  bool Happens(double probability) { return Uniform(0, 1) < probability; }
  Time Milliseconds(double from, double to) {
    return std::chrono::microseconds(static_cast<std::int64_t>(Uniform(from, to) * 1000));
  }

  // How long a request or an answer takes.
  Time Way() { return Milliseconds(0.1, Happens(faults_.slow) ? 8'000 : 30); }

  void Add(ElectorOptions options) {
    options.identity = "p" + std::to_string(processes_.size());
    options.seed = random_();
    const auto ahead = std::chrono::seconds(static_cast<std::int64_t>(Uniform(1e5, 1e7)));
    processes_.push_back(std::make_shared<Process>(
        options, ahead, Uniform(faults_.slowest_clock, faults_.fastest_clock)));
    const std::size_t index = processes_.size() - 1;
    At(now_ + Milliseconds(0, 3000), [this, index] { Continue(index); });
  }
  void At(Time when, std::function<void()> what) { events_.emplace(when, std::move(what)); }
  // Like At(), but a stopped process does nothing.
  void In(std::size_t index, Time when, std::function<void()> what) {
    At(when, [this, index, what = std::move(what)] {
      const Process& p = *processes_[index];
      if (p.ended) return;
      if (p.stopped_until > now_) return In(index, p.stopped_until, what);
      what();
    });
  }

  void Continue(std::size_t index) {
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
      ++restarts;
      return Add(p.elector.options());
    }
    if (step.kind == Kind::kWait) {
      return In(index, std::max(p.TimeOf(step.by), now_ + 1us), [this, index] { Continue(index); });
    }
    Ask(index, step);
  }

  void Ask(std::size_t index, const Step& step) {
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

  void Serve(std::size_t index, int exchange, const Step& step, std::int64_t version, Time returns,
             bool answered) {
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

  void Take(std::size_t index, const Server& answer, bool write, bool done) {
    Process& p = *processes_[index];
    if (!done) return p.elector.OnFailed(p.Clock(now_));
    p.seen_version = answer.version;
    if (write) return p.elector.OnWritten(p.Clock(now_), *answer.lease);
    p.elector.OnRead(p.Clock(now_), answer.lease);
  }

  // The answer or the deadline, whichever is first.
  void Answer(std::size_t index, int exchange, const std::function<void()>& take) {
    Process& p = *processes_[index];
    if (p.exchange != exchange) return;
    ++p.exchange;
    take();
    Continue(index);
  }

  std::mt19937_64 random_;
  Faults faults_;
  Time now_{};
  Server server_;
  std::vector<std::shared_ptr<Process>> processes_;
  std::multimap<Time, std::function<void()>> events_;
};

// A sanitizer judges each step, not who leads, so it sees fewer schedules.
#ifdef QCM_SANITIZED
constexpr std::uint64_t kSchedules = 2'000;
#else
constexpr std::uint64_t kSchedules = 20'000;
#endif

}  // namespace

TEST_CASE("simulation: never two leaders, in 20 000 schedules", "[leader]") {
  std::uint64_t transitions = 0;
  std::uint64_t restarts = 0;
  int idle_at_end = 0;
  for (std::uint64_t seed = 1; seed <= kSchedules; ++seed) {
    Simulation s(seed, 2 + static_cast<int>(seed % 4), {}, {});
    const int most = s.RunUntil(90s);
    if (most > 1) FAIL("seed " << seed << ": " << most << " lead at one time");
    transitions += s.transitions();
    restarts += s.restarts;
    // Without faults somebody leads, whatever happened before: 40 s for processes that are still
    // stopped, 18 s for the lease by the slowest clock, and two tries.
    s.StopFaults();
    const int later = s.RunUntil(90s + 40s + 18s + 12s);
    if (later > 1) FAIL("seed " << seed << ": " << later << " lead at one time");
    idle_at_end += s.Leaders() == 1 ? 0 : 1;
  }
  CHECK(idle_at_end == 0);
  CHECK(transitions > kSchedules);  // the lease did change hands
  CHECK(restarts > kSchedules);
}

TEST_CASE("simulation: it detects two leaders", "[leader]") {
  SECTION("who counts on more time than others wait") {
    ElectorOptions careless;
    careless.renew_deadline = 20s;
    int collisions = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      Simulation s(seed, 3, careless, {});
      collisions += s.RunUntil(90s) > 1 ? 1 : 0;
    }
    CHECK(collisions > 0);
  }
  SECTION("clocks that run further apart than promised") {
    int collisions = 0;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
      Simulation s(seed, 3, {}, {.slowest_clock = 0.5, .fastest_clock = 1.5});
      collisions += s.RunUntil(90s) > 1 ? 1 : 0;
    }
    CHECK(collisions > 0);
  }
}

}  // namespace simulation_test
