#include "pkg/quota/ledger.h"

#include <map>
#include <random>
#include <set>
#include <string>

#include "pkg/quota/hash.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::ledger_test {
namespace {

using std::chrono::seconds;

const base::WallTime kStart = base::WallTime(seconds(1'700'000'000));

ObjectFacts Now(Facts facts) { return {.now = std::move(facts), .later = std::nullopt}; }
Facts Pod(std::string_view cpu) { return Using({{"pods", "1"}, {"cpu", cpu}}); }
Uid Id(std::uint64_t number) { return {quota::Mix(number)}; }

std::string SumOf(const Ledger& ledger, std::string_view ns, const ScopeSelector& selector = {}) {
  const auto sum = ledger.Sum({.ns = ns}, selector, {"S"}, {"pods", "cpu"});
  return sum ? sum->ToString() : sum.error().message;
}

TEST_CASE("ledger: usage is the count of each distinct facts times its usage", "[quota]") {
  Ledger ledger;
  CHECK(SumOf(ledger, "a") == "cpu=0,pods=0");
  for (std::uint64_t i = 0; i < 100; ++i) ledger.Set("a", Id(i), Now(Pod("250m")));
  ledger.Set("a", Id(100), Now(Pod("2")));
  ledger.Set("b", Id(101), Now(Pod("2")));
  CHECK(SumOf(ledger, "a") == "cpu=27,pods=101");
  CHECK(SumOf(ledger, "b") == "cpu=2,pods=1");
  CHECK(ledger.size() == 102);
  CHECK(ledger.distinct_facts() == 2);
  CHECK(ledger.namespaces() == 2);
}

TEST_CASE("ledger: the sum has exactly the requested names, even with zero", "[quota]") {
  Ledger ledger;
  ledger.Set("a", Id(1), Now(Pod("1")));
  CHECK(ledger.Sum({.ns = "a"}, {}, {}, {"memory", "pods"})->ToString() == "memory=0,pods=1");
  CHECK(ledger.Sum({.ns = "a"}, {}, {}, {})->empty());
}

TEST_CASE("ledger: only objects in scope are summed", "[quota]") {
  Ledger ledger;
  ledger.Set("a", Id(1), Now(Using({{"pods", "1"}}, {{"S", "x"}})));
  ledger.Set("a", Id(2), Now(Using({{"pods", "1"}}, {{"S", "y"}})));
  ledger.Set("a", Id(3), Now(Using({{"pods", "1"}})));
  CHECK(SumOf(ledger, "a") == "cpu=0,pods=3");
  CHECK(SumOf(ledger, "a", {{"S", ScopeOperator::kIn, {"x"}}}) == "cpu=0,pods=1");
  CHECK(SumOf(ledger, "a", {{"S", ScopeOperator::kNotIn, {"x"}}}) == "cpu=0,pods=2");
  CHECK(SumOf(ledger, "a", {{"T", ScopeOperator::kNotIn, {"x"}}}) == "cpu=0,pods=0");
}

TEST_CASE("ledger: a change has the facts before and after", "[quota]") {
  Ledger ledger;
  const auto added = ledger.Set("a", Id(1), Now(Pod("1")));
  REQUIRE(added.has_value());
  CHECK(added->ns == "a");
  CHECK(added->before == nullptr);
  CHECK(*added->after == Pod("1"));

  CHECK_FALSE(ledger.Set("a", Id(1), Now(Pod("1000m"))).has_value());  // the same again

  const auto changed = ledger.Set("a", Id(1), Now(Pod("2")));
  REQUIRE(changed.has_value());
  CHECK(*changed->before == Pod("1"));
  CHECK(*changed->after == Pod("2"));
  CHECK(*ledger.Find("a", Id(1)) == Pod("2"));

  const auto removed = ledger.Remove("a", Id(1));
  REQUIRE(removed.has_value());
  CHECK(*removed->before == Pod("2"));
  CHECK(removed->after == nullptr);
  CHECK(ledger.Find("a", Id(1)) == nullptr);
  CHECK_FALSE(ledger.Remove("a", Id(1)).has_value());
  CHECK_FALSE(ledger.Remove("never", Id(1)).has_value());
}

TEST_CASE("ledger: an empty namespace is freed", "[quota]") {
  Ledger ledger;
  for (std::uint64_t i = 0; i < 50; ++i) {
    ledger.Set("ns" + std::to_string(i % 5), Id(i), Now(Pod(std::to_string(i))));
  }
  for (std::uint64_t i = 0; i < 50; ++i) ledger.Remove("ns" + std::to_string(i % 5), Id(i));
  CHECK(ledger.size() == 0);
  CHECK(ledger.distinct_facts() == 0);
  CHECK(ledger.namespaces() == 0);
  ledger.Set("a", Id(1), Now(Pod("1")));
  ledger.Clear();
  CHECK(ledger.size() == 0);
  CHECK(SumOf(ledger, "a") == "cpu=0,pods=0");
}

TEST_CASE("ledger: an unread amount makes only its own name unknown, in its own scope", "[quota]") {
  Ledger ledger;
  ledger.Set("a", Id(1), Now(Pod("1")));
  ObjectFacts odd = Now(Pod("2"));
  odd.now.unread = {"cpu"};
  odd.now.attributes = {{"S", "x"}};
  odd.flaw = "pod a/x: spec.overhead[cpu]: nonsense";
  ledger.Set("a", Id(2), odd);
  const auto sum = [&](const std::string& name, const ScopeSelector& selector = {}) {
    const auto of_name = ledger.Sum({.ns = "a"}, selector, {"S"}, {name});
    return of_name ? of_name->ToString() : of_name.error().message;
  };
  const std::string why =
      "namespace a has an object that cannot be counted: pod a/x: spec.overhead[cpu]: nonsense";
  CHECK(sum("cpu") == why);
  CHECK(sum("pods") == "pods=2");
  CHECK(sum("cpu", {{"S", ScopeOperator::kNotIn, {"x"}}}) == "cpu=1");
  CHECK(ledger.Least({.ns = "a"}, {}, {"S"}, {"cpu", "pods"}).usage.ToString() == "cpu=3,pods=2");
  // The reason names the object that concerns the question.
  ledger.SetUnknown("b", Id(3), "pod b/y: nothing of it");
  odd.now.unread = {"memory"};
  odd.flaw = "pod a/z: memory";
  ledger.Set("a", Id(4), odd);
  CHECK(sum("cpu") == why);
  CHECK(sum("memory") == "namespace a has an object that cannot be counted: pod a/z: memory");
  CHECK(ledger.Find("a", Id(2)) != nullptr);
  SECTION("the object can be read again") { ledger.Set("a", Id(2), Now(Pod("2"))); }
  SECTION("the object changes with time") {
    odd.now.unread = {"cpu"};
    odd.later = LaterFacts{base::WallTime(std::chrono::seconds(5)), Pod("2")};
    ledger.Set("a", Id(2), odd);
    ledger.Expire(base::WallTime(std::chrono::seconds(6)));
  }
  CHECK(sum("cpu") == "cpu=5");
  ledger.Remove("a", Id(2));
  CHECK(sum("cpu") == "cpu=3");
}

TEST_CASE("ledger: one unknown object makes its namespace unknown, never zero", "[quota]") {
  Ledger ledger;
  ledger.Set("a", Id(1), Now(Pod("1")));
  ledger.Set("b", Id(2), Now(Pod("1")));
  const auto change = ledger.SetUnknown("a", Id(1), "pod a/x: spec.overhead[cpu]: nonsense");
  REQUIRE(change.has_value());
  CHECK(*change->before == Pod("1"));
  CHECK(change->after == nullptr);
  CHECK_FALSE(ledger.SetUnknown("a", Id(1), "still").has_value());
  CHECK(ledger.Find("a", Id(1)) == nullptr);
  CHECK(ledger.size() == 2);

  const auto sum = ledger.Sum({.ns = "a"}, {}, {}, {"pods"});
  REQUIRE_FALSE(sum.has_value());
  CHECK(sum.error().code == base::ErrorCode::kMalformed);
  CHECK(sum.error().message == "namespace a has an object that cannot be counted: still");
  CHECK(SumOf(ledger, "b") == "cpu=1,pods=1");

  SECTION("the object can be read again") {
    const auto known = ledger.Set("a", Id(1), Now(Pod("3")));
    REQUIRE(known.has_value());
    CHECK(known->before == nullptr);
    CHECK(SumOf(ledger, "a") == "cpu=3,pods=1");
  }
  SECTION("the object is deleted") {
    CHECK(ledger.Remove("a", Id(1)).has_value());
    CHECK(SumOf(ledger, "a") == "cpu=0,pods=0");
  }
  SECTION("a new list does not contain the object") {
    ledger.BeginSweep();
    ledger.Set("b", Id(2), Now(Pod("1")));
    CHECK(ledger.EndSweep().size() == 1);
    CHECK(SumOf(ledger, "a") == "cpu=0,pods=0");
  }
}

TEST_CASE("ledger: a sum that does not fit is saturated until the objects are gone", "[quota]") {
  Ledger ledger;
  for (std::uint64_t i = 0; i < 2; ++i) ledger.Set("a", Id(i), Now(Pod("1e29")));
  ledger.Set("a", Id(2), Now(Pod("1e40")));
  CHECK(SumOf(ledger, "a") == "cpu=1e30,pods=3");
  ledger.Remove("a", Id(2));
  CHECK(SumOf(ledger, "a") == "cpu=1e30,pods=2");
  ledger.Remove("a", Id(1));
  CHECK(SumOf(ledger, "a") == "cpu=100e27,pods=1");
}

TEST_CASE("ledger: a relist finds deletions without an event", "[quota]") {
  Ledger ledger;
  for (std::uint64_t i = 0; i < 200; ++i) {
    ledger.Set(i % 2 == 0 ? "a" : "b", Id(i), Now(Pod(std::to_string(i % 3 + 1))));
  }
  ledger.BeginSweep();
  for (std::uint64_t i = 0; i < 200; i += 4) ledger.Set("a", Id(i), Now(Pod("1")));
  ledger.Set("c", Id(1000), Now(Pod("1")));
  const std::vector<LedgerChange> removed = ledger.EndSweep();
  CHECK(removed.size() == 150);
  for (const LedgerChange& change : removed) {
    CHECK(change.before != nullptr);
    CHECK(change.after == nullptr);
  }
  CHECK(SumOf(ledger, "a") == "cpu=50,pods=50");
  CHECK(ledger.namespaces() == 2);  // nothing of b was listed
  CHECK(ledger.size() == 51);
  CHECK(ledger.distinct_facts() == 1);
}

TEST_CASE("ledger: a sweep removes missing objects in bounded steps", "[quota]") {
  Ledger ledger;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ledger.Set(i < 900 ? "large" : "small-" + std::to_string(i), Id(i), Now(Pod("1")));
  }
  ledger.BeginSweep();
  ledger.Set("large", Id(7), Now(Pod("1")));
  std::vector<LedgerChange> removed;
  for (bool more = true; more;) {
    const std::size_t before = removed.size();
    more = ledger.SweepSome(64, removed);
    REQUIRE(removed.size() - before <= 64);
    REQUIRE(ledger.size() == 1000 - removed.size());
  }
  CHECK(removed.size() == 999);
  CHECK(ledger.EndSweep().empty());
  CHECK(ledger.namespaces() == 1);
}

TEST_CASE("ledger: an audit finds unseen objects and other versions", "[quota]") {
  using Sighting = Ledger::Sighting;
  Ledger ledger;
  ledger.Set("a", Id(1), Now(Pod("1")), 11);
  ledger.Set("a", Id(2), Now(Pod("1")), 12);
  ledger.Set("b", Id(3), Now(Pod("1")));
  ledger.SetUnknown("b", Id(4), "why", 14);
  ledger.Set("c", Id(5), Now(Pod("1")), 15);
  ledger.BeginAudit();
  CHECK(ledger.Sight("a", Id(1), 11) == Sighting::kSame);
  CHECK(ledger.Sight("a", Id(2), 13) == Sighting::kOtherVersion);
  CHECK(ledger.Sight("b", Id(3), kNoVersion) == Sighting::kOtherVersion);
  CHECK(ledger.Sight("b", Id(4), 14) == Sighting::kSame);
  CHECK(ledger.Sight("b", Id(9), 1) == Sighting::kMissing);
  CHECK(ledger.Sight("z", Id(1), 1) == Sighting::kMissing);
  ledger.Set("d", Id(6), Now(Pod("1")), 16);
  std::vector<std::string> unseen;
  std::size_t place = 0;
  const auto visit = [&](std::string_view ns, const Uid& uid) {
    CHECK(uid == Id(5));
    unseen.emplace_back(ns);
  };
  while (ledger.VisitUnseen(place, 1, visit)) continue;
  CHECK(unseen == std::vector<std::string>{"c"});
  CHECK(ledger.Sight("a", Id(2), 12) == Sighting::kSame);
  ledger.Set("a", Id(2), Now(Pod("1")), 13);
  CHECK(ledger.Sight("a", Id(2), 13) == Sighting::kSame);
}

TEST_CASE("ledger: an object is found by its name until it is gone", "[quota]") {
  Ledger ledger;
  const NameMark web = NameMarkOf("web");
  CHECK_FALSE(ledger.MayHoldOther("a", web, Id(9)));
  ledger.Set("a", Id(1), Now(Pod("1")), 11, web);
  ledger.SetUnknown("b", Id(2), "why", 12, web);
  ledger.Set("c", Id(3), Now(Pod("1")), 13);  // its name is not known
  CHECK(ledger.MayHoldOther("a", web, Id(9)));
  CHECK(ledger.MayHoldOther("b", web, Id(9)));
  CHECK_FALSE(ledger.MayHoldOther("a", web, Id(1)));  // it is the same object
  CHECK_FALSE(ledger.MayHoldOther("a", NameMarkOf("db"), Id(9)));
  CHECK_FALSE(ledger.MayHoldOther("c", kNoName, Id(9)));
  ledger.Set("a", Id(1), Now(Pod("2")), 14, web);
  CHECK(ledger.MayHoldOther("a", web, Id(9)));
  ledger.BeginSweep();
  ledger.Set("a", Id(1), Now(Pod("2")), 14, web);
  ledger.EndSweep();
  CHECK(ledger.MayHoldOther("a", web, Id(9)));
  CHECK_FALSE(ledger.MayHoldOther("b", web, Id(9)));
  ledger.Remove("a", Id(1));
  CHECK_FALSE(ledger.MayHoldOther("a", web, Id(9)));
}

TEST_CASE("ledger: a sweep that starts again forgets the objects that it had seen", "[quota]") {
  Ledger ledger;
  ledger.Set("a", Id(1), Now(Pod("1")));
  ledger.Set("a", Id(2), Now(Pod("1")));
  CHECK(ledger.EndSweep().empty());  // no sweep was begun
  // A mark has fewer values than there are sweeps, so marks repeat. Each sweep sees one object that
  // later sweeps do not see. Some of these objects have the mark of the last sweep.
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ledger.BeginSweep();
    ledger.Set("a", Id(10 + i), Now(Pod("1")));
  }
  ledger.BeginSweep();
  ledger.Set("a", Id(2), Now(Pod("1")));
  CHECK(ledger.EndSweep().size() == 1001);
  CHECK(ledger.Find("a", Id(1)) == nullptr);
  CHECK(ledger.Find("a", Id(2)) != nullptr);
  CHECK(ledger.EndSweep().empty());
}

TEST_CASE("ledger: facts change with time alone", "[quota]") {
  Ledger ledger;
  const auto leaving = [](int at) {
    return ObjectFacts{Pod("1"), LaterFacts{kStart + seconds(at), Using({})}};
  };
  ledger.Set("a", Id(1), leaving(30));
  ledger.Set("a", Id(2), leaving(10));
  CHECK(ledger.NextExpiry() == kStart + seconds(10));
  CHECK(ledger.Expire(kStart + seconds(9)).empty());

  const std::vector<LedgerChange> changes = ledger.Expire(kStart + seconds(10));
  REQUIRE(changes.size() == 1);
  CHECK(*changes[0].before == Pod("1"));
  CHECK(*changes[0].after == Using({}));
  CHECK(SumOf(ledger, "a") == "cpu=1,pods=1");
  CHECK(ledger.NextExpiry() == kStart + seconds(30));

  SECTION("the object is deleted before") {
    ledger.Remove("a", Id(1));
    CHECK_FALSE(ledger.NextExpiry().has_value());
    CHECK(ledger.Expire(kStart + seconds(60)).empty());
    CHECK(ledger.distinct_facts() == 1);
  }
  SECTION("the facts will not change any more") {
    ledger.Set("a", Id(1), Now(Pod("1")));
    CHECK_FALSE(ledger.NextExpiry().has_value());
    CHECK(ledger.Expire(kStart + seconds(60)).empty());
    CHECK(SumOf(ledger, "a") == "cpu=1,pods=1");
  }
  SECTION("the object has a new time") {
    ledger.Set("a", Id(1), leaving(50));
    CHECK(ledger.Expire(kStart + seconds(30)).empty());
    ledger.Set("a", Id(1), leaving(40));
    CHECK(ledger.NextExpiry() == kStart + seconds(40));
    CHECK(ledger.Expire(kStart + seconds(40)).size() == 1);
    CHECK(ledger.Expire(kStart + seconds(60)).empty());
  }
  SECTION("the latest announced facts are used") {
    ledger.Set("a", Id(1), {Pod("1"), LaterFacts{kStart + seconds(30), Pod("5")}});
    CHECK(*ledger.Expire(kStart + seconds(30)).at(0).after == Pod("5"));
  }
  SECTION("a limited number at a time") {
    for (std::uint64_t i = 10; i < 20; ++i) ledger.Set("a", Id(i), leaving(30));
    CHECK(ledger.Expire(kStart + seconds(30), 4).size() == 4);
    CHECK(ledger.NextExpiry() == kStart + seconds(30));
    CHECK(ledger.Expire(kStart + seconds(30)).size() == 7);
  }
  SECTION("the change does not mark the object for a sweep") {
    ledger.BeginSweep();
    ledger.Expire(kStart + seconds(30));
    CHECK(ledger.EndSweep().size() == 2);
    CHECK(ledger.distinct_facts() == 0);
  }
}

// A simple model of the ledger, which gives the expected answers.
struct Model {
  struct Object {
    Facts now;
    std::optional<LaterFacts> later;
  };
  std::map<std::pair<std::string, Uid>, Object> objects;

  std::string Sum(const std::string& ns) const {
    ResourceList total = List({{"pods", "0"}, {"cpu", "0"}});
    for (const auto& [key, object] : objects) {
      if (key.first == ns) total.Add(object.now.usage);
    }
    return total.ToString();
  }
  std::size_t Distinct() const {
    std::set<std::string> seen;
    for (const auto& [key, object] : objects) {
      seen.insert(object.now.usage.ToString());
      if (object.later) seen.insert(object.later->facts.usage.ToString());
    }
    return seen.size();
  }
  void Expire(base::WallTime now) {
    for (auto& [key, object] : objects) {
      if (!object.later || object.later->at > now) continue;
      object.now = object.later->facts;
      object.later.reset();
    }
  }
};

TEST_CASE("ledger: any order of events, sweeps and time gives the sum over the objects",
          "[quota]") {
  std::mt19937 random(42);
  const std::string spaces[] = {"a", "b", "c"};
  Ledger ledger;
  Model model;
  base::WallTime now = kStart;
  for (int step = 0; step < 30'000; ++step) {
    const std::uint64_t number = random() % 120;
    const std::string& ns = spaces[number % 3];
    const std::pair key(ns, Id(number));
    const auto what = random() % 100;
    if (what < 60) {
      ObjectFacts facts = Now(Pod(std::to_string(random() % 5)));
      if (random() % 4 == 0) {
        facts.later = LaterFacts{now + seconds(1 + random() % 20), Using({})};
      }
      model.objects[key] = {facts.now, facts.later};
      ledger.Set(ns, Id(number), std::move(facts));
    } else if (what < 95) {
      CHECK(ledger.Remove(ns, Id(number)).has_value() == (model.objects.erase(key) > 0));
    } else if (what < 99) {
      now += seconds(random() % 5);
      ledger.Expire(now);
      model.Expire(now);
    } else {
      ledger.BeginSweep();
      for (auto at = model.objects.begin(); at != model.objects.end();) {
        if (random() % 10 == 0) {
          at = model.objects.erase(at);
          continue;
        }
        ledger.Set(at->first.first, at->first.second, {at->second.now, at->second.later});
        ++at;
      }
      ledger.EndSweep();
    }
    REQUIRE(ledger.size() == model.objects.size());
    if (step % 50 != 0) continue;
    for (const std::string& space : spaces) REQUIRE(SumOf(ledger, space) == model.Sum(space));
    REQUIRE(ledger.distinct_facts() == model.Distinct());
  }
}

}  // namespace
}  // namespace quota::ledger_test
