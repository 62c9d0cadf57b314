#include "pkg/admission/quota_admitter.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <random>

#include "pkg/base/manual_scheduler.h"
#include "tests/pkg/admission/fake_book.h"
#include "tests/pkg/quota/quota_testing.h"

namespace admission {
namespace {

using namespace std::chrono_literals;
using quota::List;
using Kind = Answer::Kind;

// Things use what their spec.use says: {"cpu":"2"}; each is one under "things".
base::Result<quota::ObjectFacts> FactsOfThing(const json::Value& object, base::WallTime) {
  quota::ObjectFacts facts;
  facts.now.usage.Set("things", quota::Quantity::FromInt(1));
  const std::string cpu(object.StringAt({"spec", "cpu"}));
  if (cpu.empty()) return facts;
  const auto amount = quota::Quantity::Parse(cpu);
  if (!amount) return amount.error().Wrap("spec.cpu");
  facts.now.usage.Set("cpu", *amount);
  return facts;
}

quota::QuotaApi ThingsApi() {
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

json::Value Thing(const std::string& uid, const std::string& cpu, bool stored = false) {
  json::Value thing(json::Object{{"metadata", json::Object{{"name", "t"}, {"uid", uid}}}});
  if (!cpu.empty()) thing.AsObject()->Set("spec", json::Object{{"cpu", cpu}});
  if (stored) (*thing.AsObject())["metadata"].AsObject()->Set("resourceVersion", "7");
  return thing;
}

Review Create(const std::string& uid, const std::string& cpu = "") {
  return {.uid = "call",
          .resource = {"", "v1", "things"},
          .subresource = "",
          .operation = Operation::kCreate,
          .ns = "ns",
          .name = "t",
          .object = Thing(uid, cpu)};
}

Review Update(const std::string& uid, const std::string& from, const std::string& to) {
  Review review = Create(uid, to);
  review.operation = Operation::kUpdate;
  review.old_object = Thing(uid, from, true);
  return review;
}

class Counts final : public Observer {
 public:
  void OnDecision(std::string_view, std::string_view, base::Duration) override {}
  void OnWarning(std::string_view) override { ++warnings; }
  void OnBatch(std::string_view, std::size_t requests, std::size_t) override {
    ++batches;
    largest = std::max(largest, requests);
  }
  void OnConflict(std::string_view) override { ++conflicts; }
  void OnChargesHeld(std::string_view, std::size_t) override {}
  void OnChargesExpired(std::string_view, std::size_t) override {}
  std::size_t warnings = 0;
  std::size_t batches = 0;
  std::size_t largest = 0;
  std::size_t conflicts = 0;
};

struct Fixture {
  explicit Fixture(QuotaAdmitterOptions options = {})
      : admitter(io.get_executor(), scheduler, api, book, counts, options) {}
  ~Fixture() {
    calls.Spawn("stop", [this] { return admitter.Stop(); });
    scheduler.RunFor(1min);
  }

  // The answer comes to `answers`, in the order of asking.
  void Ask(Review review, base::Duration patience = 5s) {
    const std::size_t index = answers.size();
    answers.emplace_back();
    calls.Spawn("call", [this, index, patience, review]() -> base::Task<void> {
      co_await base::DeferCancellation();
      const base::TimePoint deadline = scheduler.Now() + patience;
      answers[index] = co_await admitter.Admit(review, deadline);
    });
  }
  Answer Get(Review review) {
    Ask(std::move(review));
    scheduler.RunFor(500ms);
    REQUIRE(answers.back().has_value());
    return *answers.back();
  }
  [[nodiscard]] std::size_t Count(Kind kind) const {
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
  Counts counts;
  QuotaAdmitter admitter;
  base::TaskGroup calls{io.get_executor()};
  std::deque<std::optional<Answer>> answers;
};

TEST_CASE("quota admitter: what fits is admitted, written and held", "[admission]") {
  Fixture f;
  f.book.Put("q", List({{"things", "2"}, {"cpu", "4"}}), List({{"things", "1"}, {"cpu", "1"}}));
  CHECK(f.Get(Create("a", "3")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=4,things=2");
  CHECK(f.book.writes == 1);

  const Answer refused = f.Get(Create("b", "1"));
  CHECK(refused.kind == Kind::kRefused);
  CHECK(refused.code == 403);
  CHECK(refused.reason == "Forbidden");
  CHECK(refused.message ==
        "exceeded quota: q, requested: cpu=1,things=1, used: cpu=4,things=2, "
        "limited: cpu=4,things=2");
  CHECK(f.book.attempts == 1);
}

TEST_CASE("quota admitter: the quota API says by what reason it refuses", "[admission]") {
  Fixture f;
  f.api.refusal_reason = "QuotaExceeded";
  f.book.Put("q", List({{"cpu", "1"}}), List({{"cpu", "1"}}));
  CHECK(f.Get(Create("a", "1")).reason == "QuotaExceeded");
}

TEST_CASE("quota admitter: an amount that would count as nothing is refused unless it is there",
          "[admission]") {
  Fixture f;
  f.book.Put("q", List({{"cpu", "9"}}), List({{"cpu", "0"}}));
  f.api.evaluators[0].facts_of = [](const json::Value& object,
                                    base::WallTime now) -> base::Result<quota::ObjectFacts> {
    if (!object.StringAt({"spec", "cpu"}).starts_with("-")) return FactsOfThing(object, now);
    return quota::ObjectFacts{.flaw = "spec.cpu: must not be negative"};
  };
  const Answer refused = f.Get(Create("a", "-1"));
  CHECK(refused.kind == Kind::kRefused);
  CHECK(refused.code == 403);
  CHECK(refused.message == "it cannot be counted: spec.cpu: must not be negative");
  CHECK(f.Get(Update("a", "1", "-1")).kind == Kind::kRefused);
  CHECK(f.Get(Update("a", "-1", "-2")).kind == Kind::kAllowed);
  CHECK(f.Get(Update("a", "-1", "2")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=2");
}

TEST_CASE("quota admitter: what needs nothing is admitted without a write", "[admission]") {
  Fixture f;
  f.book.Put("q", List({{"cpu", "1"}}), List({{"cpu", "5"}}));
  CHECK(f.Get(Update("a", "3", "3")).kind == Kind::kAllowed);
  CHECK(f.Get(Update("a", "3", "1")).kind == Kind::kAllowed);
  CHECK(f.Get(Create("b")).kind == Kind::kAllowed);
  Review elsewhere = Create("c", "9");
  elsewhere.ns = "other";
  CHECK(f.Get(elsewhere).kind == Kind::kAllowed);
  Review cluster_scoped = Create("c", "9");
  cluster_scoped.ns = "";
  CHECK(f.Get(cluster_scoped).kind == Kind::kAllowed);
  CHECK(f.book.attempts == 0);
  CHECK(f.counts.batches == 0);
}

TEST_CASE("quota admitter: only what the guard names is decided", "[admission]") {
  Fixture f;
  f.book.Put("q", List({{"cpu", "1"}}), List({{"cpu", "1"}}));
  Review review = Update("a", "1", "9");
  for (const char* subresource : {"status", "scale"}) {
    review.subresource = subresource;
    CHECK(f.Get(review).kind == Kind::kAllowed);
  }
  review.subresource = "resize";
  CHECK(f.Get(review).kind == Kind::kRefused);
  review.subresource = "";
  CHECK(f.Get(review).kind == Kind::kRefused);
  review.operation = Operation::kDelete;
  CHECK(f.Get(review).kind == Kind::kAllowed);
  Review unknown = Create("b", "9");
  unknown.resource.resource = "others";
  CHECK(f.Get(unknown).kind == Kind::kAllowed);
  CHECK(f.admitter.FieldsOf({"", "things"}) == std::vector<std::string>{"spec.cpu", "spec.extra"});
  CHECK(f.admitter.FieldsOf({"", "others"}).empty());
}

TEST_CASE("quota admitter: an object that is being deleted may always be updated", "[admission]") {
  Fixture f;
  f.book.Put("q", List({{"cpu", "1"}}), List({{"cpu", "1"}}));
  Review review = Update("a", "1", "9");
  (*review.old_object.AsObject())["metadata"].AsObject()->Set("deletionTimestamp",
                                                              "2026-01-01T00:00:00Z");
  CHECK(f.Get(review).kind == Kind::kAllowed);
}

TEST_CASE("quota admitter: an update without its old object is refused", "[admission]") {
  Fixture f;
  f.book.Put("q", List({{"cpu", "9"}}), List({{"cpu", "1"}}));
  Review review = Update("a", "1", "2");
  review.old_object = json::Value();
  const Answer answer = f.Get(review);
  CHECK(answer.code == 403);
  CHECK(answer.message ==
        "unable to get previous usage since prior version of object was not found");
}

TEST_CASE("quota admitter: an amount that cannot be read is no zero", "[admission]") {
  Fixture f;
  f.book.Put("q", List({{"cpu", "9"}}), List({{"cpu", "1"}}));
  const Answer answer = f.Get(Create("a", "much"));
  CHECK(answer.kind == Kind::kRefused);
  CHECK(answer.code == 500);
  CHECK(answer.message.find("spec.cpu") != std::string::npos);
}

TEST_CASE("quota admitter: a dry run is judged and charges nothing", "[admission]") {
  Fixture f;
  f.book.Put("q", List({{"things", "2"}}), List({{"things", "1"}}));
  Review review = Create("a");
  review.dry_run = true;
  CHECK(f.Get(review).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "things=1");
  CHECK(f.book.attempts == 0);
  f.book.Touch("q", [](quota::Quota& quota) { quota.status.used = List({{"things", "2"}}); });
  CHECK(f.Get(review).kind == Kind::kRefused);
}

TEST_CASE("quota admitter: many calls for one stored write charge once", "[admission]") {
  Fixture f;
  f.book.Put("q", List({{"cpu", "100"}}), List({{"cpu", "1"}}));
  f.book.shown[quota::Uid::FromText("a")] = List({{"cpu", "1"}});
  SECTION("one after the other") {
    for (int i = 0; i < 8; ++i) CHECK(f.Get(Update("a", "1", "3")).kind == Kind::kAllowed);
    CHECK(f.Used("q") == "cpu=3");
  }
  SECTION("all at once") {
    for (int i = 0; i < 8; ++i) f.Ask(Update("a", "1", "3"));
    f.scheduler.RunFor(1s);
    CHECK(f.Count(Kind::kAllowed) == 8);
    CHECK(f.Used("q") == "cpu=3");
  }
}

TEST_CASE("quota admitter: what was admitted from a larger version pays for no more than it added",
          "[admission]") {
  Fixture f;
  f.book.Put("q", List({{"cpu", "7"}}), List({{"cpu", "3"}}));
  f.book.shown[quota::Uid::FromText("a")] = List({{"cpu", "3"}});
  // The API server read the object before another write made it smaller, and asks again after it.
  CHECK(f.Get(Update("a", "7", "10")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=6");
  CHECK(f.Get(Update("a", "3", "10")).kind == Kind::kRefused);
  CHECK(f.Get(Update("a", "3", "6")).kind == Kind::kAllowed);
  CHECK(f.Get(Update("a", "4", "8")).kind == Kind::kRefused);
  CHECK(f.Get(Update("a", "4", "7")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=7");
}

// Thing() is stored in version 7. The API server's store refuses such a write, and it asks anew.
TEST_CASE("quota admitter: an update of a version that is no more is not charged", "[admission]") {
  Fixture f;
  f.book.Put("q", List({{"cpu", "3"}}), List({{"cpu", "3"}}));
  const quota::Uid uid = quota::Uid::FromText("a");
  f.book.shown[uid] = List({{"cpu", "3"}});
  Review late = Update("a", "1", "3");
  SECTION("that it is no more is known") {
    f.book.versions[uid] = "8";
    CHECK(f.Get(late).kind == Kind::kAllowed);
    CHECK(f.Used("q") == "cpu=3");
    CHECK(f.book.attempts == 0);
    late.dry_run = true;  // nothing is stored, so nothing asks anew
    CHECK(f.Get(late).kind == Kind::kRefused);
  }
  SECTION("it becomes known while the request waits") {
    f.book.Touch("q", [](quota::Quota& quota) { quota.status.hard = List({{"cpu", "9"}}); });
    f.book.fault = [&](const quota::Quota&) -> std::optional<base::Error> {
      f.book.versions[uid] = "8";
      return base::Error{.code = base::ErrorCode::kConflict, .message = "moved"};
    };
    CHECK(f.Get(late).kind == Kind::kAllowed);
    CHECK(f.Used("q") == "cpu=3");
    CHECK(f.book.attempts == 1);
  }
  SECTION("as far as is known it is the newest") {
    f.book.versions[uid] = "7";
    CHECK(f.Get(late).kind == Kind::kRefused);
  }
}

TEST_CASE("quota admitter: those who wait share one write", "[admission]") {
  Fixture f;
  f.book.Put("q", List({{"things", "50"}}), List({{"things", "0"}}));
  for (int i = 0; i < 64; ++i) f.Ask(Create("u" + std::to_string(i)));
  f.scheduler.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 50);
  CHECK(f.Count(Kind::kRefused) == 14);
  CHECK(f.Used("q") == "things=50");
  CHECK(f.book.writes <= 2);
}

TEST_CASE("quota admitter: a conflict is decided again for all that wait", "[admission]") {
  Fixture f;
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
  Fixture f;
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

TEST_CASE("quota admitter: who is refused by one quota is charged to none", "[admission]") {
  Fixture f;
  f.book.Put("roomy", List({{"things", "10"}}), List({{"things", "0"}}));
  f.book.Put("tight", List({{"things", "1"}}), List({{"things", "0"}}));
  f.Ask(Create("a"));
  f.scheduler.RunFor(1ms);
  // The write of `roomy` succeeds, that of `tight` meets a version that has no room any more.
  f.book.Touch("tight", [](quota::Quota& quota) { quota.status.used = List({{"things", "1"}}); });
  f.scheduler.RunFor(1s);
  CHECK(f.Count(Kind::kRefused) == 1);
  CHECK(f.answers[0]->message.starts_with("exceeded quota: tight"));
  CHECK(f.book.Outstanding("roomy").empty());
  CHECK(f.book.releases == 1);
}

TEST_CASE("quota admitter: another writer in a tight loop does not starve anybody", "[admission]") {
  Fixture f;
  f.book.Put("q", List({{"things", "1000"}}), List({{"things", "0"}}));
  std::mt19937 random(3);
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
  Fixture f;
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
  Fixture f;
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

TEST_CASE("quota admitter: a write that is refused for good says why at once", "[admission]") {
  Fixture f;
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
  Fixture f;
  f.book.Put("q", List({{"things", "1"}}), List({{"things", "0"}}));
  f.Ask(Create("a"));
  f.Ask(Create("b"));
  f.scheduler.RunFor(1ms);
  f.book.Drop("q");
  f.scheduler.RunFor(1s);
  CHECK(f.Count(Kind::kAllowed) == 2);
}

TEST_CASE("quota admitter: beyond the bound the newest is told to come again", "[admission]") {
  Fixture f({.max_waiting = 3});
  f.book.Put("q", List({{"things", "10"}}), List({{"things", "0"}}));
  f.book.write_takes = 1s;
  for (int i = 0; i < 5; ++i) f.Ask(Create("u" + std::to_string(i)));
  f.scheduler.RunUntilIdle();
  CHECK(f.Count(Kind::kBusy) == 2);
  f.scheduler.RunFor(4s);
  CHECK(f.Count(Kind::kAllowed) == 3);
}

TEST_CASE("quota admitter: when quotas cannot be followed they are read", "[admission]") {
  Fixture f;
  f.book.Put("q", List({{"things", "1"}}), List({{"things", "1"}}));
  f.book.current = false;
  CHECK(f.Get(Create("a")).kind == Kind::kRefused);
  CHECK(f.book.refreshes == 1);
  f.book.unreadable = base::Error{.code = base::ErrorCode::kUnavailable, .message = "no route"};
  const Answer answer = f.Get(Create("a"));
  CHECK(answer.kind == Kind::kUnavailable);
  CHECK(answer.message == "quotas of namespace ns cannot be read: no route");
}

TEST_CASE("quota admitter: the last tenth of a limit is announced", "[admission]") {
  QuotaAdmitterOptions options;
  SECTION("by default") {
    Fixture f(options);
    f.book.Put("q", List({{"things", "20"}}), List({{"things", "17"}}));
    CHECK(f.Get(Create("a")).warnings.empty());
    const Answer answer = f.Get(Create("b"));
    CHECK(answer.warnings == std::vector<std::string>{"quota nearly used up: q: things 19 of 20"});
    CHECK(f.counts.warnings == 1);
  }
  SECTION("unless it is switched off") {
    options.warn_near_limits = false;
    Fixture f(options);
    f.book.Put("q", List({{"things", "20"}}), List({{"things", "19"}}));
    CHECK(f.Get(Create("a")).warnings.empty());
  }
}

TEST_CASE("quota admitter: the limit holds and nothing leaks, whatever fails", "[admission]") {
  const auto seed = static_cast<unsigned>(GENERATE(range(1, 31)));
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  Fixture f;
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

}  // namespace
}  // namespace admission
