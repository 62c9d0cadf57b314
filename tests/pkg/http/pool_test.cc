// Which connections are kept and for how long, with the test's clock.

#include "pkg/http/pool.h"

#include <array>
#include <catch2/catch.hpp>

#include "tests/pkg/http/loopback.h"

namespace http::pool_test {
namespace {

using namespace std::chrono_literals;
using base::Task;
using test::Loopback;

// Connections without requests.
Task<std::vector<std::unique_ptr<Connection>>> DialSome(Loopback& loopback, std::size_t count) {
  std::vector<std::unique_ptr<Connection>> dialled;
  while (dialled.size() < count) {
    auto one = co_await loopback.Dial();
    dialled.push_back(std::move(one));
  }
  co_return dialled;
}

// How many connections the pool has.
std::size_t TakeAll(Pool& pool, base::TimePoint now) {
  std::vector<std::unique_ptr<Connection>> taken;
  while (auto one = pool.Take(now)) taken.push_back(std::move(one));
  return taken.size();
}

constexpr base::TimePoint kBegin{1h};

TEST_CASE("pool: idle connections expire, used ones stay", "[http]") {
  Loopback loopback;
  loopback.handler = test::Echo;
  loopback.Run([&]() -> Task<void> {
    auto connections = co_await DialSome(loopback, 40);
    Pool pool(256, 85s);
    for (auto& one : connections) pool.Put(std::move(one), pool.generation(), kBegin);
    // From now on three are needed at once.
    for (auto now = kBegin; now < kBegin + 10min; now += 10s) {
      std::array<std::unique_ptr<Connection>, 3> busy;
      for (auto& one : busy) one = pool.Take(now);
      for (auto& one : busy) {
        CHECK(one != nullptr);
        if (one) pool.Put(std::move(one), pool.generation(), now);
      }
    }
    CHECK(TakeAll(pool, kBegin + 10min) == 3);
  });
}

TEST_CASE("pool: the oldest connection is closed beyond the bound", "[http]") {
  Loopback loopback;
  loopback.handler = test::Echo;
  loopback.Run([&]() -> Task<void> {
    auto connections = co_await DialSome(loopback, 5);
    const Connection* const last = connections.back().get();
    Pool pool(2, 85s);
    for (auto& one : connections) pool.Put(std::move(one), pool.generation(), kBegin);
    const auto youngest = pool.Take(kBegin);
    CHECK(youngest.get() == last);
    CHECK(TakeAll(pool, kBegin) == 1);
  });
}

TEST_CASE("pool: a connection that is returned after Clear() is not kept", "[http]") {
  Loopback loopback;
  loopback.handler = test::Echo;
  loopback.Run([&]() -> Task<void> {
    auto connections = co_await DialSome(loopback, 2);
    Pool pool(8, 85s);
    const int before = pool.generation();
    pool.Put(std::move(connections[0]), before, kBegin);
    pool.Clear();
    pool.Put(std::move(connections[1]), before, kBegin);
    CHECK(TakeAll(pool, kBegin) == 0);
  });
}

}  // namespace
}  // namespace http::pool_test
