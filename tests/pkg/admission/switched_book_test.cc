#include "pkg/admission/switched_book.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "tests/pkg/admission/fake_book.h"
#include "tests/pkg/quota/quota_testing.h"

namespace admission::switched_book_test {
namespace {

using namespace std::chrono_literals;
using quota::List;

struct Fixture {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  FakeBook real{scheduler};
  SwitchedBook book{scheduler};
  base::TaskGroup tasks{io.get_executor()};
  bool closed = false;

  base::Task<void> Close() {
    co_await book.Close();
    closed = true;
  }
};

TEST_CASE("switched book: without a controller there are no quotas, and that is current",
          "[admission]") {
  Fixture f;
  quota::Quota quota = f.real.Put("q", List({{"cpu", "1"}}), List({{"cpu", "0"}}));
  f.real.current = false;
  CHECK(f.book.Quotas("ns").empty());
  CHECK(f.book.Reserved(quota, {1, 1}, "") == nullptr);
  CHECK(f.book.Rely(quota, {1, 1}, "") == 0);
  std::optional<base::Result<void>> refreshed;
  std::optional<base::Result<void>> reserved;
  f.tasks.Spawn("reserve", [&]() -> base::Task<void> {
    refreshed = co_await f.book.Refresh("ns", f.scheduler.Now() + 1s);
    ReservePlan plan{.quota = quota, .grants = {}};
    reserved = co_await f.book.Reserve(std::move(plan), f.scheduler.Now() + 1s);
  });
  f.scheduler.RunFor(1s);
  REQUIRE(reserved.has_value());
  CHECK(refreshed->has_value());
  CHECK(f.real.refreshes == 0);
  CHECK(reserved->error().Is(base::ErrorCode::kConflict));
  f.real.versions.emplace(quota::Uid{1, 1}, "8");
  CHECK_FALSE(f.book.HasLater(quota::Evaluator(), {1, 1}, "7"));
  f.book.Open(f.real, f.real);
  CHECK(f.book.HasLater(quota::Evaluator(), {1, 1}, "7"));
  CHECK(f.book.Quotas("ns").size() == 1);
}

TEST_CASE("switched book: it is closed when the last call has returned", "[admission]") {
  Fixture f;
  const quota::Quota quota = f.real.Put("q", List({{"cpu", "1"}}), List({{"cpu", "0"}}));
  f.real.write_takes = 3s;
  f.book.Open(f.real, f.real);
  std::optional<base::Result<void>> reserved;
  f.tasks.Spawn("reserve", [&]() -> base::Task<void> {
    ReservePlan plan{.quota = quota, .grants = {}};
    reserved = co_await f.book.Reserve(std::move(plan), f.scheduler.Now() + 10s);
  });
  f.scheduler.RunFor(1s);
  f.tasks.Spawn("close", [&f] { return f.Close(); });
  f.scheduler.RunFor(1s);
  CHECK_FALSE(f.closed);
  CHECK(f.book.Quotas("ns").empty());
  f.scheduler.RunFor(2s);
  CHECK(f.closed);
  REQUIRE(reserved.has_value());
  CHECK(reserved->has_value());
}

}  // namespace
}  // namespace admission::switched_book_test
