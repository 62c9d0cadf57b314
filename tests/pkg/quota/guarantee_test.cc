#include "pkg/quota/guarantee.h"

#include <algorithm>
#include <map>
#include <random>

#include "pkg/quota/cluster/cluster_quota.h"
#include "pkg/quota/cluster/tree_place.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::guarantee_test {
namespace {

using Enforcement = ClusterSpec::Enforcement;
using Items = std::initializer_list<std::pair<std::string_view, std::string_view>>;
using Kind = Verdict::Kind;

const Evaluator kThings{
    .resource = {.group = "", .resource = "things"},
    .owns = [](std::string_view name) { return name == "cpu" || name == "pods"; },
    .fields = {},
    .scopes = {"Long"},
    .facts_of = nullptr,
};

Request Create(ResourceList usage, bool is_long = false) {
  Request request{.evaluator = &kThings, .uid = {1}};
  request.after.usage = std::move(usage);
  if (is_long) request.after.attributes = {{"Long", ""}};
  return request;
}

Quota Make(std::string name, std::string parent, Items hard, Items used, Items guaranteed = {}) {
  Quota quota{.key = {"", std::move(name)}};
  quota.hard = List(hard);
  quota.status = {List(hard), List(used)};
  ClusterSpec& spec = quota.cluster.emplace();
  spec.parent = std::move(parent);
  spec.guaranteed = List(guaranteed);
  return quota;
}

// Quotas in a tree. A namespace is named after the quota that selects it; "a+b" is selected by two.
class Forest {
 public:
  explicit Forest(std::vector<Quota> quotas) : quotas_(std::move(quotas)) {
    for (Quota& quota : quotas_) {
      quota.cluster->selector = api::LabelSelector::Parse(quota.key.name).value();
      tree_.PutQuota(quota);
    }
  }

  // Returns the standings for a request in the namespace.
  std::vector<Standing> In(const std::string& ns) {
    json::Object labels;
    std::size_t begin = 0;
    while (begin <= ns.size()) {
      const std::size_t end = std::min(ns.find('+', begin), ns.size());
      labels.Set(ns.substr(begin, end - begin), "");
      begin = end + 1;
    }
    const json::Value value = labels;
    return Standings(tree_.QuotasFor(LabelText(&value)));
  }
  std::vector<Standing> WayUp(std::string_view quota) { return Standings(tree_.WayUp(quota)); }
  Quota& Of(std::string_view name) {
    return *std::ranges::find_if(quotas_, [&](const auto& q) { return q.key.name == name; });
  }
  const QuotaTree& tree() const { return tree_; }

 private:
  std::vector<Standing> Standings(const QuotaTree::Reach& reach) {
    for (const Quota& quota : quotas_) {
      tree_.SetPromised(quota.key.name, Promised(quota, quota.status.used));
    }
    std::vector<TreePlace> places = PlacesOf(tree_, reach);
    std::vector<Standing> standings;
    for (std::size_t i = 0; i < reach.size(); ++i) {
      const Quota& quota = Of(reach[i].name);
      standings.push_back(
          {.quota = &quota, .used = quota.status.used, .tree = std::move(places[i])});
    }
    return standings;
  }

  std::vector<Quota> quotas_;
  QuotaTree tree_;
};

std::string Refusal(Forest& forest, const std::string& ns, Items usage) {
  const Verdict verdict = Decide(Create(List(usage)), forest.In(ns));
  CHECK((verdict.kind == Kind::kRefused) == !verdict.message.empty());
  return verdict.message;
}

// engineering has 100 cpu; team-a is guaranteed 40 of them.
Forest Engineering(std::string_view a_uses, std::string_view all_use) {
  return Forest({Make("engineering", "", {{"cpu", "100"}}, {{"cpu", all_use}}),
                 Make("team-a", "engineering", {{"cpu", "80"}}, {{"cpu", a_uses}}, {{"cpu", "40"}}),
                 Make("team-b", "engineering", {{"cpu", "90"}}, {{"cpu", "0"}})});
}

TEST_CASE("guarantee: a refusal names the quota and the one below it", "[quota]") {
  Forest forest({Make("company", "", {{"pods", "600"}}, {{"pods", "550"}}),
                 Make("engineering", "company", {{"pods", "510"}}, {{"pods", "505"}}),
                 Make("team-a", "engineering", {{"pods", "500"}}, {{"pods", "490"}})});
  CHECK(Refusal(forest, "team-a", {{"pods", "5"}}).empty());
  CHECK(Refusal(forest, "team-a", {{"pods", "6"}}) ==
        "exceeded cluster quota: engineering (above team-a), requested: pods=6, used: pods=505, "
        "limited: pods=510");
  CHECK(Refusal(forest, "engineering", {{"pods", "6"}}) ==
        "exceeded cluster quota: engineering, requested: pods=6, used: pods=505, "
        "limited: pods=510");
  forest.Of("team-a").status.used = List({{"pods", "500"}});
  CHECK(Refusal(forest, "team-a", {{"pods", "1"}}) ==
        "exceeded cluster quota: team-a, requested: pods=1, used: pods=500, limited: pods=500");
  forest.Of("engineering").status.used = {};
  CHECK(Refusal(forest, "engineering", {{"pods", "1"}}) ==
        "status unknown for cluster quota: engineering, resources: pods");
}

TEST_CASE("guarantee: an amount promised to one child is not available to the others", "[quota]") {
  Forest forest = Engineering("10", "60");
  CHECK(Refusal(forest, "team-b", {{"cpu", "10"}}).empty());
  CHECK(Refusal(forest, "team-b", {{"cpu", "11"}}) ==
        "exceeded cluster quota: engineering (above team-b), requested: cpu=11, used: cpu=60, "
        "limited: cpu=100, guaranteed to others: cpu=30");
  // Also not for namespaces that only the parent selects.
  CHECK(Refusal(forest, "engineering", {{"cpu", "11"}}) ==
        "exceeded cluster quota: engineering, requested: cpu=11, used: cpu=60, limited: cpu=100, "
        "guaranteed to others: cpu=30");
  CHECK(Refusal(forest, "team-a", {{"cpu", "40"}}).empty());
  CHECK(Refusal(forest, "team-a", {{"cpu", "41"}}) ==
        "exceeded cluster quota: engineering (above team-a), requested: cpu=41, used: cpu=60, "
        "limited: cpu=100");
}

TEST_CASE("guarantee: a late guarantee is filled as the others shrink", "[quota]") {
  Forest forest = Engineering("10", "95");
  CHECK_FALSE(Refusal(forest, "team-b", {{"cpu", "1"}}).empty());
  CHECK(Refusal(forest, "team-a", {{"cpu", "5"}}).empty());
  CHECK(Refusal(forest, "team-a", {{"cpu", "6"}}) ==
        "exceeded cluster quota: engineering (above team-a), requested: cpu=6, used: cpu=95, "
        "limited: cpu=100");
}

TEST_CASE("guarantee: two guarantees that exceed the parent leave each child its own", "[quota]") {
  Forest forest({Make("p", "", {{"cpu", "100"}}, {{"cpu", "0"}}),
                 Make("a", "p", {{"cpu", "90"}}, {{"cpu", "0"}}, {{"cpu", "60"}}),
                 Make("b", "p", {{"cpu", "90"}}, {{"cpu", "0"}}, {{"cpu", "60"}})});
  CHECK(Refusal(forest, "a", {{"cpu", "60"}}).empty());
  CHECK(Refusal(forest, "a", {{"cpu", "61"}}) ==
        "exceeded cluster quota: p (above a), requested: cpu=61, used: cpu=0, limited: cpu=100, "
        "guaranteed to others: cpu=60");
}

TEST_CASE("guarantee: it takes effect with the first count, and is at most the quota's own limit",
          "[quota]") {
  Quota quota = Make("a", "p", {{"cpu", "9"}}, {{"cpu", "2"}}, {{"cpu", "20"}, {"pods", "3"}});
  CHECK(Promised(quota, quota.status.used) == List({{"cpu", "7"}}));
  CHECK(Promised(quota, List({{"cpu", "12"}})).empty());
  CHECK(Promised(quota, {}).empty());
  CHECK(Guaranteed(*quota.cluster, quota.hard) == List({{"cpu", "9"}}));
  quota.cluster.reset();
  CHECK(Promised(quota, quota.status.used).empty());
}

TEST_CASE("guarantee: it stays whole while somebody's text stands in place of the count",
          "[quota]") {
  Quota quota = Make("a", "p", {{"cpu", "9"}, {"pods", "5"}}, {}, {{"cpu", "4"}, {"pods", "3"}});
  quota.garbage.used = {"cpu"};
  CHECK(Promised(quota, {}) == List({{"cpu", "4"}}));
  CHECK(Promised(quota, List({{"cpu", "1"}})) == List({{"cpu", "3"}}));
}

// Parses a ClusterQuota with this spec, which counts `used`.
Quota Parsed(const std::string& spec, const std::string& used) {
  const auto object = json::Parse(
      R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1"},"spec":{"parent":"p",)"
      R"("guaranteed":{"cpu":"4","pods":"3","secrets":"2"},"hard":{"cpu":"9","pods":"2"},)" +
      spec + R"(},"status":{"hard":{"cpu":"9","pods":"2"},"used":)" + used + "}}");
  return *ParseQuota(*object, ClusterQuotaApi().form);
}

TEST_CASE("guarantee: it stays whole while the scopes of the quota cannot be read", "[quota]") {
  for (const std::string spec :
       {R"("scopes":"BestEffort")", R"("scopes":[7])", R"("scopeSelector":[])",
        R"("scopeSelector":{"matchExpressions":{}})",
        R"("scopeSelector":{"matchExpressions":[{"operator":"In"}]})"}) {
    INFO(spec);
    const Quota quota = Parsed(spec, R"({"cpu":"3","pods":"1"})");
    REQUIRE(quota.status.used.empty());
    CHECK(Promised(quota, quota.status.used) == List({{"cpu", "4"}, {"pods", "2"}}));
    CHECK(Promised(Parsed(spec, R"({"cpu":"x"})"), {}) == List({{"cpu", "4"}}));
    CHECK(Promised(Parsed(spec, "{}"), {}).empty());
  }
}

TEST_CASE("guarantee: a batch is decided including its own earlier requests", "[quota]") {
  Forest forest = Engineering("0", "0");
  std::vector<Standing> standings = forest.In("team-a+team-b");
  const auto in = [&](std::string_view quota, int amount) {
    std::vector<std::size_t> by;
    for (std::size_t i = 0; i < standings.size(); ++i) {
      const std::string& name = standings[i].quota->key.name;
      if (name == quota || name == "engineering") by.push_back(i);
    }
    Verdict verdict = Decide(Create(List({{"cpu", std::to_string(amount)}})), standings, &by);
    if (verdict.kind == Kind::kFits) Apply(verdict.needs, standings);
    return verdict.kind;
  };
  CHECK(in("team-b", 60) == Kind::kFits);
  CHECK(in("team-b", 1) == Kind::kRefused);
  CHECK(in("team-a", 39) == Kind::kFits);
  CHECK(in("team-b", 1) == Kind::kRefused);
  CHECK(in("team-a", 1) == Kind::kFits);
  CHECK(in("team-a", 1) == Kind::kRefused);
  CHECK(standings[2].used == List({{"cpu", "100"}}));
}

// The child was written and its parent was not, so the request is decided again.
TEST_CASE("guarantee: a repeated request takes from the child's guarantee only once", "[quota]") {
  const auto again = [](std::string_view a_uses, std::string_view amount) {
    Forest forest = Engineering(a_uses, "95");
    ResourceList usage = List({{"cpu", amount}});
    std::vector<Standing> standings = forest.In("team-a");
    standings[0].answer = &usage;
    const Verdict answered = Decide(Create(usage), standings);
    standings[0].answer = nullptr;
    standings[0].reserved = [&](const ResourceList&) { return usage; };
    CHECK(Decide(Create(usage), standings).kind == answered.kind);
    return answered.kind;
  };
  CHECK(again("15", "5") == Kind::kFits);
  CHECK(again("15", "6") == Kind::kRefused);  // above the limit
  CHECK(again("40", "5") == Kind::kFits);
  CHECK(again("44", "5") == Kind::kFits);  // four above its guarantee; no other child has a promise
  // If another child has a promise, these four count.
  Forest forest = Engineering("44", "95");
  forest.Of("team-b").cluster->guaranteed = List({{"cpu", "1"}});
  const ResourceList usage = List({{"cpu", "5"}});
  std::vector<Standing> standings = forest.In("team-a");
  standings[0].answer = &usage;
  CHECK(Decide(Create(usage), standings).kind == Kind::kRefused);
  forest.Of("team-a").status.used = List({{"cpu", "40"}});
  standings = forest.In("team-a");
  standings[0].answer = &usage;
  CHECK(Decide(Create(usage), standings).kind == Kind::kFits);
}

TEST_CASE("guarantee: a quota in mode Warn warns and admits", "[quota]") {
  Forest forest({Make("p", "", {{"cpu", "10"}}, {{"cpu", "9"}}),
                 Make("a", "p", {{"cpu", "5"}}, {{"cpu", "5"}})});
  forest.Of("a").cluster->enforcement = Enforcement::kWarn;
  forest.Of("a").uid = "u-a";
  const Verdict told = Decide(Create(List({{"cpu", "1"}})), forest.In("a"));
  CHECK(told.kind == Kind::kFits);
  REQUIRE(told.needs.size() ==
          2);  // also for the quota in mode Warn: its usage may exceed the limit
  REQUIRE(told.would_refuse.size() == 1);
  CHECK(told.would_refuse[0].mode == Enforcement::kWarn);
  CHECK(told.would_refuse[0].message ==
        "exceeded cluster quota: a, requested: cpu=1, used: cpu=5, limited: cpu=5");
  CHECK(told.would_refuse[0].quota.uid == "u-a");
  CHECK(told.would_refuse[0].quota.exceeded == std::vector<std::string>{"cpu"});
  std::vector<Standing> standings = forest.In("a");
  Apply(told.needs, standings);
  CHECK(NearLimits(told.needs, standings) == std::vector<std::string>{"p: cpu 10 of 10"});
  // A quota in mode Deny still refuses. Then the others are not reported.
  const Verdict refused = Decide(Create(List({{"cpu", "2"}})), forest.In("a"));
  CHECK(refused.kind == Kind::kRefused);
  CHECK(refused.refuser->name == "p");
  CHECK(refused.would_refuse.empty());
  forest.Of("p").cluster->enforcement = Enforcement::kAudit;
  const Verdict both = Decide(Create(List({{"cpu", "2"}})), forest.In("a"));
  CHECK(both.kind == Kind::kFits);
  REQUIRE(both.would_refuse.size() == 2);
  CHECK(both.would_refuse[1].mode == Enforcement::kAudit);
  CHECK(both.would_refuse[1].message.starts_with("exceeded cluster quota: p (above a), "));
}

TEST_CASE("guarantee: a quota in mode Warn adds nothing to names without a count", "[quota]") {
  Forest forest({Make("a", "", {{"cpu", "5"}, {"pods", "5"}}, {{"cpu", "1"}})});
  forest.Of("a").cluster->enforcement = Enforcement::kAudit;
  const Verdict verdict = Decide(Create(List({{"cpu", "9"}, {"pods", "1"}})), forest.In("a"));
  CHECK(verdict.kind == Kind::kFits);
  REQUIRE(verdict.needs.size() == 1);
  CHECK(verdict.needs[0].amount == List({{"cpu", "9"}}));
  REQUIRE(verdict.would_refuse.size() == 1);  // the first reason
  CHECK(verdict.would_refuse[0].message ==
        "status unknown for cluster quota: a, resources: cpu,pods");
  forest.Of("a").status.used = {};
  CHECK(Decide(Create(List({{"pods", "1"}})), forest.In("a")).kind == Kind::kFree);
}

TEST_CASE("guarantee: the available amount is the least that the quotas above leave", "[quota]") {
  Forest forest = Engineering("10", "60");
  forest.Of("team-b").status.used = List({{"cpu", "50"}});
  CHECK(Available(forest.WayUp("team-b"), 0) == List({{"cpu", "10"}}));
  CHECK(Available(forest.WayUp("team-a"), 0) == List({{"cpu", "40"}}));
  CHECK(Available(forest.WayUp("engineering"), 0) == List({{"cpu", "40"}}));
  // If others use the parent, the guarantee is available only as far as the parent has room.
  forest.Of("engineering").status.used = List({{"cpu", "95"}});
  CHECK(Available(forest.WayUp("team-a"), 0) == List({{"cpu", "5"}}));
  CHECK(Available(forest.WayUp("team-b"), 0) == List({{"cpu", "0"}}));
  // A parent in mode Warn, or with scopes of its own, does not limit the child. Without a count
  // nothing is available.
  forest.Of("engineering").selector = {{.scope = "Long"}};
  CHECK(Available(forest.WayUp("team-b"), 0) == List({{"cpu", "40"}}));
  forest.Of("team-b").selector = {{.scope = "Long"}, {.scope = "Other"}};
  CHECK(Available(forest.WayUp("team-b"), 0) == List({{"cpu", "0"}}));
  forest.Of("engineering").cluster->enforcement = Enforcement::kWarn;
  CHECK(Available(forest.WayUp("team-b"), 0) == List({{"cpu", "40"}}));
  forest.Of("team-b").status.used = {};
  CHECK(Available(forest.WayUp("team-b"), 0).empty());
}

TEST_CASE("guarantee: the part that siblings use is missing until they shrink", "[quota]") {
  Forest forest = Engineering("10", "95");
  const auto missing = [&](const char* quota) { return Missing(forest.WayUp(quota), 0); };
  CHECK(missing("team-a") == List({{"cpu", "25"}}));
  CHECK(missing("team-b").empty());
  CHECK(missing("engineering").empty());
  forest.Of("engineering").status.used = List({{"cpu", "71"}});
  CHECK(missing("team-a") == List({{"cpu", "1"}}));
  forest.Of("engineering").status.used = List({{"cpu", "70"}});
  CHECK(missing("team-a").empty());
  forest.Of("engineering").status.used = List({{"cpu", "95"}});
  // Usage fills the guarantee. A parent in mode Warn takes nothing from a guarantee.
  forest.Of("team-a").status.used = List({{"cpu", "40"}});
  CHECK(missing("team-a").empty());
  forest.Of("team-a").status.used = List({{"cpu", "10"}});
  forest.Of("engineering").cluster->enforcement = Enforcement::kWarn;
  CHECK(missing("team-a").empty());
}

TEST_CASE("guarantee: if several are missing, each lacks at most its own promise", "[quota]") {
  Forest forest({Make("p", "", {{"cpu", "10"}}, {{"cpu", "8"}}),
                 Make("a", "p", {{"cpu", "10"}}, {{"cpu", "0"}}, {{"cpu", "2"}}),
                 Make("b", "p", {{"cpu", "10"}}, {{"cpu", "0"}}, {{"cpu", "5"}}),
                 Make("c", "p", {{"cpu", "10"}}, {{"cpu", "8"}})});
  CHECK(Missing(forest.WayUp("a"), 0) == List({{"cpu", "2"}}));
  CHECK(Missing(forest.WayUp("b"), 0) == List({{"cpu", "5"}}));
}

}  // namespace
}  // namespace quota::guarantee_test
