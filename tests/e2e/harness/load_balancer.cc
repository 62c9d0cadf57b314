#include "tests/e2e/harness/load_balancer.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "tests/e2e/harness/sockets.h"

namespace e2e {
namespace {

// One direction of a connection; ended once its source has ended and its sink knows.
struct Way {
  int from;
  int to;
  bool over = false;

  void Move() {
    std::array<char, 65536> buffer;
    const auto size = recv(from, buffer.data(), buffer.size(), 0);
    if (size > 0 && SendAll(to, buffer.data(), static_cast<std::size_t>(size))) return;
    over = true;
    shutdown(to, SHUT_WR);
  }
};

using Ways = std::pair<Way, Way>;

}  // namespace

class LoadBalancer::Thread {
 public:
  Thread() : listener_(ListenOnLoopback()), port_(PortOf(listener_)) {
    thread_ = std::thread([this] { Run(); });
  }
  ~Thread() {
    stop_ = true;
    thread_.join();
    close(listener_);
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  void SetTargets(std::vector<std::uint16_t> ports) {
    const std::lock_guard lock(mutex_);
    targets_ = std::move(ports);
  }

 private:
  static constexpr int kLookMilliseconds = 100;  // how often it checks for a stop

  void Run() {
    while (!stop_) {
      std::vector<pollfd> fds{{listener_, POLLIN, 0}};
      for (const auto& [there, back] : connections_) {
        fds.push_back({there.over ? -1 : there.from, POLLIN, 0});
        fds.push_back({back.over ? -1 : back.from, POLLIN, 0});
      }
      if (poll(fds.data(), fds.size(), kLookMilliseconds) <= 0) continue;
      Relay(fds);
      if (fds[0].revents != 0) Accept();
    }
    for (const Ways& ways : connections_) Close(ways);
  }

  void Relay(const std::vector<pollfd>& fds) {
    std::size_t at = 1;
    for (auto ways = connections_.begin(); ways != connections_.end(); at += 2) {
      if (fds[at].revents != 0) ways->first.Move();
      if (fds[at + 1].revents != 0) ways->second.Move();
      if (ways->first.over && ways->second.over) {
        Close(*ways);
        ways = connections_.erase(ways);
      } else {
        ++ways;
      }
    }
  }

  void Accept() {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    const int server = ConnectToLoopback(Next());
    if (server < 0) {
      close(client);
    } else {
      connections_.push_back({{client, server}, {server, client}});
    }
  }

  std::uint16_t Next() {
    const std::lock_guard lock(mutex_);
    return targets_.empty() ? std::uint16_t{0} : targets_[turn_++ % targets_.size()];
  }

  static void Close(const Ways& ways) {
    close(ways.first.from);
    close(ways.first.to);
  }

  const int listener_;
  const std::uint16_t port_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::vector<std::uint16_t> targets_;  // guarded by mutex_
  std::size_t turn_ = 0;
  std::list<Ways> connections_;  // owned by the thread
  std::thread thread_;
};

LoadBalancer::LoadBalancer() : thread_(std::make_unique<Thread>()) {}
LoadBalancer::~LoadBalancer() = default;

std::uint16_t LoadBalancer::port() const { return thread_->port(); }

void LoadBalancer::SetTargets(std::vector<std::uint16_t> ports) {
  thread_->SetTargets(std::move(ports));
}

}  // namespace e2e
