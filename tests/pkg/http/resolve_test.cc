// The only thread beside the daemon's own is the one of Asio's resolver. tests/run.sh also runs
// these tests under the thread sanitizer.
#include "pkg/http/resolve.h"

#include <catch2/catch.hpp>

#include "pkg/base/task_group.h"
#include "tests/pkg/http/loopback.h"

namespace resolve_test {

namespace {

using base::ErrorCode;
using base::Task;
using http::test::Loopback;
using http::test::Soon;

constexpr int kMany = 50;

// Looks up localhost `kMany` times at once.
Task<std::vector<base::Result<std::vector<http::Tcp::endpoint>>>> LookUpMany(
    base::TaskGroup& group, base::TimePoint deadline) {
  std::vector<base::Result<std::vector<http::Tcp::endpoint>>> results(kMany, base::Error{});
  for (int i = 0; i < kMany; ++i) {
    group.Spawn("look up", [&results, i, deadline]() -> Task<void> {
      auto found =
          co_await http::Resolve("localhost", static_cast<std::uint16_t>(1000 + i), deadline);
      results[static_cast<std::size_t>(i)] = std::move(found);
    });
  }
  co_await group.Join();
  co_return results;
}

}  // namespace

TEST_CASE("resolve: many look-ups at once get the port of each", "[http][resolve]") {
  Loopback loopback;
  loopback.Run([&]() -> Task<void> {
    base::TaskGroup group(loopback.io().get_executor());
    const auto results = co_await LookUpMany(group, Soon());
    for (int i = 0; i < kMany; ++i) {
      const auto& found = results[static_cast<std::size_t>(i)];
      REQUIRE(found.has_value());
      REQUIRE_FALSE(found->empty());
      for (const http::Tcp::endpoint& endpoint : *found) {
        CHECK(endpoint.address().is_loopback());
        CHECK(endpoint.port() == 1000 + i);
      }
    }
  });
}

TEST_CASE("resolve: an unknown name is unavailable, and named", "[http][resolve]") {
  Loopback loopback;
  loopback.Run([&]() -> Task<void> {
    const std::string host(300, 'a');
    const auto found = co_await http::Resolve(host, 1, Soon());
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().Is(ErrorCode::kUnavailable));
    CHECK(found.error().message.starts_with("look up " + host + ":1: "));
  });
}

TEST_CASE("resolve: a look-up past its deadline times out, unless its answer is faster",
          "[http][resolve]") {
  Loopback loopback;
  loopback.Run([&]() -> Task<void> {
    base::TaskGroup group(loopback.io().get_executor());
    const auto results = co_await LookUpMany(group, base::TimePoint::min());
    for (const auto& found : results) {
      CHECK((found ? !found->empty() : found.error().Is(ErrorCode::kTimeout)));
    }
  });
}

// Asio's resolver may still be at work when the loop of this test ends.
TEST_CASE("resolve: a cancelled look-up ends, also while its answer arrives", "[http][resolve]") {
  Loopback loopback;
  loopback.Run([&]() -> Task<void> {
    base::TaskGroup group(loopback.io().get_executor());
    int started = 0;
    int ended = 0;
    for (int i = 0; i < kMany; ++i) {
      group.Spawn("look up", [&started, &ended]() -> Task<void> {
        ++started;
        const auto found = co_await http::Resolve("localhost", 1, Soon());
        if (found ? !found->empty() : found.error().Is(ErrorCode::kCancelled)) ++ended;
      });
    }
    while (started < kMany) co_await http::test::Yield();
    group.Cancel();
    co_await group.Join();
    CHECK(ended == kMany);
  });
}

}  // namespace resolve_test
