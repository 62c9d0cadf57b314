#pragma once

// An admitter of a made-up quota API beside a fake book, in virtual time.

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "pkg/admission/quota_admitter.h"
#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "tests/pkg/admission/fake_book.h"
#include "tests/pkg/quota/quota_testing.h"

namespace admission {

// A thing's usage is in its spec, {"cpu":"2"}, plus one of "things".
inline base::Result<quota::ObjectFacts> FactsOfThing(const json::Value& object, base::WallTime) {
  quota::ObjectFacts facts;
  facts.now.usage.Set("things", quota::Quantity::FromInt(1));
  const std::string cpu(object.StringAt({"spec", "cpu"}));
  if (cpu.empty()) return facts;
  const auto amount = quota::Quantity::Parse(cpu);
  if (!amount) return amount.error().Wrap("spec.cpu");
  facts.now.usage.Set("cpu", *amount);
  return facts;
}

inline quota::QuotaApi ThingsApi() {
  quota::QuotaApi api{.name = "test",
                      .resource = {"", "v1", "thingquotas"},
                      .kind = "ThingQuota",
                      .evaluators = {},
                      .object_counter = nullptr,
                      .counted_resource = nullptr,
                      .fields = {}};
  api.evaluators.push_back(
      {.resource = {"", "things"},
       .owns = [](std::string_view name) { return name == "things" || name == "cpu"; },
       .fields = {"spec.cpu"},
       .scopes = {},
       .facts_of = FactsOfThing,
       .guard = {.updates = true,
                 .update_condition = "",
                 .subresources = {"resize"},
                 .fields = {"spec.extra"},
                 .constraints = nullptr}});
  return api;
}

inline json::Value Thing(const std::string& uid, const std::string& cpu, bool stored = false) {
  json::Value thing(json::Object{{"metadata", json::Object{{"name", "t"}, {"uid", uid}}}});
  if (!cpu.empty()) thing.AsObject()->Set("spec", json::Object{{"cpu", cpu}});
  if (stored) (*thing.AsObject())["metadata"].AsObject()->Set("resourceVersion", "7");
  return thing;
}

inline Review Create(const std::string& uid, const std::string& cpu = "") {
  return {.uid = "call",
          .resource = {"", "v1", "things"},
          .subresource = "",
          .operation = Operation::kCreate,
          .ns = "ns",
          .name = "t",
          .object = Thing(uid, cpu)};
}

inline Review Update(const std::string& uid, const std::string& from, const std::string& to) {
  Review review = Create(uid, to);
  review.operation = Operation::kUpdate;
  review.old_object = Thing(uid, from, true);
  return review;
}

class CountingObserver final : public Observer {
 public:
  void OnDecision(std::string_view, std::string_view, base::Duration) override {}
  void OnWarning(std::string_view) override { ++warnings; }
  void OnBatch(std::string_view, std::size_t requests, std::size_t) override {
    ++batches;
    largest = std::max(largest, requests);
  }
  void OnConflict(std::string_view) override { ++conflicts; }
  void OnReservationsExpired(std::string_view, std::size_t) override {}
  std::size_t warnings = 0;
  std::size_t batches = 0;
  std::size_t largest = 0;
  std::size_t conflicts = 0;
};

struct AdmitterFixture {
  explicit AdmitterFixture(QuotaAdmitterOptions options = {})
      : admitter(io.get_executor(), scheduler, api, book, book, counts, std::move(options)) {}
  ~AdmitterFixture() {
    book.fault = nullptr;  // these refer to what is gone
    book.written = nullptr;
    book.live_class = nullptr;
    calls.Spawn("stop", [this] { return admitter.Stop(); });
    scheduler.RunFor(std::chrono::minutes(1));
  }

  // The answers are in `answers`, in the order of the requests.
  void Ask(Review review, base::Duration patience = std::chrono::seconds(5)) {
    const std::size_t index = answers.size();
    answers.emplace_back();
    calls.Spawn("call", [this, index, patience, review = std::move(review)]() -> base::Task<void> {
      co_await base::DeferCancellation();
      const base::TimePoint deadline = scheduler.Now() + patience;
      answers[index] = co_await admitter.Admit(review, deadline);
    });
  }
  Answer Get(Review review) {
    Ask(std::move(review));
    scheduler.RunFor(std::chrono::milliseconds(500));
    REQUIRE(answers.back().has_value());
    return *answers.back();
  }
  [[nodiscard]] std::size_t Count(Answer::Kind kind) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        answers, [&](const auto& answer) { return answer && answer->kind == kind; }));
  }
  [[nodiscard]] std::string Used(const std::string& name) const {
    return book.Get(name).status.used.ToString();
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  quota::QuotaApi api = ThingsApi();
  FakeBook book{scheduler};
  CountingObserver counts;
  QuotaAdmitter admitter;
  base::TaskGroup calls{io.get_executor()};
  std::deque<std::optional<Answer>> answers;
};

}  // namespace admission
