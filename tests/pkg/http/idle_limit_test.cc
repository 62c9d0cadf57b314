#include "pkg/http/idle_limit.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"

namespace idle_limit_test {

namespace {

using http::IdleLimit;
using namespace std::chrono_literals;

// Connections of clients, which the test answers and lets ask.
class Clients {
 public:
  explicit Clients(std::size_t most)
      : limit_(scheduler_, {.most = most, .longest_wait = 40ms, .quiet = 10ms}) {}
  ~Clients() {
    tasks_.Cancel();
    scheduler_.RunUntilIdle();
  }

  // A new connection with a request. Returns its number.
  std::size_t Ask(const std::string& address = "10.0.0.1") {
    connections_.push_back(std::make_unique<IdleLimit::Connection>(limit_, address));
    left_.push_back(false);
    return connections_.size() - 1;
  }
  std::vector<std::size_t> Ask(std::size_t requests, const std::string& address) {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < requests; ++i) numbers.push_back(Ask(address));
    return numbers;
  }
  void AskAgain(std::size_t number) {
    connections_[number]->Leave();
    left_[number] = false;
    scheduler_.RunUntilIdle();
  }
  void Disconnect(std::size_t number) {
    connections_[number].reset();
    scheduler_.RunUntilIdle();
  }
  void Answer(const std::vector<std::size_t>& numbers) {
    for (const std::size_t number : numbers) {
      tasks_.Spawn("answer", [this, number]() -> base::Task<void> {
        co_await base::DeferCancellation();
        co_await connections_[number]->BecomeIdle();
        left_[number] = true;
      });
    }
    scheduler_.RunUntilIdle();
  }
  void Cancel() {
    tasks_.Cancel();
    scheduler_.RunUntilIdle();
  }
  void RunFor(base::Duration duration) { scheduler_.RunFor(duration); }
  [[nodiscard]] std::size_t left() const {
    return static_cast<std::size_t>(std::count(left_.begin(), left_.end(), true));
  }

 private:
  base::asio::io_context io_;
  base::ManualScheduler scheduler_{io_};
  IdleLimit limit_;
  std::vector<std::unique_ptr<IdleLimit::Connection>> connections_;
  std::vector<bool> left_;  // its answer
  base::TaskGroup tasks_{io_.get_executor()};
};

}  // namespace

TEST_CASE("answers to few requests never wait") {
  Clients clients(3);
  const auto first = clients.Ask(3, "10.0.0.1");
  for (int round = 0; round < 5; ++round) {
    clients.Answer(first);
    REQUIRE(clients.left() == 3);
    for (const std::size_t number : first) clients.AskAgain(number);
    CHECK(clients.left() == 0);
  }
}

TEST_CASE("an answer beyond the limit waits until its client asks again") {
  Clients clients(3);
  clients.Answer(clients.Ask(5, "10.0.0.1"));
  CHECK(clients.left() == 3);
  clients.RunFor(5ms);
  clients.AskAgain(1);
  CHECK(clients.left() == 3);  // that of the next one has left
  clients.RunFor(5ms);
  clients.AskAgain(0);
  CHECK(clients.left() == 3);
  // All requests that came again are answered now: five connections, three of them idle.
  clients.Answer({0, 1});
  CHECK(clients.left() == 3);
}

TEST_CASE("a client that is quiet gets all answers") {
  Clients clients(3);
  clients.Answer(clients.Ask(8, "10.0.0.1"));
  clients.RunFor(9ms);
  CHECK(clients.left() == 3);
  clients.RunFor(1ms);
  CHECK(clients.left() == 8);
}

TEST_CASE("no answer waits for long, however many come before it") {
  Clients clients(1);
  clients.Answer(clients.Ask(100, "10.0.0.1"));
  std::size_t idle = 0;
  for (base::Duration waited{}; waited < 40ms; waited += 8ms) {
    CHECK(clients.left() == 1);
    clients.AskAgain(idle++);
    clients.RunFor(8ms);
  }
  CHECK(clients.left() == 100 - idle);
}

TEST_CASE("a connection that ends makes room") {
  Clients clients(1);
  const auto two = clients.Ask(2, "10.0.0.1");
  clients.Answer(two);
  CHECK(clients.left() == 1);
  clients.Disconnect(two[0]);
  CHECK(clients.left() == 2);
}

TEST_CASE("a review alone never waits for connections that are idle for long") {
  Clients clients(2);
  for (int server = 0; server < 3; ++server) {
    clients.Answer(clients.Ask(2, "10.0.0.1"));
    clients.RunFor(http::IdleBounds().lately + 1ms);
  }
  REQUIRE(clients.left() == 6);
  const std::size_t one = clients.Ask("10.0.0.1");
  clients.Answer({one});
  CHECK(clients.left() == 7);
  clients.AskAgain(one);
  clients.Answer({one});
  CHECK(clients.left() == 7);
}

TEST_CASE("each address has a limit of its own") {
  Clients clients(2);
  clients.Answer(clients.Ask(3, "10.0.0.1"));
  clients.Answer(clients.Ask(2, "10.0.0.2"));
  CHECK(clients.left() == 4);
}

TEST_CASE("a cancelled answer does not wait") {
  Clients clients(1);
  clients.Answer(clients.Ask(4, "10.0.0.1"));
  CHECK(clients.left() == 1);
  clients.Cancel();
  CHECK(clients.left() == 4);
}

TEST_CASE("a cancellation that throws leaves nothing behind") {
  base::asio::io_context io;
  base::ManualScheduler scheduler(io);
  IdleLimit limit(scheduler, {.most = 1});
  IdleLimit::Connection idle(limit, "10.0.0.1");
  IdleLimit::Connection waiting(limit, "10.0.0.1");
  base::TaskGroup tasks(io.get_executor());
  for (IdleLimit::Connection* connection : {&idle, &waiting}) {
    tasks.Spawn("answer", [connection] { return connection->BecomeIdle(); });
  }
  scheduler.RunUntilIdle();
  tasks.Cancel();
  scheduler.RunUntilIdle();
  CHECK(tasks.empty());
  idle.Leave();  // there is nobody to wake
}

TEST_CASE("without a limit no answer waits") {
  Clients clients(0);
  clients.Answer(clients.Ask(500, "10.0.0.1"));
  CHECK(clients.left() == 500);
}

// 64 callers, each with one request after the other, and answers in batches: nobody's connection
// is closed, because no more are idle than the limit.
TEST_CASE("connections of a steady load stay open") {
  constexpr std::size_t kMost = 25;
  Clients clients(kMost);
  const auto all = clients.Ask(64, "10.0.0.1");
  std::vector<std::size_t> asked = all;
  std::size_t next = 0;
  for (int turn = 0; turn < 200; ++turn) {
    if (asked.size() >= 40) clients.Answer(std::exchange(asked, {}));
    REQUIRE(clients.left() <= kMost);
    clients.RunFor(1ms);
    clients.AskAgain(all[next]);
    asked.push_back(all[next]);
    next = (next + 1) % all.size();
  }
}

}  // namespace idle_limit_test
