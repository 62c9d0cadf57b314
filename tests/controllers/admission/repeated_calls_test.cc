// Calls for one object: repeated, from other versions than the stored one, and after another quota
// refused.

#include "tests/controllers/admission/admitter_fixture.h"

namespace repeated_calls_test {
namespace {

using namespace fixture;
using namespace std::chrono_literals;
using admission::Review;
using Kind = admission::Answer::Kind;

TEST_CASE("quota admitter: repeated calls for one write reserve once", "[admission]") {
  AdmitterFixture f;
  const json::Value stored = f.Store("a", "1");
  f.PutQuota("q", {{"cpu", "100"}});
  SECTION("one after the other") {
    for (int i = 0; i < 4; ++i) CHECK(f.Get(Update(stored, "3")).kind == Kind::kAllowed);
  }
  SECTION("all at once") {
    for (int i = 0; i < 8; ++i) f.Ask(Update(stored, "3"));
    f.RunFor(1s);
    CHECK(f.Count(Kind::kAllowed) == 8);
  }
  CHECK(f.Used("q") == "cpu=3");
}

TEST_CASE("quota admitter: a grant from a larger version covers only what it added",
          "[admission]") {
  AdmitterFixture f;
  const json::Value larger = f.Store("a", "7");
  f.PutQuota("q", {{"cpu", "7"}});
  // The API server read the object before another write made it smaller, and calls again after
  // that. The leader has counted the smaller one. The watch of this replica has not shown it.
  f.leads = false;
  f.cluster.Hold(kThings);
  const json::Value smaller = f.Store("a", "3");
  f.WriteStatus("q", {{"cpu", "7"}}, {{"cpu", "3"}});
  f.RunFor(100ms);
  REQUIRE(f.Used("q") == "cpu=3");
  CHECK(f.Get(Update(larger, "10")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=6");
  CHECK(f.Get(Update(smaller, "10")).kind == Kind::kRefused);
  CHECK(f.Get(Update(smaller, "6")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=6");
  CHECK(f.Get(Update(smaller, "8")).kind == Kind::kRefused);
  CHECK(f.Get(Update(smaller, "7")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=7");
}

// The API server rejects a write of an older version and calls again.
TEST_CASE("quota admitter: an update of an outdated version reserves nothing", "[admission]") {
  AdmitterFixture f;
  const json::Value first = f.Store("a", "1");
  Review late = Update(first, "3");
  SECTION("the newer version is known") {
    f.PutQuota("q", {{"cpu", "3"}});
    f.Store("a", "3");
    f.RunFor(1s);
    REQUIRE(f.Used("q") == "cpu=3");
    f.cluster.writes.clear();
    CHECK(f.Get(late).kind == Kind::kAllowed);
    CHECK(f.Used("q") == "cpu=3");
    CHECK(f.cluster.writes.empty());
    late.dry_run = true;  // a dry run is not called again
    CHECK(f.Get(late).kind == Kind::kRefused);
  }
  SECTION("the newer version becomes known while the request waits") {
    f.PutQuota("q", {{"cpu", "9"}});
    f.FailWrites("q", {.code = base::ErrorCode::kTooManyRequests, .message = "slow down"});
    f.Ask(late);
    f.RunFor(10ms);
    REQUIRE_FALSE(f.answers[0].has_value());
    f.Store("a", "3");
    f.RunFor(1ms);
    f.cluster.fault = nullptr;
    f.RunFor(500ms);
    REQUIRE(f.answers[0].has_value());
    CHECK(f.answers[0]->kind == Kind::kAllowed);
    CHECK(f.Reserved() == 0);
    CHECK(f.Used("q") == "cpu=3");
  }
  SECTION("no newer version is known") {
    f.Store("b", "2");
    f.PutQuota("q", {{"cpu", "3"}});
    CHECK(f.Get(late).kind == Kind::kRefused);
  }
}

TEST_CASE("quota admitter: after a refusal by one quota no other keeps a reservation",
          "[admission]") {
  AdmitterFixture f;
  f.PutQuota("roomy", {{"things", "10"}});
  f.PutQuota("tight", {{"things", "1"}});
  f.Ask(Create("a"));
  f.RunFor(1ms);
  // The write of `roomy` succeeds. That of `tight` gets a conflict, and then there is no room.
  f.WriteStatus("tight", {{"things", "1"}}, {{"things", "1"}});
  f.RunFor(6ms);
  CHECK(f.Used("roomy") == "things=1");
  f.RunFor(1s);
  REQUIRE(f.Count(Kind::kRefused) == 1);
  CHECK(f.answers[0]->message.starts_with("exceeded quota: tight"));
  CHECK(f.Reserved() == 0);
  CHECK(f.Used("roomy") == "things=0");
}

TEST_CASE("quota admitter: objects without a uid share no charge", "[admission]") {
  AdmitterFixture f;
  f.PutQuota("q", {{"things", "3"}});
  for (int i = 0; i < 5; ++i) {
    Review review = Create("");
    review.uid = "call " + std::to_string(i);
    f.Ask(std::move(review));
    if (i == 1) f.RunFor(100ms);  // in one batch, and in another
  }
  f.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 3);
  CHECK(f.Used("q") == "things=3");
  CHECK(f.Reserved() == 3);
}

}  // namespace
}  // namespace repeated_calls_test
