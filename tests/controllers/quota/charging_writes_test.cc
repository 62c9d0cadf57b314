// Writes of charges beside other writers, without an answer, and in turn with recounts.

#include "tests/controllers/quota/charging_fixture.h"
#include "tests/fake/captured_log.h"

namespace charging_writes_test {

using namespace std::chrono_literals;
using admission::Answer;
using fixture::ChargingFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakeQuota;
using fixture::PodWithUid;

TEST_CASE("charging: charges of other writers are considered and kept", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}}));
  f.RunFor(1s);
  f.cluster.Hold(kQuotas);  // our watch does not show the write of the other replica
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

TEST_CASE("charging: after a lost answer the quota is read, and the write is not repeated",
          "[controllers]") {
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

TEST_CASE("charging: after a 5xx the quota is read, because the write may have been made",
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

TEST_CASE("charging: an equal write of another replica is not ours if our write never arrived",
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

TEST_CASE("charging: a charge that a policy forbids is reported, although no recount is due",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}}));
  f.RunFor(1s);
  REQUIRE(f.Used("q") == "pods=0");
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "PATCH") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden,
                       .message = "PATCH 403 Forbidden: cannot patch",
                       .http_status = 403};
  };
  f.Review(PodWithUid("a"));
  f.RunFor(10s);
  REQUIRE(f.events.Texts().size() == 1);
  CHECK_THAT(f.events.Texts()[0], Catch::StartsWith("StatusRefused q: ") &&
                                      Catch::EndsWith("PATCH 403 Forbidden: cannot patch"));
  f.cluster.fault = nullptr;
  CHECK(f.Admits(PodWithUid("b")));
  f.RunFor(1s);
  CHECK(f.events.Texts().back() == "QuotaHealed q: the status of the quota is written again");
}

TEST_CASE("charging: a recount whose answer is lost is not taken for an external charge",
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

TEST_CASE("charging: charges that others add to our unanswered write are held", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.cluster.Put(kPods, PodWithUid("b"));
  f.RunFor(1s);
  REQUIRE(f.Used("q") == "pods=2");
  f.cluster.Hold(kQuotas);
  int away = GENERATE(0, 1);  // the number of reads that fail
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    const bool reads = request.verb == "GET" && request.path.ends_with("/q");
    if (!reads || away-- <= 0) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "away"};
  };
  bool lost = false;
  f.cluster.lose_answer = [&](const client::ApiRequest& request) {
    if (request.verb != "PATCH" || std::exchange(lost, true)) return false;
    f.WriteStatus("q", {{"pods", "5"}}, {{"pods", "3"}});  // others charge three, from 0
    return true;
  };
  f.cluster.Delete(kPods, "team-a", "a");
  f.cluster.Delete(kPods, "team-a", "b");
  f.RunFor(1s);
  REQUIRE(lost);
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=3");
  f.RunFor(30s);
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE(
    "charging: our recount is not taken for an external charge when its object is deleted "
    "meanwhile",
    "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.RunFor(1s);
  bool gone = false;
  f.cluster.patch_answer_delay = 50ms;  // the watch shows the write before
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb == "PATCH" && !std::exchange(gone, true)) {
      f.cluster.Delete(kPods, "team-a", "a");
    }
    return std::nullopt;
  };
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(1s);
  REQUIRE(gone);
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("charging: the next charge of a replica that made an equal write is held, too",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.RunFor(1s);
  // Both replicas charge one pod at the same time. Theirs is written first, and they charge
  // another.
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
  CHECK(f.Used("q") == "pods=3");  // both of their pods may still be stored
  f.RunFor(15s);
  CHECK(f.Used("q") == "pods=1");
}

TEST_CASE("charging: an equal write of another replica is not taken for our own", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.RunFor(1s);
  // Both replicas charge one pod at the same time. Theirs is written first, and never stored.
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
  CHECK(f.Used("q") == "pods=2");  // their pod may still be stored
  f.RunFor(15s);
  CHECK(f.Used("q") == "pods=1");
}

TEST_CASE("charging: a reservation that is given up is taken back, even if writes of that fail",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.RunFor(1s);
  CHECK(f.Admits(PodWithUid("a")));
  CHECK(f.Admits(PodWithUid("b")));
  CHECK(f.Used("q") == "pods=2");
  int failures = 2;
  const auto fails = [&](const client::ApiRequest& request) {
    return request.verb == "PATCH" && failures > 0 && failures-- > 0;
  };
  const auto with = [&](const base::Error& error) {
    return [&fails, error](const client::ApiRequest& request) -> std::optional<base::Error> {
      return fails(request) ? std::optional(error) : std::nullopt;
    };
  };
  SECTION("they are refused") {
    f.cluster.fault =
        with({.code = base::ErrorCode::kForbidden, .message = "", .http_status = 403});
  }
  SECTION("the quota has changed") {
    f.cluster.fault = with({.code = base::ErrorCode::kConflict, .message = "", .http_status = 409});
  }
  SECTION("they do not arrive") {
    f.cluster.fault = with({.code = base::ErrorCode::kUnavailable, .message = "away"});
  }
  SECTION("they are made, and their answers are lost") { f.cluster.lose_answer = fails; }
  f.book.Withdraw(f.book.reserved[0]);
  f.RunFor(2s);
  CHECK(failures <= 1);
  CHECK(f.Used("q") == "pods=1");
  CHECK(f.Reserved() == 1);
  // The other reservation stays until its hold ends.
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=1");
  f.RunFor(15s);
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("charging: double charges of the plugin expire and are counted", "[controllers]") {
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
  CHECK(f.recorder.external_expired > 0);
}

TEST_CASE("charging: somebody else who charges is told of while this process admits",
          "[controllers]") {
  const fake::CapturedLog log;
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.RunFor(1s);
  std::size_t told = 0;
  SECTION("it admits") {
    CHECK(f.Admits(PodWithUid("p")));
    told = 1;
  }
  SECTION("it has admitted long ago") {
    CHECK(f.Admits(PodWithUid("p")));
    f.RunFor(1min);
  }
  SECTION("it does not admit") {}
  f.WriteStatus("q", {{"pods", "10"}}, {{"pods", "5"}});
  f.RunFor(17s);
  CHECK(f.recorder.external_expired > 0);
  CHECK(log.With("somebody else charges usage that no object accounts for").size() == told);
}

TEST_CASE("charging: objects that appear under their reservations are recounted together",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.RunFor(1s);
  for (int i = 0; i < 10; ++i) CHECK(f.Admits(PodWithUid("p" + std::to_string(i))));
  f.RunFor(1s);
  f.recorder.reconciles.clear();
  for (int i = 0; i < 10; ++i) {
    f.cluster.Put(kPods, PodWithUid("p" + std::to_string(i)));
    f.RunFor(1ms);
  }
  f.RunFor(100ms);
  CHECK(f.recorder.reconciles == std::map<std::string, int>{{"unchanged", 1}});
  f.cluster.Delete(kPods, "team-a", "p0");  // at once
  f.RunFor(1ms);
  CHECK(f.Used("q") == "pods=9");
}

TEST_CASE("charging: the controller waits for a write of admission, then reconciles again",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.cluster.Put(kPods, PodWithUid("old"));
  f.RunFor(1s);
  int attempts = 0;
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "PATCH" || ++attempts > 1) return std::nullopt;
    f.cluster.Delete(kPods, "team-a", "old");  // a change during the write
    return base::Error{.code = base::ErrorCode::kTooManyRequests, .message = "slow down"};
  };
  CHECK(f.Admits(PodWithUid("new")));
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=1");
  f.RunFor(15s);
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("charging: a recount that waited for admission is made, even if admission writes nothing",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.cluster.Put(kPods, PodWithUid("old"));
  f.RunFor(1s);
  // The controller writes a new limit. While its answer is on the way, a request waits for its own
  // write, and an object is deleted. The request is then decided again, and does not fit.
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

TEST_CASE("charging: a new quota is charged while a write to its predecessor is in progress",
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
