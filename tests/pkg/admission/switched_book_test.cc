#include "pkg/admission/switched_book.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"

namespace admission::switched_book_test {
namespace {

using namespace std::chrono_literals;

// Counts the calls that are forwarded to it. Each reservation takes three seconds.
class Counting final : public QuotaBook, public ObjectBook {
 public:
  explicit Counting(base::Scheduler& scheduler) : scheduler_(scheduler) {}

  base::Task<base::Result<void>> Refresh(std::string, base::TimePoint) override {
    ++refreshes;
    co_return base::Result<void>();
  }
  [[nodiscard]] NamespaceQuotas Quotas(std::string_view) const override {
    return {.quotas = {{.quota = &quota}}, .writer = "ns", .complete = false};
  }
  [[nodiscard]] Presence Look(std::string_view) const override {
    return {.any = true, .complete = false};
  }
  base::Task<base::Result<quota::Quota>> Read(quota::Quota asked, base::TimePoint) override {
    co_return asked;
  }
  [[nodiscard]] bool Draw(const ReservePlan&) override { return true; }
  base::Task<base::Result<void>> Reserve(ReservePlan, base::TimePoint) override {
    co_await scheduler_.Sleep(3s);
    co_return base::Result<void>();
  }
  void Withdraw(const api::ObjectKey&, const quota::Uid&, std::uint64_t) override {}
  [[nodiscard]] quota::Rules RulesNow() const override { return quota::RulesOf({1, 37}); }
  [[nodiscard]] const quota::ClassTable* ClassesOf(const quota::Evaluator&) const override {
    return nullptr;
  }
  [[nodiscard]] base::Result<quota::Resolved> SubjectOf(const quota::Evaluator&, std::string_view,

                                                        const quota::ObjectFacts&) const override {
    return quota::Resolved{};
  }
  [[nodiscard]] bool HasLater(const quota::Evaluator&, const quota::Uid&,
                              std::string_view) const override {
    return true;
  }
  base::Task<base::Result<quota::ClassUsage>> ReadClass(const quota::Evaluator&, std::string,
                                                        base::TimePoint) override {
    co_return base::Error{.code = base::ErrorCode::kNotFound, .message = "not found"};
  }
  base::Task<bool> IsTaken(const quota::Evaluator&, std::string, std::string, quota::Uid,
                           base::TimePoint) override {
    co_return true;
  }

  quota::Quota quota;
  std::size_t refreshes = 0;

 private:
  base::Scheduler& scheduler_;
};

struct Fixture {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  Counting real{scheduler};
  SwitchedBook book{scheduler};
  base::TaskGroup tasks{io.get_executor()};
  bool closed = false;

  base::Task<void> Close() {
    co_await book.Close();
    closed = true;
  }
};

TEST_CASE("switched book: without a controller there are no quotas to wait for", "[admission]") {
  Fixture f;
  CHECK(f.book.Quotas("ns").quotas.empty());
  CHECK(f.book.Quotas("ns").complete);
  CHECK_FALSE(f.book.Look("ns").any);
  CHECK(f.book.Look("ns").complete);
  CHECK_FALSE(f.book.Draw({.quota = f.real.quota, .grants = {}}));
  std::optional<base::Result<void>> refreshed;
  std::optional<base::Result<void>> reserved;
  f.tasks.Spawn("reserve", [&]() -> base::Task<void> {
    refreshed = co_await f.book.Refresh("ns", f.scheduler.Now() + 1s);
    ReservePlan plan{.quota = f.real.quota, .grants = {}};
    reserved = co_await f.book.Reserve(std::move(plan), f.scheduler.Now() + 1s);
  });
  f.scheduler.RunFor(1s);
  REQUIRE(reserved.has_value());
  CHECK(refreshed->has_value());
  CHECK(f.real.refreshes == 0);
  CHECK(reserved->error().Is(base::ErrorCode::kConflict));
  CHECK_FALSE(f.book.HasLater(quota::Evaluator(), {1}, "7"));
  f.book.Open(f.real, f.real);
  CHECK(f.book.HasLater(quota::Evaluator(), {1}, "7"));
  CHECK(f.book.Quotas("ns").quotas.size() == 1);
  CHECK_FALSE(f.book.Quotas("ns").complete);
  CHECK(f.book.Look("ns").any);
  CHECK_FALSE(f.book.Look("ns").complete);
  CHECK(f.book.Draw({.quota = f.real.quota, .grants = {}}));
}

TEST_CASE("switched book: Close() returns after the last call", "[admission]") {
  Fixture f;
  f.book.Open(f.real, f.real);
  std::optional<base::Result<void>> reserved;
  f.tasks.Spawn("reserve", [&]() -> base::Task<void> {
    ReservePlan plan{.quota = f.real.quota, .grants = {}};
    reserved = co_await f.book.Reserve(std::move(plan), f.scheduler.Now() + 10s);
  });
  f.scheduler.RunFor(1s);
  f.tasks.Spawn("close", [&f] { return f.Close(); });
  f.scheduler.RunFor(1s);
  CHECK_FALSE(f.closed);
  CHECK(f.book.Quotas("ns").quotas.empty());
  f.scheduler.RunFor(2s);
  CHECK(f.closed);
  REQUIRE(reserved.has_value());
  CHECK(reserved->has_value());
}

}  // namespace
}  // namespace admission::switched_book_test
