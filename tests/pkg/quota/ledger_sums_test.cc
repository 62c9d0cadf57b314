// Sums that a ledger keeps, beside sums from facts.

#include <map>
#include <random>
#include <string>

#include "pkg/quota/hash.h"
#include "pkg/quota/ledger.h"
#include "pkg/quota/ledger_contents.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::ledger_sums_test {
namespace {

using std::chrono::seconds;

const base::WallTime kStart = base::WallTime(seconds(1'700'000'000));
const std::vector<std::string> kNames = {"cpu", "memory", "pods"};
const std::vector<std::string> kScopes = {"S"};
// More than a space needs to keep sums.
constexpr int kManyFacts = 40;

Uid Id(std::uint64_t number) { return {quota::Mix(number)}; }
ObjectFacts Pod(const std::string& cpu) {
  return {.now = Using({{"pods", "1"}, {"cpu", cpu}}), .later = std::nullopt};
}
std::string Text(const base::Result<ResourceList>& sum) {
  return sum ? sum->ToString() : sum.error().message;
}
// Each reason with its names, behind the usage.
std::string Text(const LeastUsage& least) {
  std::string text = least.usage.ToString();
  for (const UnknownUsage& unknown : least.unknown) {
    text += "; " + unknown.why.message + ":";
    for (const std::string& name : unknown.names) text += " " + name;
  }
  return text;
}
std::string SumOf(const Ledger& ledger, const Space& space) {
  return Text(ledger.Sum(space, {}, kScopes, kNames));
}

// A ledger that sums all the time, so that it keeps its sums, and what it should have.
class World {
 public:
  World() {
    for (const char* ns : {"a", "b"}) ledger_.SetGroups(ns, {"all"});
    for (int i = 0; i < 2 * kManyFacts; ++i) Set(i);
  }

  void Change() {
    const int what = Draw(100);
    if (what < 60) return Set(Draw(kObjects));
    if (what < 75) return Remove(Draw(kObjects));
    if (what < 80) return SetUnknown(Draw(kObjects));
    if (what < 85) return ChangeClass();
    if (what < 90) return (void)ledger_.Expire(now_ += seconds(Draw(9)), 20);
    if (what < 93) return ledger_.SetGroups("a", Draw(2) == 0 ? Groups{"all"} : Groups{"some"});
    if (what < 94) return ledger_.BeginAudit();
    if (what < 96) return Sweep();
    if (Draw(60) == 0) return Clear();
  }

  // A ledger that was just filled has kept no sum.
  void Check() {
    Ledger anew;
    for (const auto& [number, facts] : objects_) {
      const std::string ns = NamespaceOf(number);
      const auto held = ledger_.Find(ns, Id(number));
      REQUIRE((held == nullptr) == facts.unknown);
      if (held == nullptr) anew.SetUnknown(ns, Id(number), "no");
      if (held != nullptr) anew.Set(ns, Id(number), {.now = *held, .flaw = "no"});
    }
    for (const ScopeSelector& selector : selectors_) {
      for (const Beside& beside : {Beside{}, Beside{.classes = &classes_}}) {
        for (const char* ns : {"a", "b"}) {
          const auto kept = ledger_.Sum({.ns = ns}, selector, kScopes, kNames, beside);
          const auto fresh = anew.Sum({.ns = ns}, selector, kScopes, kNames, beside);
          REQUIRE(Text(kept) == Text(fresh));
          REQUIRE(Text(ledger_.Least({.ns = ns}, selector, kScopes, kNames, beside)) ==
                  Text(anew.Least({.ns = ns}, selector, kScopes, kNames, beside)));
          ++(kept ? known : unknown);
        }
      }
    }
    REQUIRE(ledger_.TakeWrongSums() == 0);
  }
  int known = 0;
  int unknown = 0;

 private:
  using Groups = std::vector<std::string>;
  struct Object {
    bool unknown = false;
  };
  static constexpr int kObjects = 200;
  int Draw(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  static std::string NamespaceOf(int number) { return number % 2 == 0 ? "a" : "b"; }

  void Set(int number) {
    // Some amounts are so large that a few of them are out of range together.
    const int size = Draw(300);
    ObjectFacts facts = Pod(size == 0   ? "1e29"
                            : size == 1 ? "1e30"
                                        : std::to_string(Draw(kManyFacts)) + "m");
    facts.now.attributes = {{"S", Draw(2) == 0 ? "x" : "y"}};
    if (Draw(3) == 0) facts.now.classes = {{Draw(2) == 0 ? "large" : "small", 1 + Draw(3)}};
    if (Draw(60) == 0) {
      facts.now.unread = {Draw(2) == 0 ? "cpu" : "other"};
      facts.flaw = "no";
    }
    if (Draw(5) == 0) facts.later = LaterFacts{now_ + seconds(1 + Draw(20)), Using({})};
    if (Draw(5) == 0) {
      facts.now.parts = {{List({{"cpu", "1m"}}), {{"S", "x"}}}, {List({{"cpu", "2m"}}), {}}};
    }
    ledger_.Set(NamespaceOf(number), Id(number), std::move(facts));
    objects_[number] = {};
  }
  void SetUnknown(int number) {
    if (Draw(4) != 0) return;
    ledger_.SetUnknown(NamespaceOf(number), Id(number), "no");
    objects_[number] = {.unknown = true};
  }
  void Remove(int number) {
    ledger_.Remove(NamespaceOf(number), Id(number));
    objects_.erase(number);
  }
  void ChangeClass() {
    const std::string name = Draw(2) == 0 ? "large" : "small";
    const int what = Draw(4);
    if (what == 0) {
      classes_.Remove(name);
    } else if (what == 1) {
      classes_.Set(name, base::Error{.code = base::ErrorCode::kMalformed, .message = "bad"});
    } else {
      classes_.Set(name, ClassUsage(List({{"memory", std::to_string(Draw(9))}})));
    }
  }
  // A relist that misses one object.
  void Sweep() {
    ledger_.BeginSweep();
    if (!objects_.empty()) objects_.erase(objects_.begin());
    const auto listed = objects_;
    for (const auto& [number, object] : listed) Set(number);
    ledger_.EndSweep();
  }
  void Clear() {
    ledger_.Clear();
    objects_.clear();
    for (int i = 0; i < 2 * kManyFacts; ++i) Set(i);
  }

  std::mt19937 random_{3};
  Ledger ledger_;
  ClassTable classes_{MissingClass::kUnknown};
  std::map<int, Object> objects_;
  base::WallTime now_ = kStart;
  const std::vector<ScopeSelector> selectors_ = {
      {}, {{"S", ScopeOperator::kIn, {"x"}}}, {{"S", ScopeOperator::kNotIn, {"x"}}}};
};

TEST_CASE("sums: what events add and remove equals the sum from facts", "[quota]") {
  World world;
  for (int i = 0; i < 4'000; ++i) {
    INFO("change " << i);
    for (int changes = 0; changes < 3; ++changes) world.Change();
    world.Check();
  }
  CHECK(world.known > 2'000);
  CHECK(world.unknown > 500);
}

TEST_CASE("sums: what is unknown by a class leaves the rest counted, name by name", "[quota]") {
  Ledger ledger;
  for (const char* ns : {"a", "b"}) ledger.SetGroups(ns, {"all"});
  ClassTable classes(MissingClass::kUnknown);
  ClassUsage odd(List({{"memory", "1"}}));
  odd.unknown["cpu"] = "capabilities[cpu]: is missing";
  classes.Set("odd", odd);
  classes.Set("small", ClassUsage(List({{"cpu", "2"}, {"memory", "4"}})));
  const int others = GENERATE(0, kManyFacts);  // so many that the sum is kept
  for (int i = 1; i <= others; ++i) ledger.Set("b", Id(1'000 + i), Pod(std::to_string(i) + "m"));
  const std::string pods = std::to_string(3 + others);
  const auto least = [&] {
    return Text(ledger.Least({.group = "all"}, {}, kScopes, kNames, {.classes = &classes}));
  };
  const auto put = [&](const char* ns, std::uint64_t number, std::string name) {
    ObjectFacts facts{.now = Using({{"pods", "1"}}), .later = std::nullopt};
    facts.now.classes = {{std::move(name), 1}};
    ledger.Set(ns, Id(number), std::move(facts));
  };
  (void)least();
  put("a", 1, "small");
  put("b", 2, "odd");
  put("b", 3, "gone");
  const std::string cpu = others == 0 ? "2" : "2820m";
  const std::string known = "cpu=" + cpu + ",memory=5,pods=" + pods;
  CHECK(least() == known + "; class \"gone\" not found, and 1 more: cpu memory pods");
  classes.Set("gone", ClassUsage(List({{"memory", "1"}})));
  const std::string more = "cpu=" + cpu + ",memory=6,pods=" + pods;
  CHECK(least() == more + "; class \"odd\": capabilities[cpu]: is missing: cpu");
}

TEST_CASE("sums: an amount beyond every limit leaves no trace", "[quota]") {
  Ledger ledger;
  ledger.SetGroups("a", {"all"});
  for (int i = 0; i < kManyFacts; ++i) ledger.Set("a", Id(i), Pod(std::to_string(i)));
  const std::string before = SumOf(ledger, {.ns = "a"});
  CHECK(before == "cpu=780,memory=0,pods=40");
  CHECK(SumOf(ledger, {.group = "all"}) == before);
  for (int i = 0; i < 4; ++i) {
    ledger.Set("a", Id(1'000 + i), Pod(i == 0 ? "1e30" : "1e29"));
    CHECK(SumOf(ledger, {.ns = "a"}) != before);
  }
  for (int i = 0; i < 4; ++i) ledger.Remove("a", Id(1'000 + i));
  CHECK(SumOf(ledger, {.ns = "a"}) == before);
  CHECK(SumOf(ledger, {.group = "all"}) == before);
}

TEST_CASE("sums: only sums that are asked for are kept", "[quota]") {
  FactsPool pool;
  Contents contents;
  SumAudit audit;
  const auto add = [&](int cpu) {
    contents.Add(pool, pool.Acquire(Pod(std::to_string(cpu)).now), 1);
  };
  const auto ask = [&](const std::string& name) {
    return contents.Sum(pool, {.names = {name}}, audit).usage.ToString();
  };
  add(1);
  CHECK(ask("cpu") == "cpu=1");
  CHECK(contents.kept() == 0);  // few facts
  for (int i = 2; i <= kManyFacts; ++i) add(i);
  CHECK(ask("cpu") == "cpu=820");
  CHECK(ask("pods") == "pods=40");
  CHECK(contents.kept() == 2);
  // `cpu` is asked for all the time, `pods` is not.
  for (int i = 0; i < 1'000; ++i) {
    add(7);
    ask("cpu");
  }
  CHECK(contents.kept() == 1);
  CHECK(ask("pods") == "pods=1040");
  for (int i = 0; i < 500; ++i) ask("name-" + std::to_string(i));
  CHECK(contents.kept() <= 64);
  CHECK(ask("cpu") == "cpu=7820");
  contents.Clear();
  CHECK(contents.kept() == 0);
  CHECK(ask("cpu") == "cpu=0");
}

}  // namespace
}  // namespace quota::ledger_sums_test
