// The writes of AppliedClusterQuotas and their times, in virtual time.

#include "controllers/applied/applied_plan.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

namespace applied_plan_test {
namespace {

using namespace std::chrono_literals;
using controllers::AppliedContent;
using controllers::AppliedPlan;
using controllers::AppliedWrite;
using Verb = AppliedWrite::Verb;

// The status of each quota is the number of used pods.
class Source final : public controllers::AppliedSource {
 public:
  [[nodiscard]] bool Synced() const override { return synced; }
  [[nodiscard]] std::vector<std::string> QuotasOf(std::string_view ns) const override {
    const auto found = reach.find(ns);
    return found == reach.end() ? std::vector<std::string>() : found->second;
  }
  [[nodiscard]] bool IsAbove(std::string_view /*ns*/, std::string_view quota) const override {
    return quota == "company";
  }
  [[nodiscard]] std::optional<AppliedContent> ContentOf(const std::string& /*ns*/,
                                                        const std::string& quota) const override {
    ++asked;
    const auto found = used.find(quota);
    if (found == used.end()) return std::nullopt;
    AppliedContent content;
    content.uid = quota + "-uid";
    content.status.hard.Set("pods", quota::Quantity::FromInt(10));
    content.status.used.Set("pods", quota::Quantity::FromInt(found->second));
    return content;
  }

  bool synced = true;
  std::map<std::string, std::vector<std::string>, std::less<>> reach;
  std::map<std::string, int> used;
  mutable std::size_t asked = 0;
};

json::Value Gone(const std::string& ns, const std::string& name, int version) {
  return json::Object{{"metadata", json::Object{{"namespace", ns},
                                                {"name", name},
                                                {"resourceVersion", std::to_string(version)}}}};
}

struct PlanFixture {
  // Acts as the server: performs the decided write and sends its watch event.
  std::string Perform(const AppliedWrite& write) {
    const std::string key = write.ns + "/" + write.name;
    ++writes[key];
    if (write.verb == Verb::kDelete) {
      stored.erase(key);
      plan.OnWritten(write, "");
      plan.OnGone(Gone(write.ns, write.name, ++version));
      return "delete " + key;
    }
    json::Value object = write.object;
    object.Make({"metadata", "resourceVersion"}) = std::to_string(++version);
    stored[key] = object;
    plan.OnStored(object);  // the event comes before the answer
    plan.OnWritten(write, std::to_string(version));
    return (write.verb == Verb::kCreate ? "create " : "update ") + key;
  }
  // Returns the writes during this time, in order.
  std::vector<std::string> RunFor(base::Duration duration) {
    std::vector<std::string> done;
    const base::TimePoint end = clock.Now() + duration;
    while (true) {
      AppliedPlan::Next next = plan.Decide();
      if (next.write) {
        done.push_back(Perform(*next.write));
        continue;
      }
      const base::TimePoint again = std::max(next.again, clock.Now());
      if (again > end) break;
      clock.Advance(again - clock.Now());
    }
    clock.Advance(end - clock.Now());
    return done;
  }
  void List() {
    plan.BeginList();
    for (const auto& [key, object] : stored) plan.OnStored(object);
    plan.EndList();
  }
  void Reach(const std::string& ns, std::vector<std::string> quotas) {
    source.reach[ns] = std::move(quotas);
    plan.OnReachOf(ns);
  }
  void Use(const std::string& quota, int pods) {
    source.used[quota] = pods;
    plan.OnClusterQuota(quota);
  }
  [[nodiscard]] std::string Summary(const std::string& key) const {
    const auto found = stored.find(key);
    return found == stored.end() ? "" : std::string(found->second.StringAt({"status", "summary"}));
  }
  [[nodiscard]] AppliedPlan::Tally Tally() const {
    AppliedPlan::Tally tally;
    while (plan.Count(tally)) continue;
    return tally;
  }
  // Another writer stores this object.
  void Edit(const std::string& key, json::Value object) {
    object.Make({"metadata", "resourceVersion"}) = std::to_string(++version);
    stored[key] = object;
    plan.OnStored(object);
  }

  base::ManualClock clock;
  Source source;
  AppliedPlan plan{clock, source};
  std::map<std::string, json::Value> stored;
  std::map<std::string, int> writes;
  int version = 100;
};

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(PlanFixture,
                 "applied: each namespace gets an object for each quota that reaches it",
                 "[controllers][applied]") {
  source.used = {{"team", 1}, {"company", 4}};
  Reach("a", {"team", "company"});
  Reach("b", {"company"});
  CHECK(RunFor(5s).empty());  // the stored objects are not listed yet
  List();
  CHECK(RunFor(5s) == Words{"create a/company", "create b/company", "create a/team"});
  CHECK(Summary("a/team") == "pods: 1/10");
  CHECK(RunFor(10min).empty());
  SECTION("changed usage is written") {
    Use("company", 5);
    CHECK(RunFor(1s) == Words{"update a/company", "update b/company"});
    CHECK(Summary("b/company") == "pods: 5/10");
  }
  SECTION("a namespace that moves keeps only the objects of its new quotas") {
    source.used["other"] = 0;
    Reach("a", {"other", "company"});
    Words done = RunFor(1s);
    std::ranges::sort(done);
    CHECK(done == Words{"create a/other", "delete a/team"});
    CHECK(RunFor(10min).empty());
  }
  SECTION("a deleted namespace has none") {
    Reach("b", {});
    CHECK(RunFor(1s) == Words{"delete b/company"});
    CHECK(Tally().stored == 2);
  }
  SECTION("a quota that is not counted is not shown") {
    Reach("c", {"new"});
    CHECK(RunFor(1min).empty());
    Use("new", 0);
    CHECK(RunFor(3s) == Words{"create c/new"});
  }
}

TEST_CASE_METHOD(PlanFixture, "applied: simultaneous changes are written at the limited rate",
                 "[controllers][applied]") {
  source.used = {{"company", 0}};
  for (int i = 0; i < 100; ++i) Reach("ns-" + std::to_string(i), {"company"});
  List();
  RunFor(500ms);
  const Words first = RunFor(1s);
  CHECK(first.size() == 20);
  RunFor(10s);
  CHECK(Tally().stored == 100);
  for (int i = 1; i <= 60; ++i) {  // a minute of churn
    Use("company", i);
    RunFor(1s);
  }
  for (const auto& [key, count] : writes) CHECK(count <= 1 + 7);
  for (const auto& [key, count] : writes) CHECK(count >= 1 + 6);
}

TEST_CASE_METHOD(PlanFixture,
                 "applied: a quota that changes in all namespaces does not delay others",
                 "[controllers][applied]") {
  source.used = {{"company", 0}, {"team", 0}};
  for (int i = 0; i < 2000; ++i) Reach("ns-" + std::to_string(i), {"company"});
  Reach("z", {"company", "team"});
  List();
  RunFor(200s);
  REQUIRE(Tally().stored == 2002);
  Use("company", 1);
  RunFor(2s);
  source.used["team"] = 1;
  plan.OnUsageIn("z");
  const Words soon = RunFor(1s);
  CHECK(std::ranges::count(soon, "update z/team") == 1);
  CHECK(soon.size() == 20);
  CHECK(Tally().changed > 1900);
  CHECK(clock.Now() - Tally().oldest_change == 3s);
  SECTION("the object that waited longest is written next") {
    std::set<std::string> seen;
    for (int i = 2; i <= 90; ++i) {
      Use("company", i);
      for (const std::string& write : RunFor(1s)) {
        const bool again = write.starts_with("update ns-") && !seen.insert(write).second;
        CHECK_FALSE(again);
      }
    }
    CHECK(clock.Now() - Tally().oldest_change < 101s);
  }
  SECTION("all objects are written") {
    RunFor(100s);
    CHECK(Tally().changed == 0);
    CHECK(Summary("ns-1999/company") == "pods: 1/10");
  }
}

TEST_CASE_METHOD(PlanFixture,
                 "applied: usage further above that changes all the time is shown slowly",
                 "[controllers][applied]") {
  source.used = {{"company", 0}, {"team", 0}};
  List();
  for (int i = 0; i < 200; ++i) Reach("ns" + std::to_string(i), {"company", "team"});
  RunFor(60s);
  REQUIRE(Tally().changed == 0);
  const auto change = [&](const std::string& quota, int used) {
    source.used[quota] = used;
    plan.OnClusterQuota(quota, AppliedPlan::Changed::kUsage);
  };
  std::size_t written = 0;
  for (int second = 1; second <= 60; ++second) {
    change("company", second % 10);
    written += RunFor(1s).size();
  }
  CHECK(written >= 110);
  CHECK(written <= 125);  // two a second

  // The quota that selects the namespaces is shown at once, and the slow writes go on.
  change("company", 9);
  change("team", 7);
  const auto done = RunFor(13s);
  CHECK(std::ranges::count_if(done, [](const auto& one) { return one.ends_with("/team"); }) == 200);

  // At rest everything is shown.
  RunFor(50s);
  CHECK(Tally().changed == 0);
  CHECK(Summary("ns7/company") == Summary("ns199/company"));

  // A new limit does not wait.
  change("company", 3);
  source.used["company"] = 4;
  plan.OnClusterQuota("company");
  CHECK(RunFor(12s).size() == 200);
}

TEST_CASE_METHOD(PlanFixture, "applied: a restart writes only what differs",
                 "[controllers][applied]") {
  source.used = {{"company", 3}};
  Reach("a", {"company"});
  Reach("b", {"company"});
  List();
  RunFor(5s);
  AppliedPlan second(clock, source);
  second.OnReachOf("a");
  second.OnReachOf("b");
  json::Value changed = stored["b/company"];
  changed.Make({"status", "summary"}) = "nonsense";
  json::Value orphan = stored["b/company"];
  orphan.Make({"metadata", "name"}) = "gone";
  second.BeginList();
  second.OnStored(stored["a/company"]);
  second.OnStored(changed);
  second.OnStored(orphan);
  second.EndList();
  Words done;
  for (int i = 0; i < 40; ++i) {
    const AppliedPlan::Next next = second.Decide();
    if (next.write) done.push_back(next.write->ns + "/" + next.write->name);
    if (next.write) second.OnWritten(*next.write, "1000");
    clock.Advance(100ms);
  }
  CHECK(done == Words{"b/company", "b/gone"});
}

TEST_CASE_METHOD(PlanFixture,
                 "applied: edited and deleted objects are restored at the limited rate",
                 "[controllers][applied]") {
  source.used = {{"company", 3}};
  Reach("a", {"company"});
  List();
  RunFor(60s);
  json::Value edited = stored["a/company"];
  edited.Make({"status", "used", "pods"}) = "0";
  Edit("a/company", edited);
  CHECK(RunFor(1s) == Words{"update a/company"});
  CHECK(stored["a/company"].StringAt({"status", "used", "pods"}) == "3");
  stored.erase("a/company");
  plan.OnGone(Gone("a", "company", ++version));
  CHECK(RunFor(5s).empty());
  CHECK(RunFor(5s) == Words{"create a/company"});
  SECTION("also if the watch missed the change") {
    RunFor(60s);
    stored.clear();
    List();
    CHECK(RunFor(1s) == Words{"create a/company"});
  }
  SECTION("a removed owner is restored") {
    RunFor(60s);
    edited = stored["a/company"];
    edited.Make({"metadata"}).AsObject()->Erase("ownerReferences");
    Edit("a/company", edited);
    CHECK(RunFor(1s) == Words{"update a/company"});
    CHECK(stored["a/company"].ArrayAt({"metadata", "ownerReferences"}).size() == 1);
  }
}

TEST_CASE_METHOD(PlanFixture, "applied: an object deleted before its write is answered is restored",
                 "[controllers][applied]") {
  source.used = {{"company", 3}};
  Reach("a", {"company"});
  List();
  AppliedPlan::Next next = plan.Decide();
  for (int step = 0; step < 100 && !next.write; ++step) {
    clock.Advance(100ms);
    next = plan.Decide();
  }
  REQUIRE(next.write);
  json::Value object = next.write->object;
  object.Make({"metadata", "resourceVersion"}) = std::to_string(++version);
  const std::string created = std::to_string(version);
  plan.OnStored(object);
  plan.OnGone(Gone("a", "company", ++version));
  plan.OnWritten(*next.write, created);
  CHECK(RunFor(60s) == Words{"create a/company"});
}

TEST_CASE_METHOD(PlanFixture, "applied: a foreign object is not written, and is reported once",
                 "[controllers][applied]") {
  source.used = {{"company", 3}};
  json::Value other = Gone("a", "company", 50);
  const auto refuse = [&](base::ErrorCode code, const std::string& message = "") {
    clock.Advance(1min);
    for (int i = 0; i < 5; ++i) {
      const AppliedPlan::Next next = plan.Decide();
      clock.Advance(1s);
      if (!next.write) continue;
      return plan.OnFailed(*next.write, {.code = code, .message = message});
    }
    FAIL("nothing to write");
    return AppliedPlan::Failure::kFailed;
  };
  List();
  Reach("a", {"company"});
  CHECK(refuse(base::ErrorCode::kAlreadyExists) == AppliedPlan::Failure::kTaken);
  CHECK(RunFor(10min).empty());
  CHECK_FALSE(plan.OnStored(other));  // already reported
  Use("company", 4);
  CHECK(RunFor(10min).empty());
  plan.OnGone(Gone("a", "company", 60));
  CHECK(RunFor(15s) == Words{"create a/company"});
  SECTION("our label is removed") {
    other.Make({"metadata", "resourceVersion"}) = std::to_string(++version);
    CHECK(plan.OnStored(other));
    CHECK_FALSE(plan.OnStored(other));
    CHECK(RunFor(10min).empty());
    Reach("a", {});
    CHECK(RunFor(10min).empty());
  }
}

TEST_CASE_METHOD(PlanFixture,
                 "applied: a write in a terminating namespace is retried once a minute",
                 "[controllers][applied]") {
  source.used = {{"company", 3}, {"team", 1}};
  List();
  Reach("a", {"company", "team"});
  const auto next_write = [&] {
    while (true) {
      const AppliedPlan::Next next = plan.Decide();
      if (next.write) return *next.write;
      clock.Advance(std::max<base::Duration>(next.again - clock.Now(), base::Duration::zero()));
    }
  };
  base::TimePoint last = clock.Now() - 1min;
  for (int i = 0; i < 3; ++i) {
    const AppliedWrite write = next_write();
    CHECK(clock.Now() - last >= 1min);
    last = clock.Now();
    CHECK(plan.OnFailed(write, {.code = base::ErrorCode::kForbidden,
                                .message = "unable to create new content in namespace a because "
                                           "it is being terminated"}) ==
          AppliedPlan::Failure::kExpected);
    CHECK(Tally().oldest_change == last);  // the missing objects do not age
  }
  Reach("a", {});
  CHECK(RunFor(10min).empty());
  CHECK(Tally().changed == 0);
}

TEST_CASE_METHOD(PlanFixture, "applied: failures in a row slow all writes down until one succeeds",
                 "[controllers][applied]") {
  source.used = {{"company", 3}};
  List();
  for (int i = 0; i < 50; ++i) Reach("ns-" + std::to_string(i), {"company"});
  const auto code = GENERATE(base::ErrorCode::kUnavailable, base::ErrorCode::kForbidden);
  int attempts = 0;
  const base::TimePoint end = clock.Now() + 10min;
  while (clock.Now() < end) {
    const AppliedPlan::Next next = plan.Decide();
    if (next.write) {
      ++attempts;
      CHECK(plan.OnFailed(*next.write, {.code = code, .message = "no"}) ==
            AppliedPlan::Failure::kFailed);
    } else {
      clock.Advance(std::max<base::Duration>(next.again - clock.Now(), base::Duration::zero()));
    }
  }
  // Refusals slow down the namespaces: seven attempts in ten minutes each.
  CHECK(attempts < (code == base::ErrorCode::kForbidden ? 50 * 7 : 40));
  RunFor(2min);
  CHECK(Tally().stored == 50);
}

TEST_CASE_METHOD(PlanFixture, "applied: namespaces that refuse for ever do not delay the others",
                 "[controllers][applied]") {
  source.used = {{"company", 3}};
  List();
  for (int i = 0; i < 20; ++i) Reach("refuses-" + std::to_string(i), {"company"});
  const auto run_until = [&](const auto& done) {
    const base::TimePoint began = clock.Now();
    while (!done() && clock.Now() - began < 2h) {
      const AppliedPlan::Next next = plan.Decide();
      if (!next.write) {
        clock.Advance(std::max<base::Duration>(next.again - clock.Now(), base::Duration::zero()));
      } else if (next.write->ns.starts_with("refuses-")) {
        plan.OnFailed(*next.write, {.code = base::ErrorCode::kForbidden, .message = "a policy"});
      } else {
        return plan.OnWritten(*next.write, std::to_string(++version));
      }
    }
  };
  const base::TimePoint later = clock.Now() + 1h;
  run_until([&] { return clock.Now() >= later; });
  Reach("healthy", {"company"});
  const base::TimePoint changed = clock.Now();
  run_until([] { return false; });
  CHECK(clock.Now() - changed < 90s);
}

TEST_CASE_METHOD(PlanFixture, "applied: a replica that does not lead plans no writes",
                 "[controllers][applied]") {
  source.used = {{"company", 3}};
  List();
  Reach("a", {"company"});
  CHECK(Tally().changed == 0);
  RunFor(5s);
  plan.OnFollowing();
  Use("company", 4);
  clock.Advance(1h);
  CHECK(Tally().changed == 0);
  source.synced = false;
  CHECK_FALSE(plan.Decide().write.has_value());
  CHECK(RunFor(1min).empty());  // an unknown tree does not mean that there are no quotas
  source.synced = true;
  CHECK(RunFor(1s) == Words{"update a/company"});
}

TEST_CASE("applied: a clock that advances at each reading delays nothing",
          "[controllers][applied]") {
  class Ticking final : public base::Clock {
   public:
    [[nodiscard]] base::TimePoint Now() const override {
      clock_.Advance(1us);
      return clock_.Now();
    }
    [[nodiscard]] base::WallTime WallNow() const override { return clock_.WallNow(); }

   private:
    mutable base::ManualClock clock_;
  };
  const Ticking clock;
  Source source;
  source.used = {{"company", 3}};
  source.reach["a"] = {"company"};
  AppliedPlan plan(clock, source, {.settle = base::Duration::zero()});
  plan.BeginList();
  plan.EndList();
  plan.OnReachOf("a");
  bool written = false;
  for (int i = 0; i < 10; ++i) written = written || plan.Decide().write.has_value();
  CHECK(written);
}

// As before the first count of many new quotas, or while a kind is listed that all of them limit.
TEST_CASE_METHOD(PlanFixture,
                 "applied: quotas whose content is not known yet neither spin nor delay others",
                 "[controllers][applied]") {
  const int unknown = GENERATE(8, 9, 40);
  std::vector<std::string> names;
  names.reserve(unknown);
  for (int i = 0; i < unknown; ++i) names.push_back("quota-" + std::to_string(i));
  source.used = {{"company", 1}};
  List();
  Reach("a", names);
  Reach("b", {"company"});
  // Each step takes a microsecond, so that the clock also advances if the plan spins.
  std::size_t steps = 0;
  const auto run_for = [&](base::Duration duration) {
    Words done;
    for (const base::TimePoint end = clock.Now() + duration; clock.Now() < end; ++steps) {
      AppliedPlan::Next next = plan.Decide();
      if (next.write) done.push_back(Perform(*next.write));
      const base::TimePoint again = next.write ? clock.Now() : std::min(next.again, end);
      clock.Advance(std::max<base::Duration>(again - clock.Now(), 1us));
    }
    return done;
  };
  CHECK(run_for(20s) == Words{"create b/company"});
  // Only a quota further above changes, so b is in the other queue.
  for (const int used : {2, 3}) {
    Use("company", used);
    CHECK(run_for(20s) == Words{"update b/company"});
  }
  CHECK(steps < 1000);
  CHECK(source.asked < 40 * static_cast<std::size_t>(unknown));  // each at most every two seconds
  // What is known at last is written soon.
  for (const std::string& name : names) Use(name, 1);
  CHECK(run_for(5s).size() == names.size());
}

TEST_CASE_METHOD(PlanFixture, "applied: each step visits only a few objects",
                 "[controllers][applied]") {
  std::vector<std::string> names;
  names.reserve(1000);
  for (int i = 0; i < 1000; ++i) names.push_back("quota-" + std::to_string(i));
  for (const std::string& name : names) source.used[name] = 1;
  Reach("a", names);
  Reach("b", {"quota-7"});
  List();
  const Words done = RunFor(1s);
  CHECK(std::ranges::count(done, "create b/quota-7") == 1);  // it does not wait for all of a
  RunFor(60s);
  CHECK(Tally().stored == 1001);
  AppliedPlan second(clock, source);
  second.OnReachOf("a");
  second.BeginList();
  for (const auto& [key, object] : stored) second.OnStored(object);
  second.EndList();
  std::size_t most = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::size_t before = source.asked;
    CHECK_FALSE(second.Decide().write.has_value());
    most = std::max(most, source.asked - before);
    clock.Advance(1ms);
  }
  CHECK(most <= 8);
}

}  // namespace applied_plan_test
