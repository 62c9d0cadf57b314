// The rules for ironcore's kinds: all creations, and updates that can need quota.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "pkg/quota/ironcore/ironcore_quota.h"
#include "pkg/webhook/webhook_configuration.h"

namespace webhook::ironcore_rules_test {
namespace {

// "CREATE machines" for each rule of the webhook.
std::vector<std::string> RulesOf(const json::Value& webhook) {
  std::vector<std::string> rules;
  for (const json::Value& rule : *webhook.At({"rules"})->AsArray()) {
    CHECK(rule.StringAt({"scope"}) == "Namespaced");
    std::string text = *rule.At({"operations"})->AsArray()->front().AsString();
    for (const json::Value& resource : *rule.At({"resources"})->AsArray()) {
      text.append(" ").append(*resource.AsString());
    }
    rules.push_back(std::move(text));
  }
  return rules;
}

TEST_CASE("ironcore rules: updates are reviewed if they can need quota, status never is",
          "[admission][ironcore]") {
  const quota::QuotaApi api = quota::IroncoreQuotaApi();
  std::vector<GuardedResource> guarded;
  for (const quota::Evaluator& evaluator : api.evaluators) {
    guarded.push_back(Guarded(api.name, evaluator));
  }
  const auto networks = api.object_counter({"networking.ironcore.dev", "networks"});
  REQUIRE(networks.has_value());
  guarded.push_back(Guarded(api.name, *networks));
  ConfigurationOptions options;
  options.endpoint = ServiceReference{.ns = "quota-system", .name = "webhook", .port = 443};
  const json::Value configuration = DesiredConfiguration(options, guarded, "");
  const json::Array& webhooks = *configuration.At({"webhooks"})->AsArray();
  REQUIRE(webhooks.size() == 4);
  CHECK(webhooks[0].StringAt({"name"}) == "ironcore.quota-controller-manager.io");
  CHECK(RulesOf(webhooks[0]) ==
        std::vector<std::string>{"CREATE machines", "CREATE networks", "CREATE buckets volumes"});
  CHECK(webhooks[0].At({"matchConditions"}) == nullptr);
  for (std::size_t i = 1; i < webhooks.size(); ++i) {
    const std::string name(webhooks[i].StringAt({"name"}));
    INFO(name);
    const auto rules = RulesOf(webhooks[i]);
    REQUIRE(rules.size() == 1);
    const std::string plural = rules[0].substr(std::string("UPDATE ").size());
    CHECK(rules[0].starts_with("UPDATE "));
    CHECK(name.starts_with("updates." + plural + "."));
    CHECK(webhooks[i].At({"matchConditions"})->AsArray()->size() == 1);
    CHECK(webhooks[i].StringAt({"failurePolicy"}) == "Fail");
  }
}

}  // namespace
}  // namespace webhook::ironcore_rules_test
