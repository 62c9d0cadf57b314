#include "pkg/quota/class_table.h"

#include <string>

#include "pkg/quota/ledger.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::class_table_test {
namespace {

ObjectFacts Of(std::vector<ClassUnits> classes) {
  Facts facts = Using({{"count", "1"}});
  facts.classes = std::move(classes);
  return {.now = std::move(facts), .later = std::nullopt};
}

base::Result<ResourceList> Capabilities(std::string_view cpu) {
  return ResourceList{{"cpu", Q(cpu)}};
}

base::Error Unreadable() {
  return {.code = base::ErrorCode::kMalformed, .message = "capabilities.cpu: no"};
}

std::string SumOf(const Ledger& ledger, const ClassTable& classes, std::string_view ns = "a") {
  const auto sum = ledger.Sum({.ns = ns}, {}, {}, {"count", "cpu"}, {.classes = &classes});
  return sum ? sum->ToString() : sum.error().message;
}

TEST_CASE("classes: the sum of objects follows a class that appears, changes and is deleted",
          "[quota]") {
  Ledger ledger;
  ClassTable classes;
  for (std::uint64_t i = 0; i < 10; ++i) ledger.Set("a", {i}, Of({{"large", 2}}));
  ledger.Set("a", {100}, Of({{"small", 1}}));
  CHECK(ledger.distinct_facts() == 2);
  CHECK(SumOf(ledger, classes) == "count=11,cpu=0");
  CHECK(classes.Set("large", Capabilities("4")));
  CHECK(SumOf(ledger, classes) == "count=11,cpu=80");
  CHECK(classes.Set("large", Capabilities("8")));
  CHECK(classes.Set("small", Capabilities("500m")));
  CHECK(SumOf(ledger, classes) == "count=11,cpu=160500m");
  CHECK(classes.Remove("large"));
  CHECK(SumOf(ledger, classes) == "count=11,cpu=500m");
}

TEST_CASE("classes: several classes of an object are added up", "[quota]") {
  Ledger ledger;
  ClassTable classes;
  classes.Set("a", Capabilities("1"));
  classes.Set("b", Capabilities("10"));
  ledger.Set("a", {1}, Of({{"a", 3}, {"b", 2}}));
  CHECK(SumOf(ledger, classes) == "count=1,cpu=23");
}

TEST_CASE("classes: all names that some class of an object makes unknown are unknown", "[quota]") {
  ClassTable classes(MissingClass::kUnknown, "tier");
  ClassUsage without_cpu;
  without_cpu.unknown["cpu"] = "cpu: is missing";
  ClassUsage without_iops;
  without_iops.unknown["iops"] = "iops: is missing";
  classes.Set("a", without_cpu);
  classes.Set("b", without_iops);
  const auto unknown_of = [&](std::vector<ClassUnits> units) {
    std::optional<UnknownUsage> unknown;
    (void)classes.ResolveKnown(Of(std::move(units)).now, unknown);
    return unknown;
  };
  CHECK(unknown_of({{"a", 1}, {"b", 1}})->names == std::vector<std::string>{"cpu", "iops"});
  // A class that does not exist makes all names unknown, and is read before a decision.
  const auto unknown = unknown_of({{"a", 1}, {"gone", 1}});
  CHECK(unknown->names.empty());
  CHECK(unknown->why.Is(base::ErrorCode::kNotFound));
}

TEST_CASE("classes: an equal class is not a change", "[quota]") {
  ClassTable classes;
  CHECK_FALSE(classes.Remove("a"));
  CHECK(classes.Set("a", ResourceList()));
  CHECK_FALSE(classes.Set("a", ResourceList()));
  CHECK(classes.Set("a", Capabilities("1")));
  CHECK_FALSE(classes.Set("a", Capabilities("1000m")));
  CHECK(classes.Set("a", Unreadable()));
  CHECK_FALSE(classes.Set("a", Unreadable()));
}

TEST_CASE("classes: a missing class makes only its objects unknown, if the source says so",
          "[quota]") {
  Ledger ledger;
  ClassTable classes(MissingClass::kUnknown);
  classes.Set("small", Capabilities("1"));
  ledger.Set("a", {1}, Of({{"large", 1}}));
  ledger.Set("b", {2}, Of({{"small", 1}}));
  CHECK(SumOf(ledger, classes).find("class \"large\" not found") != std::string::npos);
  CHECK(SumOf(ledger, classes, "b") == "count=1,cpu=1");
  // Names that classes do not concern are summed without them.
  CHECK(ledger.Sum({.ns = "a"}, {}, {}, {"count"})->ToString() == "count=1");
  classes.Set("large", Capabilities("3"));
  CHECK(SumOf(ledger, classes) == "count=1,cpu=3");
}

TEST_CASE("classes: a class that cannot be read is unknown, not zero", "[quota]") {
  Ledger ledger;
  ClassTable classes;
  ledger.Set("a", {1}, Of({{"large", 1}}));
  classes.Set("large", Unreadable());
  CHECK(classes.Has("large"));
  CHECK(SumOf(ledger, classes) == "class \"large\": capabilities.cpu: no");
}

TEST_CASE("classes: usage that does not fit is saturated", "[quota]") {
  Ledger ledger;
  ClassTable classes;
  classes.Set("large", Capabilities("100E"));
  ledger.Set("a", {1}, Of({{"large", std::int64_t{1} << 62}}));
  CHECK(SumOf(ledger, classes).find("cpu=1e30") != std::string::npos);
}

TEST_CASE("classes: a relist removes classes that it does not have", "[quota]") {
  ClassTable classes;
  classes.Set("a", Capabilities("1"));
  classes.Set("b", Capabilities("1"));
  classes.BeginSweep();
  classes.Set("b", Capabilities("2"));
  classes.BeginSweep();  // the first list failed half-way
  classes.Set("b", Capabilities("2"));
  classes.Set("c", Capabilities("3"));
  CHECK(classes.EndSweep() == std::vector<std::string>{"a"});
  CHECK_FALSE(classes.Has("a"));
  CHECK(classes.Has("b"));
  CHECK(classes.size() == 2);
  CHECK(classes.EndSweep().empty());
}

TEST_CASE("classes: the table knows the resource names that some class uses", "[quota]") {
  ClassTable classes;
  classes.Set("a", Capabilities("1"));
  classes.Set("b", Capabilities("2"));
  CHECK(classes.AnyUses("cpu"));
  CHECK_FALSE(classes.AnyUses("memory"));
  classes.Remove("a");
  CHECK(classes.AnyUses("cpu"));
  classes.Remove("b");
  CHECK_FALSE(classes.AnyUses("cpu"));
}

TEST_CASE("ledger: the ledger knows the namespaces that refer to a class", "[quota]") {
  Ledger ledger;
  ledger.Set("a", {1}, Of({{"large", 1}, {"small", 1}}));
  ledger.Set("b", {2}, Of({{"small", 1}}));
  CHECK(ledger.RefersToAny({.ns = "a"}, {"large"}));
  CHECK_FALSE(ledger.RefersToAny({.ns = "b"}, {"large"}));
  CHECK_FALSE(ledger.RefersToAny({.ns = "c"}, {"large"}));
  ledger.Remove("a", {1});
  CHECK_FALSE(ledger.RefersToAny({.ns = "a"}, {"large"}));
}

TEST_CASE("ledger: a changed tie is a change even with the same facts", "[quota]") {
  Ledger ledger;
  ObjectFacts facts = Of({});
  REQUIRE(ledger.Set("a", {1}, facts).has_value());
  facts.tie = Tie{.owner = std::nullopt, .name = "claim", .created = ""};
  const auto tied = ledger.Set("a", {1}, facts);
  REQUIRE(tied.has_value());
  CHECK(tied->uid == Uid{1});
  CHECK(tied->before == tied->after);
  CHECK_FALSE(ledger.Set("a", {1}, facts).has_value());
  REQUIRE(ledger.FindTie("a", {1}) != nullptr);
  CHECK(ledger.Set("a", {1}, Of({})).has_value());
  CHECK(ledger.FindTie("a", {1}) == nullptr);
  ledger.Set("a", {1}, facts);
  ledger.Remove("a", {1});
  ledger.Set("a", {1}, Of({}));
  CHECK(ledger.FindTie("a", {1}) == nullptr);
}

TEST_CASE("ledger: one object's usage is its share of the sum", "[quota]") {
  Ledger owners;
  Ledger owned;
  ClassTable classes;
  classes.Set("large", Capabilities("4"));
  owners.Set("a", {9}, {.now = Using({{"cpu", "3"}}), .later = std::nullopt});
  ObjectFacts facts = Of({{"large", 1}});
  facts.tie = Tie{.owner = Uid{9}, .name = "x", .created = "1"};
  owned.Set("a", {1}, facts);
  const Beside beside{.classes = &classes, .owners = &owners};
  CHECK(owned.UsageOf("a", facts.now, owned.FindTie("a", {1}), beside)->ToString() ==
        "count=1,cpu=1");
  CHECK(owned.UsageOf("a", facts.now, nullptr, beside)->ToString() == "count=1,cpu=4");
  CHECK(owned.Sum({.ns = "a"}, {}, {}, {"cpu"}, beside)->ToString() == "cpu=1");

  // A claim that is not stored yet. The owner names none of its claims, so the oldest one shares.
  const Tie younger{.owner = Uid{9}, .name = "y", .created = "2"};
  CHECK(owned.UsageOf("a", facts.now, &younger, beside)->ToString() == "count=1,cpu=4");
  const Tie first{.owner = Uid{9}, .name = "w", .created = "0"};
  CHECK(owned.UsageOf("a", facts.now, &first, beside)->ToString() == "count=1,cpu=1");
  const Ledger empty;
  CHECK(empty.UsageOf("a", facts.now, &younger, beside)->ToString() == "count=1,cpu=1");
}

}  // namespace
}  // namespace quota::class_table_test
