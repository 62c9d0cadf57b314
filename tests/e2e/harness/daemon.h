#pragma once

// quota-controller-manager under test: started with command line flags, queried by its probes and
// metrics, stopped or killed. One that ends by itself fails the test, unless the test waits for
// that (WaitEnd).

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
  // After those of the harness. Without --leader-elect=true it writes at once, even if a killed
  // daemon left a lease.
  std::vector<std::string> more_flags{};
  std::map<std::string, std::string> env{};
  std::string log_path{};    // "": a file of its own, which Log() reads
  int most_descriptors = 0;  // 0: no limit of its own
  std::string program{};     // "": the one under test
};

class Daemon {
 public:
  explicit Daemon(DaemonOptions options) : options_(std::move(options)) { Start(); }

  ~Daemon() { Finish(); }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  void Start();
  void Kill();  // kill -9
  // What the end of a test does with it: kills it, but a sanitized one must stop, with exit code 0,
  // because it looks for leaks at its end.
  void Finish();
  // Sends SIGTERM. Returns the exit code, or nullopt if it did not end in time.
  [[nodiscard]] std::optional<int> Stop();
  // Returns the exit code once it ends by itself; nullopt if it did not in time.
  [[nodiscard]] std::optional<int> WaitEnd(std::chrono::milliseconds timeout);
  // Sends SIGSTOP, SIGCONT, …; does nothing if it does not run. Never use kill(pid()): pid() of an
  // ended daemon is -1, which means every process.
  void Signal(int signal) {
    if (process_) process_->Signal(signal);
  }
  // Restarts it with these options.
  void Restart(DaemonOptions options);

  // Returns when /readyz answers 200. Throws, with the end of its log, if the daemon ends or takes
  // too long.
  void WaitUntilReady();
  [[nodiscard]] int Probe(const std::string& path) const;  // the HTTP status; 0 without an answer

  // The sum of one metric over all label sets; nullopt if it is not exported.
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
  [[nodiscard]] std::string Program() const;

  DaemonOptions options_;
  TempDir dir_;
  std::string log_path_ = dir_.path() + "/daemon.log";
  std::uint16_t metrics_port_ = 0;
  std::uint16_t probe_port_ = 0;
  std::unique_ptr<Process> process_;
  bool end_is_known_ = false;  // the test has its exit code
};

// The complete answer to a GET without TLS from 127.0.0.1; status 0 if there is none.
struct PlainAnswer {
  int status = 0;
  std::string body;
};
PlainAnswer PlainGet(std::uint16_t port, const std::string& path);

}  // namespace e2e
