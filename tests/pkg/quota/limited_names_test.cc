#include "pkg/quota/limited_names.h"

#include <algorithm>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/facts_pool.h"
#include "pkg/quota/ironcore/ironcore_quota.h"
#include "pkg/quota/karmada/karmada_quota.h"
#include "pkg/quota/scope.h"
#include "tests/pkg/quota/nasty_objects.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::limited_names_test {
namespace {

// As pkg/quota/DESIGN.md states it.
constexpr std::size_t kMostBytesAnObject = 8 << 10;

ObjectFacts WithNames(int names) {
  ObjectFacts facts;
  facts.now.usage = List({{"pods", "1"}});
  std::vector<ResourceList::Item> items;
  items.reserve(static_cast<std::size_t>(names));
  for (int i = 0; i < names; ++i) {
    items.emplace_back("requests.example.com/r" + std::to_string(i), Q("1"));
  }
  facts.now.usage.SetAll(ResourceList::FromItems(std::move(items)));
  return facts;
}

TEST_CASE("limited names: facts keep all limited names, and few others", "[quota]") {
  LimitedNames limited;
  CHECK(limited.Add("requests.example.com/r99"));
  CHECK_FALSE(limited.Add("requests.example.com/r99"));
  ObjectFacts facts = WithNames(100);
  CHECK(limited.Bound(facts, nullptr).names);
  CHECK(facts.now.usage.Get("requests.example.com/r99") == Q("1"));
  CHECK(facts.now.usage.size() < 20);
  CHECK(HeapBytes(facts.now) < 2 * LimitedNames::kSpareBytes);

  CHECK_FALSE(limited.Remove("requests.example.com/r99"));  // it was added twice
  CHECK(limited.Has("requests.example.com/r99"));
  CHECK(limited.Remove("requests.example.com/r99"));
  CHECK_FALSE(limited.Remove("requests.example.com/r99"));
  CHECK(limited.Bound(facts, nullptr).names);
  CHECK(facts.now.usage.Find("requests.example.com/r99") == nullptr);

  ObjectFacts few = WithNames(5);
  const Facts before = few.now;
  CHECK_FALSE(limited.Bound(few, nullptr).any());
  CHECK(few.now == before);
}

TEST_CASE("limited names: the names of an object with all of Kubernetes' own resources are kept",
          "[quota]") {
  ObjectFacts facts;
  facts.now.usage = List({{"count/pods", "1"}, {"pods", "1"}});
  for (const char* name : {"cpu", "memory", "ephemeral-storage"}) {
    for (const char* prefix : {"", "requests.", "limits."}) {
      facts.now.usage.Set(std::string(prefix) + name, Q("1"));
    }
  }
  CHECK_FALSE(LimitedNames().Bound(facts, nullptr).any());
}

TEST_CASE("limited names: the names of amounts that cannot be read are bounded, too", "[quota]") {
  LimitedNames limited;
  limited.Add("requests.example.com/r99");
  ObjectFacts facts;
  facts.now.unread.reserve(100);
  for (int i = 0; i < 100; ++i) {
    facts.now.unread.push_back("requests.example.com/r" + std::to_string(i));
  }
  std::ranges::sort(facts.now.unread);
  CHECK(limited.Bound(facts, nullptr).names);
  facts.now.ShrinkToFit();
  CHECK(HeapBytes(facts.now) < 2 * LimitedNames::kSpareBytes);
  CHECK(std::ranges::find(facts.now.unread, "requests.example.com/r99") != facts.now.unread.end());
}

TEST_CASE("limited names: parts and facts to come are bounded, too", "[quota]") {
  LimitedNames limited;
  limited.Add("requests.example.com/r99");
  ObjectFacts facts = WithNames(100);
  facts.now.parts.push_back({facts.now.usage, {{"PriorityClass", std::string(1 << 20, 'x')}}});
  facts.later = LaterFacts{.at = {}, .facts = facts.now};
  CHECK(limited.Bound(facts, nullptr).names);
  for (const Facts* one : {&facts.now, &facts.later->facts}) {
    CHECK(HeapBytes(*one) < 4 * LimitedNames::kSpareBytes);
    CHECK(one->parts[0].usage.size() < 20);
    CHECK(one->parts[0].usage.Find("requests.example.com/r99") != nullptr);
    CHECK(one->parts[0].attributes[0].second.size() <= kLongestScopeValue);
  }
}

TEST_CASE("limited names: a long value of a scope is kept as a digest, and matches", "[quota]") {
  const std::string at_most(kLongestScopeValue, 'v');
  const std::string longer(kLongestScopeValue + 1, 'v');
  const auto kept = [](const std::string& value) {
    ObjectFacts facts;
    facts.now.attributes = {{"example.com/a", value}, {"example.com/b", value}};
    facts.now.parts.push_back({.usage = {}, .attributes = {{"example.com/a", value}}});
    CHECK_FALSE(LimitedNames().Bound(facts, nullptr).any());
    CHECK(std::ranges::is_sorted(facts.now.attributes));
    CHECK(facts.now.parts[0].attributes[0] == facts.now.attributes[0]);
    return facts.now.attributes;
  };
  const auto matches = [](const std::vector<Attribute>& attributes, const std::string& value) {
    return Matches({{.scope = "example.com/b", .op = ScopeOperator::kIn, .values = {"x", value}}},
                   attributes, {"example.com/b"});
  };
  CHECK(kept(at_most)[0].second == at_most);
  CHECK(matches(kept(at_most), at_most));
  CHECK(kept(longer)[0].second.size() <= 15);
  CHECK(matches(kept(longer), longer));
  CHECK(matches({{"example.com/b", longer}}, longer));  // as at admission
  CHECK_FALSE(matches(kept(longer), longer + "v"));
  CHECK_FALSE(matches(kept(longer), "v"));
  // The digest of one is no other object's value.
  CHECK_FALSE(matches(kept(longer), kept(longer)[0].second + "v"));
}

TEST_CASE("limited names: classes that use a limited name are kept", "[quota]") {
  LimitedNames limited;
  limited.Add("requests.example.com/gpu");
  ClassTable classes;
  classes.Set("class77", ClassUsage(List({{"requests.example.com/gpu", "1"}})));
  classes.Set("class78", ClassUsage(List({{"requests.example.com/tpu", "1"}})));
  ObjectFacts facts;
  for (int i = 10; i < 100; ++i) facts.now.classes.push_back({"class" + std::to_string(i), 1});
  ObjectFacts unknown = facts;
  const LimitedNames::LeftOut left_out = limited.Bound(facts, &classes);
  CHECK(left_out.classes);
  CHECK_FALSE(left_out.names);
  const auto has = [](const ObjectFacts& of, std::string_view name) {
    return std::ranges::find(of.now.classes, name, &ClassUnits::name) != of.now.classes.end();
  };
  CHECK(has(facts, "class77"));
  CHECK_FALSE(has(facts, "class78"));
  CHECK(limited.Bound(unknown, nullptr).classes);
  CHECK_FALSE(has(unknown, "class77"));
}

TEST_CASE("limited names: usage that a class leaves unknown does not become known", "[quota]") {
  const std::string gpu = "requests.example.com/gpu";
  LimitedNames limited;
  limited.Add(gpu);
  ClassTable classes(MissingClass::kUnknown, "tier");
  ClassUsage lacks;
  lacks.unknown[gpu] = "spec.gpu: not set";
  classes.Set("lacks", lacks);
  classes.Set("unreadable", base::Error{.code = base::ErrorCode::kMalformed, .message = "bad"});
  ClassUsage other;
  other.unknown["requests.example.com/tpu"] = "spec.tpu: not set";
  classes.Set("other", other);
  // Names and classes that nobody limits take all the room there is.
  ObjectFacts facts = WithNames(100);
  for (int i = 10; i < 99; ++i) {
    const std::string name = "a-class-that-uses-nothing-" + std::to_string(i);
    facts.now.classes.push_back({name, 1});
    classes.Set(name, ClassUsage());
  }
  const auto resolves = [&] {
    std::ranges::sort(facts.now.classes, {}, &ClassUnits::name);
    CHECK(limited.Bound(facts, &classes).classes);
    facts.now.ShrinkToFit();
    CHECK(HeapBytes(facts.now) < 4 * LimitedNames::kSpareBytes);
    return classes.Resolve(facts.now).has_value();
  };
  SECTION("a class that lacks the amount") {
    facts.now.classes.push_back({"lacks", 1});
    CHECK_FALSE(resolves());
  }
  SECTION("a class that cannot be read") {
    facts.now.classes.push_back({"unreadable", 1});
    CHECK_FALSE(resolves());
  }
  SECTION("a missing class") {
    facts.now.classes.push_back({"missing", 1});
    CHECK_FALSE(resolves());
  }
  SECTION("more missing classes than there is room for") {
    for (int i = 1000; i < 2000; ++i) {
      facts.now.classes.push_back({"missing" + std::to_string(i), 1});
    }
    CHECK_FALSE(resolves());
    CHECK(std::ranges::is_sorted(facts.now.classes, {}, &ClassUnits::name));
    // Those that are kept appear; the others are still missing.
    for (const ClassUnits& units : facts.now.classes) {
      if (units.name.size() > 3) classes.Set(units.name, ClassUsage());
    }
    CHECK_FALSE(classes.Resolve(facts.now).has_value());
  }
  SECTION("a class that lacks what nobody limits is left out") {
    facts.now.classes.push_back({"other", 1});
    CHECK(resolves());
  }
}

// What quotas limit, of the facts.
struct Limited {
  ResourceList usage;
  std::vector<ResourceList> parts;
  std::vector<std::string> unread;
  bool operator==(const Limited&) const = default;
};

Limited LimitedOf(const Facts& facts, const LimitedNames& names) {
  const auto limited = [&](ResourceList list) {
    list.EraseIf([&](const ResourceList::Item& item) { return !names.Has(item.first); });
    return list;
  };
  Limited of{.usage = limited(facts.usage), .parts = {}, .unread = facts.unread};
  for (const Part& part : facts.parts) of.parts.push_back(limited(part.usage));
  std::erase_if(of.unread, [&](const std::string& name) { return !names.Has(name); });
  return of;
}

TEST_CASE("limited names: an object with many names is read under the limited ones only",
          "[quota]") {
  LimitedNames names;
  for (const char* name :
       {"pods", "requests.cpu", "requests.example.com/r000007", "hugepages-100007Ki",
        "requests.hugepages-100011Ki", "example.com/r000009"}) {
    names.Add(name);
  }
  int left_out = 0;
  for (const QuotaApi& api : {CoreQuotaApi(), KarmadaQuotaApi(), IroncoreQuotaApi()}) {
    for (const Evaluator& evaluator : api.evaluators) {
      nasty::ForEachObject(evaluator, nasty::kMostBytes / 10, [&](const nasty::Object& object) {
        INFO(api.name << " " << evaluator.resource.ToString() << " " << object.what);
        const auto all = evaluator.facts_of(object.value, {});
        const auto some =
            evaluator.facts_of(object.value, {.now = {}, .limited = names.AsFunction()});
        REQUIRE(all.has_value() == some.has_value());
        if (!all) return;
        CHECK(LimitedOf(some->now, names) == LimitedOf(all->now, names));
        CHECK(some->now.attributes == all->now.attributes);
        CHECK_FALSE(all->left_out);
        if (!some->left_out) {
          CHECK(some->now == all->now);
          return;
        }
        ++left_out;
        CHECK(some->now.usage.size() < 32);
        ObjectFacts bound = *some;
        CHECK(names.Bound(bound, nullptr).names);
      });
    }
  }
  CHECK(left_out > 0);
}

// The memory of the ledger beside the object's entry in its table. API servers accept objects that
// are ten times as large; what is not bounded shows at this size as well, and sooner.
TEST_CASE("limited names: no object of any kind takes more memory than stated", "[quota]") {
  for (const QuotaApi& api : {CoreQuotaApi(), KarmadaQuotaApi(), IroncoreQuotaApi()}) {
    for (const Evaluator& evaluator : api.evaluators) {
      int readable = 0;
      nasty::ForEachObject(evaluator, nasty::kMostBytes / 10, [&](const nasty::Object& object) {
        INFO(api.name << " " << evaluator.resource.ToString() << " " << object.what);
        auto facts = evaluator.facts_of(object.value, {});
        if (!facts) return;  // only a short reason is kept
        ++readable;
        LimitedNames().Bound(*facts, nullptr);
        facts->now.ShrinkToFit();
        std::size_t bytes = HeapBytes(facts->now);
        if (facts->later) bytes += HeapBytes(facts->later->facts);
        if (facts->tie) bytes += facts->tie->name.size() + facts->tie->created.size();
        CHECK(bytes <= kMostBytesAnObject);
      });
      CHECK(readable > 0);
    }
  }
}

}  // namespace
}  // namespace quota::limited_names_test
