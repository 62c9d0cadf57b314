#pragma once

// The quota controller as admission's book, together with a real admitter, beside a fake cluster.

#include <catch2/catch.hpp>
#include <deque>
#include <string>

#include "pkg/admission/quota_admitter.h"
#include "tests/controllers/quota/controller_fixture.h"

namespace fixture {

// Forwards to a book, and remembers the grants, so that a test can give them up.
class RememberedGrants final : public admission::QuotaBook {
 public:
  struct Granted {
    api::ObjectKey quota;
    quota::Uid uid;
    std::uint64_t number = 0;
  };

  explicit RememberedGrants(admission::QuotaBook& inner) : inner_(inner) {}
  base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline) override {
    return inner_.Refresh(std::move(ns), deadline);
  }
  [[nodiscard]] admission::NamespaceQuotas Quotas(std::string_view ns) const override {
    return inner_.Quotas(ns);
  }
  [[nodiscard]] Presence Look(std::string_view ns) const override { return inner_.Look(ns); }
  base::Task<base::Result<quota::Quota>> Read(quota::Quota quota,
                                              base::TimePoint deadline) override {
    return inner_.Read(std::move(quota), deadline);
  }
  [[nodiscard]] bool Draw(const admission::ReservePlan& plan) override {
    Remember(plan, drawn);
    return inner_.Draw(plan);
  }
  base::Task<base::Result<void>> Reserve(admission::ReservePlan plan,
                                         base::TimePoint deadline) override {
    Remember(plan, reserved);
    return inner_.Reserve(std::move(plan), deadline);
  }
  void Withdraw(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) override {
    inner_.Withdraw(key, uid, grant);
  }
  void Withdraw(const Granted& grant) { Withdraw(grant.quota, grant.uid, grant.number); }

  std::vector<Granted> drawn;     // without a write
  std::vector<Granted> reserved;  // with a write, which may have failed

 private:
  static void Remember(const admission::ReservePlan& plan, std::vector<Granted>& grants) {
    for (const admission::Grant& grant : plan.grants) {
      grants.push_back({plan.quota.key, grant.uid, grant.number});
    }
  }

  admission::QuotaBook& inner_;
};

struct ChargingFixture : ControllerFixture {
  explicit ChargingFixture(controllers::QuotaControllerOptions options = {})
      : ControllerFixture(std::move(options)),
        book(controller->quota_book()),
        admitter(io.get_executor(), scheduler, admission::NoObserver()) {
    admitter.Enforce(api);
    admitter.Open(api.name, book, controller->object_book());
  }
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

  RememberedGrants book;
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
