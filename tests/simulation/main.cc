// simulation: runs schedules against the real controller and admitter, and shortens failing ones.
//
//   --schedules N   how many (20000)        --jobs N        at once (the machine's processors)
//   --seed S        the first seed (1); with --schedules 1 it replays one
//   --planted NAME  with a planted fault    --trace FILE    runs only the printed schedule in FILE
//   --api NAME      core (claims, secrets; the default), ironcore (machines and their classes),
//                   cluster (ClusterQuotas over namespaces), or joint (these and quotas of core)
//   --silent 0|1    watches may be silent for longer than a charge is held: in no schedule, or in
//                   all; without it in those of odd seeds
//   --odd 1         also what no daemon of this version writes: garbled amounts, forged lists, …
//   --digest 1      prints a digest of the trace of each seed, to compare two builds
//
// Exit code: 0 no violation was found, 1 a violation was found, 2 wrong arguments.

#include <atomic>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include "tests/simulation/quiet_log.h"
#include "tests/simulation/shrink.h"
#include "tests/simulation/world.h"

namespace {

struct Arguments {
  std::uint64_t schedules = 20'000;
  std::uint64_t seed = 1;
  unsigned jobs = std::thread::hardware_concurrency();
  std::string planted;
  simulation::Api api = simulation::Api::kCore;
  std::optional<bool> silent;
  bool odd = false;
  bool digest = false;
  std::string trace;
};

// Prints the error and returns nullopt if an argument is wrong.
std::optional<Arguments> Parse(int count, char** words) {
  Arguments arguments;
  std::map<std::string, std::string> given;
  for (int i = 1; i < count; ++i) {
    std::string name = words[i];
    const std::size_t equals = name.find('=');
    if (equals != std::string::npos) {
      given[name.substr(0, equals)] = name.substr(equals + 1);
    } else if (i + 1 < count) {
      given[name] = words[++i];
    } else {
      std::cerr << "simulation: " << name << " needs a value\n";
      return std::nullopt;
    }
  }
  for (const auto& [name, value] : given) {
    const auto number = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--schedules") {
      arguments.schedules = number;
    } else if (name == "--seed") {
      arguments.seed = number;
    } else if (name == "--jobs") {
      arguments.jobs = std::max(1U, static_cast<unsigned>(number));
    } else if (name == "--planted") {
      arguments.planted = value;
    } else if (name == "--silent") {
      arguments.silent = number != 0;
    } else if (name == "--odd") {
      arguments.odd = number != 0;
    } else if (name == "--digest") {
      arguments.digest = number != 0;
    } else if (name == "--trace") {
      arguments.trace = value;
    } else if (name == "--api" && simulation::ApiNamed(value)) {
      arguments.api = *simulation::ApiNamed(value);
    } else {
      std::cerr << "simulation: unknown argument " << name << "\n";
      return std::nullopt;
    }
  }
  for (const auto& planted : simulation::AllPlanted()) {
    if (planted.name != arguments.planted) continue;
    arguments.api = planted.api;
    arguments.odd = arguments.odd || planted.odd;
    return arguments;
  }
  if (arguments.planted.empty()) return arguments;
  std::cerr << "simulation: no such planted fault: " << arguments.planted << "; there are";
  for (const auto& planted : simulation::AllPlanted()) std::cerr << " " << planted.name;
  std::cerr << "\n";
  return std::nullopt;
}

int Replay(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  auto schedule = simulation::ParseSchedule(text.str());
  if (!schedule) {
    std::cerr << "simulation: " << file << ": " << schedule.error().message << "\n";
    return 2;
  }
  const auto violation =
      simulation::Run(*schedule, [](const std::string& line) { std::cout << line << "\n"; });
  std::cout << (violation ? "violation at " + *violation : std::string("nothing is violated"))
            << "\n";
  return violation ? 1 : 0;
}

// FNV-1a of the lines of a trace.
class Digest {
 public:
  void Add(std::string_view line) {
    for (const char c : line) AddByte(static_cast<unsigned char>(c));
    AddByte('\n');
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  void AddByte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

class Search {
 public:
  explicit Search(const Arguments& arguments) : arguments_(arguments) {}

  int Run() {
    const auto begun = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < arguments_.jobs; ++i) threads.emplace_back([this] { Work(); });
    for (std::thread& thread : threads) thread.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    std::cout << "schedules=" << done_ << " failures=" << failures_ << " seconds=" << took.count()
              << " seeds=" << arguments_.seed << ".." << arguments_.seed + arguments_.schedules - 1
              << std::endl;
    return failures_ > 0 ? 1 : 0;
  }

 private:
  static constexpr int kEnough = 5;  // failures; more would seldom show another cause

  void Work() {
    while (failures_ < kEnough) {
      const std::uint64_t index = next_++;
      if (index >= arguments_.schedules) return;
      const std::uint64_t seed = arguments_.seed + index;
      const bool silent = arguments_.silent.value_or(seed % 2 == 1);
      const auto draw = arguments_.odd ? simulation::DrawOdd : simulation::DrawOf;
      simulation::Schedule schedule = draw(arguments_.api, seed, silent);
      schedule.planted = arguments_.planted;
      const auto violation = arguments_.digest ? RunDigested(schedule) : simulation::Run(schedule);
      ++done_;
      if (violation) Report(std::move(schedule), *violation);
    }
  }

  std::optional<std::string> RunDigested(const simulation::Schedule& schedule) {
    Digest digest;
    auto violation = simulation::Run(schedule, [&](const std::string& line) { digest.Add(line); });
    digest.Add(violation.value_or(""));
    const std::lock_guard lock(mutex_);
    std::cout << "seed " << schedule.seed << " digest " << std::hex << digest.value() << std::dec
              << "\n";
    return violation;
  }

  void Report(simulation::Schedule schedule, const std::string& violation) {
    const std::uint64_t seed = schedule.seed;
    const simulation::Shrunk shrunk = simulation::Shrink(std::move(schedule), violation);
    const std::lock_guard lock(mutex_);
    ++failures_;
    std::cout << "# seed " << seed << ": " << violation << "\n# shortened: " << shrunk.violation
              << "\n"
              << simulation::ToText(shrunk.schedule) << std::endl;
  }

  const Arguments& arguments_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<int> failures_{0};
  std::mutex mutex_;
};

}  // namespace

int main(int count, char** words) {
  simulation::QuietLog();
  const auto arguments = Parse(count, words);
  if (!arguments) return 2;
  if (!arguments->trace.empty()) return Replay(arguments->trace);
  return Search(*arguments).Run();
}
