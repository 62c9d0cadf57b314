#include "tests/e2e/harness/daemon.h"

#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <sstream>
#include <stdexcept>

#include "pkg/base/task_group.h"
#include "pkg/http/client.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/wait.h"

namespace e2e {

PlainAnswer PlainGet(std::uint16_t port, const std::string& path) {
  base::asio::io_context io{1};
  http::ClientOptions options;
  options.server = {.scheme = "http", .host = "127.0.0.1", .port = port};
  options.max_body_bytes = options.max_held_bytes;  // of many series
  auto client = http::NewClient(io.get_executor(), options);
  if (!client) throw std::runtime_error(client.error().message);
  PlainAnswer answer;
  base::TaskGroup group(io.get_executor());
  const auto ask = [&]() -> base::Task<void> {
    http::Request request;
    request.target = path;
    const auto timeout = Stretched(5s);
    auto response = co_await (*client)->Do(std::move(request), timeout);
    if (response) answer = {response->status, response->body};
  };
  group.Spawn("plain get", ask);
  while (!group.empty() && io.run_one() > 0) {
  }
  return answer;
}

std::string Daemon::Program() const {
  return options_.program.empty() ? BuiltProgram("quota-controller-manager") : options_.program;
}

void Daemon::Start() {
  metrics_port_ = FreePort();
  probe_port_ = FreePort();
  std::vector<std::string> argv{
      Program(),
      "--kubeconfig=" + options_.kubeconfig,
      "--resync-period=" + options_.resync_period,
      "--metrics-bind-address=127.0.0.1:" + std::to_string(metrics_port_),
      "--health-probe-bind-address=127.0.0.1:" + std::to_string(probe_port_),
      "--leader-elect=false",
      "-v=1"};
  argv.insert(argv.end(), options_.more_flags.begin(), options_.more_flags.end());
  process_ = std::make_unique<Process>(
      ProcessOptions{.argv = argv,
                     .env = options_.env,
                     .log_path = options_.log_path.empty() ? log_path_ : options_.log_path,
                     .most_descriptors = options_.most_descriptors});
  end_is_known_ = false;
}

void Daemon::Kill() {
  if (!process_) return;
  const auto ended = process_->Wait(0ms);
  process_.reset();
  if (ended && !end_is_known_) ReportEnd("the daemon", *ended, Log());
}

void Daemon::Finish() {
  if (Running() && IsSanitized(Program())) {
    process_->Signal(SIGCONT);
    const auto code = Stop();
    if (code && *code != 0) ReportEnd("the stopped daemon", *code, Log());
  }
  Kill();
}

std::optional<int> Daemon::Stop() {
  process_->Signal(SIGTERM);
  return WaitEnd(Stretched(25s));
}

std::optional<int> Daemon::WaitEnd(std::chrono::milliseconds timeout) {
  const auto code = process_->Wait(timeout);
  end_is_known_ = code.has_value();
  return code;
}

void Daemon::Restart(DaemonOptions options) {
  Kill();
  options_ = std::move(options);
  Start();
}

void Daemon::WaitUntilReady() {
  const auto missing = [this]() -> std::string {
    if (!Running()) throw std::runtime_error("the daemon ended:\n" + Tail(Log(), 20));
    const int status = Probe("/readyz");
    return status == 200 ? ""
                         : "status " + std::to_string(status) + "; its log:\n" + Tail(Log(), 10);
  };
  Eventually("the daemon's /readyz says 200", missing);
}

int Daemon::Probe(const std::string& path) const { return PlainGet(probe_port_, path).status; }

std::string Daemon::MetricsText() const { return PlainGet(metrics_port_, "/metrics").body; }

std::optional<double> Daemon::Metric(const std::string& name) const {
  std::istringstream lines(MetricsText());
  std::string line;
  std::optional<double> sum;
  while (std::getline(lines, line)) {
    if (line.rfind(name, 0) != 0) continue;
    const char next = line.size() > name.size() ? line[name.size()] : '\0';
    if (next != ' ' && next != '{') continue;
    const auto value = line.find(' ', line.rfind('}') == std::string::npos ? 0 : line.rfind('}'));
    sum = sum.value_or(0) + std::stod(line.substr(value));
  }
  return sum;
}

void Daemon::WaitForLog(const std::string& text) const {
  Eventually("the daemon's log says: " + text, [&]() -> std::string {
    const auto log = Log();
    return log.find(text) != std::string::npos ? "" : "its last lines:\n" + Tail(log, 10);
  });
}

}  // namespace e2e
