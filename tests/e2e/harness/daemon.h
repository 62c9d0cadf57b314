#pragma once

// quota-controller-manager under test: started with the flags of its command line, asked through
// its probes and metrics, stopped or killed.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/process.h"

namespace e2e {

struct DaemonOptions {
  std::string kubeconfig;
  std::string resync_period = "5m";
  // After those of the harness. Without --leader-elect=true it leads at once, whoever else does:
  // one that was killed leaves a lease behind.
  std::vector<std::string> more_flags{};
  std::map<std::string, std::string> env{};
  std::string log_path{};    // "": a file of its own, which Log() reads
  int most_descriptors = 0;  // 0: no limit of its own
};

class Daemon {
 public:
  explicit Daemon(DaemonOptions options) : options_(std::move(options)) { Start(); }

  void Start();
  void Kill() { process_.reset(); }  // kill -9
  // SIGTERM; the exit code, or nullopt if it did not end in time.
  std::optional<int> Stop();
  // The exit code once it ends by itself; nullopt if it did not in time.
  std::optional<int> WaitEnd(std::chrono::milliseconds timeout) { return process_->Wait(timeout); }
  // SIGSTOP, SIGCONT, …; nothing where it does not run. Never kill(pid()): that of one which is
  // gone is -1, by which the kernel means everybody.
  void Signal(int signal) {
    if (process_) process_->Signal(signal);
  }
  // With other options from now on.
  void Restart(DaemonOptions options);

  // Returns when /readyz says 200; throws, with the last of its log, if the daemon ends or is too
  // late.
  void WaitUntilReady();
  [[nodiscard]] int Probe(const std::string& path) const;  // the HTTP status; 0 if nobody answers

  // The sum over all label sets of one metric; nullopt if it is not exposed.
  [[nodiscard]] std::optional<double> Metric(const std::string& name) const;
  [[nodiscard]] std::string MetricsText() const;
  [[nodiscard]] std::uint16_t metrics_port() const { return metrics_port_; }
  [[nodiscard]] std::uint16_t probe_port() const { return probe_port_; }

  [[nodiscard]] bool Running() const { return process_ && process_->Running(); }
  [[nodiscard]] std::string Log() const { return ReadFile(log_path_); }
  // Returns when the log has a line that contains `text`.
  void WaitForLog(const std::string& text) const;
  [[nodiscard]] int pid() const { return process_ ? process_->pid() : -1; }

 private:
  DaemonOptions options_;
  TempDir dir_;
  std::string log_path_ = dir_.path() + "/daemon.log";
  std::uint16_t metrics_port_ = 0;
  std::uint16_t probe_port_ = 0;
  std::unique_ptr<Process> process_;
};

// A whole HTTP answer to a GET without TLS from 127.0.0.1: status 0 if there is none.
struct PlainAnswer {
  int status = 0;
  std::string body;
};
PlainAnswer PlainGet(std::uint16_t port, const std::string& path);

}  // namespace e2e
