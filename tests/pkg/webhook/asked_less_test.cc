// Every edit of a stored configuration by which an API server asks for less is noticed.
#include <algorithm>
#include <functional>

#include "pkg/webhook/stored_configuration.h"
#include "tests/pkg/webhook/webhook_testing.h"

namespace webhook::asked_less_test {
namespace {

const std::vector<GuardedResource> kWanted{Counted("secrets"), Pods()};

json::Value Desired() { return DesiredConfiguration(ByService(), kWanted, "PEM"); }

// True if Pods are guarded in all namespaces but exempt ones, in all ways in which they are wanted.
bool GuardsPods(const json::Value& live) {
  GuardedResource wanted = Pods();
  wanted.namespaces.names = ByService().Exempt();
  const auto guarded = GuardedAsDesired(live, Desired(), ByService().Exempt());
  return std::ranges::find(guarded, wanted) != guarded.end();
}

json::Value& FirstRule(json::Value& webhook) { return webhook.Make({"rules"}).AsArray()->front(); }

}  // namespace

TEST_CASE("stored configuration: whatever makes an API server ask for less is noticed",
          "[admission]") {
  using Edit = std::function<void(json::Value & webhook)>;
  const std::vector<std::pair<std::string, Edit>> edits{
      {"policy", [](auto& webhook) { webhook.Make({"failurePolicy"}) = "Ignore"; }},
      {"match policy", [](auto& webhook) { webhook.Make({"matchPolicy"}) = "Exact"; }},
      {"condition",
       [](auto& webhook) {
         webhook.Make({"matchConditions"}) =
             json::Array{json::Object{{"name", "never"}, {"expression", "false"}}};
       }},
      {"object selector",
       [](auto& webhook) {
         webhook.Make({"objectSelector", "matchLabels", "a"}) = "b";
       }},
      {"object expressions",
       [](auto& webhook) {
         webhook.Make({"objectSelector", "matchExpressions"}) =
             Json(R"([{"key":"a","operator":"Exists"}])");
       }},
      {"namespace selector",
       [](auto& webhook) {
         webhook.Make({"namespaceSelector", "matchLabels", "a"}) = "b";
       }},
      {"service",
       [](auto& webhook) {
         webhook.Make({"clientConfig", "service", "name"}) = "other";
       }},
      {"port",
       [](auto& webhook) {
         webhook.Make({"clientConfig", "service", "port"}) = 444;
       }},
      {"path",
       [](auto& webhook) {
         webhook.Make({"clientConfig", "service", "path"}) = "/";
       }},
      {"address",
       [](auto& webhook) {
         webhook.Make({"clientConfig"}) = json::Object{{"url", "https://other/validate/core"}};
       }},
      {"bundle",
       [](auto& webhook) {
         webhook.Make({"clientConfig", "caBundle"}) = "WA==";
       }},
      {"no rules", [](auto& webhook) { webhook.Make({"rules"}) = json::Array(); }},
      {"operation",
       [](auto& webhook) { FirstRule(webhook).Make({"operations"}) = json::Array{"DELETE"}; }},
      {"group",
       [](auto& webhook) { FirstRule(webhook).Make({"apiGroups"}) = json::Array{"apps"}; }},
      {"version",
       [](auto& webhook) { FirstRule(webhook).Make({"apiVersions"}) = json::Array{"v9"}; }},
      {"resources",
       [](auto& webhook) { FirstRule(webhook).Make({"resources"}) = json::Array{"secrets"}; }},
      {"scope", [](auto& webhook) { FirstRule(webhook).Make({"scope"}) = "Cluster"; }},
  };
  CHECK(GuardsPods(Shown(Desired(), "7")));
  const std::size_t webhooks = Desired().At({"webhooks"})->AsArray()->size();
  REQUIRE(webhooks == 2);  // creations, and updates with a condition
  for (const auto& [name, edit] : edits) {
    for (std::size_t i = 0; i < webhooks; ++i) {
      INFO(name << " of webhook " << i);
      json::Value live = Shown(Desired(), "7");
      edit(WebhookAt(live, i));
      CHECK_FALSE(GuardsPods(live));
      CHECK_FALSE(SameConfiguration(live, Desired()));
    }
  }
}

TEST_CASE("stored configuration: what makes an API server ask for as much is no loss",
          "[admission]") {
  using Edit = std::function<void(json::Value & webhook)>;
  const std::vector<std::pair<std::string, Edit>> edits{
      {"name", [](auto& webhook) { webhook.Make({"name"}) = "of.another.grouping"; }},
      {"any scope", [](auto& webhook) { FirstRule(webhook).Make({"scope"}) = "*"; }},
      {"default scope", [](auto& webhook) { FirstRule(webhook).AsObject()->Erase("scope"); }},
      {"one more resource",
       [](auto& webhook) {
         FirstRule(webhook).Make({"resources"}).AsArray()->emplace_back("configmaps");
       }},
  };
  for (const auto& [name, edit] : edits) {
    for (std::size_t i = 0; i < 2; ++i) {
      INFO(name << " of webhook " << i);
      json::Value live = Shown(Desired(), "7");
      edit(WebhookAt(live, i));
      CHECK(GuardsPods(live));
    }
  }
}

}  // namespace webhook::asked_less_test
