#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

#include "pkg/quota/hash.h"
#include "pkg/quota/ledger.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::ledger_groups_test {
namespace {

using std::chrono::seconds;

const base::WallTime kStart = base::WallTime(seconds(1'700'000'000));
const std::vector<std::string> kNames = {"cpu", "pods"};

ObjectFacts Pod(std::string_view cpu) {
  return {.now = Using({{"pods", "1"}, {"cpu", cpu}}), .later = std::nullopt};
}
Uid Id(std::uint64_t number) { return {quota::Mix(number)}; }

std::string SumOf(const Ledger& ledger, std::string_view group) {
  const auto sum = ledger.Sum({.group = group}, {}, {}, kNames);
  return sum ? sum->ToString() : sum.error().message;
}

TEST_CASE("groups: a group has the objects of its namespaces", "[quota]") {
  Ledger ledger;
  CHECK(SumOf(ledger, "all") == "cpu=0,pods=0");
  ledger.SetGroups("a", {"all", "red"});
  ledger.SetGroups("b", {"red", "all", "red"});
  ledger.SetGroups("c", {"all"});
  CHECK(SumOf(ledger, "all") == "cpu=0,pods=0");
  ledger.Set("a", Id(1), Pod("1"));
  ledger.Set("b", Id(2), Pod("1"));
  ledger.Set("c", Id(3), Pod("5"));
  ledger.Set("d", Id(4), Pod("7"));  // a namespace without groups
  CHECK(SumOf(ledger, "all") == "cpu=7,pods=3");
  CHECK(SumOf(ledger, "red") == "cpu=2,pods=2");
  CHECK(SumOf(ledger, "blue") == "cpu=0,pods=0");
  ledger.Set("a", Id(1), Pod("3"));
  CHECK(SumOf(ledger, "red") == "cpu=4,pods=2");
}

TEST_CASE("groups: the objects of a namespace move with it", "[quota]") {
  Ledger ledger;
  for (std::uint64_t i = 0; i < 10; ++i) ledger.Set("a", Id(i), Pod(std::to_string(i % 3)));
  ledger.SetGroups("a", {"red"});
  CHECK(SumOf(ledger, "red") == "cpu=9,pods=10");
  ledger.SetGroups("a", {"blue"});
  CHECK(SumOf(ledger, "red") == "cpu=0,pods=0");
  CHECK(SumOf(ledger, "blue") == "cpu=9,pods=10");
  ledger.SetGroups("a", {});
  CHECK(SumOf(ledger, "blue") == "cpu=0,pods=0");
  CHECK(SumOf(ledger, "red") == "cpu=0,pods=0");
}

TEST_CASE("groups: a namespace without objects keeps its groups", "[quota]") {
  Ledger ledger;
  ledger.SetGroups("a", {"red"});
  ledger.Set("a", Id(1), Pod("1"));
  const std::string how = GENERATE("removed", "not listed", "forgotten");
  INFO(how);
  if (how == "removed") ledger.Remove("a", Id(1));
  if (how == "forgotten") ledger.Clear();
  if (how == "not listed") {
    ledger.BeginSweep();
    ledger.EndSweep();
  }
  CHECK(ledger.namespaces() == 0);
  CHECK(SumOf(ledger, "red") == "cpu=0,pods=0");
  SECTION("the same groups") {
    ledger.Set("a", Id(3), Pod("3"));
    CHECK(SumOf(ledger, "red") == "cpu=3,pods=1");
  }
  SECTION("groups that changed in the meantime") {
    ledger.SetGroups("a", {"blue"});
    ledger.Set("a", Id(3), Pod("3"));
    CHECK(SumOf(ledger, "red") == "cpu=0,pods=0");
    CHECK(SumOf(ledger, "blue") == "cpu=3,pods=1");
  }
}

TEST_CASE("groups: an unknown object makes each of its groups unknown, with its name", "[quota]") {
  Ledger ledger;
  ledger.SetGroups("a", {"all", "red"});
  ledger.SetGroups("b", {"all"});
  ledger.SetGroups("c", {"blue"});
  ledger.Set("a", Id(1), Pod("1"));
  ledger.Set("c", Id(3), Pod("1"));
  ledger.SetUnknown("b", Id(2), "b/x: spec.overhead[cpu]: nonsense");
  const std::string in_b =
      "namespace b has an object that cannot be counted: b/x: spec.overhead[cpu]: nonsense";
  CHECK(SumOf(ledger, "all") == in_b);
  CHECK(ledger.Sum({.group = "all"}, {}, {}, kNames).error().code == base::ErrorCode::kMalformed);
  CHECK(SumOf(ledger, "red") == "cpu=1,pods=1");
  ledger.SetUnknown("a", Id(4), "a/y: no");
  CHECK(SumOf(ledger, "all") == "2 objects cannot be counted, for example in namespace a: a/y: no");
  ledger.Remove("a", Id(4));
  CHECK(SumOf(ledger, "all") == in_b);
  SECTION("the object can be read") { ledger.Set("b", Id(2), Pod("2")); }
  SECTION("the object is deleted") { ledger.Remove("b", Id(2)); }
  SECTION("its namespace moves to another group") { ledger.SetGroups("b", {"blue"}); }
  CHECK(SumOf(ledger, "all").starts_with("cpu="));
}

TEST_CASE("groups: the sum without unknown amounts follows its namespaces", "[quota]") {
  Ledger ledger;
  ledger.SetGroups("a", {"all", "red"});
  ledger.SetGroups("b", {"all"});
  const auto least = [&](const std::string& group) {
    return ledger.Least({.group = group}, {}, {}, kNames).usage.ToString();
  };
  ledger.Set("a", Id(1), Pod("1"));
  ObjectFacts odd = Pod("2");
  odd.now.unread = {"cpu"};
  odd.flaw = "b/x: no";
  ledger.Set("b", Id(2), odd);
  ledger.SetUnknown("b", Id(3), "b/y: no");
  CHECK(least("all") == "cpu=3,pods=2");
  CHECK(least("red") == "cpu=1,pods=1");
  CHECK(SumOf(ledger, "all")
            .starts_with("2 objects cannot be counted, for example in namespace b: b/"));
  ledger.SetGroups("b", {"red"});
  CHECK(least("red") == "cpu=3,pods=2");
  CHECK(SumOf(ledger, "all") == "cpu=1,pods=1");
  ledger.SetGroups("b", {"all"});
  CHECK(SumOf(ledger, "red") == "cpu=1,pods=1");
  ledger.Remove("b", Id(3));
  CHECK(SumOf(ledger, "all") == "namespace b has an object that cannot be counted: b/x: no");
  CHECK(ledger.Sum({.group = "all"}, {}, {}, {"pods"})->ToString() == "pods=2");
  ledger.Remove("b", Id(2));
  CHECK(SumOf(ledger, "all") == "cpu=1,pods=1");
}

TEST_CASE("groups: objects that cannot be read are counted, and one of a few is the example",
          "[quota]") {
  Ledger ledger;
  for (const char* ns : {"a", "b"}) ledger.SetGroups(ns, {"all"});
  const auto put = [&](const char* ns, std::uint64_t number, const std::string& unread) {
    ObjectFacts odd = Pod(std::to_string(number));
    odd.now.unread = {unread};
    odd.flaw = std::string(ns) + "/x: no";
    ledger.Set(ns, Id(number), std::move(odd));
  };
  const auto why = [&](const std::string& name) {
    return ledger.Sum({.group = "all"}, {}, {}, {name}).error().message;
  };
  for (std::uint64_t i = 1; i <= 50; ++i) put("a", i, "cpu");
  put("b", 1'000, "pods");
  CHECK(why("cpu") == "50 objects cannot be counted, for example in namespace a: a/x: no");
  CHECK(why("pods") == "namespace b has an object that cannot be counted: b/x: no");
  for (std::uint64_t i = 51; i <= 150; ++i) put("a", i, "cpu");
  CHECK(why("pods") == "objects that cannot be counted: 1");
  put("a", 1, "pods");
  for (std::uint64_t i = 2; i <= 150; ++i) ledger.Remove("a", Id(i));
  CHECK(why("pods") == "2 objects cannot be counted, for example in namespace a: a/x: no");
}

TEST_CASE("groups: a sum that does not fit is saturated", "[quota]") {
  Ledger ledger;
  ledger.SetGroups("a", {"red"});
  ledger.SetGroups("b", {"red"});
  ledger.Set("a", Id(1), Pod("1e29"));
  ledger.Set("b", Id(2), Pod("1e29"));
  CHECK(SumOf(ledger, "red") == "cpu=1e30,pods=2");
  ledger.Remove("b", Id(2));
  CHECK(SumOf(ledger, "red") == "cpu=100e27,pods=1");
}

TEST_CASE("groups: a group refers to the classes of all its namespaces", "[quota]") {
  Ledger ledger;
  ledger.SetGroups("a", {"red"});
  ObjectFacts facts = Pod("1");
  facts.now.classes = {{"large", 1}};
  ledger.Set("a", Id(1), facts);
  CHECK(ledger.RefersToAny({.group = "red"}, {"large"}));
  CHECK_FALSE(ledger.RefersToAny({.group = "red"}, {"small"}));
  CHECK_FALSE(ledger.RefersToAny({.group = "blue"}, {"large"}));
}

// A ledger of objects, a ledger of their owners, and groups of namespaces. All change at random.
class World {
 public:
  int Draw(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  void Change() {
    const int what = Draw(100);
    if (what < 50) return ChangeObject(Draw(kObjects));
    if (what < 60) return ChangeOwner(Draw(kOwners));
    if (what < 70) return (void)ledger_.Remove(NamespaceOf(Draw(kObjects)), IdOf(Draw(kObjects)));
    if (what < 80) return RemoveObject(Draw(kObjects));
    if (what < 92) return Relabel();
    if (what < 96) return Expire();
    if (what < 98) return Sweep();
    if (what < 99) return ReplaceOwners();
    if (Draw(20) == 0) ledger_.Clear();
    return ChangeClass();
  }

  // Compares the sum of each group with the sums of its namespaces.
  void Check() const {
    for (const std::string& group : names_) {
      std::vector<std::string> namespaces;
      for (const auto& [ns, groups] : groups_) {
        if (groups.contains(group)) namespaces.push_back(ns);
      }
      // The group first: a sum of a namespace looks up its owners again.
      const auto sum = ledger_.Sum({.group = group}, selector_, {"S"}, kNames, Beside());
      const auto expected = SumOfAll(namespaces);
      INFO("group " << group << ": " << (sum ? sum->ToString() : sum.error().message));
      REQUIRE(sum.has_value() == expected.has_value());
      if (sum) REQUIRE(*sum == *expected);
      if (!sum) REQUIRE(sum.error().code == expected.error().code);
      for (const std::string class_name : {"large", "small"}) {
        const bool refers = std::ranges::any_of(namespaces, [&](const std::string& ns) {
          return ledger_.RefersToAny({.ns = ns}, {class_name});
        });
        REQUIRE(ledger_.RefersToAny({.group = group}, {class_name}) == refers);
      }
    }
  }
  void SetSelector(ScopeSelector selector) { selector_ = std::move(selector); }
  // How often a sum was known, and how often it was unknown.
  mutable int known = 0;
  mutable int unknown = 0;

 private:
  static constexpr int kObjects = 60;
  static constexpr int kOwners = 10;
  const std::vector<std::string> names_ = {"all", "red", "blue", "green"};

  static std::string NamespaceOf(int number) { return "ns-" + std::to_string(number % 5); }
  static Uid IdOf(int number) { return Id(static_cast<std::uint64_t>(number)); }
  static Uid OwnerOf(int number) {
    return {quota::Mix(1'000 + static_cast<std::uint64_t>(number))};
  }
  [[nodiscard]] quota::Beside Beside() const { return {.classes = &classes_, .owners = &*owners_}; }

  base::Result<ResourceList> SumOfAll(const std::vector<std::string>& namespaces) const {
    ResourceList sum = List({{"cpu", "0"}, {"pods", "0"}});
    for (const std::string& ns : namespaces) {
      const auto part = ledger_.Sum({.ns = ns}, selector_, {"S"}, kNames, Beside());
      ++(part ? known : unknown);
      if (!part) return part.error();
      sum.Add(*part);
    }
    return sum;
  }

  void ChangeObject(int number) {
    const std::string ns = NamespaceOf(number);
    if (Draw(200) == 0) {
      ledger_.SetUnknown(ns, IdOf(number), ns + "/x: no");
      return;
    }
    ObjectFacts facts = Pod(std::to_string(Draw(4)));
    facts.now.attributes = {{"S", Draw(2) == 0 ? "x" : "y"}};
    if (Draw(4) == 0) facts.now.classes = {{Draw(2) == 0 ? "large" : "small", 1}};
    if (Draw(4) == 0) facts.later = LaterFacts{now_ + seconds(1 + Draw(20)), Using({})};
    if (Draw(3) == 0) {
      facts.tie = Tie{.owner = OwnerOf(Draw(kOwners) / 5 * 5 + number % 5),
                      .name = "c" + std::to_string(number % 7),
                      .created = std::to_string(Draw(3))};
    }
    ledger_.Set(ns, IdOf(number), std::move(facts));
  }
  void RemoveObject(int number) { ledger_.Remove(NamespaceOf(number), IdOf(number)); }

  void ChangeOwner(int number) {
    if (Draw(3) == 0) {
      owners_->Remove(NamespaceOf(number), OwnerOf(number));
      return;
    }
    ObjectFacts facts = Pod(std::to_string(Draw(4)));
    if (Draw(2) == 0) {
      facts.tie = Tie{.owner = {}, .name = "c" + std::to_string(Draw(7)), .created = ""};
    }
    owners_->Set(NamespaceOf(number), OwnerOf(number), std::move(facts));
  }
  // Replaces the owners' ledger by a new one.
  void ReplaceOwners() {
    owners_.emplace();
    for (int i = 0; i < kOwners; ++i) ChangeOwner(i);
  }

  void Relabel() {
    const std::string ns = NamespaceOf(Draw(5));
    std::set<std::string> groups;
    for (const std::string& group : names_) {
      if (Draw(2) == 0) groups.insert(group);
    }
    ledger_.SetGroups(ns, {groups.begin(), groups.end()});
    groups_[ns] = std::move(groups);
  }
  void Expire() {
    now_ += seconds(Draw(8));
    ledger_.Expire(now_, static_cast<std::size_t>(Draw(20)) + 1);
  }
  void Sweep() {
    ledger_.BeginSweep();
    for (int i = 0; i < kObjects; ++i) {
      if (Draw(3) == 0) ChangeObject(i);
    }
    std::vector<LedgerChange> removed;
    while (Draw(3) != 0 && ledger_.SweepSome(3, removed)) Check();
    ledger_.EndSweep();
  }
  void ChangeClass() {
    const std::string name = Draw(2) == 0 ? "large" : "small";
    if (Draw(3) == 0) {
      classes_.Remove(name);
    } else {
      classes_.Set(name, ClassUsage(List({{"cpu", std::to_string(Draw(9))}})));
    }
  }

  std::mt19937 random_{11};
  Ledger ledger_;
  std::optional<Ledger> owners_{std::in_place};
  ClassTable classes_;
  std::map<std::string, std::set<std::string>> groups_;
  ScopeSelector selector_;
  base::WallTime now_ = kStart;
};

TEST_CASE("groups: any sequence of changes leaves a group with the sum of its namespaces",
          "[quota]") {
  World world;
  for (int i = 0; i < 30'000; ++i) {
    INFO("change " << i);
    world.Change();
    if (i == 10'000) world.SetSelector({{"S", ScopeOperator::kIn, {"x"}}});
    if (i == 20'000) world.SetSelector({{"S", ScopeOperator::kNotIn, {"x"}}});
    if (world.Draw(4) == 0) world.Check();
  }
  CHECK(world.known > 10'000);
  CHECK(world.unknown > 1'000);
}

}  // namespace
}  // namespace quota::ledger_groups_test
