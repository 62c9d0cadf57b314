// Writes of charges: beside those of others, without an answer, and in turn with recounts.

#include "tests/controllers/quota/charging_fixture.h"

namespace charging_writes_test {

using namespace std::chrono_literals;
using admission::Answer;
using fixture::ChargingFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakeQuota;
using fixture::PodWithUid;

TEST_CASE("charging: other writers of the status are decided with, and lose nothing",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}}));
  f.RunFor(1s);
  f.cluster.Hold(kQuotas);  // our watch does not show what the other one writes
  f.WriteStatus("q", {{"pods", "3"}}, {{"pods", "2"}});
  f.Review(PodWithUid("a"));
  f.Review(PodWithUid("b"));
  f.RunFor(100ms);
  REQUIRE(f.answers[0].has_value());
  REQUIRE(f.answers[1].has_value());
  CHECK(f.answers[0]->kind == Answer::Kind::kAllowed);
  CHECK(f.answers[1]->kind == Answer::Kind::kRefused);
  CHECK(f.answers[1]->message ==
        "exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3");
  CHECK(f.Used("q") == "pods=3");
}

TEST_CASE("charging: a write whose answer is lost is looked up, not repeated", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}}));
  f.RunFor(1s);
  bool lost = false;
  f.cluster.lose_answer = [&](const client::ApiRequest& request) {
    return request.verb == "PATCH" && !std::exchange(lost, true);
  };
  CHECK(f.Admits(PodWithUid("a")));
  CHECK(lost);
  CHECK(f.Used("q") == "pods=1");
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=1");
}

TEST_CASE("charging: a write that was made is looked up whatever the server answered",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}}));
  f.RunFor(1s);
  const int status = GENERATE(500, 502, 503, 504);
  const bool timeout = status == 504;
  f.cluster.lost = {.code = timeout ? base::ErrorCode::kTimeout : base::ErrorCode::kUnavailable,
                    .message = "etcdserver: request timed out",
                    .http_status = status};
  bool lost = false;
  f.cluster.lose_answer = [&](const client::ApiRequest& request) {
    return request.verb == "PATCH" && !std::exchange(lost, true);
  };
  CHECK(f.Admits(PodWithUid("a")));
  CHECK(lost);
  CHECK(f.Used("q") == "pods=1");
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=1");
}

TEST_CASE(
    "charging: in place of a write that never arrived, another replica's equal one is not ours",
    "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}}));
  f.RunFor(1s);
  bool lost = false;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "PATCH" || std::exchange(lost, true)) return std::nullopt;
    f.WriteStatus("q", {{"pods", "3"}}, {{"pods", "1"}});
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "connection lost"};
  };
  CHECK(f.Admits(PodWithUid("a")));
  CHECK(f.Used("q") == "pods=2");
  f.cluster.Put(kPods, PodWithUid("a"));
  f.cluster.Put(kPods, PodWithUid("b"));
  f.RunFor(1min);
  CHECK(f.Used("q") == "pods=2");
}

TEST_CASE("charging: a recount whose answer is lost is looked up, and taken for nobody else's",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.RunFor(1s);
  CHECK(f.Admits(PodWithUid("a")));
  f.WriteStatus("q", {{"pods", "5"}}, {{"pods", "0"}});  // a recount that knows no charges
  int lost = 0;
  f.cluster.lose_answer = [&](const client::ApiRequest& request) {
    return request.verb == "PATCH" && ++lost <= 4;
  };
  f.RunFor(3s);
  CHECK(lost == 1);
  CHECK(f.Used("q") == "pods=1");
  f.RunFor(15s);
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("charging: what others charge on top of a write without an answer is held",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.cluster.Put(kPods, PodWithUid("b"));
  f.RunFor(1s);
  REQUIRE(f.Used("q") == "pods=2");
  f.cluster.Hold(kQuotas);
  int away = GENERATE(0, 1);  // so many times it cannot be looked up
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    const bool reads = request.verb == "GET" && request.path.ends_with("/q");
    if (!reads || away-- <= 0) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "away"};
  };
  bool lost = false;
  f.cluster.lose_answer = [&](const client::ApiRequest& request) {
    if (request.verb != "PATCH" || std::exchange(lost, true)) return false;
    f.WriteStatus("q", {{"pods", "5"}}, {{"pods", "3"}});  // three are charged, from 0
    return true;
  };
  f.cluster.Delete(kPods, "team-a", "a");
  f.cluster.Delete(kPods, "team-a", "b");
  f.RunFor(1s);
  REQUIRE(lost);
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=3");
  f.RunFor(15s);
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("charging: after an equal write of another replica the next one is held as well",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.RunFor(1s);
  // Both charge one pod at once; theirs comes first, and they charge another one.
  bool theirs = false;
  f.cluster.patch_answer_delay = 50ms;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb == "PATCH" && !std::exchange(theirs, true)) {
      f.WriteStatus("q", {{"pods", "5"}}, {{"pods", "1"}});
      f.WriteStatus("q", {{"pods", "5"}}, {{"pods", "2"}});
    }
    return std::nullopt;
  };
  f.Review(PodWithUid("a"));
  f.RunFor(1s);
  REQUIRE(theirs);
  CHECK(f.Used("q") == "pods=3");
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=3");  // both of theirs may still come
  f.RunFor(15s);
  CHECK(f.Used("q") == "pods=1");
}

TEST_CASE("charging: an equal write of another replica is not taken for our own", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.RunFor(1s);
  // Both charge one pod at once; theirs comes first, and its pod is never stored.
  bool theirs = false;
  f.cluster.patch_answer_delay = 50ms;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb == "PATCH" && !std::exchange(theirs, true)) {
      f.WriteStatus("q", {{"pods", "5"}}, {{"pods", "1"}});
    }
    return std::nullopt;
  };
  f.Review(PodWithUid("a"));
  f.RunFor(1s);
  REQUIRE(theirs);
  REQUIRE(f.answers[0].has_value());
  CHECK(f.answers[0]->kind == Answer::Kind::kAllowed);
  CHECK(f.Used("q") == "pods=2");
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=2");  // theirs may still come
  f.RunFor(15s);
  CHECK(f.Used("q") == "pods=1");
}

TEST_CASE("charging: beside a plugin that charges again the truth returns, and it is counted",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.RunFor(1s);
  for (int i = 1; i <= 3; ++i) {
    const std::string name = "p" + std::to_string(i);
    CHECK(f.Admits(PodWithUid(name)));
    const int used = std::stoi(f.Used("q").substr(5));
    f.WriteStatus("q", {{"pods", "10"}}, {{"pods", std::to_string(used + 1)}});
    f.cluster.Put(kPods, PodWithUid(name));
    f.RunFor(100ms);
  }
  CHECK(f.Used("q") == "pods=6");
  f.RunFor(15s);
  CHECK(f.Used("q") == "pods=3");
  CHECK(f.recorder.foreign_expired > 0);
}

TEST_CASE("charging: the controller waits while admission writes, and then looks again",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.cluster.Put(kPods, PodWithUid("old"));
  f.RunFor(1s);
  int attempts = 0;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "PATCH" || ++attempts > 1) return std::nullopt;
    f.cluster.Delete(kPods, "team-a", "old");  // a change comes while the write is under way
    return base::Error{.code = base::ErrorCode::kTooManyRequests, .message = "slow down"};
  };
  CHECK(f.Admits(PodWithUid("new")));
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=1");
  f.RunFor(15s);
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("charging: a recount that finds admission about to write is made up for, written or not",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.cluster.Put(kPods, PodWithUid("old"));
  f.RunFor(1s);
  // The controller writes a new limit. While its answer is on the way, a request waits to write
  // after it, which then has to be decided anew and does not fit; and an object goes.
  f.cluster.patch_answer_delay = 500ms;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb == "PATCH") f.cluster.Hold(kQuotas);
    return std::nullopt;
  };
  json::Value lowered = *f.cluster.Find(kQuotas, "team-a", "q");
  lowered.Make({"spec", "hard", "pods"}) = "1";
  f.cluster.Put(kQuotas, lowered);
  f.RunFor(10ms);
  f.Review(PodWithUid("new"));
  f.RunFor(100ms);
  f.cluster.Delete(kPods, "team-a", "old");
  f.RunFor(1s);
  REQUIRE(f.answers[0].has_value());
  CHECK(f.answers[0]->kind == Answer::Kind::kRefused);
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("charging: a quota of the same name is charged while the last one is still written",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.patch_answer_delay = 2s;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.RunFor(100ms);
  f.cluster.Delete(kQuotas, "team-a", "q");
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "1"}}));
  f.WriteStatus("q", {{"pods", "1"}}, {{"pods", "0"}});  // as another replica does
  f.scheduler.SetBudget(100'000);                        // it neither spins nor waits for the other
  f.Review(PodWithUid("a"));
  f.RunFor(3s);
  CHECK(f.scheduler.budget() > 0);
  REQUIRE(f.answers[0].has_value());
  CHECK(f.answers[0]->kind == Answer::Kind::kAllowed);
  CHECK(f.Used("q") == "pods=1");
}

}  // namespace charging_writes_test
