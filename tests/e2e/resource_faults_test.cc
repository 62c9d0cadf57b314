// Resources that the daemon's machine may lack: space for its log, a reader of its log,
// descriptors.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/e2e/harness/sockets.h"
#include "tests/e2e/harness/under_load.h"

namespace e2e::resource_faults_test {
namespace {

// Keeps so many silent connections to a port open.
class Hoard {
 public:
  Hoard(std::uint16_t port, std::size_t size)
      : port_(port), size_(size), thread_([this] { Run(); }) {}
  ~Hoard() {
    stop_ = true;
    thread_.join();
    for (const int fd : fds_) close(fd);
  }
  [[nodiscard]] std::size_t held() const { return held_; }

 private:
  void Run() {
    while (!stop_) {
      // Opens those again that the other side has closed.
      std::erase_if(fds_, [](int fd) {
        char byte = 0;
        if (recv(fd, &byte, 1, MSG_DONTWAIT) != 0) return false;
        close(fd);
        return true;
      });
      while (fds_.size() < size_ && !stop_) {
        const int fd = ConnectToLoopback(port_);
        if (fd < 0) break;
        fds_.push_back(fd);
      }
      held_ = fds_.size();
      (void)PollUntil([this] { return stop_.load(); }, 50ms);
    }
  }

  const std::uint16_t port_;
  const std::size_t size_;
  std::vector<int> fds_;  // of the thread
  std::atomic<std::size_t> held_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// A named pipe for a program's log.
class LogPipe {
 public:
  LogPipe() {
    if (mkfifo(path_.c_str(), 0600) != 0) throw std::runtime_error("mkfifo");
    reader_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  ~LogPipe() { Leave(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  // Closes the reading end.
  void Leave() {
    if (reader_ >= 0) close(std::exchange(reader_, -1));
  }

 private:
  TempDir dir_;
  std::string path_ = dir_.path() + "/log";
  int reader_ = -1;
};

DaemonOptions WithAdmission(Scenario& s, std::uint16_t port) {
  const std::string address = "127.0.0.1:" + std::to_string(port);
  return {.kubeconfig = s.server().Kubeconfig(),
          .more_flags = {"--enforce=core", "--admission-bind-address=" + address,
                         "--admission-url=https://" + address}};
}

// Deletes the webhook configuration even if the daemon fails, so that no later request is refused.
class OpenDoor {
 public:
  explicit OpenDoor(Scenario& s) : s_(s) {}
  ~OpenDoor() {
    s_.StopDaemon();
    (void)s_.api().Do({.verb = "DELETE", .path = ConfigurationPath(), .timeout = Stretched(5s)});
  }
  OpenDoor(const OpenDoor&) = delete;
  OpenDoor& operator=(const OpenDoor&) = delete;

 private:
  Scenario& s_;
};

}  // namespace

TEST_CASE("under load: a log that cannot be written does not stop the daemon",
          "[e2e][faults][load]") {
  Scenario s;
  const OpenDoor door(s);
  LogPipe pipe;
  DaemonOptions options = WithAdmission(s, FreePort());
  options.more_flags.emplace_back("-v=2");
  SECTION("the disk is full") {
    options.log_path = "/dev/full";
    s.StartDaemon(options);
  }
  SECTION("nobody reads it any more") {
    options.log_path = pipe.path();
    s.StartDaemon(options);
    pipe.Leave();
  }
  UnderLoad load(s);
  load.AwaitDecided(80);
  load.ExpectTrue();
  CHECK(s.daemon().Running());
  CHECK(s.daemon().Probe("/livez") == 200);
  CHECK(load.refused() > 0);
}

TEST_CASE("under load: a client takes all file descriptors that it can get",
          "[e2e][faults][load]") {
  Scenario s;
  const OpenDoor door(s);
  TcpProxy proxy(s.server().port());
  const std::uint16_t port = FreePort();
  DaemonOptions options = WithAdmission(s, port);
  options.kubeconfig = s.server().Kubeconfig(proxy.port());
  options.most_descriptors = 64;
  s.StartDaemon(options);
  UnderLoad load(s);
  load.AwaitDecided(60);
  load.ExpectTrue();
  {
    const Hoard hoard(port, 200);
    Eventually("the hoard is held", [&] { return hoard.held() == 200 ? "" : "not yet"; });
    // Ended watches must be opened again.
    proxy.Cut();
    load.DeleteSome(2);
    load.ExpectTrue();
    const double before = UsageOf(s.daemon().pid()).cpu_seconds;
    load.Pause();
    (void)PollUntil([] { return false; }, 2s);
    // Sanitizers slow the daemon down as they do its answers.
    const std::chrono::duration<double> most = Stretched(1s);
    CHECK(UsageOf(s.daemon().pid()).cpu_seconds - before < most.count());
    CHECK(s.daemon().Probe("/livez") == 200);
    load.Resume();
  }
  load.AwaitDecided(60);
  load.ExpectTrue();
  CHECK(s.daemon().Running());
}

}  // namespace e2e::resource_faults_test
