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

// A daemon that has just started does not know yet whether its quota APIs are served.
struct Starting {
  explicit Starting(admission::QuotaAdmitterOptions options = {})
      : admitter(io.get_executor(), scheduler, admission::NoObserver(), std::move(options)) {
    admitter.Enforce(api);
  }
  ~Starting() {
    calls.Spawn("stop", [this] { return admitter.Stop(); });
    RunFor(1min);
  }

  std::optional<admission::Answer>& Ask(const std::vector<std::string>& called_for) {
    auto& answer = answers.emplace_back();
    calls.Spawn("call", [this, &answer, called_for]() -> base::Task<void> {
      co_await base::DeferCancellation();
      admission::Review review{.uid = "call",
                               .resource = {"", "v1", "pods"},
                               .operation = admission::Operation::kCreate,
                               .ns = "team-a",
                               .name = "p"};
      review.called_for = called_for;
      admission::Answer given = co_await admitter.Admit(review, scheduler.Now() + 5s);
      answer = std::move(given);
    });
    RunFor(0ms);
    return answer;
  }
  void RunFor(base::Duration time) { scheduler.RunFor(time); }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  quota::QuotaApi api = quota::CoreQuotaApi();
  admission::QuotaAdmitter admitter;
  base::TaskGroup calls{io.get_executor()};
  std::deque<std::optional<admission::Answer>> answers;
};

TEST_CASE("quota APIs: nothing is admitted before it is known whether there are quotas",
          "[admission]") {
  Starting f;
  auto& waits = f.Ask({});
  f.RunFor(3s);
  CHECK_FALSE(waits.has_value());
  f.RunFor(2s);
  REQUIRE(waits.has_value());
  CHECK(waits->kind == Kind::kUnavailable);
  CHECK_THAT(waits->message, Catch::Matchers::Contains("quotas of core"));

  auto& decided = f.Ask({});
  f.admitter.HasNone(f.api.name);
  f.RunFor(100ms);
  REQUIRE(decided.has_value());
  CHECK(decided->kind == Kind::kAllowed);
}

TEST_CASE("quota APIs: what no rule asks about does not wait for quotas", "[admission]") {
  Starting f({.may_call = [](const auto&, const auto&, auto) { return false; }});
  CHECK(f.Ask({}).has_value());
  CHECK(f.Ask({"cluster"}).has_value());
  CHECK_FALSE(f.Ask({"core"}).has_value());
}

// Without the definitions nobody knows what counts under acme.io/n, nor what is in acme.io/tier.
TEST_CASE("quota APIs: what a definition may explain waits until the definitions are known",
          "[admission]") {
  bool known = false;
  AdmitterFixture f({.definitions_known = [&] { return known; }});
  f.api.counts_as = "core";
  const bool by_scope = GENERATE(false, true);
  json::Value quota = MakeQuota("q", {{"things", "5"}});
  if (by_scope) {
    quota.Make({"spec", "scopes"}) = json::Array{"acme.io/tier"};
  } else {
    quota.Make({"spec", "hard", "acme.io/n"}) = "5";
  }
  f.cluster.Put(kQuotas, std::move(quota));
  f.RunFor(1s);
  f.Ask(Create("u0"));
  f.RunFor(3s);
  CHECK_FALSE(f.answers.back().has_value());
  f.RunFor(3s);
  REQUIRE(f.answers.back().has_value());
  CHECK(f.answers.back()->kind == Kind::kUnavailable);
  CHECK_THAT(f.answers.back()->message, Catch::Contains("UsageDefinitions are not known now"));

  f.Ask(Create("u1"));
  f.RunFor(1s);
  known = true;
  f.RunFor(1s);
  REQUIRE(f.answers.back().has_value());
  CHECK(f.answers.back()->kind == Kind::kAllowed);
}

TEST_CASE("quota APIs: quotas that no definition concerns do not wait for definitions",
          "[admission]") {
  const std::string counts_as = GENERATE("core", "ironcore");
  AdmitterFixture f({.definitions_known = [] { return false; }});
  f.api.counts_as = counts_as;
  f.PutQuota("q", {{"things", "1"}, {counts_as == "core" ? "nonsense" : "acme.io/n", "1"}});
  CHECK(f.Get(Create("u0")).kind == Kind::kAllowed);
  CHECK(f.Get(Create("u1")).kind == Kind::kRefused);
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
