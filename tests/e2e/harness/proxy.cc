#include "tests/e2e/harness/proxy.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <list>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/e2e/harness/sockets.h"

namespace e2e {
namespace {

using std::chrono::steady_clock;

// Bytes on their way to one side; empty: the other side has disconnected.
struct Late {
  steady_clock::time_point due;
  int to;
  std::string bytes;
};

// One relayed connection: two blocking sockets, read only when poll() says so.
struct Pair {
  int client;
  int server;
  bool client_ended = false;
  bool server_ended = false;
  bool abandoned = false;
  std::deque<Late> late{};  // in order of time

  void Close() const {
    // RST instead of FIN: the peer learns of it in mid-body, as when a network breaks.
    const linger hard{1, 0};
    for (const int fd : {client, server}) {
      setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
      close(fd);
    }
  }
};

std::string Receive(int from) {
  std::array<char, 65536> buffer;
  const auto size = recv(from, buffer.data(), buffer.size(), 0);
  return size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : std::string();
}

}  // namespace

class TcpProxy::Relay {
 public:
  explicit Relay(std::uint16_t target) : target_(target), listener_(ListenOnLoopback()) {
    if (pipe(wake_) != 0) throw std::runtime_error("pipe");
    port_ = PortOf(listener_);
    thread_ = std::thread([this] { Run(); });
  }

  ~Relay() {
    stop_ = true;
    Wake();
    thread_.join();
    close(listener_);
    close(wake_[0]);
    close(wake_[1]);
  }

  void Wake() const {
    const char byte = 0;
    if (write(wake_[1], &byte, 1) < 0) return;  // a full pipe also wakes the thread
  }

  std::atomic<bool> stop_{false};
  std::atomic<bool> cut_{false};
  std::atomic<bool> abandon_{false};
  std::atomic<bool> refuse_{false};
  std::atomic<bool> stall_{false};
  std::atomic<bool> swallow_{false};
  std::atomic<int> delay_ms_{0};
  std::atomic<int> accepted_{0};
  std::atomic<std::uint64_t> bytes_from_target_{0};
  std::uint16_t port_ = 0;

 private:
  void Run() {
    while (!stop_) {
      std::vector<pollfd> fds{{wake_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
      const bool stalled = stall_;
      for (const auto& pair : pairs_) {
        // poll() ignores a negative descriptor: a stalled peer that disconnects must not make the
        // loop spin.
        const bool deaf = stalled || pair.abandoned;
        fds.push_back({deaf || pair.client_ended ? -1 : pair.client, POLLIN, 0});
        fds.push_back({deaf || pair.server_ended ? -1 : pair.server, POLLIN, 0});
      }
      poll(fds.data(), fds.size(), stalled ? -1 : UntilDue());
      if (fds[0].revents != 0) DrainWake();
      if (cut_.exchange(false)) {
        CloseAll();
        continue;
      }
      if (abandon_.exchange(false)) {
        for (Pair& pair : pairs_) pair.abandoned = true;
        continue;
      }
      if (!stalled) RelayReady(fds);
      if (fds[1].revents != 0) Accept();
    }
    CloseAll();
  }

  // Milliseconds until delayed bytes are due; -1: there are none.
  [[nodiscard]] int UntilDue() const {
    std::optional<steady_clock::time_point> first;
    for (const auto& pair : pairs_) {
      if (!pair.late.empty())
        first = std::min(first.value_or(pair.late.front().due), pair.late.front().due);
    }
    if (!first) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*first - steady_clock::now());
    return std::max(0, static_cast<int>(left.count()));
  }

  void DrainWake() const {
    std::array<char, 256> bytes;
    if (read(wake_[0], bytes.data(), bytes.size()) < 0) return;
  }

  void RelayReady(const std::vector<pollfd>& fds) {
    std::size_t at = 2;
    for (auto pair = pairs_.begin(); pair != pairs_.end(); at += 2) {
      if (fds[at].revents != 0) Take(*pair, pair->client, pair->server, pair->client_ended);
      if (fds[at + 1].revents != 0) Take(*pair, pair->server, pair->client, pair->server_ended);
      if (Deliver(*pair)) {
        ++pair;
      } else {
        pair->Close();
        pair = pairs_.erase(pair);
      }
    }
  }

  void Take(Pair& pair, int from, int to, bool& ended) {
    std::string bytes = Receive(from);
    ended = bytes.empty();
    if (from == pair.server) bytes_from_target_ += bytes.size();
    if (swallow_) return;
    const auto due = steady_clock::now() + std::chrono::milliseconds(delay_ms_);
    // Bytes must not overtake earlier ones.
    pair.late.push_back(
        {pair.late.empty() ? due : std::max(due, pair.late.back().due), to, std::move(bytes)});
  }

  // Delivers what is due. Returns false if the connection has ended.
  static bool Deliver(Pair& pair) {
    while (!pair.late.empty() && pair.late.front().due <= steady_clock::now()) {
      const Late late = std::move(pair.late.front());
      pair.late.pop_front();
      if (late.bytes.empty() || !SendAll(late.to, late.bytes.data(), late.bytes.size())) {
        return false;
      }
    }
    return true;
  }

  void Accept() {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    ++accepted_;
    const Pair pair{.client = client, .server = refuse_ ? -1 : ConnectToLoopback(target_)};
    if (pair.server < 0) {
      pair.Close();
    } else {
      pairs_.push_back(pair);
    }
  }

  void CloseAll() {
    for (const auto& pair : pairs_) pair.Close();
    pairs_.clear();
  }

  std::uint16_t target_;
  int listener_;
  int wake_[2] = {-1, -1};
  std::list<Pair> pairs_;  // owned by the thread
  std::thread thread_;
};

TcpProxy::TcpProxy(std::uint16_t target_port) : relay_(std::make_unique<Relay>(target_port)) {}
TcpProxy::~TcpProxy() = default;

std::uint16_t TcpProxy::port() const { return relay_->port_; }

void TcpProxy::Cut() {
  relay_->cut_ = true;
  relay_->Wake();
}

void TcpProxy::Refuse(bool refuse) {
  relay_->refuse_ = refuse;
  relay_->Wake();
}

void TcpProxy::Stall(bool stall) {
  relay_->stall_ = stall;
  relay_->Wake();
}

void TcpProxy::Swallow(bool swallow) {
  relay_->swallow_ = swallow;
  relay_->Wake();
}

void TcpProxy::Abandon() {
  relay_->abandon_ = true;
  relay_->Wake();
}

void TcpProxy::Slow(std::chrono::milliseconds delay) {
  relay_->delay_ms_ = static_cast<int>(delay.count());
  relay_->Wake();
}

std::uint64_t TcpProxy::bytes_from_target() const { return relay_->bytes_from_target_; }

int TcpProxy::accepted() const { return relay_->accepted_; }

}  // namespace e2e
