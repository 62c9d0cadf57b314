#include "tests/bench/soak_faults.h"

#include <signal.h>

namespace bench {
namespace {

constexpr auto kNothing = [] {};

}  // namespace

SoakFaults::SoakFaults(SoakCluster& cluster, std::uint64_t seed, std::function<void()> pause,
                       std::function<void()> resume)
    : cluster_(cluster), random_(seed), pause_(std::move(pause)), resume_(std::move(resume)) {
  AddOfProcesses();
  AddOfConnections();
  AddOfAnswers();
}

void SoakFaults::AddOfProcesses() {
  faults_.push_back({"a replica is killed", 3, [this] { cluster_.KillSecond(); },
                     [this] { cluster_.StartSecond(); }});
  faults_.push_back({"a replica is suspended", 2, [this] { cluster_.second().Signal(SIGSTOP); },
                     [this] { cluster_.second().Signal(SIGCONT); }});
  faults_.push_back({"the leader is suspended", 1, [this] { cluster_.first().Signal(SIGSTOP); },
                     [this] { cluster_.first().Signal(SIGCONT); }});
  const auto restart = [this] {
    pause_();
    cluster_.RestartServer();
    resume_();
  };
  faults_.push_back({"the server is restarted", 1, restart, kNothing});
}

void SoakFaults::AddOfConnections() {
  faults_.push_back({"connections are cut", 3, [this] { cluster_.proxy().Cut(); }, kNothing});
  faults_.push_back({"connections carry nothing", 1, [this] { cluster_.proxy().Stall(true); },
                     [this] { cluster_.proxy().Stall(false); }});
  const auto refuse = [this] {
    cluster_.proxy().Refuse(true);
    cluster_.proxy().Cut();
  };
  faults_.push_back(
      {"connections are refused", 1, refuse, [this] { cluster_.proxy().Refuse(false); }});
}

void SoakFaults::AddOfAnswers() {
  const auto add = [this](const std::string& name, int weight, const std::string& faults) {
    faults_.push_back({name, weight, [this, faults] { cluster_.Inject(faults); }, kNothing});
  };
  add("watches are dropped", 2,
      R"([{"fault":"drop-watches","resource":"pods","reset":true},
          {"fault":"drop-watches","resource":"resourcequotas","reset":false},
          {"fault":"drop-watches","resource":"resourcebindings","reset":true}])");
  add("versions expire (410)", 2, R"([{"fault":"expire"},{"fault":"drop-watches","reset":true}])");
  add("watches lag", 2, R"({"fault":"delay-watch","delay":"700ms"})");
  add("lists are slow", 1,
      R"([{"fault":"slow-body","verb":"list","delay":"5ms","bytes":4096,"times":6},
          {"fault":"expire"},{"fault":"drop-watches","reset":true}])");
  add("lists are cut short", 1,
      R"([{"fault":"truncate-body","verb":"list","bytes":300,"times":4},
          {"fault":"expire"},{"fault":"drop-watches","reset":true}])");
  add("a burst of 503", 2, R"({"fault":"answer","code":503,"times":40})");
  add("a burst of 500 for writes of quotas", 2,
      R"({"fault":"answer","verb":"patch","subresource":"status","code":500,"times":15})");
  add("a burst of conflicts", 2,
      R"({"fault":"answer","verb":"patch","subresource":"status","code":409,"times":15})");
  add("too many requests (429)", 1,
      R"({"fault":"answer","code":429,"retryAfterSeconds":1,"times":20})");
}

std::string SoakFaults::Next() {
  int sum = 0;
  for (const Fault& fault : faults_) sum += fault.weight;
  int dice = static_cast<int>(random_() % static_cast<std::uint64_t>(sum));
  for (const Fault& fault : faults_) {
    dice -= fault.weight;
    if (dice >= 0) continue;
    fault.begin();
    ends_.push_back(fault.end);
    return fault.name;
  }
  return "nothing";
}

void SoakFaults::Clear() {
  for (const auto& end : ends_) end();
  ends_.clear();
  cluster_.ClearFaults();
}

}  // namespace bench
