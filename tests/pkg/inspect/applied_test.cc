// The ClusterQuotas of a namespace, read from its AppliedClusterQuotas.
#include "pkg/inspect/applied.h"

#include <catch2/catch.hpp>
#include <random>

#include "pkg/inspect/fit.h"
#include "pkg/inspect/tree_view.h"
#include "pkg/quota/cluster/cluster_quota.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/guarantee.h"
#include "pkg/quota/quantity_field.h"

namespace applied_test {

using inspect::AppliedForest;
using inspect::FitBook;
using inspect::Forest;

json::Object Pods(int count) { return json::Object{{"pods", std::to_string(count)}}; }

struct Spec {
  std::string name;
  std::string parent;
  std::string team;  // of the namespaces that it selects; "": it selects none
  int hard = 0;
  int used = 0;
  int guaranteed = 0;
  std::string mode = "Deny";
};

quota::Quota Make(const Spec& spec) {
  json::Value object = json::Object{
      {"metadata", json::Object{{"name", spec.name}, {"uid", "1"}, {"resourceVersion", "1"}}},
      {"spec", json::Object{{"hard", Pods(spec.hard)}, {"enforcement", spec.mode}}},
      {"status", json::Object{{"hard", Pods(spec.hard)}, {"used", Pods(spec.used)}}}};
  if (!spec.parent.empty()) object.Make({"spec", "parent"}) = spec.parent;
  if (spec.guaranteed > 0) object.Make({"spec", "guaranteed"}) = Pods(spec.guaranteed);
  if (!spec.team.empty()) {
    object.Make({"spec", "namespaceSelector", "matchLabels", "team"}) = spec.team;
  }
  return quota::ParseQuota(object, quota::ClusterQuotaApi().form).value();
}

Forest MakeForest(const std::vector<Spec>& specs) {
  std::vector<quota::Quota> quotas;
  quotas.reserve(specs.size());
  for (const Spec& spec : specs) quotas.push_back(Make(spec));
  return Forest(std::move(quotas));
}

inspect::Reached InTeam(const Forest& forest, const std::string& team) {
  const json::Value labels = json::Object{{"team", team}};
  return forest.ReachOf(&labels);
}

// What the daemon writes for this quota.
json::Value Applied(const Forest& forest, const std::string& name) {
  const quota::Quota& quota = *forest.Find(name);
  json::Object status{{"hard", quota::ToJson(quota.status.hard)},
                      {"used", quota::ToJson(quota.status.used)},
                      {"available", quota::ToJson(forest.AvailableOf(name))},
                      {"enforcement", std::string(inspect::ModeText(quota))}};
  if (!quota.cluster->parent.empty()) status.Set("parent", quota.cluster->parent);
  if (!quota.cluster->guaranteed.empty()) {
    status.Set("guaranteed", quota::ToJson(quota.cluster->guaranteed));
  }
  quota::ResourceList below;
  for (const auto* child : forest.Place(name)->below) {
    const quota::Quota& one = *forest.Find(child->name);
    below.Add(quota::Promised(one, one.status.used));
  }
  if (!below.empty()) status.Set("guaranteedBelow", quota::ToJson(below));
  return json::Object{
      {"metadata",
       json::Object{{"name", name}, {"namespace", "a-1"}, {"uid", "2"}, {"resourceVersion", "2"}}},
      {"status", std::move(status)}};
}

// Returns what a namespace with this label shows.
std::vector<quota::Quota> ShownIn(const Forest& forest, const std::string& team) {
  std::vector<quota::Quota> shown;
  for (const quota::Quota& quota : InTeam(forest, team).quotas) {
    shown.push_back(inspect::QuotaOfApplied(Applied(forest, quota.key.name)).value());
  }
  return shown;
}

// Checks `count` new pods.
FitBook Ask(inspect::Reached reached, std::int64_t count) {
  static const quota::QuotaApi api = quota::CoreQuotaApi();
  const auto pods = std::ranges::find_if(api.evaluators, [](const quota::Evaluator& evaluator) {
    return evaluator.resource.resource == "pods";
  });
  FitBook book({}, std::move(reached));
  inspect::Piece piece;
  piece.of = {"deployment", "apps", "web"};
  piece.object = *json::Parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p",
      "namespace": "a-1"}, "spec": {"containers": [{"name": "c"}]}})");
  piece.count = count;
  REQUIRE(book.Add(inspect::Counter{.evaluator = &*pods}, piece, {}).has_value());
  return book;
}

std::vector<std::string> Texts(const FitBook& book) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < book.quotas().size(); ++i) {
    texts.push_back(book.quotas()[i].key.name + ": " + book.RefusalOf(i));
  }
  return texts;
}

std::vector<Spec> Company() {
  return {
      {.name = "company", .hard = 10, .used = 5},
      {.name = "team-a", .parent = "company", .team = "a", .hard = 8, .used = 4},
      {.name = "team-b", .parent = "company", .team = "b", .hard = 6, .used = 1, .guaranteed = 4},
      {.name = "trial", .team = "a", .hard = 4, .used = 4, .mode = "Warn"}};
}

TEST_CASE("applied: refusals have the same text as with all ClusterQuotas", "[inspect]") {
  const Forest forest = MakeForest(Company());
  const AppliedForest applied(ShownIn(forest, "a"));
  for (const int count : {1, 2, 3, 5, 9}) {
    INFO(count);
    const FitBook book = Ask(applied.Reach(), count);
    CHECK(Texts(book) == Texts(Ask(InTeam(forest, "a"), count)));
    CHECK(book.Fits() == (count <= 2));
  }
  CHECK(Texts(Ask(applied.Reach(), 3)) ==
        std::vector<std::string>{
            "team-a: ",
            "company: exceeded cluster quota: company (above team-a), requested: pods=3, used: "
            "pods=5, limited: pods=10, guaranteed to others: pods=3",
            "trial: exceeded cluster quota: trial, requested: pods=3, used: pods=4, limited: "
            "pods=4"});
}

TEST_CASE("applied: a quota's own guarantee is free for it", "[inspect]") {
  const Forest forest = MakeForest(Company());
  const AppliedForest applied(ShownIn(forest, "b"));
  CHECK(Ask(applied.Reach(), 5).Fits());
  CHECK_FALSE(Ask(applied.Reach(), 6).Fits());
  CHECK(Texts(Ask(applied.Reach(), 6)) == Texts(Ask(InTeam(forest, "b"), 6)));
}

TEST_CASE("applied: needs of an earlier namespace are charged", "[inspect]") {
  const Forest forest = MakeForest(Company());
  AppliedForest applied(ShownIn(forest, "a"));
  const quota::ResourceList two({{"pods", quota::Quantity::FromInt(2)}});
  for (const char* name : {"team-a", "company"}) applied.Charge(name, two);
  CHECK_FALSE(Ask(applied.Reach(), 1).Fits());
}

TEST_CASE("applied: quotas in a cycle limit the namespace", "[inspect]") {
  const Forest forest = MakeForest({{.name = "a", .parent = "b", .team = "a", .hard = 3},
                                    {.name = "b", .parent = "a", .team = "a", .hard = 2}});
  const AppliedForest applied(ShownIn(forest, "a"));
  CHECK(applied.Reach().quotas.size() == 2);
  CHECK(Ask(applied.Reach(), 2).Fits());
  CHECK_FALSE(Ask(applied.Reach(), 3).Fits());
}

TEST_CASE("applied: scopes limit what counts", "[inspect]") {
  const Forest forest = MakeForest({{.name = "a", .team = "a", .hard = 0}});
  json::Value object = Applied(forest, "a");
  object.Make({"status", "scopeSelector"}) =
      *json::Parse(R"({"matchExpressions": [{"scopeName": "Terminating", "operator": "Exists"}]})");
  const AppliedForest applied({inspect::QuotaOfApplied(object).value()});
  CHECK(Ask(applied.Reach(), 3).Fits());
}

TEST_CASE("applied: a tree shows the chain with what is available", "[inspect]") {
  std::vector<quota::Quota> shown = ShownIn(MakeForest(Company()), "a");
  const Forest forest(std::move(shown));
  const inspect::Table table =
      inspect::TreeTable(forest, inspect::TreeOf(forest, {}), {.unicode = false});
  CHECK(inspect::PrintTable(table, {.titles = false}) ==
        "company     pods   5/10   50%    5   -   -   Deny\n"
        "`- team-a   pods   4/8    50%    2   -   -   Deny\n"
        "trial       pods   4/4    100%   0   -   -   Warn\n");
}

// Returns a random tree. Quota 0 is the root, and each quota selects the namespaces of its team.
std::vector<Spec> RandomTree(std::mt19937& random) {
  const auto pick = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most + 1));
  };
  std::vector<Spec> specs;
  const int size = 2 + pick(5);
  for (int i = 0; i < size; ++i) {
    const std::string name = "q" + std::to_string(i);
    Spec spec{.name = name, .team = name, .hard = 1 + pick(19)};
    if (i > 0) spec.parent = "q" + std::to_string(pick(i - 1));
    spec.guaranteed = pick(1) == 0 ? 0 : pick(spec.hard);
    if (pick(5) == 0) spec.mode = "Warn";
    specs.push_back(std::move(spec));
  }
  // Children come after their parents, so go back to sum up.
  for (std::size_t i = specs.size(); i-- > 0;) {
    specs[i].used += pick(4);
    if (i == 0) break;
    const std::size_t parent = std::stoul(specs[i].parent.substr(1));
    specs[parent].used += specs[i].used;
  }
  return specs;
}

TEST_CASE("applied: random trees give the answers of all ClusterQuotas", "[inspect]") {
  std::mt19937 random(7);
  int refused = 0;
  int asked = 0;
  for (int i = 0; i < 300; ++i) {
    const std::vector<Spec> specs = RandomTree(random);
    const Forest forest = MakeForest(specs);
    for (const Spec& spec : specs) {
      const AppliedForest applied(ShownIn(forest, spec.team));
      for (int count = 1; count <= 12; count += 2) {
        const FitBook full = Ask(InTeam(forest, spec.team), count);
        const FitBook book = Ask(applied.Reach(), count);
        const bool fits = book.Fits();
        INFO("tree " << i << ", quota " << spec.name << ", pods " << count);
        CHECK(fits == full.Fits());
        CHECK(Texts(book) == Texts(full));
        refused += fits ? 0 : 1;
        ++asked;
      }
    }
  }
  CHECK(refused > asked / 10);
  CHECK(refused < asked * 9 / 10);
}

}  // namespace applied_test
