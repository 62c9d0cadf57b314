#include "pkg/webhook/certificate_plan.h"

#include <catch2/catch.hpp>

namespace certificate_plan_test {

namespace {

using webhook::CertificateAction;
using webhook::CertificateDates;
using webhook::CertificatePolicy;
using webhook::KeyringState;
using webhook::PlanCertificates;
using namespace std::chrono_literals;
using base::WallTime;

constexpr auto kDay = 24h;
const WallTime kStart(std::chrono::hours(24 * 365 * 56));

CertificateDates Made(WallTime at, std::chrono::seconds life, const CertificatePolicy& policy) {
  return {at - policy.backdate, at + life};
}

// Simulates the steps with dates only.
struct Model {
  CertificatePolicy policy;
  KeyringState state;
  WallTime signer_made;
  std::optional<WallTime> trusted_since;  // the leaf's CA, in the bundle
  int steps[5] = {};

  void Do(CertificateAction action, WallTime now) {
    ++steps[static_cast<int>(action)];
    if (action == CertificateAction::kStartOver || action == CertificateAction::kPublishCa) {
      if (state.signer) state.others.push_back(*state.signer);
      state.signer = Made(now, policy.ca_life, policy);
      signer_made = now;
      state.leaf_by_signer = false;
    }
    if (action == CertificateAction::kStartOver || action == CertificateAction::kIssueLeaf) {
      state.leaf = Made(now, policy.leaf_life, policy);
      state.leaf->not_after = std::min(state.leaf->not_after, state.signer->not_after);
      state.leaf_by_signer = true;
    }
    if (action == CertificateAction::kDropOld) state.others.clear();
  }
  [[nodiscard]] int Count(CertificateAction action) const {
    return steps[static_cast<int>(action)];
  }
  // Looks once and returns the action.
  CertificateAction Look(WallTime now, bool published = true) {
    const auto step = PlanCertificates(state, {now, now}, published, policy);
    if (step.action != CertificateAction::kNone) Do(step.action, now);
    return step.action;
  }
};

TEST_CASE("certificate plan: for two years the certificates are always valid", "[admission]") {
  Model model;
  model.Look(kStart);
  for (WallTime now = kStart; now < kStart + 730 * kDay; now += 5min) {
    const KeyringState before = model.state;
    const CertificateAction action = model.Look(now);
    const KeyringState& state = model.state;
    // Each certificate is replaced before two thirds of its lifetime are over.
    REQUIRE(now < state.leaf->not_after - model.policy.leaf_life / 3);
    REQUIRE(now < state.signer->not_after - model.policy.ca_life / 3);
    REQUIRE(state.leaf->not_before <= now);
    REQUIRE(state.leaf->not_after <= state.signer->not_after);
    REQUIRE(state.others.size() <= 1);
    if (action == CertificateAction::kIssueLeaf && !before.leaf_by_signer) {
      REQUIRE(now >= model.signer_made + 2min);
      REQUIRE(before.others.size() == 1);  // the CA of the old leaf stays
    }
    if (action == CertificateAction::kDropOld) {
      REQUIRE(now >= state.leaf->not_before + model.policy.backdate + kDay);
      REQUIRE(before.leaf_by_signer);
    }
  }
  CHECK(model.Count(CertificateAction::kStartOver) == 1);
  CHECK(model.Count(CertificateAction::kPublishCa) == 3);  // each 219 days
  CHECK(model.Count(CertificateAction::kDropOld) == 3);
  CHECK(model.Count(CertificateAction::kIssueLeaf) >= 13);  // each 54 days
  CHECK(model.Count(CertificateAction::kIssueLeaf) <= 13 + 3);
}

TEST_CASE("certificate plan: no step is missed by sleeping until the next look", "[admission]") {
  Model model;
  int looks = 0;
  WallTime now = kStart;
  while (now < kStart + 730 * kDay) {
    const auto step = PlanCertificates(model.state, {now, now}, true, model.policy);
    ++looks;
    if (step.action == CertificateAction::kNone) {
      REQUIRE(step.next > now);
      now = step.next;
      REQUIRE(now < model.state.leaf->not_after - model.policy.leaf_life / 3);
    } else {
      model.Do(step.action, now);
    }
  }
  CHECK(looks < 60);
}

TEST_CASE("certificate plan: a new CA signs no leaf before it is published", "[admission]") {
  Model model;
  model.Look(kStart);
  WallTime now = kStart + 219 * kDay;
  while (model.Look(now, false) != CertificateAction::kPublishCa) now += 1min;
  const WallTime old_end = model.state.leaf->not_after;
  // It is never reported as published: the old leaf serves until it is about to expire.
  while (model.Look(now, false) != CertificateAction::kIssueLeaf) {
    now += 10min;
    REQUIRE(now < old_end);
  }
  CHECK(now > old_end - 3 * kDay);
}

TEST_CASE("certificate plan: an unusable part is replaced at once, with the smallest step",
          "[admission]") {
  Model model;
  CHECK(model.Look(kStart) == CertificateAction::kStartOver);
  CHECK(model.Look(kStart) == CertificateAction::kNone);

  model.state.leaf.reset();  // damaged, or for other names
  CHECK(model.Look(kStart) == CertificateAction::kIssueLeaf);

  model.state.signer.reset();  // its key is lost; the leaf still serves
  model.state.leaf_by_signer = false;
  CHECK(model.Look(kStart + 1h) == CertificateAction::kPublishCa);
  CHECK(model.Look(kStart + 1h + 4min) == CertificateAction::kNone);
  CHECK(model.Look(kStart + 1h + 5min) == CertificateAction::kIssueLeaf);
}

TEST_CASE("certificate plan: after a long sleep the keyring is valid within minutes",
          "[admission]") {
  const auto asleep = GENERATE(100, 250, 300, 366, 4000);
  Model model;
  model.Look(kStart);
  WallTime now = kStart + asleep * kDay;
  const CertificateAction first = model.Look(now);
  CHECK((first == CertificateAction::kIssueLeaf || first == CertificateAction::kStartOver));
  CHECK(now < model.state.leaf->not_after);
  for (int i = 0; i < 10; ++i) model.Look(now += 1min);
  CHECK(model.state.leaf_by_signer);
  CHECK(now < model.state.signer->not_after - model.policy.ca_life / 3);
}

TEST_CASE("certificate plan: recovers from a clock that jumps back and forth", "[admission]") {
  Model model;
  model.Look(kStart);
  // A jump that is smaller than the backdating has no effect.
  CHECK(model.Look(kStart - 29 * kDay) == CertificateAction::kNone);
  // After a larger jump no clock takes anything for valid, so new certificates are issued once.
  WallTime now = kStart - 60 * kDay;
  CHECK(model.Look(now) == CertificateAction::kStartOver);
  for (int i = 0; i < 60; ++i) CHECK(model.Look(now += 1min) == CertificateAction::kNone);
  // Forward again: the certificates are still valid, so only due steps follow.
  now = kStart;
  model.Look(now);
  for (int i = 0; i < 60; ++i) model.Look(now += 1min);
  CHECK(model.Count(CertificateAction::kStartOver) == 2);
  CHECK(now < model.state.leaf->not_after);
}

}  // namespace

}  // namespace certificate_plan_test
