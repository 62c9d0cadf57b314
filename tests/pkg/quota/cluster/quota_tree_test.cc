#include "pkg/quota/cluster/quota_tree.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/pkg/quota/quota_testing.h"

namespace quota::quota_tree_test {
namespace {

using Items = std::initializer_list<std::pair<std::string_view, std::string_view>>;
using Names = std::vector<std::string>;
using Fault = Lineage::Fault;

// `selector` is a label selector ("team=a"); "" selects nothing, "*" everything.
Quota Make(std::string name, std::string_view selector, std::string parent = "", Items hard = {},
           Items guaranteed = {}) {
  Quota quota{.key = {"", std::move(name)}};
  quota.hard = List(hard);
  ClusterSpec& spec = quota.cluster.emplace();
  spec.parent = std::move(parent);
  spec.guaranteed = List(guaranteed);
  if (selector == "*") {
    spec.selector = api::LabelSelector();
  } else if (!selector.empty()) {
    spec.selector = api::LabelSelector::Parse(selector).value();
  }
  return quota;
}

QuotaTree::Change Put(QuotaTree& tree, std::string_view ns, std::string_view labels) {
  const json::Value value = Json(labels);
  return tree.PutNamespace(ns, LabelText(&value));
}

// Returns "team-a engineering<team-a": each quota, after "<" the descendant that selects.
std::string Of(const QuotaTree& tree, std::string_view ns) {
  std::string text;
  for (const auto& [name, above] : tree.QuotasOf(ns)) {
    text.append(text.empty() ? "" : " ").append(name);
    if (!above.empty()) text.append("<").append(above);
  }
  return text;
}

Names Reached(const QuotaTree& tree, std::string_view quota) {
  Names names;
  tree.VisitNamespaces(quota, [&](std::string_view ns) { names.emplace_back(ns); });
  std::ranges::sort(names);
  CHECK(tree.CountNamespaces(quota) == names.size());
  return names;
}

Names Children(const QuotaTree& tree, std::string_view quota) {
  Names names;
  REQUIRE(tree.Place(quota) != nullptr);
  for (const Lineage::Member* child : tree.Place(quota)->below) names.push_back(child->name);
  return names;
}

std::string Reason(const QuotaTree& tree, std::string_view quota) {
  const auto flaw = tree.FlawOf(quota);
  return flaw ? flaw->reason : "";
}

// company > engineering > team-a, team-b.
void Company(QuotaTree& tree) {
  tree.PutQuota(Make("company", ""));
  tree.PutQuota(Make("engineering", "", "company"));
  tree.PutQuota(Make("team-a", "team=a", "engineering"));
  tree.PutQuota(Make("team-b", "team=b", "engineering"));
}

TEST_CASE("quota tree: a namespace is reached by the quotas that select it and their ancestors",
          "[quota]") {
  QuotaTree tree;
  Company(tree);
  CHECK(Put(tree, "a-1", R"({"team":"a"})").namespaces == Names{"a-1"});
  Put(tree, "b-1", R"({"team":"b"})");
  Put(tree, "other", "{}");
  CHECK(Of(tree, "a-1") == "team-a engineering<team-a company<team-a");
  CHECK(Of(tree, "other").empty());
  CHECK(tree.KnowsNamespace("other"));
  CHECK_FALSE(tree.KnowsNamespace("nowhere"));
  CHECK(Of(tree, "nowhere").empty());
  CHECK(Reached(tree, "team-a") == Names{"a-1"});
  CHECK(Reached(tree, "engineering") == Names{"a-1", "b-1"});
  CHECK(Reached(tree, "company") == Names{"a-1", "b-1"});
  CHECK(Reached(tree, "nobody").empty());
  CHECK(Children(tree, "engineering") == Names{"team-a", "team-b"});
  CHECK(tree.Place("team-a")->depth == 2);
  CHECK(tree.Place("company")->depth == 0);
  CHECK(tree.Place("nobody") == nullptr);
}

TEST_CASE("quota tree: a namespace that several children select is in the parent once", "[quota]") {
  QuotaTree tree;
  Company(tree);
  tree.PutQuota(Make("prod", "stage=prod", "company"));
  tree.PutQuota(Make("all", "*"));
  Put(tree, "a-prod", R"({"team":"a","stage":"prod"})");
  CHECK(Of(tree, "a-prod") == "team-a engineering<team-a prod all company<team-a");
  CHECK(tree.CountNamespaces("company") == 1);
  // A quota that selects the namespace itself has no `above`, even if a descendant selects it, too.
  tree.PutQuota(Make("engineering", "stage=prod", "company"));
  CHECK(Of(tree, "a-prod") == "team-a engineering prod all company<engineering");
  const json::Value labels = Json(R"({"team":"a","stage":"prod"})");
  CHECK(tree.QuotasFor(LabelText(&labels)) == tree.QuotasOf("a-prod"));
  CHECK(tree.QuotasFor({}) == QuotaTree::Reach{{"all", ""}});
}

TEST_CASE("quota tree: changed labels move a namespace", "[quota]") {
  QuotaTree tree;
  Company(tree);
  Put(tree, "x", R"({"team":"a"})");
  const auto moved = Put(tree, "x", R"({"team":"b"})");
  CHECK(moved.namespaces == Names{"x"});
  CHECK(moved.quotas == Names{"team-a", "team-b"});
  CHECK(Of(tree, "x") == "team-b engineering<team-b company<team-b");
  CHECK(Reached(tree, "team-a").empty());
  CHECK(Put(tree, "x", R"({"team":"b"})").empty());
  CHECK(Put(tree, "x", R"({"team":"b","color":"red"})").empty());
  const auto gone = tree.RemoveNamespace("x");
  CHECK(gone.namespaces == Names{"x"});
  CHECK(gone.quotas == Names{"company", "engineering", "team-b"});
  CHECK(tree.CountNamespaces("company") == 0);
  CHECK(tree.RemoveNamespace("x").empty());
}

TEST_CASE("quota tree: a changed quota moves the namespaces that it selects", "[quota]") {
  QuotaTree tree;
  Company(tree);
  Put(tree, "a-1", R"({"team":"a"})");
  Put(tree, "a-2", R"({"team":"a","stage":"prod"})");
  const auto narrowed = tree.PutQuota(Make("team-a", "team=a,stage=prod", "engineering"));
  CHECK(narrowed.namespaces == Names{"a-1"});
  CHECK(tree.PutQuota(Make("team-a", "team=a,stage=prod", "engineering")).empty());
  CHECK(Reached(tree, "company") == Names{"a-2"});
  const auto raised = tree.PutQuota(Make("team-a", "team=a,stage=prod", "company"));
  CHECK(raised.namespaces == Names{"a-2"});
  CHECK(raised.quotas == Names{"company", "engineering", "team-a"});
  CHECK(Of(tree, "a-2") == "team-a company<team-a");
  // A changed limit moves no namespace.
  const auto limited = tree.PutQuota(Make("team-a", "team=a,stage=prod", "company", {{"x", "1"}}));
  CHECK(limited.namespaces.empty());
  CHECK(limited.quotas == Names{"team-a"});
  CHECK(limited.parents.empty());
  CHECK(tree.RemoveQuota("team-a").namespaces == Names{"a-2"});
  CHECK(tree.CountNamespaces("company") == 0);
  CHECK(tree.RemoveQuota("team-a").empty());
}

TEST_CASE("quota tree: a quota without its parent is a root", "[quota]") {
  QuotaTree tree;
  tree.PutQuota(Make("team-a", "team=a", "engineering"));
  Put(tree, "a-1", R"({"team":"a"})");
  CHECK(Of(tree, "a-1") == "team-a");
  CHECK(Reason(tree, "team-a") == "ParentNotFound");
  CHECK(tree.FlawOf("team-a")->message == "there is no ClusterQuota engineering");
  const auto found = tree.PutQuota(Make("engineering", ""));
  CHECK(found.namespaces == Names{"a-1"});
  CHECK(found.quotas == Names{"engineering", "team-a"});
  CHECK(Of(tree, "a-1") == "team-a engineering<team-a");
  CHECK(Reason(tree, "team-a").empty());
  const auto lost = tree.RemoveQuota("engineering");
  CHECK(lost.namespaces == Names{"a-1"});
  CHECK(lost.quotas == Names{"engineering", "team-a"});
  CHECK(tree.Place("team-a")->depth == 0);
}

TEST_CASE("quota tree: each quota of a cycle is a root and keeps its descendants", "[quota]") {
  QuotaTree tree;
  tree.PutQuota(Make("a", "team=a", "b"));
  tree.PutQuota(Make("b", "team=b", "c"));
  tree.PutQuota(Make("c", "team=c", "a"));
  tree.PutQuota(Make("leaf", "team=l", "a"));
  tree.PutQuota(Make("self", "team=s", "self"));
  for (const char* team : {"a", "b", "c", "l", "s"}) {
    Put(tree, team, std::string(R"({"team":")") + team + "\"}");
  }
  CHECK(Of(tree, "a") == "a");
  CHECK(Of(tree, "b") == "b");
  CHECK(Of(tree, "l") == "leaf a<leaf");
  CHECK(Of(tree, "s") == "self");
  CHECK(tree.FlawOf("b")->reason == "ParentCycle");
  CHECK(tree.FlawOf("b")->message == "its parents lead back to it: b, c, a, b");
  CHECK(tree.FlawOf("self")->message == "its parents lead back to it: self, self");
  CHECK(Reason(tree, "leaf").empty());
  CHECK(Children(tree, "a") == Names{"leaf"});
  const auto broken = tree.PutQuota(Make("c", "team=c"));
  CHECK(broken.namespaces == Names{"a", "b", "l"});
  CHECK(Of(tree, "l") == "leaf a<leaf b<leaf c<leaf");
  CHECK(Reason(tree, "a").empty());
}

TEST_CASE("quota tree: namespaces that share quotas, even indirectly, are in one region",
          "[quota]") {
  QuotaTree tree;
  Company(tree);
  tree.PutQuota(Make("stages", "stage"));
  tree.PutQuota(Make("alone", "team=c"));
  Put(tree, "a", R"({"team":"a"})");
  Put(tree, "b", R"({"team":"b"})");
  Put(tree, "c", R"({"team":"c"})");
  Put(tree, "prod", R"({"stage":"prod"})");
  CHECK(tree.RegionOf("a") == "company");
  CHECK(tree.RegionOf("b") == "company");
  CHECK(tree.RegionOf("c") == "alone");
  CHECK(tree.RegionOf("prod") == "stages");
  CHECK(tree.RegionOf("nowhere").empty());
  Put(tree, "b", R"({"team":"b","stage":"prod"})");
  CHECK(tree.RegionOf("prod") == "company");
  tree.RemoveNamespace("b");
  CHECK(tree.RegionOf("prod") == "stages");
}

TEST_CASE("quota tree: guarantees above the limit of the parent are reported", "[quota]") {
  QuotaTree tree;
  tree.PutQuota(Make("engineering", "", "", {{"cpu", "100"}}));
  tree.PutQuota(
      Make("a", "", "engineering", {{"cpu", "80"}, {"x", "9"}}, {{"cpu", "60"}, {"x", "9"}}));
  tree.PutQuota(Make("b", "", "engineering", {{"cpu", "80"}}, {{"cpu", "40"}}));
  tree.PutQuota(Make("c", "", "engineering", {{"cpu", "80"}}));
  CHECK(Reason(tree, "a").empty());
  const auto raised = tree.PutQuota(Make("b", "", "engineering", {{"cpu", "80"}}, {{"cpu", "41"}}));
  CHECK(raised.quotas == Names{"a", "b"});  // c is guaranteed nothing
  CHECK(raised.parents == Names{"engineering"});
  for (const char* name : {"a", "b"}) {
    CHECK(tree.FlawOf(name)->reason == "GuaranteedExceedsParent");
    CHECK(tree.FlawOf(name)->message ==
          "guaranteed in engineering to all quotas below it: cpu=101, limited: cpu=100");
  }
  CHECK(Reason(tree, "c").empty());
  CHECK(Reason(tree, "engineering").empty());
  // More of the same changes only the text.
  const auto more = tree.PutQuota(Make("b", "", "engineering", {{"cpu", "80"}}, {{"cpu", "42"}}));
  CHECK(more.quotas == Names{"b"});
  CHECK(more.parents == Names{"engineering"});
  CHECK(tree.FlawOf("a")->message ==
        "guaranteed in engineering to all quotas below it: cpu=102, limited: cpu=100");
  // A guarantee is at most the own limit, and nothing without a limit.
  tree.PutQuota(Make("b", "", "engineering", {{"cpu", "40"}}, {{"cpu", "41"}}));
  CHECK(Reason(tree, "a").empty());
  tree.PutQuota(Make("b", "", "engineering", {{"mem", "40"}}, {{"cpu", "41"}}));
  CHECK(Reason(tree, "b").empty());
}

TEST_CASE("quota tree: a quota among ten thousand changes alone", "[quota]") {
  QuotaTree tree;
  tree.PutQuota(Make("root", "", "", {{"cpu", "1000000"}}));
  for (int i = 0; i < 10'000; ++i) {
    const std::string name = "team-" + std::to_string(i);
    const auto put =
        tree.PutQuota(Make(name, "team=" + name, "root", {{"cpu", "10"}}, {{"cpu", "2"}}));
    REQUIRE(put.quotas == Names{"root", name});
    REQUIRE(put.parents.empty());
    REQUIRE(tree.SetPromised(name, List({{"cpu", "2"}})) == "root");
    REQUIRE(tree.SetPromised(name, List({{"cpu", "2"}})).empty());
  }
  CHECK(tree.PromisedBelow("root") == List({{"cpu", "20000"}}));
  const auto moved = tree.PutQuota(Make("team-5", "team=team-5", "team-6", {{"cpu", "10"}}));
  CHECK(moved.quotas == Names{"root", "team-5", "team-6"});
  CHECK(moved.parents == Names{"root", "team-6"});
  CHECK(tree.PromisedBelow("root") == List({{"cpu", "19998"}}));
  CHECK(tree.PromisedBelow("team-6") == List({{"cpu", "2"}}));
  CHECK(tree.RemoveQuota("root").quotas.size() == 10'001);
  CHECK(Reason(tree, "team-7") == "ParentNotFound");
  tree.PutQuota(Make("root", ""));
  CHECK(tree.PromisedBelow("root") == List({{"cpu", "19998"}}));
}

// A slow implementation by definition, computed anew after each change.
struct Naive {
  std::map<std::string, Quota> quotas;
  std::map<std::string, json::Value> namespaces;
  std::map<std::string, ResourceList> promised;
  std::map<std::string, Names> reach;  // by namespace; of the last Settle()

  void Settle() {
    reach.clear();
    for (const auto& [ns, labels] : namespaces) {
      for (const auto& [name, quota] : quotas) {
        if (Reaches(name, ns)) reach[ns].push_back(name);
      }
    }
  }

  std::optional<std::string> Up(const std::string& name) const {
    const std::string& parent = quotas.at(name).cluster->parent;
    if (parent.empty() || !quotas.contains(parent)) return std::nullopt;
    std::string at = parent;
    for (std::size_t steps = 0; steps <= quotas.size(); ++steps) {
      if (at == name) return std::nullopt;
      const std::string& next = quotas.at(at).cluster->parent;
      if (next.empty() || !quotas.contains(next)) break;
      at = next;
    }
    return parent;
  }
  bool Selects(const std::string& name, const std::string& ns) const {
    const auto& selector = quotas.at(name).cluster->selector;
    return selector && selector->Matches(&namespaces.at(ns));
  }
  bool Reaches(const std::string& name, const std::string& ns) const {
    if (Selects(name, ns)) return true;
    return std::ranges::any_of(quotas, [&](const auto& other) {
      return Up(other.first) == name && Reaches(other.first, ns);
    });
  }
  Names QuotasOf(const std::string& ns) const {
    const auto found = reach.find(ns);
    return found == reach.end() ? Names() : found->second;
  }
};

// Returns the region by definition: all quotas that can be reached over shared namespaces.
std::set<std::string> RegionAround(const Naive& naive, const std::string& ns) {
  std::set<std::string> quotas;
  std::set<std::string> spaces = {ns};
  for (std::size_t before = 0; before != spaces.size() + quotas.size();) {
    before = spaces.size() + quotas.size();
    for (const std::string& space : std::set<std::string>(spaces)) {
      const Names more = naive.QuotasOf(space);
      quotas.insert(more.begin(), more.end());
    }
    for (const auto& [space, labels] : naive.namespaces) {
      const Names of = naive.QuotasOf(space);
      const auto shared = [&](const auto& name) { return quotas.contains(name); };
      if (std::ranges::any_of(of, shared)) spaces.insert(space);
    }
  }
  return quotas;
}

Names Sorted(const QuotaTree::Reach& reach) {
  Names names;
  for (const auto& quota : reach) names.push_back(quota.name);
  std::ranges::sort(names);
  return names;
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int Below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(engine_); }
  std::string Of(const Names& names) { return names[Below(static_cast<int>(names.size()))]; }

 private:
  std::mt19937 engine_;
};

const Names kQuotas = {"a", "b", "c", "d", "e", "f", "g"};
const Names kSpaces = {"n1", "n2", "n3", "n4", "n5", "n6"};

QuotaTree::Change Mutate(Random& random, QuotaTree& tree, Naive& naive) {
  const std::string quota = random.Of(kQuotas);
  const std::string ns = random.Of(kSpaces);
  switch (random.Below(6)) {
    case 0:
      naive.quotas.erase(quota);
      naive.promised.erase(quota);
      return tree.RemoveQuota(quota);
    case 1:
      naive.namespaces.erase(ns);
      return tree.RemoveNamespace(ns);
    case 2:
    case 3: {
      const json::Value labels = Json(random.Of(
          {R"({"team":"a"})", R"({"team":"b"})", "{}", R"({"team":"a","x":"1"})", R"({"x":"1"})"}));
      naive.namespaces[ns] = labels;
      return tree.PutNamespace(ns, LabelText(&labels));
    }
    default: {
      const Names parents = {"", "", "none", "a", "b", "c", "d", "e", "f", "g"};
      const Names selectors = {"", "*", "team=a", "team=b", "x", "team!=a", "team in (a,b)", "!x"};
      const std::string amount = std::to_string(random.Below(5));
      naive.quotas[quota] =
          Make(quota, random.Of(selectors), random.Of(parents), {{"cpu", "5"}}, {{"cpu", amount}});
      QuotaTree::Change change = tree.PutQuota(naive.quotas[quota]);
      naive.promised[quota] = List({{"cpu", std::to_string(1 + random.Below(5))}});
      const std::string_view parent = tree.SetPromised(quota, naive.promised[quota]);
      if (!parent.empty()) REQUIRE(parent == naive.Up(quota));
      return change;
    }
  }
}

// The children of the quota, and what is promised and guaranteed to them.
void CheckChildren(const QuotaTree& tree, const Naive& naive, const std::string& name) {
  Names children;
  Quantity promised;
  Quantity guaranteed;
  for (const auto& [child, quota] : naive.quotas) {
    if (naive.Up(child) != name) continue;
    children.push_back(child);
    promised = promised.Add(naive.promised.at(child).Get("cpu"));
    guaranteed = guaranteed.Add(quota.cluster->guaranteed.Get("cpu"));
  }
  REQUIRE(Children(tree, name) == children);
  REQUIRE(tree.PromisedBelow(name).Get("cpu") == promised);
  const bool exceeds = guaranteed > naive.quotas.at(name).hard.Get("cpu");
  for (const std::string& child : children) {
    const bool has = !naive.quotas.at(child).cluster->guaranteed.Get("cpu").IsZero();
    REQUIRE((Reason(tree, child) == "GuaranteedExceedsParent") == (exceeds && has));
  }
}

// What the status of each quota shows of its place, as text.
std::map<std::string, std::string> Shown(const QuotaTree& tree, const Naive& naive) {
  std::map<std::string, std::string> shown;
  for (const auto& [name, quota] : naive.quotas) {
    const Lineage::Member* place = tree.Place(name);
    shown[name] = Reason(tree, name) + " " + std::to_string(place->below.size()) + " " +
                  std::to_string(tree.CountNamespaces(name)) +
                  (place->up == nullptr ? "" : " " + place->up->name);
  }
  return shown;
}

void CheckSame(const QuotaTree& tree, const Naive& naive) {
  for (const std::string& ns : kSpaces) {
    REQUIRE(Sorted(tree.QuotasOf(ns)) == naive.QuotasOf(ns));
    REQUIRE(tree.KnowsNamespace(ns) == naive.namespaces.contains(ns));
    const auto region = RegionAround(naive, ns);
    REQUIRE(tree.RegionOf(ns) == (region.empty() ? "" : *region.begin()));
    const auto& reach = tree.QuotasOf(ns);
    for (std::size_t i = 0; i < reach.size(); ++i) {
      REQUIRE(reach[i].above.empty() == naive.Selects(reach[i].name, ns));
      if (i > 0) REQUIRE(tree.Place(reach[i - 1].name)->depth >= tree.Place(reach[i].name)->depth);
    }
  }
  for (const auto& [name, quota] : naive.quotas) {
    Names reached;
    for (const auto& [ns, names] : naive.reach) {
      if (std::ranges::count(names, name) > 0) reached.push_back(ns);
    }
    REQUIRE(Reached(tree, name) == reached);
    const auto up = naive.Up(name);
    const Lineage::Member* place = tree.Place(name);
    REQUIRE((place->up == nullptr ? "" : place->up->name) == up.value_or(""));
    REQUIRE((place->fault != Fault::kNone) == (!up && !quota.cluster->parent.empty()));
    std::size_t depth = 0;
    for (auto above = up; above; above = naive.Up(*above)) ++depth;
    REQUIRE(place->depth == depth);
    CheckChildren(tree, naive, name);
  }
}

TEST_CASE("quota tree: any sequence of changes gives the same tree as a new one", "[quota]") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    QuotaTree tree;
    Naive naive;
    for (int step = 0; step < 80; ++step) {
      const Naive before = naive;
      const auto shown = Shown(tree, naive);
      const QuotaTree::Change change = Mutate(random, tree, naive);
      naive.Settle();
      CheckSame(tree, naive);
      for (const auto& [name, text] : Shown(tree, naive)) {
        const auto old = shown.find(name);
        if (old != shown.end() && old->second == text) continue;
        REQUIRE(std::ranges::count(change.quotas, name) == 1);
      }
      Names changed;
      for (const std::string& ns : kSpaces) {
        if (before.QuotasOf(ns) != naive.QuotasOf(ns)) changed.push_back(ns);
      }
      REQUIRE(change.namespaces == changed);
    }
  }
}

}  // namespace
}  // namespace quota::quota_tree_test
