// The only thread beside the daemon's own is the one of Asio's resolver. tests/run.sh also runs
// these tests under the thread sanitizer.
#include "pkg/http/resolve.h"

#include <dlfcn.h>
#include <netdb.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <list>

#include "pkg/base/task_group.h"
#include "tests/pkg/http/loopback.h"

namespace resolve_test {

namespace {

using base::ErrorCode;
using base::Task;
using http::test::Loopback;
using http::test::Soon;

constexpr int kMany = 50;

std::atomic<int> look_ups = 0;

// Looks up localhost `kMany` times at once.
Task<std::vector<base::Result<std::vector<http::Tcp::endpoint>>>> LookUpMany(
    base::TaskGroup& group, base::TimePoint deadline) {
  std::vector<base::Result<std::vector<http::Tcp::endpoint>>> results(kMany, base::Error{});
  std::list<http::Resolver> resolvers;
  for (int i = 0; i < kMany; ++i) {
    http::Resolver& resolver =
        resolvers.emplace_back("localhost", static_cast<std::uint16_t>(1000 + i));
    group.Spawn("look up", [&results, i, &resolver, deadline]() -> Task<void> {
      auto found = co_await resolver.Resolve(deadline);
      results[static_cast<std::size_t>(i)] = std::move(found);
    });
  }
  co_await group.Join();
  co_return results;
}

}  // namespace

// Replaces the C library's in this program, to count.
extern "C" int getaddrinfo(const char* host, const char* port, const addrinfo* hints,
                           addrinfo** found) {
  static const auto real = reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, __func__));
  ++look_ups;
  return real(host, port, hints, found);
}

TEST_CASE("resolve: callers at the same time share one look-up", "[http][resolve]") {
  Loopback loopback;
  loopback.Run([&]() -> Task<void> {
    base::TaskGroup group(loopback.io().get_executor());
    http::Resolver resolver("localhost", 1);
    const int before = look_ups;
    int found = 0;
    for (int i = 0; i < kMany; ++i) {
      // Those that gave up need no look-up of their own either.
      const base::TimePoint deadline = i % 2 == 0 ? Soon() : base::TimePoint::min();
      group.Spawn("look up", [&resolver, &found, deadline]() -> Task<void> {
        const auto endpoints = co_await resolver.Resolve(deadline);
        if (endpoints) ++found;
      });
    }
    co_await group.Join();
    CHECK(found >= kMany / 2);
    CHECK(look_ups == before + 1);
    const auto again = co_await resolver.Resolve(Soon());
    CHECK(again.has_value());
    CHECK(look_ups == before + 2);  // a name may move to another address
  });
}

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
    http::Resolver resolver(host, 1);
    const auto found = co_await resolver.Resolve(Soon());
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
  const bool shared = GENERATE(true, false);
  Loopback loopback;
  loopback.Run([&]() -> Task<void> {
    base::TaskGroup group(loopback.io().get_executor());
    int started = 0;
    int ended = 0;
    std::list<http::Resolver> resolvers;
    for (int i = 0; i < kMany; ++i) {
      if (i == 0 || !shared) resolvers.emplace_back("localhost", 1);
      group.Spawn("look up", [&started, &ended, &resolver = resolvers.back()]() -> Task<void> {
        ++started;
        const auto found = co_await resolver.Resolve(Soon());
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
