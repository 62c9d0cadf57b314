#include "tests/e2e/runner/worker.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/sockets.h"
#include "tests/e2e/runner/process_table.h"

namespace e2e {
namespace {

constexpr int kWorkersSocket = 3;  // its descriptor number in the worker

using Clock = std::chrono::steady_clock;

std::string HowItEnded(const std::optional<int>& code) {
  if (!code) return "the process closed its socket and did not end";
  if (*code > 128) return "the process was ended by signal " + std::to_string(*code - 128);
  return "the process ended with code " + std::to_string(*code);
}

}  // namespace

Worker::Worker(const WorkerOptions& options)
    : temporary_folder_(options.temporary_folder + "/" + std::to_string(options.number)),
      log_path_(options.log_folder + "/worker-" + std::to_string(options.number) + ".log") {
  std::filesystem::create_directories(temporary_folder_);
  std::filesystem::create_directories(options.log_folder);
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) throw std::runtime_error("socketpair");
  socket_ = sockets[0];
  process_ = std::make_unique<Process>(ProcessOptions{.argv = options.argv,
                                                      .env = {{"TMPDIR", temporary_folder_}},
                                                      .log_path = log_path_,
                                                      .channel = sockets[1]});
  close(sockets[1]);
}

Worker::~Worker() {
  close(socket_);
  process_->Kill();
  std::error_code ignored;
  if (getenv("QCM_E2E_KEEP") == nullptr) std::filesystem::remove_all(temporary_folder_, ignored);
}

std::chrono::duration<double> Worker::Elapsed() const { return Clock::now() - started_; }

void Worker::Start(const std::string& scenario) {
  scenario_ = scenario;
  running_ = true;
  log_size_before_ = ReadFile(log_path_).size();
  cpu_seconds_before_ = ProcessTable().CpuSecondsOfTree(pid());
  started_ = Clock::now();
  const std::string line = scenario + "\n";
  // Receive() notices if the worker is gone.
  (void)SendAll(socket_, line.data(), line.size());
}

std::optional<Outcome> Worker::Receive() {
  char buffer[256];
  const auto size = recv(socket_, buffer, sizeof buffer, 0);
  if (size <= 0) return End(false, HowItEnded(process_->Wait(std::chrono::seconds(10))));
  received_.append(buffer, static_cast<std::size_t>(size));
  const auto end = received_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::istringstream words(std::exchange(received_, "").substr(0, end));
  std::string verdict;
  Outcome counts;
  words >> verdict >> counts.assertions_passed >> counts.assertions_failed;
  Outcome outcome = End(verdict == "passed", "");
  outcome.assertions_passed = counts.assertions_passed;
  outcome.assertions_failed = counts.assertions_failed;
  return outcome;
}

Outcome Worker::Abandon(const std::string& why) {
  Outcome outcome = End(false, why);
  process_->Kill();
  return outcome;
}

std::optional<int> Worker::Finish(std::chrono::milliseconds timeout) {
  shutdown(socket_, SHUT_WR);
  return process_->Wait(timeout);
}

std::string Worker::Output() const { return ReadFile(log_path_).substr(log_size_before_); }

Outcome Worker::End(bool passed, const std::string& why) {
  running_ = false;
  const double cpu_seconds = ProcessTable().CpuSecondsOfTree(pid()) - cpu_seconds_before_;
  return {.name = scenario_,
          .passed = passed,
          .why = why,
          .seconds = Elapsed().count(),
          .cpu_seconds = cpu_seconds < 0 ? 0 : cpu_seconds,  // its processes are gone
          .output = passed ? "" : Output()};
}

int ServeScenarios(const std::function<Verdict(const std::string& scenario)>& run) {
  fcntl(kWorkersSocket, F_SETFD, FD_CLOEXEC);
  // Output before a crash must be in the log.
  setvbuf(stdout, nullptr, _IOLBF, 0);
  std::string scenario;
  for (char c = 0; recv(kWorkersSocket, &c, 1, 0) == 1;) {
    if (c != '\n') {
      scenario += c;
      continue;
    }
    Verdict verdict;
    try {
      verdict = run(scenario);
    } catch (const std::exception& error) {
      std::cerr << scenario << ": " << error.what() << "\n";
    }
    std::cout << std::flush;
    scenario.clear();
    const std::string answer = std::string(verdict.passed ? "passed " : "failed ") +
                               std::to_string(verdict.assertions_passed) + " " +
                               std::to_string(verdict.assertions_failed) + "\n";
    if (!SendAll(kWorkersSocket, answer.data(), answer.size())) return 1;
  }
  return 0;
}

}  // namespace e2e
