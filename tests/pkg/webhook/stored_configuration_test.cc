#include "pkg/webhook/stored_configuration.h"

#include <algorithm>
#include <functional>

#include "pkg/webhook/ownership.h"
#include "tests/pkg/webhook/webhook_testing.h"

namespace webhook::stored_configuration_test {
namespace {

const std::vector<GuardedResource> kWanted{Counted("secrets"), Pods()};

json::Value Desired() { return DesiredConfiguration(ByService(), kWanted, "PEM"); }
json::Value Live() { return Shown(Desired(), "7"); }

void Annotate(json::Value& live, const std::string& key) {
  live.Make({"metadata", "annotations", key}) = "quota-system/cert";
}

void SetBundle(json::Value& live, const std::string& bundle) {
  for (json::Value& webhook : *live.Make({"webhooks"}).AsArray()) {
    webhook.Make({"clientConfig", "caBundle"}) = bundle;
  }
}

}  // namespace

TEST_CASE("stored configuration: the guarded resources are read back", "[admission]") {
  std::vector<GuardedResource> wanted{Pods(), Counted("secrets"), Counted("deployments", "apps"),
                                      Counted("resourcebindings", "work.karmada.io", "karmada")};
  GuardedResource every_update = Counted("machines", "compute.ironcore.dev", "ironcore");
  every_update.updates = true;
  wanted.push_back(every_update);
  std::ranges::sort(wanted);
  CHECK(GuardedBy(DesiredConfiguration(ByService(), wanted, "PEM")) == wanted);
  ConfigurationOptions by_url;
  by_url.endpoint = AdmissionUrl{.host = "127.0.0.1", .port = 9443, .path = "/below"};
  CHECK(GuardedBy(DesiredConfiguration(by_url, wanted, "")) == wanted);
}

TEST_CASE("stored configuration: a resource without a rule for CREATE is not guarded",
          "[admission]") {
  json::Value live = Live();
  WebhookAt(live, 0).Make({"rules"}).AsArray()->clear();
  CHECK(GuardedBy(live).empty());
}

TEST_CASE("stored configuration: webhooks that are not ours are ignored", "[admission]") {
  CHECK(GuardedBy(Json(R"({"webhooks":null})")).empty());
  CHECK(GuardedBy(Json(R"({"webhooks":[7,{"rules":[{"resources":["pods"]}]},
      {"clientConfig":{"url":"https://x/validate/core"},"rules":[
         {"operations":["CREATE"],"apiGroups":[""],"resources":["*",8]},
         {"operations":["CREATE"],"resources":["pods"]}]}]})"))
            .empty());
}

TEST_CASE("stored configuration: defaults and additions of others are no difference",
          "[admission]") {
  json::Value live = Live();
  CHECK(SameConfiguration(live, Desired()));
  live.Make({"metadata", "labels", "team"}) = "x";
  live.Make({"metadata", "annotations", "note"}) = "y";
  live.Make({"metadata", "generation"}) = 4;
  WebhookAt(live, 0).Make({"someFutureDefault"}) = "z";
  WebhookAt(live, 0).AsObject()->Erase("objectSelector");
  CHECK(SameConfiguration(live, Desired()));
}

TEST_CASE("stored configuration: every change that affects calls is a difference", "[admission]") {
  using Change = std::function<void(json::Value&)>;
  const std::vector<std::pair<std::string, Change>> changes{
      {"label", [](json::Value& live) { live.Make({"metadata"}).AsObject()->Erase("labels"); }},
      {"a webhook less", [](json::Value& live) { live.Make({"webhooks"}).AsArray()->pop_back(); }},
      {"a webhook more",
       [](json::Value& live) {
         live.Make({"webhooks"}).AsArray()->push_back(json::Object{{"name", "x.y.z"}});
       }},
      {"policy", [](json::Value& live) { WebhookAt(live, 0).Make({"failurePolicy"}) = "Ignore"; }},
      {"rules",
       [](json::Value& live) { WebhookAt(live, 0).Make({"rules"}).AsArray()->pop_back(); }},
      {"operation",
       [](json::Value& live) {
         WebhookAt(live, 1).Make({"rules"}).AsArray()->at(0).Make({"operations"}) =
             json::Array{"*"};
       }},
      {"condition",
       [](json::Value& live) {
         WebhookAt(live, 0).Make({"matchConditions"}) =
             json::Array{json::Object{{"name", "never"}, {"expression", "false"}}};
       }},
      {"no condition",
       [](json::Value& live) { WebhookAt(live, 1).AsObject()->Erase("matchConditions"); }},
      {"object selector",
       [](json::Value& live) {
         WebhookAt(live, 0).Make({"objectSelector", "matchLabels", "a"}) = "b";
       }},
      {"namespace selector",
       [](json::Value& live) {
         WebhookAt(live, 0).Make({"namespaceSelector", "matchLabels", "a"}) = "b";
       }},
      {"service",
       [](json::Value& live) {
         WebhookAt(live, 0).Make({"clientConfig", "service", "name"}) = "other";
       }},
      {"bundle",
       [](json::Value& live) {
         WebhookAt(live, 0).Make({"clientConfig", "caBundle"}) = "WA==";
       }},
  };
  for (const auto& [what, change] : changes) {
    INFO(what);
    json::Value live = Live();
    change(live);
    CHECK_FALSE(SameConfiguration(live, Desired()));
    CHECK(DiffersInCaBundleOnly(live, Desired()) == (what == "bundle"));
  }
}

TEST_CASE("stored configuration: an injected bundle is left alone", "[admission]") {
  json::Value live = Live();
  Annotate(live, GENERATE(as<std::string>(), "cert-manager.io/inject-ca-from",
                          "cert-manager.io/inject-ca-from-secret",
                          "service.beta.openshift.io/inject-cabundle"));
  SetBundle(live, "SU5K");
  CHECK(SameConfiguration(live, Desired()));
  CHECK(GuardedAsDesired(live, Desired()).size() == 2);
  WebhookAt(live, 0).Make({"failurePolicy"}) = "Ignore";
  WebhookAt(live, 1).AsObject()->Erase("name");  // a new webhook gets the bundle of the others
  CHECK_FALSE(SameConfiguration(live, Desired()));
  json::Value patch = ConfigurationPatch(live, Desired());
  CHECK(WebhookAt(patch, 0).StringAt({"clientConfig", "caBundle"}) == "SU5K");
  CHECK(WebhookAt(patch, 1).StringAt({"clientConfig", "caBundle"}) == "SU5K");
}

// The injector needs a second, or does not run.
TEST_CASE("stored configuration: first webhooks have our bundle until another one is injected",
          "[admission]") {
  json::Value live = Live();
  Annotate(live, "cert-manager.io/inject-ca-from");
  live.Make({"webhooks"}) = json::Array();
  json::Value patch = ConfigurationPatch(live, Desired());
  CHECK(WebhookAt(patch, 0).StringAt({"clientConfig", "caBundle"}) == "UEVN");
}

TEST_CASE("stored configuration: without our own bundle the stored one is left alone",
          "[admission]") {
  const json::Value without = DesiredConfiguration(ByService(), kWanted, "");
  json::Value live = Live();
  CHECK(SameConfiguration(live, without));
  CHECK(HasCaBundle(live, "PEM"));
  CHECK_FALSE(HasCaBundle(live, "OTHER"));
  json::Value patch = ConfigurationPatch(live, without);
  CHECK(WebhookAt(patch, 0).StringAt({"clientConfig", "caBundle"}) == "UEVN");
  CHECK(SameConfiguration(Shown(without, "8"), without));
  CHECK_FALSE(SameConfiguration(Shown(without, "8"), Desired()));
}

TEST_CASE("stored configuration: the patch has a resourceVersion and the changes", "[admission]") {
  json::Value live = Live();
  live.Make({"metadata", "labels"}) = json::Object{{"team", "x"}};
  CHECK(ConfigurationPatch(live, Desired()) ==
        json::Value(json::Object{
            {"metadata", json::Object{{"resourceVersion", "7"},
                                      {"labels", json::Object{{"app.kubernetes.io/managed-by",
                                                               "quota-controller-manager"}}}}},
            {"webhooks", *Desired().At({"webhooks"})}}));
}

TEST_CASE("stored configuration: a webhook that calls elsewhere guards nothing", "[admission]") {
  json::Value live = Live();
  CHECK(GuardedAsDesired(live, Desired()).size() == 2);
  WebhookAt(live, 0).Make({"clientConfig", "service", "name"}) = "other";
  CHECK(GuardedAsDesired(live, Desired()).empty());
  live = Live();
  WebhookAt(live, 1).Make({"failurePolicy"}) = "Ignore";
  const auto guarded = GuardedAsDesired(live, Desired());
  REQUIRE(guarded.size() == 2);
  CHECK_FALSE(guarded[0].updates);  // of the pods
}

TEST_CASE("stored configuration: another selector guards only the namespaces it names",
          "[admission]") {
  GuardedResource wanted = Counted("secrets");
  wanted.namespaces = {.all_but = false, .names = {"a", "b"}};
  const json::Value desired = DesiredConfiguration(ByService(), {wanted}, "PEM");
  const auto guarded = [&](std::string_view selector) {
    json::Value live = Shown(desired, "7");
    WebhookAt(live, 0).Make({"name"}) = "of.another.grouping";
    WebhookAt(live, 0).Make({"namespaceSelector"}) = Json(selector);
    const auto found = GuardedAsDesired(live, desired);
    return found.empty() ? Namespaces{.all_but = false} : found.front().namespaces;
  };
  const auto by_name = [](const std::string& relation, const std::string& values) {
    return R"({"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":")" + relation +
           R"(","values":[)" + values + "]}]}";
  };
  CHECK(guarded(by_name("In", R"("a","c")")) == Namespaces{.all_but = false, .names = {"a", "c"}});
  CHECK(guarded(by_name("NotIn", R"("b")")) == Namespaces{.all_but = true, .names = {"b"}});
  CHECK(guarded("{}") == Namespaces{});
  const Namespaces none{.all_but = false};
  CHECK(guarded(by_name("Exists", "")) == none);
  CHECK(guarded(R"({"matchLabels":{"a":"b"}})") == none);
  CHECK(guarded(R"({"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]})") == none);
}

TEST_CASE("stored configuration: a label is guarded if every namespace with it is selected",
          "[admission]") {
  const json::Value desired =
      DesiredConfiguration(ByService(), {Labelled(Pods(), {"a", "b", "c"}, {"shop"})}, "PEM");
  json::Value live = Shown(desired, "7");
  const auto found = [&] {
    const auto guarded = GuardedAsDesired(live, desired, ByService().Exempt());
    REQUIRE(guarded.size() == 1);
    return guarded[0].namespaces;
  };
  using Keys = std::set<std::string, std::less<>>;
  CHECK(found() == Namespaces{.all_but = false, .names = {"shop"}, .label_keys = {"a", "b", "c"}});
  // The webhooks: shop, a, b, c; and the same again for updates.
  REQUIRE(live.At({"webhooks"})->AsArray()->size() == 8);
  const auto expressions = [&](std::size_t webhook) -> json::Array& {
    return *WebhookAt(live, webhook).Make({"namespaceSelector", "matchExpressions"}).AsArray();
  };
  SECTION("another one is left out") {
    expressions(2).push_back(Json(R"({"key":"d","operator":"DoesNotExist"})"));
    CHECK(found().label_keys == Keys{"a"});  // c leaves b out
  }
  SECTION("it is left out by name") {
    expressions(1).push_back(Json(
        R"({"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["kube-system","x"]})"));
    CHECK(found().label_keys.empty());
  }
  SECTION("only some values are selected") {
    expressions(1).front() = Json(R"({"key":"a","operator":"In","values":["1"]})");
    CHECK(found().label_keys.empty());
  }
  SECTION("one of them is missing") {
    live.Make({"webhooks"}).AsArray()->erase(live.Make({"webhooks"}).AsArray()->begin() + 2);
    CHECK(found().label_keys == Keys{"a"});
  }
  SECTION("one of the updates is missing") {
    live.Make({"webhooks"}).AsArray()->pop_back();
    CHECK(found().label_keys == Keys{"a", "b"});
  }
  SECTION("one of the updates has another condition") {
    WebhookAt(live, 7).Make({"matchConditions"}).AsArray()->front().Make({"expression"}) = "false";
    CHECK(found().label_keys.empty());
  }
  SECTION("the names are missing") {
    expressions(0).front().Make({"values"}) = json::Array{"web"};
    CHECK(found() == Namespaces{.all_but = false});  // a, b and c leave out shop
  }
  SECTION("all namespaces are selected") {
    WebhookAt(live, 1).Make({"namespaceSelector"}) = json::Object();
    CHECK(found().label_keys == Keys{"a", "b", "c"});
    WebhookAt(live, 5).Make({"namespaceSelector"}) = json::Object();
    CHECK(found().all_but);
  }
}

TEST_CASE("stored configuration: a resource is guarded where all its webhooks select",
          "[admission]") {
  json::Value live = Live();
  WebhookAt(live, 1).Make({"namespaceSelector"}) =
      Json(R"({"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"In",
                                    "values":["a","quota-system"]}]})");
  const auto guarded = GuardedAsDesired(live, Desired());
  REQUIRE(guarded.size() == 2);
  CHECK(guarded[0].namespaces == Namespaces{.all_but = false, .names = {"a"}});  // pods
  CHECK(guarded[1].namespaces.all_but);
  WebhookAt(live, 1)
      .Make({"matchConditions"})
      .AsArray()
      ->push_back(json::Object{{"name", "never"}, {"expression", "false"}});
  CHECK_FALSE(GuardedAsDesired(live, Desired())[0].updates);
}

TEST_CASE("stored configuration: the second label marks an object that Helm installed",
          "[admission]") {
  json::Value live = Live();
  live.Make({"metadata", "labels"}) = json::Object{{"app.kubernetes.io/managed-by", "Helm"},
                                                   {"quota-controller-manager.io/managed", "true"}};
  CHECK(HasOurLabel(live));
  CHECK(ConfigurationPatch(live, Desired()).At({"metadata", "labels"}) == nullptr);
  live.Make({"metadata", "labels", "quota-controller-manager.io/managed"}) = "false";
  CHECK_FALSE(HasOurLabel(live));
}

TEST_CASE("stored configuration: our label marks our object", "[admission]") {
  json::Value live = Live();
  CHECK(HasOurLabel(live));
  live.Make({"metadata", "labels", "app.kubernetes.io/managed-by"}) = "Helm";
  CHECK_FALSE(HasOurLabel(live));
  live.Make({"metadata"}).AsObject()->Erase("labels");
  CHECK_FALSE(HasOurLabel(live));
}

}  // namespace webhook::stored_configuration_test
