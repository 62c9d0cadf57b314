#include "controllers/usage/served_resources.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <optional>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "tests/fake/fake_cluster.h"

namespace served_resources_test {
namespace {

using namespace std::chrono_literals;

const api::GroupVersionResource kDisks{"example.com", "v1", "disks"};
const api::GroupVersionResource kBuckets{"example.com", "v1", "buckets"};

struct Server {
  // Asks, and lets this much time pass.
  void Look(base::Duration then = 3s) {
    tasks.Spawn("look", [this]() -> base::Task<void> {
      const auto asked = co_await served.Refresh();
      failed = !asked.has_value();
    });
    scheduler.RunFor(then);
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
  controllers::ServedResources served{cluster, scheduler};
  base::TaskGroup tasks{io.get_executor()};
  bool failed = false;
};

}  // namespace

TEST_CASE("served resources: a kind is gone if two answers in a row lack it", "[controllers]") {
  Server f;
  f.cluster.Serve(kDisks, "Disk");
  CHECK_FALSE(f.served.LacksVersion(kBuckets));  // nothing is known
  f.Look();
  CHECK_FALSE(f.served.LacksVersion(kBuckets));
  f.Look();
  CHECK(f.served.LacksVersion(kBuckets));
  f.cluster.Serve(kBuckets, "Bucket");
  f.Look();
  CHECK_FALSE(f.served.LacksVersion(kBuckets));
  // One server of several lags behind.
  f.cluster.StopServing(kBuckets);
  f.Look();
  f.cluster.Serve(kBuckets, "Bucket");
  f.Look();
  f.cluster.StopServing(kBuckets);
  f.Look();
  CHECK_FALSE(f.served.LacksVersion(kBuckets));
}

TEST_CASE("served resources: what is no answer does not confirm that a kind is gone",
          "[controllers]") {
  Server f;
  f.cluster.Serve(kDisks, "Disk");
  f.Look(10ms);
  SECTION("a failure") {
    f.cluster.fault = [](const client::ApiRequest&) -> std::optional<base::Error> {
      return base::Error{.code = base::ErrorCode::kUnavailable, .message = "away"};
    };
    f.scheduler.RunFor(3s);
    f.Look();
    REQUIRE(f.failed);
    CHECK_FALSE(f.served.LacksVersion(kBuckets));
    f.cluster.fault = nullptr;
  }
  SECTION("an answer without the group") {
    f.cluster.SetStale("example.com", true);
    f.scheduler.RunFor(3s);
    f.Look();
    CHECK_FALSE(f.served.LacksVersion(kBuckets));
    f.cluster.SetStale("example.com", false);
    f.Look();
  }
  SECTION("an answer of the same moment") {
    f.Look(10ms);
    CHECK_FALSE(f.served.LacksVersion(kBuckets));
    f.scheduler.RunFor(3s);
  }
  SECTION("an answer of the moment of one that had it") {
    f.cluster.Serve(kBuckets, "Bucket");
    f.Look(10ms);
    f.cluster.StopServing(kBuckets);
    f.Look();
    f.Look();
    CHECK_FALSE(f.served.LacksVersion(kBuckets));
  }
  f.Look();
  CHECK(f.served.LacksVersion(kBuckets));
}

TEST_CASE("served resources: what was served stays until two answers in a row lack it",
          "[controllers]") {
  Server f;
  f.cluster.Serve(kDisks, "Disk");
  f.cluster.Serve(kBuckets, "Bucket");
  const api::GroupResource buckets = kBuckets.WithoutVersion();
  f.Look();
  const std::uint64_t generation = f.served.generation();
  f.cluster.StopServing(kBuckets);
  f.Look();
  CHECK(f.served.Find(buckets) == kBuckets);
  CHECK(f.served.HasVersion(kBuckets));
  CHECK(f.served.VersionsOf(buckets) == std::vector<std::string>{"v1"});
  CHECK_FALSE(f.served.IsAbsent(buckets));
  CHECK(f.served.generation() == generation);
  SECTION("the second one") {
    f.Look();
    CHECK_FALSE(f.served.Find(buckets));
    CHECK_FALSE(f.served.HasVersion(kBuckets));
    CHECK(f.served.VersionsOf(buckets).empty());
    CHECK(f.served.IsAbsent(buckets));
    CHECK(f.served.generation() > generation);
  }
  SECTION("a group that fails then keeps it") {
    f.cluster.SetStale("example.com", true);
    for (int i = 0; i < 5; ++i) f.Look();
    CHECK(f.served.Find(buckets) == kBuckets);
    f.cluster.SetStale("example.com", false);
    f.Look();
    CHECK(f.served.Find(buckets) == kBuckets);
    f.Look();
    CHECK(f.served.IsAbsent(buckets));
  }
  CHECK(f.served.Find(kDisks.WithoutVersion()) == kDisks);
}

}  // namespace served_resources_test
