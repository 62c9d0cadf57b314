// What opens the installation, and what is said about it. How the stored object follows, is in
// webhook_plan_test.cc.

#include "pkg/webhook/open_state.h"

#include <catch2/catch.hpp>

#include "pkg/webhook/ownership.h"

namespace webhook::open_state_test {
namespace {

using std::chrono::seconds;

json::Value Annotated(json::Object annotations) {
  json::Value object = json::Object();
  object.Make({"metadata", "annotations"}) = std::move(annotations);
  return object;
}

const json::Value kPlain = Annotated({});
const json::Value kBroken = Annotated({{std::string(kBreakGlassAnnotation), "true"}});
const json::Value kBrokenFor =
    Annotated({{std::string(kBreakGlassAnnotation), "true"},
               {std::string(kBreakGlassForAnnotation), "10s (by an admin)"}});
const json::Value kCounting = Annotated({{std::string(kCountingAnnotation), "a"}});

TEST_CASE("open state: a duration runs without the object, too", "[admission]") {
  const base::TimePoint begun = base::TimePoint() + seconds(1000);
  OpenState state;
  state.Update(begun, &kBrokenFor);
  CHECK(state.IsOpen());
  CHECK(state.EndsAt() == begun + seconds(10));
  state.Update(begun + seconds(9), nullptr);
  CHECK(state.IsOpen());
  CHECK_FALSE(state.IsOver());
  state.Update(begun + seconds(10), nullptr);
  CHECK_FALSE(state.IsOpen());
  CHECK(state.EndsAt() == std::nullopt);
  CHECK(state.IsOver());
  state.Update(begun + seconds(11), &kPlain);
  CHECK_FALSE(state.IsOver());
}

TEST_CASE("open state: without a duration it stays until the annotation goes", "[admission]") {
  OpenState state;
  state.Update({}, &kBroken);
  state.Update(base::TimePoint::max(), nullptr);
  CHECK(state.IsOpen());
  CHECK(state.EndsAt() == std::nullopt);
  CHECK(state.Why() ==
        "all requests pass because of the annotation quota-controller-manager.io/break-glass");
  state.Update(base::TimePoint::max(), &kPlain);
  CHECK_FALSE(state.IsOpen());
  CHECK_FALSE(state.IsOver());
}

TEST_CASE("open state: the reason names the leader that was seen to enforce nothing",
          "[admission]") {
  OpenState state;
  state.Update({}, &kCounting);
  CHECK_FALSE(state.IsOpen());  // nobody is known to lead
  state.SetLeader("a");
  state.Update({}, &kCounting);
  CHECK(state.IsOpen());
  state.SetLeader("b");
  CHECK(state.Why() == "all requests pass because the leader a enforces nothing");
  state.Update({}, nullptr);
  CHECK(state.IsOpen());
  state.Update({}, &kCounting);
  CHECK_FALSE(state.IsOpen());
}

}  // namespace
}  // namespace webhook::open_state_test
