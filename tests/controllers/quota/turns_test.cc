// Work that concerns every quota must be done in bounded turns of the event loop, however many
// quotas there are, so that reviews are answered and watches are read meanwhile.

#include <catch2/catch.hpp>

#include "tests/controllers/quota/controller_fixture.h"

namespace turns_test {

namespace {

using namespace std::chrono_literals;
using fixture::ControllerFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakeQuota;

constexpr int kManyQuotas = 300;
constexpr std::size_t kMostAdds = 64;
constexpr std::size_t kMostRecounts = 2;

// Measures the work of the present turn and the maximum of all turns.
struct Turns final : queue::Observer {
  void Depth(std::size_t) override {}
  void Added() override { ++adds; }
  void Waited(base::Duration) override {}
  void Worked(base::Duration) override { ++recounts; }
  void Retried() override {}

  void End() {
    most_adds = std::max(most_adds, std::exchange(adds, 0));
    most_recounts = std::max(most_recounts, std::exchange(recounts, 0));
  }

  std::size_t adds = 0;
  std::size_t recounts = 0;
  std::size_t most_adds = 0;
  std::size_t most_recounts = 0;
};

controllers::QuotaControllerOptions Options() {
  controllers::QuotaControllerOptions options;
  options.resync_period = 1min;
  options.write_burst = 1'000'000;
  return options;
}

// Many quotas, each counted and in its own namespace. Turns are measured from then on.
struct ManyQuotas : ControllerFixture {
  ManyQuotas() : ControllerFixture(Options()) {
    for (int i = 0; i < kManyQuotas; ++i) {
      const std::string ns = "team-" + std::to_string(i);
      cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}, {"secrets", "10"}}, ns));
    }
    Stop();
    queue_observer = &turns;
    Start();
    RunFor(5s);
    REQUIRE(Used("q", "team-299") == "pods=0,secrets=0");
    turns = Turns();
    recounts_before = Recounts();
    scheduler.OnTurn([this] { turns.End(); });
  }
  ~ManyQuotas() { Stop(); }

  int Recounts() { return recorder.reconciles["unchanged"]; }
  void CheckAllInSmallTurns() {
    CHECK(Recounts() - recounts_before >= kManyQuotas);
    CHECK(turns.most_adds <= kMostAdds);
    CHECK(turns.most_recounts <= kMostRecounts);
  }

  Turns turns;
  int recounts_before = 0;
};

}  // namespace

TEST_CASE("turns: a resync visits every quota in small steps", "[controllers]") {
  ManyQuotas f;
  f.RunFor(80s);
  REQUIRE(f.recorder.resyncs == 1);
  f.CheckAllInSmallTurns();
}

TEST_CASE("turns: a new leader visits every quota in small steps", "[controllers]") {
  ManyQuotas f;
  f.controller->OnLeading();
  f.turns.End();  // ends the first turn
  f.RunFor(10s);
  f.CheckAllInSmallTurns();
}

TEST_CASE("turns: the quotas of a repaired kind are visited in small steps", "[controllers]") {
  ManyQuotas f;
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path != "/api/v1/pods") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "503"};
  };
  f.cluster.CutWatches(kPods);
  f.RunFor(8s);
  f.recounts_before = f.Recounts();
  f.turns.End();
  f.cluster.fault = nullptr;
  f.RunFor(40s);
  f.CheckAllInSmallTurns();
}

TEST_CASE("turns: visits that are due together are made in small steps", "[controllers]") {
  ManyQuotas f;
  // The names of a kind that lagged are all recounted at the moment when it has caught up.
  f.cluster.CutWatches(kPods, true);
  f.RunFor(30s);
  CHECK(f.turns.most_adds <= kMostAdds);
  CHECK(f.turns.most_recounts <= kMostRecounts);
}

TEST_CASE("turns: new guards visit every quota in small steps", "[controllers]") {
  ManyQuotas f;
  f.controller->OnGuards();
  f.turns.End();
  f.RunFor(10s);
  f.CheckAllInSmallTurns();
}

}  // namespace turns_test
