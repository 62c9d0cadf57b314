#include "controllers/usage/ledger_resync.h"

#include <catch2/catch.hpp>

#include "pkg/api/object_meta.h"
#include "tests/controllers/quota/controller_fixture.h"

namespace ledger_resync_test {
namespace {

using namespace std::chrono_literals;
using controllers::DriftReport;
using controllers::LedgerResync;
using fixture::kPods;
using fixture::MakePod;

base::Result<quota::ObjectFacts> FactsOf(const json::Value& /*object*/) {
  quota::ObjectFacts facts;
  facts.now.usage.Set("pods", quota::Quantity::FromInt(1));
  return facts;
}

// Objects of one ledger, and the lists of a fake cluster.
struct Fixture {
  Fixture() {
    cluster.Serve(kPods, "Pod");
    cluster.Put(kPods, MakePod("a"));
    cluster.Put(kPods, MakePod("b"));
  }
  ~Fixture() { cluster.ForgetFunctions(); }

  using Outcome = std::optional<base::Result<std::optional<DriftReport>>>;
  void Start(Outcome& outcome) {
    tasks.Spawn("resync", [this, &outcome]() -> base::Task<void> {
      co_await base::DeferCancellation();
      outcome.emplace(co_await resync.Run(1s, LedgerResync::Depth::kVersions));
    });
  }
  [[nodiscard]] std::string Missing(const Outcome& outcome) const {
    if (!outcome) return "is running";
    if (!*outcome) return outcome->error().message;
    return **outcome ? std::to_string((**outcome)->drift.missing) : "was abandoned";
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
  controllers::TrackingContext context{.executor = io.get_executor(),
                                       .scheduler = &scheduler,
                                       .client = &cluster,
                                       .reflector = {.resource = kPods}};
  quota::Ledger ledger;
  std::size_t reported = 0;
  LedgerResync resync{context,
                      context.reflector,
                      ledger,
                      {.facts_of = FactsOf,
                       .count = [](const json::Value&) {},
                       .report = [this](const quota::LedgerChange&) { ++reported; }}};
  base::TaskGroup tasks{io.get_executor()};
};

}  // namespace

TEST_CASE("ledger resync: what the ledger lacks is read and reported", "[controllers]") {
  Fixture f;
  Fixture::Outcome outcome;
  f.Start(outcome);
  f.scheduler.RunFor(5s);
  CHECK(f.Missing(outcome) == "2");
  CHECK(f.reported == 2);
  CHECK(f.ledger.size() == 2);
  CHECK_FALSE(f.resync.running());
}

TEST_CASE("ledger resync: one that was abandoned leaves the next one alone", "[controllers]") {
  Fixture f;
  base::Duration stall = 10s;
  f.cluster.stall = [&](const client::ApiRequest&) { return std::exchange(stall, 20s); };
  Fixture::Outcome first;
  Fixture::Outcome second;
  f.Start(first);
  f.scheduler.RunFor(1s);
  f.resync.Abandon();
  CHECK_FALSE(f.resync.running());
  f.Start(second);
  f.scheduler.RunFor(14s);
  CHECK(f.Missing(first) == "was abandoned");
  CHECK(f.ledger.size() == 0);
  CHECK(f.resync.running());
  f.scheduler.RunFor(1min);
  CHECK(f.Missing(second) == "2");
  CHECK(f.reported == 2);
}

}  // namespace ledger_resync_test
