// The quota controller as admission's book, together with a real admitter, beside a fake cluster.

#include <catch2/catch.hpp>
#include <deque>

#include "pkg/admission/quota_admitter.h"
#include "tests/controllers/quota/controller_fixture.h"

using namespace std::chrono_literals;
using admission::Answer;
using fixture::ControllerFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakePod;
using fixture::MakeQuota;

namespace {

struct ChargingFixture : ControllerFixture {
  explicit ChargingFixture(controllers::QuotaControllerOptions options = {})
      : ControllerFixture(std::move(options)),
        admitter(io.get_executor(), scheduler, api, *controller, admission::NoObserver()) {}
  ~ChargingFixture() {
    calls.Spawn("stop", [this] { return admitter.Stop(); });
    RunFor(1min);
  }

  // A creation of this pod is reviewed; it is not stored.
  void Review(const json::Value& pod) {
    Ask({.uid = "call",
         .resource = {"", "v1", "pods"},
         .subresource = "",
         .operation = admission::Operation::kCreate,
         .ns = "team-a",
         .name = "p",
         .object = pod});
  }
  void Ask(admission::Review review) {
    const std::size_t index = answers.size();
    answers.emplace_back();
    calls.Spawn("call", [this, index, review]() -> base::Task<void> {
      co_await base::DeferCancellation();
      const base::TimePoint deadline = scheduler.Now() + 5s;
      answers[index] = co_await admitter.Admit(review, deadline);
    });
  }
  bool Admits(const json::Value& pod) {
    Review(pod);
    return Answered();
  }
  // A resize of this stored pod is reviewed; it is not stored.
  bool Resizes(const json::Value& old, const std::string& cpu) {
    json::Value pod = MakePod("p", cpu);
    pod.Make({"metadata", "uid"}) = std::string(old.StringAt({"metadata", "uid"}));
    Ask({.uid = "call",
         .resource = {"", "v1", "pods"},
         .subresource = "resize",
         .operation = admission::Operation::kUpdate,
         .ns = "team-a",
         .name = "p",
         .object = pod,
         .old_object = old});
    return Answered();
  }
  bool Answered() {
    RunFor(100ms);
    REQUIRE(answers.back().has_value());
    return answers.back()->kind == Answer::Kind::kAllowed;
  }

  admission::QuotaAdmitter admitter;
  base::TaskGroup calls{io.get_executor()};
  std::deque<std::optional<Answer>> answers;
};

json::Value PodWithUid(const std::string& name) {
  json::Value pod = MakePod(name);
  pod.Make({"metadata", "uid"}) = "uid-of-" + name;
  return pod;
}

}  // namespace

TEST_CASE("charging: what is admitted is in used before it is stored, and once when it is",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "2"}, {"cpu", "1"}}));
  f.RunFor(1s);
  f.cluster.writes.clear();
  CHECK(f.Admits(PodWithUid("a")));
  CHECK(f.Used("q") == "cpu=100m,pods=1");
  CHECK(f.controller->charges_held() == 1);
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "cpu=100m,pods=1");
  CHECK(f.controller->charges_held() == 0);
  CHECK(f.cluster.writes.size() == 1);  // the admission's, and none of the controller

  CHECK(f.Admits(PodWithUid("b")));
  CHECK_FALSE(f.Admits(PodWithUid("c")));
  f.RunFor(1min);
  CHECK(f.Used("q") == "cpu=100m,pods=1");
}

TEST_CASE("charging: a late call about a version that is stored no more is not charged",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"cpu", "500m"}}));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(1s);
  const json::Value first = *f.cluster.Find(kPods, "team-a", "a");
  CHECK(f.Resizes(first, "400m"));
  CHECK(f.Used("q") == "cpu=400m");
  json::Value resized = MakePod("a", "400m");
  resized.Make({"metadata", "uid"}) = "uid-of-a";
  f.cluster.Put(kPods, resized);
  f.RunFor(1s);
  CHECK(f.controller->charges_held() == 0);

  CHECK(f.Resizes(first, "500m"));
  CHECK(f.Used("q") == "cpu=400m");
  const json::Value second = *f.cluster.Find(kPods, "team-a", "a");
  CHECK_FALSE(f.Resizes(second, "600m"));
  CHECK(f.Resizes(second, "500m"));
  CHECK(f.Used("q") == "cpu=500m");
}

TEST_CASE("charging: what is never stored is free again after ten seconds", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.RunFor(1s);
  for (const char* name : {"a", "b", "c"}) CHECK(f.Admits(PodWithUid(name)));
  f.RunFor(9s);
  CHECK(f.Used("q") == "pods=3");
  f.RunFor(2s);
  CHECK(f.Used("q") == "pods=0");
  CHECK(f.recorder.foreign_expired == 0);
}

TEST_CASE("charging: a recount does not lower what admission has granted", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.cluster.Put(kPods, PodWithUid("old"));
  f.RunFor(1s);
  CHECK(f.Admits(PodWithUid("new")));
  f.cluster.Delete(kPods, "team-a", "old");
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=1");
  f.cluster.Put(kPods, PodWithUid("new"));
  f.cluster.Delete(kPods, "team-a", "new");
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=0");
}

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

controllers::QuotaControllerOptions WithFieldManager() {
  controllers::QuotaControllerOptions options;
  options.field_manager = "ours";
  return options;
}

TEST_CASE("charging: a write whose answer is lost is looked up, not repeated", "[controllers]") {
  ChargingFixture f(WithFieldManager());
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

TEST_CASE(
    "charging: in place of a write that never arrived, another replica's equal one is not ours",
    "[controllers]") {
  ChargingFixture f(WithFieldManager());
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

TEST_CASE("charging: where it is not known who wrote, a write without an answer is repeated",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}}));
  f.RunFor(1s);
  bool lost = false;
  f.cluster.lose_answer = [&](const client::ApiRequest& request) {
    return request.verb == "PATCH" && !std::exchange(lost, true);
  };
  CHECK(f.Admits(PodWithUid("a")));
  CHECK(f.Used("q") == "pods=2");
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(15s);
  CHECK(f.Used("q") == "pods=1");
}

TEST_CASE("charging: what was charged stays while its objects cannot be seen", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "1"}}));
  f.RunFor(1s);
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (!request.path.ends_with("/pods")) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "", .http_status = 503};
  };
  f.cluster.CutWatches(kPods);
  f.RunFor(100ms);
  CHECK(f.Admits(PodWithUid("a")));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(1min);
  CHECK(f.Used("q") == "pods=1");
  CHECK_FALSE(f.Admits(PodWithUid("b")));
  f.cluster.fault = nullptr;
  f.RunFor(1min);
  CHECK(f.Used("q") == "pods=1");
  f.cluster.Delete(kPods, "team-a", "a");
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=0");
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

TEST_CASE("charging: a quota that is gone limits nobody", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}}));
  f.RunFor(1s);
  f.cluster.Hold(kQuotas);
  f.cluster.Delete(kQuotas, "team-a", "q");
  CHECK(f.Admits(PodWithUid("a")));
}

TEST_CASE("charging: a name enters status.hard once admission guards it", "[controllers]") {
  bool guarded = false;
  controllers::QuotaControllerOptions options;
  options.guarded = [&](const quota::Evaluator& evaluator) {
    return guarded || evaluator.resource.resource == "secrets";
  };
  ChargingFixture f(options);
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}, {"secrets", "1"}}));
  f.RunFor(30s);
  CHECK(f.Hard("q") == "secrets=1");
  CHECK(f.Used("q") == "secrets=0");
  guarded = true;
  f.controller->OnGuards();
  f.RunFor(1s);
  CHECK(f.Hard("q") == "pods=3,secrets=1");
  CHECK(f.Used("q") == "pods=0,secrets=0");
  guarded = false;  // a rule that goes takes no limit away
  f.controller->OnGuards();
  f.RunFor(1s);
  CHECK(f.Hard("q") == "pods=3,secrets=1");
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

TEST_CASE("charging: while quotas cannot be watched, one that is new is enforced",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("gone", {{"pods", "0"}}));
  f.RunFor(1s);
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path != kQuotas.Path()) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "", .http_status = 503};
  };
  f.cluster.CutWatches(kQuotas);
  f.RunFor(1s);
  REQUIRE_FALSE(f.controller->Current());
  f.cluster.Delete(kQuotas, "team-a", "gone");
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "1"}}));
  f.WriteStatus("q", {{"pods", "1"}}, {{"pods", "0"}});  // as another replica does
  CHECK(f.Admits(PodWithUid("a")));
  CHECK_FALSE(f.Admits(PodWithUid("b")));
  CHECK(f.answers.back()->message ==
        "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1");
}

TEST_CASE("charging: what was charged stays while a watch is being opened", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "1"}}));
  f.RunFor(1s);
  f.cluster.stall = [](const client::ApiRequest& request) {
    return base::Duration(request.path == kPods.Path() ? 30s : 0s);
  };
  f.cluster.CutWatches(kPods);
  f.RunFor(2s);
  CHECK(f.Admits(PodWithUid("a")));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(20s);
  CHECK(f.Used("q") == "pods=1");
  f.RunFor(20s);
  CHECK(f.Used("q") == "pods=1");
  f.cluster.Delete(kPods, "team-a", "a");
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("charging: while the watch of quotas is being opened, one that is new is enforced",
          "[controllers]") {
  ChargingFixture f;
  f.RunFor(1s);
  f.cluster.stall = [](const client::ApiRequest& request) {
    return base::Duration(request.path == kQuotas.Path() ? 30s : 0s);
  };
  f.cluster.CutWatches(kQuotas);
  f.RunFor(2s);
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "0"}}));
  f.WriteStatus("q", {{"pods", "0"}}, {{"pods", "0"}});  // as another replica does
  CHECK_FALSE(f.Admits(PodWithUid("a")));
}

TEST_CASE("charging: a process that starts holds what others charged before", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.Stop();
  f.WriteStatus("q", {{"pods", "5"}}, {{"pods", "3"}});
  f.Start();
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=3");
  f.cluster.Put(kPods, PodWithUid("b"));
  f.RunFor(2s);
  CHECK(f.Used("q") == "pods=3");
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=2");
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

TEST_CASE("charging: a growth above a version that the watch has not shown yet is held",
          "[controllers]") {
  ChargingFixture f;
  const auto resized = [](const std::string& cpu) {
    json::Value pod = MakePod("a", cpu);
    pod.Make({"metadata", "uid"}) = "uid-of-a";
    return pod;
  };
  f.cluster.Put(kQuotas, MakeQuota("q", {{"cpu", "1"}}));
  f.cluster.Put(kPods, resized("600m"));
  f.RunFor(1s);
  f.cluster.Hold(kPods);
  f.cluster.Put(kPods, resized("400m"));
  CHECK(f.Resizes(*f.cluster.Find(kPods, "team-a", "a"), "500m"));
  CHECK(f.Used("q") == "cpu=700m");
  f.cluster.Release(kPods);
  f.RunFor(1s);
  CHECK(f.Used("q") == "cpu=500m");
  f.cluster.Put(kPods, resized("500m"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "cpu=500m");
  CHECK(f.controller->charges_held() == 0);
}
