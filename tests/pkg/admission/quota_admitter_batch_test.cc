// Reviews that wait together: one write, decided again where it fails, never beyond the limit.

#include <random>
#include <set>

#include "tests/pkg/admission/admitter_fixture.h"

namespace admission::quota_admitter_batch_test {
namespace {

using namespace std::chrono_literals;
using quota::List;
using Kind = Answer::Kind;

TEST_CASE("quota admitter: those who wait share one write", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "50"}}), List({{"things", "0"}}));
  for (int i = 0; i < 64; ++i) f.Ask(Create("u" + std::to_string(i)));
  f.scheduler.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 50);
  CHECK(f.Count(Kind::kRefused) == 14);
  CHECK(f.Used("q") == "things=50");
  CHECK(f.book.writes <= 2);
}

TEST_CASE("quota admitter: what was charged in advance is granted without a write", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "100"}}), List({{"things", "10"}}));
  f.book.Put("r", List({{"cpu", "100"}}), List({{"cpu", "20"}}));
  f.book.PutBurst("q", List({{"things", "3"}}));
  f.book.PutBurst("r", List({{"cpu", "5"}}));
  for (int i = 0; i < 2; ++i) f.Ask(Create("u" + std::to_string(i), "2"));
  f.scheduler.RunFor(1ms);
  CHECK(f.Count(Kind::kAllowed) == 2);
  CHECK(f.book.writes == 0);
  CHECK(f.book.Outstanding("q").ToString() == "things=2");
  CHECK(f.book.Outstanding("r").ToString() == "cpu=4");

  // Of "r" too little is left: both are written.
  f.Ask(Create("u2", "2"));
  f.scheduler.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 3);
  CHECK(f.Used("q") == "things=10");
  CHECK(f.Used("r") == "cpu=21");
  CHECK(f.book.writes == 1);
}

TEST_CASE("quota admitter: a burst is nobody's use, and is given up at the limit", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "12"}}), List({{"things", "12"}}));
  f.book.PutBurst("q", List({{"things", "2"}}));
  for (int i = 0; i < 3; ++i) f.Ask(Create("u" + std::to_string(i)));
  f.scheduler.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 2);
  CHECK(f.Count(Kind::kRefused) == 1);
  CHECK(f.Used("q") == "things=12");

  f.book.Put("q", List({{"cpu", "12"}}), List({{"cpu", "12"}}));
  f.book.PutBurst("q", List({{"cpu", "3"}}));
  f.Ask(Create("more", "2"));
  f.Ask(Create("most", "2"));
  f.scheduler.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 3);
  CHECK(f.Count(Kind::kRefused) == 2);
}

TEST_CASE("quota admitter: an update is not granted from a burst, and leaves nothing of it",
          "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"cpu", "100"}}), List({{"cpu", "20"}}));
  f.book.PutBurst("q", List({{"cpu", "10"}}));
  f.Ask(Update("u", "1", "3"));
  f.scheduler.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 1);
  CHECK(f.book.writes == 1);
  CHECK(f.Used("q") == "cpu=12");
}

TEST_CASE("quota admitter: a burst is no status that somebody has wiped", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "100"}}), List({{"things", "5"}}));
  f.book.PutBurst("q", List({{"things", "3"}}));
  f.book.Touch("q", [](quota::Quota& quota) { quota.status.used = List({{"things", "0"}}); });
  f.Ask(Create("u"));
  f.scheduler.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 1);
  CHECK(f.Used("q") == "things=1");
}

TEST_CASE("quota admitter: a conflict is decided again for all that wait", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "10"}}), List({{"things", "0"}}));
  for (int i = 0; i < 8; ++i) f.Ask(Create("u" + std::to_string(i)));
  f.scheduler.RunFor(1ms);
  // While the first write is under way another writer takes five.
  f.book.Touch("q", [](quota::Quota& quota) { quota.status.used = List({{"things", "5"}}); });
  f.scheduler.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 5);
  CHECK(f.Count(Kind::kRefused) == 3);
  CHECK(f.Used("q") == "things=10");
  CHECK(f.counts.conflicts >= 1);
}

TEST_CASE("quota admitter: a refusal that only the failed write implied is decided again",
          "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "1"}}), List({{"things", "0"}}));
  f.Ask(Create("a"));
  f.Ask(Create("b"));
  f.scheduler.RunFor(1ms);
  f.book.Touch("q", [](quota::Quota& quota) {
    quota.status.hard = List({{"things", "2"}});
    quota.hard = quota.status.hard;
  });
  f.scheduler.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 2);
}

TEST_CASE("quota admitter: another writer in a tight loop does not starve anybody", "[admission]") {
  std::mt19937 random(3);  // the fixture's end runs who uses it, once more
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "1000"}}), List({{"things", "0"}}));
  f.calls.Spawn("other writer", [&]() -> base::Task<void> {
    co_await base::DeferCancellation();
    for (int i = 0; i < 2'000; ++i) {
      co_await f.scheduler.Sleep(std::chrono::microseconds(500 + random() % 8'000));
      f.book.Touch("q", [](quota::Quota&) {});
    }
  });
  for (int i = 0; i < 40; ++i) {
    f.Ask(Create("u" + std::to_string(i)));
    f.scheduler.RunFor(20ms);
  }
  f.scheduler.RunFor(5s);
  CHECK(f.Count(Kind::kAllowed) == 40);
  CHECK(f.Used("q") == "things=40");
}

TEST_CASE("quota admitter: an API server that is away costs a bounded wait and no charge",
          "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "10"}}), List({{"things", "0"}}));
  f.book.fault = [](const quota::Quota&) {
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "connection refused"};
  };
  f.Ask(Create("a"));
  f.scheduler.RunFor(4'999ms);
  CHECK_FALSE(f.answers[0].has_value());
  f.scheduler.RunFor(2ms);
  REQUIRE(f.answers[0].has_value());
  CHECK(f.answers[0]->kind == Kind::kUnavailable);
  CHECK(f.answers[0]->message == "resource quota evaluation timed out: connection refused");
  CHECK(f.book.attempts < 30);
  CHECK(f.book.Outstanding("q").empty());

  f.book.fault = nullptr;
  CHECK(f.Get(Create("b")).kind == Kind::kAllowed);
}

TEST_CASE("quota admitter: what is written for somebody who gave up is given back", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "10"}}), List({{"things", "0"}}));
  f.book.write_takes = 3s;
  f.Ask(Create("a"), 1s);
  f.Ask(Create("b"), 5s);
  f.scheduler.RunFor(2s);
  REQUIRE(f.answers[0].has_value());
  CHECK(f.answers[0]->kind == Kind::kUnavailable);
  f.scheduler.RunFor(2s);
  REQUIRE(f.answers[1].has_value());
  CHECK(f.answers[1]->kind == Kind::kAllowed);
  CHECK(f.book.Outstanding("q") == List({{"things", "1"}}));
  CHECK(f.book.releases == 1);
}

TEST_CASE("quota admitter: who gave up takes back nothing that answered another call",
          "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"cpu", "10"}}), List({{"cpu", "1"}}));
  f.book.write_takes = 3s;
  f.Ask(Update("a", "1", "4"), 1s);
  f.Ask(Update("a", "1", "3"), 5s);
  f.scheduler.RunFor(4s);
  REQUIRE(f.answers[1].has_value());
  CHECK(f.answers[1]->kind == Kind::kAllowed);
  CHECK(f.answers[0]->kind == Kind::kUnavailable);
  CHECK(f.book.Outstanding("q") == List({{"cpu", "3"}}));
  CHECK(f.book.releases == 1);
}

TEST_CASE("quota admitter: who is refused after a conflict elsewhere keeps no charge",
          "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "10"}}), List({{"things", "0"}}));
  f.book.Put("r", List({{"cpu", "2"}}), List({{"cpu", "0"}}));
  int until_taken = 0;  // writes of "r"; then another writer takes all that is left of it
  f.book.fault = [&](const quota::Quota& quota) -> std::optional<base::Error> {
    if (quota.key.name != "r" || --until_taken != 0) return std::nullopt;
    f.book.Touch("r", [](quota::Quota& r) { r.status.used = List({{"cpu", "2"}}); });
    return base::Error{.code = base::ErrorCode::kConflict, .message = "changed meanwhile"};
  };
  SECTION("the only call") {
    until_taken = 1;
    CHECK(f.Get(Create("a", "1")).kind == Kind::kRefused);
    CHECK(f.book.Outstanding("q").empty());
  }
  SECTION("two calls for one object") {
    until_taken = 2;
    f.Ask(Create("first", "1"));
    f.scheduler.RunFor(1ms);  // it is written while the others come
    f.Ask(Create("a", "1"));
    f.Ask(Create("a", "1"));
    f.scheduler.RunFor(1s);
    CHECK(f.Count(Kind::kRefused) == 2);
    CHECK(f.book.Outstanding("q") == List({{"things", "1"}}));
  }
  CHECK(until_taken <= 0);
}

TEST_CASE("quota admitter: who gives up while another quota cannot be written keeps no charge",
          "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "10"}}), List({{"things", "0"}}));
  f.book.Put("r", List({{"cpu", "2"}}), List({{"cpu", "0"}}));
  f.book.fault = [](const quota::Quota& quota) -> std::optional<base::Error> {
    if (quota.key.name != "r") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "away"};
  };
  f.Ask(Create("a", "1"), 1s);
  f.scheduler.RunFor(3s);
  REQUIRE(f.answers[0].has_value());
  CHECK(f.answers[0]->kind == Kind::kUnavailable);
  CHECK(f.book.Outstanding("q").empty());
}

TEST_CASE("quota admitter: what an admitted call was answered by stays when another gives up",
          "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "10"}}), List({{"things", "0"}}));
  f.book.Put("r", List({{"cpu", "9"}}), List({{"cpu", "0"}}));
  bool away = true;
  f.book.fault = [&](const quota::Quota& quota) -> std::optional<base::Error> {
    if (quota.key.name != "r" || !away) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "away"};
  };
  f.Ask(Create("a", "1"), 1s);
  f.scheduler.RunFor(100ms);
  CHECK(f.book.Outstanding("q") == List({{"things", "1"}}));
  f.Ask(Create("a"));  // needs "q" only, and is covered
  f.scheduler.RunFor(2s);
  CHECK(f.answers[0]->kind == Kind::kUnavailable);
  REQUIRE(f.answers[1].has_value());
  CHECK(f.answers[1]->kind == Kind::kAllowed);
  CHECK(f.book.Outstanding("q") == List({{"things", "1"}}));
  away = false;
}

TEST_CASE("quota admitter: objects without a uid share no charge", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "3"}}), List({{"things", "0"}}));
  for (int i = 0; i < 5; ++i) {
    Review review = Create("");
    review.uid = "call " + std::to_string(i);
    f.Ask(std::move(review));
    if (i == 1) f.scheduler.RunFor(100ms);  // in one batch, and in another
  }
  f.scheduler.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 3);
  CHECK(f.Used("q") == "things=3");
  CHECK(f.book.Outstanding("q") == List({{"things", "3"}}));
}

TEST_CASE("quota admitter: a write that is refused for good says why at once", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "10"}}), List({{"things", "0"}}));
  f.book.fault = [](const quota::Quota&) {
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "may not patch"};
  };
  const Answer answer = f.Get(Create("a"));
  CHECK(answer.kind == Kind::kRefused);
  CHECK(answer.code == 500);
  CHECK(answer.message == "may not patch");
  CHECK(f.book.attempts == 1);
}

TEST_CASE("quota admitter: a quota that is deleted limits nobody who waits", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "1"}}), List({{"things", "0"}}));
  f.Ask(Create("a"));
  f.Ask(Create("b"));
  f.scheduler.RunFor(1ms);
  f.book.Drop("q");
  f.scheduler.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 2);
}

TEST_CASE("quota admitter: beyond the bound the newest is told to come again", "[admission]") {
  AdmitterFixture f({.max_waiting = 3});
  f.book.Put("q", List({{"things", "10"}}), List({{"things", "0"}}));
  f.book.write_takes = 1s;
  for (int i = 0; i < 5; ++i) f.Ask(Create("u" + std::to_string(i)));
  f.scheduler.RunUntilIdle();
  CHECK(f.Count(Kind::kBusy) == 2);
  f.scheduler.RunFor(4s);
  CHECK(f.Count(Kind::kAllowed) == 3);
}

TEST_CASE("quota admitter: a namespace that cannot be written leaves room for others",
          "[admission]") {
  AdmitterFixture f({.max_waiting = 8, .max_waiting_in_namespace = 3});
  f.book.Put("q", List({{"things", "10"}}), List({{"things", "0"}}));
  f.book.Put("other", List({{"things", "10"}}), List({{"things", "0"}})).key.ns = "other";
  f.book.fault = [](const quota::Quota& quota) -> std::optional<base::Error> {
    if (quota.key.ns == "other") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "away"};
  };
  for (int i = 0; i < 9; ++i) f.Ask(Create("u" + std::to_string(i)));
  f.scheduler.RunFor(100ms);
  CHECK(f.Count(Kind::kBusy) == 6);
  CHECK(f.answers.back()->message == "too many requests of namespace ns wait for quota decisions");
  Review elsewhere = Create("v");
  elsewhere.ns = "other";
  CHECK(f.Get(elsewhere).kind == Kind::kAllowed);
  f.scheduler.RunFor(6s);  // who waited has given up, and makes room
  f.book.fault = nullptr;
  CHECK(f.Get(Create("w")).kind == Kind::kAllowed);
}

TEST_CASE("quota admitter: when quotas cannot be followed they are read", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "1"}}), List({{"things", "1"}}));
  f.book.current = false;
  CHECK(f.Get(Create("a")).kind == Kind::kRefused);
  CHECK(f.book.refreshes == 1);
  f.book.unreadable = base::Error{.code = base::ErrorCode::kUnavailable, .message = "no route"};
  const Answer answer = f.Get(Create("a"));
  CHECK(answer.kind == Kind::kUnavailable);
  CHECK(answer.message == "quotas of namespace ns cannot be read: no route");
}

TEST_CASE("quota admitter: the limit holds and nothing leaks, whatever fails", "[admission]") {
  const auto seed = static_cast<unsigned>(GENERATE(range(1, 31)));
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  AdmitterFixture f;
  f.book.Put("a", List({{"things", "60"}}), List({{"things", "0"}}));
  f.book.Put("b", List({{"cpu", "100"}}), List({{"cpu", "0"}}));
  f.book.written = [](const quota::Quota& quota) {
    for (const auto& [name, used] : quota.status.used) {
      REQUIRE(used <= quota.status.hard.Get(name));
    }
  };
  f.book.fault = [&](const quota::Quota&) -> std::optional<base::Error> {
    if (below(4) != 0) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "away"};
  };
  std::vector<std::string> uids;
  for (int i = 0; i < 120; ++i) {
    const std::string uid = "u" + std::to_string(below(100));
    uids.push_back(uid);
    f.Ask(Create(uid, std::to_string(below(4))), std::chrono::milliseconds(20 + below(3'000)));
    f.book.write_takes = std::chrono::milliseconds(below(40));
    f.scheduler.RunFor(std::chrono::milliseconds(below(20)));
    if (below(10) == 0) f.book.Touch("a", [](quota::Quota&) {});
    // No controller recounts here, so what is charged stays, and must be what was admitted, or more
    // by what was given back.
    REQUIRE(f.book.Outstanding("a").Get("things") <= f.book.Get("a").status.used.Get("things"));
  }
  f.scheduler.RunFor(5s);
  std::set<std::string> admitted;
  for (std::size_t i = 0; i < uids.size(); ++i) {
    REQUIRE(f.answers[i].has_value());
    if (f.answers[i]->kind == Kind::kAllowed) admitted.insert(uids[i]);
  }
  CHECK(admitted.size() <= 60);
  CHECK(static_cast<std::size_t>(f.book.Get("a").status.used.Get("things").nanos() /
                                 1'000'000'000) >= admitted.size());
}

// The daemon's credentials are not the user's fault, and a moment later they may be good.
TEST_CASE("quota admitter: while the API server does not know us, a write is tried again",
          "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"cpu", "9"}}), List({{"cpu", "0"}}));
  int refusals = 3;
  f.book.fault = [&](const quota::Quota&) -> std::optional<base::Error> {
    if (refusals-- <= 0) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnauthorized, .message = "Unauthorized"};
  };
  CHECK(f.Get(Create("a", "2")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=2");
  refusals = 1'000'000;
  f.Ask(Create("b", "2"));
  f.scheduler.RunFor(std::chrono::seconds(10));
  REQUIRE(f.answers.back().has_value());
  CHECK(f.answers.back()->kind == Kind::kUnavailable);
  CHECK(f.answers.back()->message == "resource quota evaluation timed out: Unauthorized");
}

std::set<std::string, std::less<>> Namespaces(int count) {
  std::set<std::string, std::less<>> namespaces;
  for (int i = 0; i < count; ++i) namespaces.insert("ns" + std::to_string(i));
  return namespaces;
}

Review CreateIn(const std::string& ns, const std::string& uid, const std::string& cpu = "") {
  Review review = Create(uid, cpu);
  review.ns = ns;
  return review;
}

TEST_CASE("quota admitter: namespaces under one quota share its writes", "[admission]") {
  AdmitterFixture f;
  f.book.root = "/all";
  f.book.PutOver("all", Namespaces(100), List({{"things", "50"}}), List({{"things", "0"}}));
  for (int i = 0; i < 64; ++i) {
    f.Ask(CreateIn("ns" + std::to_string(i * 7 % 100), "u" + std::to_string(i)));
  }
  f.scheduler.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 50);
  CHECK(f.Count(Kind::kRefused) == 14);
  CHECK(f.Used("all") == "things=50");
  CHECK(f.counts.conflicts == 0);
  CHECK(f.book.attempts <= 2);
}

TEST_CASE("quota admitter: in a batch each request is judged by its namespace's quotas",
          "[admission]") {
  AdmitterFixture f;
  f.book.root = "/all";
  f.book.PutOver("all", Namespaces(3), List({{"cpu", "10"}}), List({{"cpu", "0"}}));
  f.book.PutOver("team", {"ns1"}, List({{"cpu", "3"}}), List({{"cpu", "0"}}));
  f.book.PutOver("zoo", {"ns2"}, List({{"things", "1"}}), List({{"things", "0"}}));
  f.Ask(CreateIn("ns0", "first", "1"));  // its write is under way while the others gather
  f.scheduler.RunFor(1ms);
  for (int i = 0; i < 3; ++i) {
    for (const char* ns : {"ns0", "ns1", "ns2"}) {
      f.Ask(
          CreateIn(ns, std::string(ns) + std::to_string(i), ns == std::string("ns1") ? "2" : "1"));
    }
  }
  f.scheduler.RunFor(1s);
  CHECK(f.Used("team") == "cpu=2");
  CHECK(f.Used("zoo") == "things=1");
  CHECK(f.Used("all") == "cpu=7");  // 1 + 3 of ns0, 2 of ns1, 1 of ns2
  CHECK(f.Count(Kind::kAllowed) == 6);
  CHECK(f.Count(Kind::kRefused) == 4);
  CHECK(f.book.attempts == 4);  // one for the first, one of each quota for all others
  CHECK(f.counts.conflicts == 0);
}

TEST_CASE("quota admitter: one namespace cannot fill the queue of a shared writer", "[admission]") {
  AdmitterFixture f({.max_waiting_in_namespace = 2});
  f.book.root = "/all";
  f.book.PutOver("all", Namespaces(2), List({{"things", "50"}}), List({{"things", "0"}}));
  for (int i = 0; i < 5; ++i) f.Ask(CreateIn("ns0", "u" + std::to_string(i)));
  f.Ask(CreateIn("ns1", "v"));
  f.scheduler.RunFor(1s);
  CHECK(f.Count(Kind::kBusy) == 3);
  CHECK(f.answers.back()->kind == Kind::kAllowed);
}

}  // namespace
}  // namespace admission::quota_admitter_batch_test
