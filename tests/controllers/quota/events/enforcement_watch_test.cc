// Quotas without conditions that nobody enforces. For ClusterQuotas see cluster_quotas_test.cc.
#include "controllers/quota/events/enforcement_watch.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/controllers/quota/controller_fixture.h"

namespace enforcement_watch_test {
namespace {

using namespace std::chrono_literals;
using controllers::Unenforced;
using fixture::kQuotas;
using fixture::MakeQuota;
using Texts = std::vector<std::string>;

struct Fixture {
  static controllers::QuotaControllerOptions With(const std::optional<Unenforced>& unenforced) {
    controllers::QuotaControllerOptions options;
    options.guarded = [](const quota::Evaluator&, const api::ObjectKey&) { return true; };
    options.unenforced = [&unenforced] { return unenforced; };
    return options;
  }
  Fixture() {
    f.cluster.Serve(fixture::kSecrets, "Secret");
    f.cluster.Put(kQuotas, MakeQuota("pods", {{"pods", "5"}}));
    f.cluster.Put(kQuotas, MakeQuota("secrets", {{"secrets", "5"}}));
    f.RunFor(10s);
    REQUIRE(f.events.said.empty());
  }
  // The events since the last call, sorted.
  Texts Said() {
    Texts texts = f.events.Texts();
    f.events.said.clear();
    std::ranges::sort(texts);
    return texts;
  }

  std::optional<Unenforced> unenforced{std::in_place};
  fixture::ControllerFixture f{With(unenforced)};
};

Unenforced Broken() { return {.why = "the glass is broken", .decided = true}; }

const Texts kBroken{"NotEnforced pods: nothing is refused: the glass is broken",
                    "NotEnforced secrets: nothing is refused: the glass is broken"};
const Texts kHealed{"QuotaHealed pods: the quota is enforced again",
                    "QuotaHealed secrets: the quota is enforced again"};

}  // namespace

TEST_CASE_METHOD(Fixture, "enforcement: each quota has an event while nothing is refused",
                 "[controllers]") {
  unenforced = Broken();
  f.RunFor(10s);
  CHECK(Said() == kBroken);
  f.RunFor(30min);  // resyncs
  CHECK(Said().empty());
  f.cluster.Put(kQuotas, MakeQuota("new", {{"pods", "1"}}));
  f.RunFor(10s);
  CHECK(Said() == Texts{"NotEnforced new: nothing is refused: the glass is broken"});
  f.cluster.Delete(kQuotas, "team-a", "new");
  unenforced = Unenforced{};
  f.RunFor(10s);
  CHECK(Said() == kHealed);
}

TEST_CASE_METHOD(Fixture, "enforcement: a moment without rules is not reported", "[controllers]") {
  for (int i = 0; i < 10; ++i) {  // each time they are stored again
    unenforced->resources = {{"", "pods"}};
    f.RunFor(9s);
    unenforced->resources.clear();
    f.RunFor(1s);
  }
  CHECK(Said().empty());
}

TEST_CASE_METHOD(Fixture, "enforcement: rules that are missing concern the quotas that need them",
                 "[controllers]") {
  unenforced->resources = {{"", "pods"}};
  f.RunFor(20s);
  CHECK(Said() == Texts{"NotEnforced pods: the API server does not ask about pods: its webhook "
                        "configuration lacks the rules"});
  unenforced = Unenforced{};
  f.RunFor(10s);
  CHECK(Said() == Texts{"QuotaHealed pods: the quota is enforced again"});
}

TEST_CASE_METHOD(Fixture, "enforcement: a new process reports what it finds once it knows",
                 "[controllers]") {
  unenforced = Broken();
  f.RunFor(10s);
  CHECK(Said() == kBroken);
  f.Stop();
  unenforced.reset();
  f.Start();
  f.RunFor(1min);
  CHECK(Said().empty());
  unenforced = Broken();
  f.RunFor(10s);
  CHECK(Said() == kBroken);
}

TEST_CASE_METHOD(Fixture, "enforcement: a thousand quotas have their events one after the other",
                 "[controllers]") {
  for (int i = 0; i < 998; ++i) {
    f.cluster.Put(kQuotas, MakeQuota("q-" + std::to_string(i), {{"pods", "5"}}));
  }
  f.RunFor(1min);
  const std::size_t writes = f.cluster.writes.size();
  unenforced = Broken();
  f.RunFor(6s);
  CHECK(f.events.said.size() >= 100);
  CHECK(f.events.said.size() <= 120);
  f.RunFor(1min);
  CHECK(f.events.said.size() == 1000);
  CHECK(f.cluster.writes.size() == writes);  // they have no condition
}

}  // namespace enforcement_watch_test
