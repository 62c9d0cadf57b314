#pragma once

// An admitter of a fictional quota API. Its book is the quota controller, beside a fake cluster, in
// virtual time.

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/admission/quota_admitter.h"
#include "tests/controllers/quota/controller_fixture.h"

namespace fixture {

inline const api::GroupVersionResource kThings{"", "v1", "things"};

// A thing uses one of "things", and the cpu of its spec, {"cpu":"2"}. A negative cpu counts as
// nothing, and a text is unknown. One with {"many":true} is read as if it had very many names. If
// other members of {"sizes":{"a":"?"}} are no amounts, these count as nothing.
inline base::Result<quota::ObjectFacts> FactsOfThing(const json::Value& object,
                                                     const quota::ReadOptions& options) {
  quota::ObjectFacts facts;
  facts.now.usage.Set("things", quota::Quantity::FromInt(1));
  if (const json::Value* sizes = object.At({"spec", "sizes"})) {
    for (const auto& [name, size] : *sizes->AsObject()) {
      if (const auto amount = quota::Quantity::Parse(*size.AsString())) {
        facts.now.usage.Set(name, *amount);
        continue;
      }
      if (facts.flaw.empty()) facts.flaw = "spec.sizes[" + name + "]: is no amount";
      facts.ignored.push_back(name);
    }
  }
  const std::string cpu(object.StringAt({"spec", "cpu"}));
  if (cpu.empty()) return facts;
  if (object.At({"spec", "many"}) != nullptr && options.limited && !options.limited("cpu")) {
    facts.left_out = true;
    return facts;
  }
  if (cpu.starts_with("-")) {
    return quota::ObjectFacts{.flaw = "spec.cpu: must not be negative"};
  }
  const auto amount = quota::Quantity::Parse(cpu);
  if (!amount) {
    facts.now.unread = {"cpu"};
    facts.flaw = "spec.cpu: " + cpu;
    return facts;
  }
  facts.now.usage.Set("cpu", *amount);
  return facts;
}

inline quota::QuotaApi ThingsApi() {
  quota::QuotaApi api{.name = "test",
                      .resource = kQuotas,
                      .kind = "ResourceQuota",
                      .evaluators = {},
                      .object_counter = nullptr,
                      .counted_resource = nullptr,
                      .fields = quota::QuotaFields()};
  api.evaluators.Put({.resource = {"", "things"},
                      .owns =
                          [](std::string_view name) {
                            return name == "things" || name == "cpu" || name == "disk" ||
                                   name == "iops";
                          },
                      .fields = {"spec.cpu", "spec.sizes"},
                      .scopes = {},
                      .facts_of = FactsOfThing,
                      .guard = {.updates = true,
                                .update_condition = "",
                                .subresources = {"resize"},
                                .fields = {"spec.extra"},
                                .constraints = nullptr}});
  return api;
}

// A thing whose name and uid are `uid`, or that has no uid if it is "".
inline json::Value Thing(const std::string& uid, const std::string& cpu = "",
                         const std::string& ns = "team-a") {
  json::Object meta{{"name", uid.empty() ? "t" : uid}, {"namespace", ns}, {"uid", uid}};
  json::Value thing(json::Object{{"metadata", std::move(meta)}});
  if (!cpu.empty()) thing.AsObject()->Set("spec", json::Object{{"cpu", cpu}});
  return thing;
}

inline admission::Review Create(const std::string& uid, const std::string& cpu = "",
                                const std::string& ns = "team-a") {
  return {.uid = "call",
          .resource = kThings,
          .subresource = "",
          .operation = admission::Operation::kCreate,
          .ns = ns,
          .name = "t",
          .object = Thing(uid, cpu, ns)};
}

// An update of this stored thing.
inline admission::Review Update(const json::Value& stored, const std::string& to) {
  admission::Review review = Create(std::string(stored.StringAt({"metadata", "uid"})), to);
  review.operation = admission::Operation::kUpdate;
  review.old_object = stored;
  return review;
}

class CountingObserver final : public admission::Observer {
 public:
  void OnDecision(std::string_view, std::string_view, base::Duration) override {}
  void OnWarning(std::string_view) override { ++warnings; }
  void OnBatch(std::string_view, std::size_t, std::size_t) override { ++batches; }
  void OnConflict(std::string_view) override { ++conflicts; }
  void OnReservationsExpired(std::string_view, std::size_t) override {}
  std::size_t warnings = 0;
  std::size_t batches = 0;
  std::size_t conflicts = 0;
};

inline constexpr accounting::CrowdOptions kNoBursts{.crowd = 0};

// A base, because the controller asks while the fixture is constructed.
struct Leading {
  bool leads = true;
};

class AdmitterFixture : public Leading, public ControllerFixture {
 public:
  explicit AdmitterFixture(admission::QuotaAdmitterOptions options = {},
                           accounting::CrowdOptions crowd = kNoBursts)
      : ControllerFixture(OptionsFor(this, crowd)) {
    Stop();
    api = ThingsApi();
    cluster.Serve(kThings, "Thing");
    cluster.patch_delay = std::chrono::milliseconds(4);
    Start();
    admitter_.emplace(io.get_executor(), scheduler, counts, std::move(options));
    Enforce(*admitter_, api, *controller);
  }
  ~AdmitterFixture() {
    cluster.ForgetFunctions();
    calls.Spawn("stop", [this] { return admitter_->Stop(); });
    RunFor(std::chrono::minutes(1));
    Stop();
  }

  // Stores the quota and waits for its status. Then forgets all writes.
  void PutQuota(const std::string& name, const json::Object& hard,
                const std::string& ns = "team-a") {
    cluster.Put(kQuotas, MakeQuota(name, hard, ns));
    RunFor(std::chrono::seconds(1));
    REQUIRE_FALSE(Hard(name, ns).empty());
    cluster.writes.clear();
  }
  // Stores the thing as it is from now on, and returns it.
  json::Value Store(const std::string& uid, const std::string& cpu = "") {
    cluster.Put(kThings, Thing(uid, cpu));
    return *cluster.Find(kThings, "team-a", uid);
  }
  void StoreMany(int count) {
    for (int i = 0; i < count; ++i) Store("old" + std::to_string(i));
  }
  // Every PATCH of this quota fails with the error, until `cluster.fault` is null.
  void FailWrites(const std::string& quota, const base::Error& error) {
    cluster.fault = [quota,
                     error](const client::ApiRequest& request) -> std::optional<base::Error> {
      return Patches(request, quota) ? std::optional(error) : std::nullopt;
    };
  }
  static bool Patches(const client::ApiRequest& request, const std::string& quota) {
    return request.verb == "PATCH" && request.path.ends_with("/" + quota + "/status");
  }

  // The answers are in `answers`, in the order of the requests.
  void Ask(admission::Review review, base::Duration patience = std::chrono::seconds(5)) {
    const std::size_t index = answers.size();
    answers.emplace_back();
    calls.Spawn("call", [this, index, patience, review = std::move(review)]() -> base::Task<void> {
      co_await base::DeferCancellation();
      const base::TimePoint deadline = scheduler.Now() + patience;
      answers[index] = co_await admitter_->Admit(review, deadline);
    });
  }
  admission::Answer Get(admission::Review review) {
    Ask(std::move(review));
    RunFor(std::chrono::milliseconds(500));
    REQUIRE(answers.back().has_value());
    return *answers.back();
  }
  [[nodiscard]] std::size_t Count(admission::Answer::Kind kind) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        answers, [&](const auto& answer) { return answer && answer->kind == kind; }));
  }
  [[nodiscard]] admission::QuotaAdmitter& admitter() { return *admitter_; }

  CountingObserver counts;
  base::TaskGroup calls{io.get_executor()};
  std::deque<std::optional<admission::Answer>> answers;

 private:
  static controllers::QuotaControllerOptions OptionsFor(const Leading* leading,
                                                        accounting::CrowdOptions crowd) {
    controllers::QuotaControllerOptions options;
    options.crowd = crowd;
    options.leading = [leading] { return leading->leads; };
    return options;
  }

  std::optional<admission::QuotaAdmitter> admitter_;
};

}  // namespace fixture
