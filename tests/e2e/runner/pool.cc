#include "tests/e2e/runner/pool.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tests/e2e/harness/files.h"
#include "tests/e2e/runner/process_table.h"

namespace e2e {
namespace {

constexpr int kTokenPollMs = 200;  // another run may hold the token

volatile sig_atomic_t stop_signal = 0;

void NoteSignal(int signal) { stop_signal = signal; }

}  // namespace

Pool::Pool(PoolOptions options, std::function<void(const Outcome&)> ended)
    : options_(std::move(options)), ended_(std::move(ended)) {
  if (!options_.heavy.empty()) token_ = std::make_unique<LoadToken>(options_.token_path);
}

void Pool::Run(const std::vector<std::string>& scenarios) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  struct sigaction action {};
  action.sa_handler = NoteSignal;
  for (const int signal : {SIGTERM, SIGINT}) sigaction(signal, &action, nullptr);
  queue_.assign(scenarios.begin(), scenarios.end());
  for (int number = 1; number <= options_.jobs; ++number) Feed(number);
  while ((!workers_.empty() || !waiting_.empty()) && stop_signal == 0) Await();
  if (stop_signal != 0) Stop();
  EndOrphans();
}

void Pool::Feed(int number) {
  auto& worker = workers_[number];
  if (queue_.empty()) {
    if (worker) Finish(number);
    workers_.erase(number);
    return;
  }
  const std::string scenario = Next();
  if (scenario.empty()) {
    waiting_[number] = std::move(worker);
    workers_.erase(number);
    return;
  }
  if (!worker) {
    worker = std::make_unique<Worker>(WorkerOptions{.argv = options_.worker_argv,
                                                    .log_folder = options_.log_folder,
                                                    .temporary_folder = options_.temporary_folder,
                                                    .number = number});
  }
  worker->Start(scenario);
}

void Pool::FeedWaiting() {
  for (auto& [number, worker] : std::exchange(waiting_, {})) {
    workers_[number] = std::move(worker);
    Feed(number);
  }
}

std::string Pool::Next() {
  bool denied = false;  // asked once: all heavy scenarios wait for the same token
  for (auto scenario = queue_.begin(); scenario != queue_.end(); ++scenario) {
    const bool heavy = options_.heavy.contains(*scenario);
    if (heavy && (denied || !token_->TryTake())) {
      denied = true;
      continue;
    }
    std::string next = *scenario;
    queue_.erase(scenario);
    if (heavy) heavy_running_ = next;
    return next;
  }
  return "";
}

void Pool::Await() {
  std::vector<pollfd> sockets;
  std::vector<int> numbers;
  for (const auto& [number, worker] : workers_) {
    sockets.push_back({.fd = worker->socket(), .events = POLLIN, .revents = 0});
    numbers.push_back(number);
  }
  const int timeout = waiting_.empty() ? UntilDeadline() : std::min(UntilDeadline(), kTokenPollMs);
  if (poll(sockets.data(), sockets.size(), timeout) < 0) return;  // a signal
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    if (sockets[i].revents == 0) continue;
    if (const auto outcome = workers_.at(numbers[i])->Receive()) Conclude(numbers[i], *outcome);
  }
  EndLate();
  FeedWaiting();
}

int Pool::UntilDeadline() const {
  double longest = 0;
  for (const auto& [number, worker] : workers_) {
    longest = std::max(longest, worker->Elapsed().count());
  }
  const auto left = options_.scenario_timeout - std::chrono::duration<double>(longest);
  return std::max(0, static_cast<int>(left / std::chrono::milliseconds(1)) + 1);
}

void Pool::EndLate() {
  std::vector<int> late;
  for (const auto& [number, worker] : workers_) {
    if (worker->Elapsed() > options_.scenario_timeout) late.push_back(number);
  }
  for (const int number : late) {
    Conclude(number, workers_.at(number)->Abandon(
                         "not done within " +
                         std::to_string(options_.scenario_timeout.count() / 1000) + " s"));
  }
}

void Pool::Conclude(int number, const Outcome& outcome) {
  if (!outcome.why.empty()) {
    workers_.at(number).reset();
    EndOrphans();
  }
  if (outcome.name == heavy_running_) {
    heavy_running_.clear();
    token_->GiveBack();
  }
  ended_(outcome);
  Feed(number);
}

void Pool::Finish(int number) {
  Worker& worker = *workers_.at(number);
  const auto code = worker.Finish(options_.finish_timeout);
  if (code == 0) return;
  complaints_.push_back("worker " + std::to_string(number) + " " +
                        (code ? "ended with code " + std::to_string(*code) : "did not end") +
                        "; its last lines:\n" + Tail(worker.Output(), 60));
}

void Pool::Stop() {
  complaints_.push_back("stopped by signal " + std::to_string(stop_signal));
  for (const auto& [number, worker] : workers_) {
    ended_(worker->Abandon("stopped by signal " + std::to_string(stop_signal)));
  }
  workers_.clear();
  waiting_.clear();
}

void Pool::EndOrphans() const {
  std::set<int> wanted;
  for (const auto& [number, worker] : workers_) {
    if (worker) wanted.insert(worker->pid());
  }
  for (const auto& [number, worker] : waiting_) {
    if (worker) wanted.insert(worker->pid());
  }
  // Children of a killed process become ours.
  for (bool any = true; any;) {
    any = false;
    const ProcessTable table;
    for (const int pid : table.ChildrenOf(getpid())) {
      if (wanted.contains(pid)) continue;
      any = true;
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
}

}  // namespace e2e
