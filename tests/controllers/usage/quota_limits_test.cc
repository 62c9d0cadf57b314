#include "controllers/usage/quota_limits.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "pkg/quota/core/core_quota.h"

namespace quota_limits_test {
namespace {

using controllers::LimitedNamespaces;
using controllers::QuotaLimits;
using Names = std::vector<std::string>;

const api::GroupResource kPods{"", "pods"};
const api::GroupResource kSecrets{"", "secrets"};
const api::GroupResource kClaims{"resource.k8s.io", "resourceclaims"};
const api::GroupResource kWidgets{"example.com", "widgets"};

quota::Quota QuotaOf(const std::string& name, const Names& hard, const std::string& ns = "team-a") {
  quota::Quota quota;
  quota.key = {ns, name};
  for (const std::string& limit : hard) quota.hard.Set(limit, *quota::Quantity::Parse("1"));
  return quota;
}

// Counts widgets under this name.
quota::Evaluator WidgetsUnder(const std::string& name) {
  quota::Evaluator evaluator;
  evaluator.resource = kWidgets;
  evaluator.owns = [name](std::string_view other) { return other == name; };
  return evaluator;
}

struct Limits {
  [[nodiscard]] Names CountedUnder(const std::string& name) const {
    Names resources;
    for (const auto& one : limits.EvaluatorsOf(name)) resources.push_back(one->resource.ToString());
    return resources;
  }
  // Widgets are counted by this evaluator from now on; nullopt: as any other kind. Returns the
  // quotas of `all` that limit them, or limited them.
  std::vector<const quota::Quota*> CountWidgets(std::optional<quota::Evaluator> by,
                                                const std::vector<const quota::Quota*>& all) {
    const auto before = api.CountedBy(kWidgets);
    if (by) {
      api.evaluators.Put(*std::move(by));
    } else {
      api.evaluators.Remove(kWidgets);
    }
    return limits.OnEvaluator(kWidgets, before.get(), api.CountedBy(kWidgets).get(), all);
  }

  quota::QuotaApi api = quota::CoreQuotaApi();
  QuotaLimits limits{api, true};
};

}  // namespace

TEST_CASE("quota limits: a name is new, and gone, with the only quota that limits it",
          "[controllers]") {
  Limits f;
  const auto first = QuotaOf("first", {"pods", "secrets"});
  const auto second = QuotaOf("second", {"pods", "services"});
  CHECK(f.limits.Add(first) == Names{"pods", "secrets"});
  CHECK(f.limits.Add(second) == Names{"services"});
  CHECK(f.limits.names() ==
        controllers::LimitedCounts{{"pods", 2}, {"secrets", 1}, {"services", 1}});
  CHECK(f.limits.Remove(first) == Names{"secrets"});
  CHECK(f.limits.Remove(second) == Names{"pods", "services"});
  CHECK(f.limits.names().empty());
}

TEST_CASE("quota limits: a resource is limited where quotas have a name of it", "[controllers]") {
  Limits f;
  f.limits.Add(QuotaOf("a1", {"pods", "requests.cpu"}));
  f.limits.Add(QuotaOf("a2", {"limits.memory"}));
  f.limits.Add(QuotaOf("b", {"pods", "secrets"}, "team-b"));
  CHECK(f.limits.NamespacesOf(kPods) == LimitedNamespaces{{"team-a", 2}, {"team-b", 1}});
  CHECK(f.limits.NamespacesOf(kSecrets) == LimitedNamespaces{{"team-b", 1}});
  CHECK(f.limits.NamespacesOf(kWidgets).empty());
  // A class may give a resource of pods to claims.
  f.limits.Add(QuotaOf("c", {"requests.example.com/gpu"}, "team-c"));
  CHECK(f.limits.NamespacesOf(kClaims) == LimitedNamespaces{{"team-c", 1}});
  f.limits.Remove(QuotaOf("a1", {"pods", "requests.cpu"}));
  CHECK(f.limits.NamespacesOf(kPods) ==
        LimitedNamespaces{{"team-a", 1}, {"team-b", 1}, {"team-c", 1}});
}

TEST_CASE("quota limits: namespaces are not gathered for quotas that have none", "[controllers]") {
  const quota::QuotaApi api = quota::CoreQuotaApi();
  QuotaLimits limits(api, false);
  limits.Add(QuotaOf("q", {"pods"}));
  CHECK(limits.NamespacesOf(kPods).empty());
  CHECK(limits.names().size() == 1);
}

TEST_CASE("quota limits: a count/ name is counted by the kind's own evaluator, if it has one",
          "[controllers]") {
  Limits f;
  CHECK(f.CountedUnder("count/pods") == Names{"pods"});
  CHECK(f.CountedUnder("count/widgets.example.com") == Names{"widgets.example.com"});
  CHECK(f.CountedUnder("example.com/size").empty());
  f.api.evaluators.Put(WidgetsUnder("example.com/size"));
  CHECK(f.CountedUnder("count/widgets.example.com") == Names{"widgets.example.com"});
  CHECK(f.CountedUnder("example.com/size") == Names{"widgets.example.com"});
  f.limits.Add(QuotaOf("q", {"count/widgets.example.com", "example.com/size", "pods"}));
  CHECK(f.limits.NamesOf(f.api.evaluators.Find(kWidgets).get()) == 2);
  CHECK(f.limits.NamesOf(nullptr) == 0);
}

TEST_CASE("quota limits: an evaluator comes, changes and goes", "[controllers]") {
  Limits f;
  const auto small = QuotaOf("small", {"example.com/size"});
  const auto large = QuotaOf("large", {"example.com/weight"}, "team-b");
  const auto other = QuotaOf("other", {"pods"}, "team-c");
  const std::vector<const quota::Quota*> all{&small, &large, &other};
  for (const quota::Quota* quota : all) f.limits.Add(*quota);
  CHECK(f.CountWidgets(WidgetsUnder("example.com/size"), all) == std::vector{&small});
  CHECK(f.limits.NamespacesOf(kWidgets) == LimitedNamespaces{{"team-a", 1}});
  CHECK(f.CountWidgets(WidgetsUnder("example.com/weight"), all) == std::vector{&small, &large});
  CHECK(f.limits.NamespacesOf(kWidgets) == LimitedNamespaces{{"team-b", 1}});
  CHECK(f.CountWidgets(std::nullopt, all) == std::vector{&large});
  CHECK(f.limits.NamespacesOf(kWidgets).empty());
  CHECK(f.limits.NamespacesOf(kPods) == LimitedNamespaces{{"team-c", 1}});
}

// Whatever came and went before, the limits are those of the quotas that are there.
TEST_CASE("quota limits: equal those that are added anew", "[controllers]") {
  const unsigned seed = GENERATE(range(1u, 11u));
  std::mt19937 random(seed);
  const Names names{"pods",
                    "requests.cpu",
                    "secrets",
                    "count/widgets.example.com",
                    "example.com/size",
                    "requests.example.com/gpu"};
  const auto draw = [&](std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
  };
  Limits f;
  std::vector<quota::Quota> quotas;
  for (int step = 0; step < 200; ++step) {
    const std::size_t what = draw(5);
    if (what < 2) {
      Names hard;
      for (const std::string& name : names) {
        if (draw(2) == 0) hard.push_back(name);
      }
      quotas.push_back(
          QuotaOf("q" + std::to_string(step), hard, "team-" + std::to_string(draw(3))));
      f.limits.Add(quotas.back());
    } else if (what < 4 && !quotas.empty()) {
      const auto gone = quotas.begin() + static_cast<std::ptrdiff_t>(draw(quotas.size()));
      f.limits.Remove(*gone);
      quotas.erase(gone);
    } else {
      std::vector<const quota::Quota*> all;
      std::ranges::transform(quotas, std::back_inserter(all),
                             [](const quota::Quota& quota) { return &quota; });
      const bool own = f.api.evaluators.Find(kWidgets) != nullptr;
      f.CountWidgets(own ? std::nullopt : std::optional(WidgetsUnder("example.com/size")), all);
    }
    QuotaLimits anew(f.api, true);
    for (const quota::Quota& quota : quotas) anew.Add(quota);
    REQUIRE(f.limits.names() == anew.names());
    for (const auto& resource : {kPods, kSecrets, kClaims, kWidgets}) {
      CAPTURE(seed, step, resource.ToString());
      REQUIRE(f.limits.NamespacesOf(resource) == anew.NamespacesOf(resource));
    }
  }
}

}  // namespace quota_limits_test
