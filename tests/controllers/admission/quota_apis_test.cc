// Quota APIs whose books open and close while reviews come, as controllers start and stop.

#include "tests/controllers/admission/admitter_fixture.h"

namespace quota_apis_test {
namespace {

using namespace fixture;
using namespace std::chrono_literals;
using Kind = admission::Answer::Kind;

struct Closing : AdmitterFixture {
  void Close() {
    calls.Spawn("close", [this]() -> base::Task<void> {
      co_await base::DeferCancellation();
      co_await admitter().Close(api.name);
      closed = true;
    });
  }
  void Open() { admitter().Open(api.name, controller->quota_book(), controller->object_book()); }
  bool closed = false;
};

TEST_CASE("quota APIs: without open books everything is admitted", "[admission]") {
  Closing f;
  f.PutQuota("q", {{"things", "1"}});
  f.Close();
  f.RunFor(100ms);
  REQUIRE(f.closed);
  for (int i = 0; i < 3; ++i) CHECK(f.Get(Create("u" + std::to_string(i))).kind == Kind::kAllowed);
  CHECK(f.cluster.writes.empty());
  f.Open();
  CHECK(f.Get(Create("v0")).kind == Kind::kAllowed);
  CHECK(f.Get(Create("v1")).kind == Kind::kRefused);
  CHECK(f.cluster.writes.size() == 1);
}

TEST_CASE("quota APIs: books are in use until the reviews that began with them have ended",
          "[admission]") {
  Closing f;
  f.PutQuota("q", {{"things", "1"}});
  f.cluster.patch_delay = 3s;
  f.Ask(Create("u0"));
  f.Ask(Create("u1"));
  f.RunFor(1s);
  f.Close();
  f.Ask(Create("after"));  // begins now, and finds no quotas
  f.RunFor(1s);
  CHECK_FALSE(f.closed);
  CHECK(f.answers.back()->kind == Kind::kAllowed);
  f.RunFor(3s);
  CHECK(f.closed);
  CHECK(f.Count(Kind::kAllowed) + f.Count(Kind::kRefused) == 3);
  CHECK(f.Used("q") == "things=1");
}

// Its kind is not served any more, so no write of its quotas succeeds.
TEST_CASE("quota APIs: a review that waits for closed books is decided without them",
          "[admission]") {
  Closing f;
  f.PutQuota("q", {{"things", "1"}});
  f.FailWrites("q", {.code = base::ErrorCode::kUnavailable, .message = "no"});
  f.Ask(Create("u0"));
  f.RunFor(1s);
  REQUIRE_FALSE(f.answers.back().has_value());
  f.Close();
  f.RunFor(500ms);
  CHECK(f.closed);
  REQUIRE(f.answers.back().has_value());
  CHECK(f.answers.back()->kind == Kind::kAllowed);
}

TEST_CASE("quota APIs: quotas of a namespace decide before ClusterQuotas", "[admission]") {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  admission::QuotaAdmitter admitter(io.get_executor(), scheduler, admission::NoObserver());
  quota::QuotaApi cluster;
  cluster.name = "a-cluster";
  cluster.form.cluster = true;
  quota::QuotaApi advising;
  advising.name = "advising";
  quota::QuotaApi core;
  core.name = "core";
  admitter.Enforce(cluster);
  admitter.Advise(advising);
  admitter.Enforce(core);
  CHECK(admitter.quota_apis() == std::vector<std::string>{"core", "a-cluster"});
}

}  // namespace
}  // namespace quota_apis_test
