// Requests whose quotas cannot be read or written for a while, and callers that give up: no answer
// is a guess, and nothing stays reserved.

#include <random>
#include <set>

#include "tests/controllers/admission/admitter_fixture.h"

namespace failed_writes_test {
namespace {

using namespace fixture;
using namespace std::chrono_literals;
using admission::Answer;
using Kind = Answer::Kind;

const base::Error kAway{.code = base::ErrorCode::kUnavailable, .message = "away"};

TEST_CASE("quota admitter: without the API server the wait is bounded and nothing charged",
          "[admission]") {
  AdmitterFixture f;
  f.PutQuota("q", {{"things", "10"}});
  const base::Duration usual = f.cluster.patch_delay;
  std::string why;
  SECTION("that refuses connections") {
    why = "connection refused";
    f.cluster.fault = [](const client::ApiRequest&) {
      return base::Error{.code = base::ErrorCode::kUnavailable, .message = "connection refused"};
    };
  }
  SECTION("that is silent") {
    why = "no answer";
    f.cluster.patch_delay = 1min;
  }
  f.Ask(Create("a"));
  f.RunFor(4'999ms);
  CHECK_FALSE(f.answers[0].has_value());
  f.RunFor(2ms);
  REQUIRE(f.answers[0].has_value());
  CHECK(f.answers[0]->kind == Kind::kUnavailable);
  CHECK(f.answers[0]->message == "resource quota evaluation timed out: " + why);
  CHECK(f.cluster.writes.size() < 30);
  CHECK(f.Reserved() == 0);

  f.cluster.fault = nullptr;
  f.cluster.patch_delay = usual;
  CHECK(f.Get(Create("b")).kind == Kind::kAllowed);
}

TEST_CASE("quota admitter: a reservation for a caller that gave up is withdrawn", "[admission]") {
  AdmitterFixture f;
  f.PutQuota("q", {{"things", "10"}});
  f.cluster.patch_delay = 3s;
  f.Ask(Create("a"), 1s);
  f.Ask(Create("b"), 5s);
  f.RunFor(2s);
  REQUIRE(f.answers[0].has_value());
  CHECK(f.answers[0]->kind == Kind::kUnavailable);
  f.RunFor(1500ms);
  REQUIRE(f.answers[1].has_value());
  CHECK(f.answers[1]->kind == Kind::kAllowed);
  CHECK(f.Used("q") == "things=2");  // the write had both
  f.RunFor(4s);
  CHECK(f.Used("q") == "things=1");
  CHECK(f.Reserved() == 1);
}

TEST_CASE("quota admitter: giving up keeps a reservation that answered another call",
          "[admission]") {
  AdmitterFixture f;
  const json::Value stored = f.Store("a", "1");
  f.PutQuota("q", {{"cpu", "10"}});
  f.cluster.patch_delay = 3s;
  f.Ask(Update(stored, "4"), 1s);
  f.Ask(Update(stored, "3"), 5s);
  f.RunFor(4s);
  REQUIRE(f.answers[1].has_value());
  CHECK(f.answers[1]->kind == Kind::kAllowed);
  CHECK(f.answers[0]->kind == Kind::kUnavailable);
  f.RunFor(4s);
  CHECK(f.Used("q") == "cpu=4");
  CHECK(f.Reserved() == 1);
}

TEST_CASE("quota admitter: a refusal after a conflict on another quota keeps no charge",
          "[admission]") {
  int until_taken = 0;  // writes of "r"; then another writer takes all that is left of it
  AdmitterFixture f;
  f.PutQuota("q", {{"things", "10"}});
  f.PutQuota("r", {{"cpu", "2"}});
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    const bool taken = AdmitterFixture::Patches(request, "r") && --until_taken == 0;
    if (taken) f.WriteStatus("r", {{"cpu", "2"}}, {{"cpu", "2"}});
    return std::nullopt;
  };
  SECTION("the only call") {
    until_taken = 1;
    CHECK(f.Get(Create("a", "1")).kind == Kind::kRefused);
    f.RunFor(500ms);
    CHECK(f.Used("q") == "things=0");
    CHECK(f.Reserved() == 0);
  }
  SECTION("two calls for one object") {
    until_taken = 2;
    f.Ask(Create("first", "1"));
    f.RunFor(1ms);  // its write is in flight when the others arrive
    f.Ask(Create("a", "1"));
    f.Ask(Create("a", "1"));
    f.RunFor(1s);
    CHECK(f.Count(Kind::kRefused) == 2);
    CHECK(f.Used("q") == "things=1");
    CHECK(f.Reserved() == 2);  // of the first, in both quotas
  }
  CHECK(until_taken <= 0);
}

TEST_CASE("quota admitter: two calls for one object are both refused if a shared write fails",
          "[admission]") {
  AdmitterFixture f;
  f.PutQuota("q", {{"things", "1"}});
  f.PutQuota("r", {{"cpu", "9"}});
  f.Ask(Create("a", "1"));
  f.Ask(Create("a", "2"));  // in "q" the grant of the first is enough, in "r" it is not
  f.RunFor(1ms);
  f.WriteStatus("q", {{"things", "1"}}, {{"things", "1"}});  // another writer takes it
  f.RunFor(1s);
  CHECK(f.Count(Kind::kRefused) == 2);
  CHECK(f.Used("r") == "cpu=0");
  CHECK(f.Reserved() == 0);
}

TEST_CASE("quota admitter: giving up while a quota cannot be written keeps no charge",
          "[admission]") {
  AdmitterFixture f;
  f.PutQuota("q", {{"things", "10"}});
  f.PutQuota("r", {{"cpu", "2"}});
  f.FailWrites("r", kAway);
  f.Ask(Create("a", "1"), 1s);
  f.RunFor(100ms);
  CHECK(f.Used("q") == "things=1");
  f.RunFor(2900ms);
  REQUIRE(f.answers[0].has_value());
  CHECK(f.answers[0]->kind == Kind::kUnavailable);
  CHECK(f.Used("q") == "things=0");
  CHECK(f.Reserved() == 0);
}

TEST_CASE("quota admitter: the reservation of an admitted call stays when another gives up",
          "[admission]") {
  AdmitterFixture f;
  f.PutQuota("q", {{"things", "10"}});
  f.PutQuota("r", {{"cpu", "9"}});
  f.FailWrites("r", kAway);
  f.Ask(Create("a", "1"), 1s);
  f.RunFor(100ms);
  CHECK(f.Used("q") == "things=1");
  f.Ask(Create("a"));  // needs only "q", which has a reservation for it
  f.RunFor(2s);
  CHECK(f.answers[0]->kind == Kind::kUnavailable);
  REQUIRE(f.answers[1].has_value());
  CHECK(f.answers[1]->kind == Kind::kAllowed);
  CHECK(f.Used("q") == "things=1");
  CHECK(f.Reserved() == 1);
}

TEST_CASE("quota admitter: a write that is rejected permanently is answered at once",
          "[admission]") {
  AdmitterFixture f;
  f.PutQuota("q", {{"things", "10"}});
  f.FailWrites(
      "q", {.code = base::ErrorCode::kForbidden, .message = "may not patch", .http_status = 403});
  const Answer answer = f.Get(Create("a"));
  CHECK(answer.kind == Kind::kRefused);
  CHECK(answer.code == 500);
  CHECK(answer.message == "may not patch");
  CHECK(f.cluster.writes.size() == 1);
}

TEST_CASE("quota admitter: without a watch quotas are read live", "[admission]") {
  AdmitterFixture f;
  f.Store("old");
  f.PutQuota("q", {{"things", "2"}});
  bool readable = true;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    const bool watches =
        std::ranges::any_of(request.query, [](const auto& one) { return one.first == "watch"; });
    const bool reads = request.path.find("resourcequotas") != std::string::npos;
    if (!watches && !(reads && !readable)) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "no route"};
  };
  f.cluster.CutWatches(kQuotas);
  f.RunFor(1s);
  REQUIRE_FALSE(f.controller->quota_book().Quotas("team-a").complete);
  f.WriteStatus("q", {{"things", "2"}}, {{"things", "2"}});  // no watch shows it
  CHECK(f.Get(Create("a")).message ==
        "exceeded quota: q, requested: things=1, used: things=2, limited: things=2");
  readable = false;
  const Answer answer = f.Get(Create("a"));
  CHECK(answer.kind == Kind::kUnavailable);
  CHECK(answer.message == "quotas of namespace team-a cannot be read: no route");
}

// The user is not refused for the daemon's credentials, which may soon be valid again.
TEST_CASE("quota admitter: a write is retried while credentials and certificates are renewed",
          "[admission]") {
  AdmitterFixture f;
  f.PutQuota("q", {{"cpu", "9"}});
  const base::Error passing = GENERATE(
      base::Error{
          .code = base::ErrorCode::kUnauthorized, .message = "Unauthorized", .http_status = 401},
      base::Error{.code = base::ErrorCode::kTls, .message = "certificate expired"});
  int refusals = 3;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    const bool refuses = AdmitterFixture::Patches(request, "q") && refusals-- > 0;
    return refuses ? std::optional(passing) : std::nullopt;
  };
  CHECK(f.Get(Create("a", "2")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=2");
  f.FailWrites("q", passing);
  f.Ask(Create("b", "2"));
  f.RunFor(8s);
  REQUIRE(f.answers.back().has_value());
  CHECK(f.answers.back()->kind == Kind::kUnavailable);
  CHECK(f.answers.back()->message == "resource quota evaluation timed out: " + passing.message);
}

// The amount of a status list; whole numbers only.
int Amount(const AdmitterFixture& f, const std::string& quota, std::string_view list,
           std::string_view name) {
  const json::Value* object = f.cluster.Find(kQuotas, "team-a", quota);
  return std::stoi(std::string(object->StringAt({"status", list, name})));
}

TEST_CASE("quota admitter: the limit holds and nothing leaks with random failures", "[admission]") {
  const auto seed = static_cast<unsigned>(GENERATE(range(1, 31)));
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  AdmitterFixture f;
  f.PutQuota("a", {{"things", "60"}});
  f.PutQuota("b", {{"cpu", "100"}});
  const auto limits_hold = [&f] {
    return Amount(f, "a", "used", "things") <= 60 && Amount(f, "b", "used", "cpu") <= 100;
  };
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    CHECK(limits_hold());
    return request.verb == "PATCH" && below(4) == 0 ? std::optional(kAway) : std::nullopt;
  };
  f.cluster.lose_answer = [&](const client::ApiRequest&) { return below(8) == 0; };
  std::vector<std::string> uids;
  for (int i = 0; i < 120; ++i) {
    const std::string uid = "u" + std::to_string(below(100));
    uids.push_back(uid);
    f.Ask(Create(uid, std::to_string(below(4))), std::chrono::milliseconds(20 + below(3'000)));
    f.cluster.patch_delay = std::chrono::milliseconds(below(40));
    f.RunFor(std::chrono::milliseconds(below(20)));
    // Another writer.
    if (below(10) == 0) f.cluster.Put(kQuotas, *f.cluster.Find(kQuotas, "team-a", "a"));
  }
  f.RunFor(5s);
  CHECK(limits_hold());
  std::set<std::string> admitted;
  for (std::size_t i = 0; i < uids.size(); ++i) {
    REQUIRE(f.answers[i].has_value());
    if (f.answers[i]->kind == Kind::kAllowed) admitted.insert(uids[i]);
  }
  CHECK(admitted.size() > 10);
  CHECK(Amount(f, "a", "used", "things") >= static_cast<int>(admitted.size()));
  f.cluster.ForgetFunctions();
  f.RunFor(1min);  // nothing was stored, so all reservations expire
  CHECK(f.Used("a") == "things=0");
  CHECK(f.Used("b") == "cpu=0");
  CHECK(f.Reserved() == 0);
}

}  // namespace
}  // namespace failed_writes_test
