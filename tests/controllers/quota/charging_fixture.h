#pragma once

// The quota controller as admission's book, together with a real admitter, beside a fake cluster.

#include <catch2/catch.hpp>
#include <deque>
#include <string>

#include "pkg/admission/quota_admitter.h"
#include "tests/controllers/quota/controller_fixture.h"

namespace fixture {

struct ChargingFixture : ControllerFixture {
  explicit ChargingFixture(controllers::QuotaControllerOptions options = {})
      : ControllerFixture(std::move(options)),
        admitter(io.get_executor(), scheduler, api, controller->quota_book(),
                 controller->object_book(), admission::NoObserver()) {}
  ~ChargingFixture() {
    cluster.ForgetFunctions();
    calls.Spawn("stop", [this] { return admitter.Stop(); });
    RunFor(std::chrono::minutes(1));
  }

  // Reviews a creation of this pod without storing it.
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
    calls.Spawn("call", [this, index, review = std::move(review)]() -> base::Task<void> {
      co_await base::DeferCancellation();
      const base::TimePoint deadline = scheduler.Now() + std::chrono::seconds(5);
      answers[index] = co_await admitter.Admit(review, deadline);
    });
  }
  bool Admits(const json::Value& pod) {
    Review(pod);
    return Answered();
  }
  // Reviews a resize of this stored pod without storing it.
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
    RunFor(std::chrono::milliseconds(100));
    REQUIRE(answers.back().has_value());
    return answers.back()->kind == admission::Answer::Kind::kAllowed;
  }

  admission::QuotaAdmitter admitter;
  base::TaskGroup calls{io.get_executor()};
  std::deque<std::optional<admission::Answer>> answers;
};

inline json::Value PodWithUid(const std::string& name) {
  json::Value pod = MakePod(name);
  pod.Make({"metadata", "uid"}) = "uid-of-" + name;
  return pod;
}

}  // namespace fixture
