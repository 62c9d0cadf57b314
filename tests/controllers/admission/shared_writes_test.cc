// Requests that wait together: one write for all of them, and all decided again if it fails.

#include <random>

#include "tests/controllers/admission/admitter_fixture.h"

namespace shared_writes_test {
namespace {

using namespace fixture;
using namespace std::chrono_literals;
using Kind = admission::Answer::Kind;

TEST_CASE("quota admitter: waiting requests share one write", "[admission]") {
  AdmitterFixture f;
  f.PutQuota("q", {{"things", "50"}});
  for (int i = 0; i < 64; ++i) f.Ask(Create("u" + std::to_string(i)));
  f.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 50);
  CHECK(f.Count(Kind::kRefused) == 14);
  CHECK(f.Used("q") == "things=50");
  CHECK(f.cluster.writes.size() <= 2);
}

TEST_CASE("quota admitter: after a conflict all waiting requests are decided again",
          "[admission]") {
  AdmitterFixture f;
  f.PutQuota("q", {{"things", "10"}});
  for (int i = 0; i < 8; ++i) f.Ask(Create("u" + std::to_string(i)));
  f.RunFor(1ms);
  // Another writer charges five while the first write is in flight.
  f.WriteStatus("q", {{"things", "10"}}, {{"things", "5"}});
  f.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 5);
  CHECK(f.Count(Kind::kRefused) == 3);
  CHECK(f.Used("q") == "things=10");
  CHECK(f.counts.conflicts >= 1);
}

TEST_CASE("quota admitter: a refusal that depends on a failed write is decided again",
          "[admission]") {
  AdmitterFixture f;
  f.PutQuota("q", {{"things", "1"}});
  f.Ask(Create("a"));
  f.Ask(Create("b"));
  f.RunFor(1ms);
  json::Value raised = MakeQuota("q", {{"things", "2"}});
  raised.Make({"status"}) = json::Object{{"hard", json::Object{{"things", "2"}}},
                                         {"used", json::Object{{"things", "0"}}}};
  f.cluster.Put(kQuotas, std::move(raised));
  f.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 2);
  CHECK(f.Used("q") == "things=2");
}

TEST_CASE("quota admitter: another writer in a tight loop starves no request", "[admission]") {
  std::mt19937 random(3);  // declared first: the fixture's destructor uses it
  AdmitterFixture f;
  f.PutQuota("q", {{"things", "1000"}});
  f.calls.Spawn("other writer", [&]() -> base::Task<void> {
    co_await base::DeferCancellation();
    for (int i = 0; i < 2'000; ++i) {
      co_await f.scheduler.Sleep(std::chrono::microseconds(500 + random() % 8'000));
      f.cluster.Put(kQuotas, *f.cluster.Find(kQuotas, "team-a", "q"));
    }
  });
  for (int i = 0; i < 40; ++i) {
    f.Ask(Create("u" + std::to_string(i)));
    f.RunFor(20ms);
  }
  f.RunFor(5s);
  CHECK(f.Count(Kind::kAllowed) == 40);
  CHECK(f.Used("q") == "things=40");
  CHECK(f.counts.conflicts > 10);
}

TEST_CASE("quota admitter: a deleted quota does not limit waiting requests", "[admission]") {
  AdmitterFixture f;
  f.PutQuota("q", {{"things", "1"}});
  f.Ask(Create("a"));
  f.Ask(Create("b"));
  f.RunFor(1ms);
  f.cluster.Delete(kQuotas, "team-a", "q");
  f.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 2);
}

TEST_CASE("quota admitter: too many waiting requests: the newest is answered 429", "[admission]") {
  AdmitterFixture f({.max_waiting = 3});
  f.PutQuota("q", {{"things", "10"}});
  f.cluster.patch_delay = 1s;
  for (int i = 0; i < 5; ++i) f.Ask(Create("u" + std::to_string(i)));
  f.scheduler.RunUntilIdle();
  CHECK(f.Count(Kind::kBusy) == 2);
  CHECK(f.answers[3]->kind == Kind::kBusy);
  CHECK(f.answers[4]->kind == Kind::kBusy);
  f.RunFor(4s);
  CHECK(f.Count(Kind::kAllowed) == 3);
}

TEST_CASE("quota admitter: a namespace whose quotas cannot be written does not block others",
          "[admission]") {
  AdmitterFixture f({.max_waiting = 8, .max_waiting_in_namespace = 3});
  f.PutQuota("q", {{"things", "10"}});
  f.PutQuota("free", {{"things", "10"}}, "other");
  f.FailWrites("q", {.code = base::ErrorCode::kUnavailable, .message = "away"});
  for (int i = 0; i < 9; ++i) f.Ask(Create("u" + std::to_string(i)));
  f.RunFor(100ms);
  CHECK(f.Count(Kind::kBusy) == 6);
  CHECK(f.answers.back()->message ==
        "too many requests of namespace team-a wait for quota decisions");
  CHECK(f.Get(Create("v", "", "other")).kind == Kind::kAllowed);
  f.RunFor(6s);  // the waiting requests have given up
  f.cluster.fault = nullptr;
  CHECK(f.Get(Create("w")).kind == Kind::kAllowed);
}

}  // namespace
}  // namespace shared_writes_test
