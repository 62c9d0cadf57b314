#include "pkg/webhook/webhook_configuration.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "pkg/api/names.h"
#include "pkg/api/selector.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/webhook/stored_configuration.h"
#include "tests/pkg/webhook/webhook_testing.h"

namespace webhook::webhook_configuration_test {
namespace {

std::vector<std::string> NamesOf(const json::Value& configuration) {
  std::vector<std::string> names;
  for (const json::Value& webhook : *configuration.At({"webhooks"})->AsArray()) {
    names.emplace_back(webhook.StringAt({"name"}));
  }
  return names;
}

// "a,!b" of a webhook that selects the namespaces with the label a and without b. Exempt names are
// left out.
std::string LabelsOf(const json::Value& webhook) {
  std::string text;
  for (const json::Value& one : webhook.ArrayAt({"namespaceSelector", "matchExpressions"})) {
    if (one.StringAt({"key"}) == api::kNamespaceLabel && one.StringAt({"operator"}) == "NotIn") {
      continue;
    }
    text.append(text.empty() ? "" : ",");
    if (one.StringAt({"operator"}) == "DoesNotExist") text.append("!");
    text.append(one.StringAt({"key"}));
  }
  return text;
}

// Returns how many webhooks ask for the creation of the resource in a namespace.
int Asking(const json::Value& configuration, std::string_view resource, const std::string& ns,
           json::Object labels) {
  labels.Set(std::string(api::kNamespaceLabel), ns);
  const json::Value of_namespace = std::move(labels);
  int asking = 0;
  for (const json::Value& webhook : *configuration.At({"webhooks"})->AsArray()) {
    const auto selector = api::LabelSelector::FromJson(*webhook.At({"namespaceSelector"}));
    REQUIRE(selector.has_value());
    if (!selector->Matches(&of_namespace)) continue;
    for (const json::Value& rule : webhook.ArrayAt({"rules"})) {
      const bool creates = rule.ArrayAt({"operations"}) == json::Array{"CREATE"};
      const json::Array& resources = rule.ArrayAt({"resources"});
      asking += creates &&
                std::ranges::find(resources, json::Value(std::string(resource))) != resources.end();
    }
  }
  return asking;
}

}  // namespace

TEST_CASE("webhook configuration: rules without a condition share one webhook", "[admission]") {
  const json::Value built = DesiredConfiguration(
      ByService(), {Pods(), Counted("secrets"), Counted("deployments", "apps")}, "PEM");
  CHECK(built == Json(R"x({
    "apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration",
    "metadata":{"name":"quota-controller-manager",
                "labels":{"app.kubernetes.io/managed-by":"quota-controller-manager"}},
    "webhooks":[
      {"name":"core.quota-controller-manager.io","admissionReviewVersions":["v1"],
       "clientConfig":{"service":{"namespace":"quota-system","name":"quota",
                                  "path":"/validate/core","port":443},"caBundle":"UEVN"},
       "failurePolicy":"Fail","matchPolicy":"Equivalent",
       "namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name",
                            "operator":"NotIn","values":["kube-node-lease","kube-public",
                                                         "kube-system","quota-system"]}]},
       "objectSelector":{},
       "rules":[
         {"operations":["CREATE"],"apiGroups":[""],"apiVersions":["*"],
          "resources":["pods","secrets"],"scope":"Namespaced"},
         {"operations":["UPDATE"],"apiGroups":[""],"apiVersions":["*"],
          "resources":["pods/resize"],"scope":"Namespaced"},
         {"operations":["CREATE"],"apiGroups":["apps"],"apiVersions":["*"],
          "resources":["deployments"],"scope":"Namespaced"}],
       "sideEffects":"NoneOnDryRun","timeoutSeconds":10},
      {"name":"updates.pods.core.quota-controller-manager.io","admissionReviewVersions":["v1"],
       "clientConfig":{"service":{"namespace":"quota-system","name":"quota",
                                  "path":"/validate/core","port":443},"caBundle":"UEVN"},
       "failurePolicy":"Fail",
       "matchConditions":[{"name":"can-need-quota",
                           "expression":"has(object.spec.x) != has(oldObject.spec.x)"}],
       "matchPolicy":"Equivalent",
       "namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name",
                            "operator":"NotIn","values":["kube-node-lease","kube-public",
                                                         "kube-system","quota-system"]}]},
       "objectSelector":{},
       "rules":[
         {"operations":["UPDATE"],"apiGroups":[""],"apiVersions":["*"],
          "resources":["pods"],"scope":"Namespaced"}],
       "sideEffects":"NoneOnDryRun","timeoutSeconds":10}]})x"));
}

TEST_CASE("webhook configuration: a rule names the version that the evaluator reads",
          "[admission]") {
  GuardedResource bindings = Counted("bindings", "example.com");
  bindings.version = "v1alpha2";
  bindings.updates = true;
  bindings.update_condition = "true";
  const std::vector<GuardedResource> guarded{bindings, Counted("others", "example.com")};
  const json::Value built = DesiredConfiguration(ByService(), guarded, "PEM");
  std::vector<std::string> versions;
  for (const json::Value& webhook : *built.At({"webhooks"})->AsArray()) {
    for (const json::Value& rule : *webhook.At({"rules"})->AsArray()) {
      versions.push_back(json::Write(*rule.At({"resources"})) +
                         json::Write(*rule.At({"apiVersions"})));
    }
  }
  CHECK(versions == std::vector<std::string>{R"(["others"]["*"])", R"(["bindings"]["v1alpha2"])",
                                             R"(["bindings"]["v1alpha2"])"});
  std::vector<GuardedResource> read = GuardedBy(built);
  std::ranges::sort(read);
  CHECK(read == guarded);
}

TEST_CASE("webhook configuration: equal input makes an identical object", "[admission]") {
  std::vector<GuardedResource> wanted{Pods(), Counted("secrets"), Counted("jobs", "batch"),
                                      Counted("resourcebindings", "work.karmada.io", "karmada")};
  const std::string built = json::Write(DesiredConfiguration(ByService(), wanted, "PEM"));
  std::sort(wanted.begin(), wanted.end());
  do {
    REQUIRE(json::Write(DesiredConfiguration(ByService(), wanted, "PEM")) == built);
  } while (std::next_permutation(wanted.begin(), wanted.end()));
}

TEST_CASE("webhook configuration: each quota API has its own path", "[admission]") {
  const json::Value built = DesiredConfiguration(
      ByService(), {Counted("secrets"), Counted("resourcebindings", "work.karmada.io", "karmada")},
      "");
  CHECK(NamesOf(built) == std::vector<std::string>{"core.quota-controller-manager.io",
                                                   "karmada.quota-controller-manager.io"});
  const json::Value& karmada = built.At({"webhooks"})->AsArray()->at(1);
  CHECK(karmada.StringAt({"clientConfig", "service", "path"}) == "/validate/karmada");
  CHECK(karmada.At({"clientConfig", "caBundle"}) == nullptr);
}

TEST_CASE("webhook configuration: with a URL no namespace of a Service is exempt", "[admission]") {
  ConfigurationOptions options;
  options.endpoint = AdmissionUrl{.host = "127.0.0.1", .port = 9443, .path = ""};
  options.failure_policy = "Ignore";
  json::Value built = DesiredConfiguration(options, {Counted("secrets")}, "");
  const json::Value& webhook = WebhookAt(built, 0);
  CHECK(webhook.StringAt({"clientConfig", "url"}) == "https://127.0.0.1:9443/validate/core");
  CHECK(webhook.At({"clientConfig", "service"}) == nullptr);
  CHECK(webhook.StringAt({"failurePolicy"}) == "Ignore");
  CHECK(*webhook.At({"namespaceSelector"}) ==
        Json(R"({"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn",
                                      "values":["kube-node-lease","kube-public",
                                                "kube-system"]}]})"));
}

TEST_CASE("webhook configuration: selects only namespaces that limit the resource", "[admission]") {
  const std::vector<GuardedResource> wanted{
      In(Counted("configmaps"), {"b"}), In(Pods(), {"a", "b"}), In(Counted("secrets"), {"a", "b"}),
      In(Counted("services"), {}), Counted("jobs", "batch")};
  json::Value built = DesiredConfiguration(ByService(), wanted, "PEM");
  std::vector<std::string> asked;
  for (const json::Value& webhook : *built.At({"webhooks"})->AsArray()) {
    std::string text(webhook.StringAt({"name"}));
    text.resize(text.find(".quota-controller-manager"));
    const auto& selector = *webhook.At({"namespaceSelector", "matchExpressions"})->AsArray();
    text.append(" ").append(selector[0].StringAt({"operator"}));
    text.append(" ").append(json::Write(*selector[0].At({"values"})));
    for (const json::Value& rule : *webhook.At({"rules"})->AsArray()) {
      text.append(" ").append(json::Write(*rule.At({"resources"})));
    }
    asked.push_back(std::move(text));
  }
  CHECK(asked == std::vector<std::string>{
                     R"(core In ["b"] ["configmaps"])",
                     R"(creates-2.core In ["a","b"] ["pods","secrets"] ["pods/resize"])",
                     R"(creates-3.core NotIn ["kube-node-lease","kube-public","kube-system",)"
                     R"("quota-system"] ["jobs"])",
                     R"(updates.pods.core In ["a","b"] ["pods"])"});
  std::vector<GuardedResource> read = GuardedBy(built);
  std::ranges::sort(read);
  CHECK(read == std::vector<GuardedResource>{wanted[0], wanted[1], wanted[2], wanted[4]});
}

TEST_CASE("webhook configuration: selects all namespaces if too many are limited", "[admission]") {
  const auto in = [](GuardedResource guarded, std::size_t namespaces) {
    guarded.namespaces.all_but = false;
    for (std::size_t i = 0; i < namespaces; ++i) {
      guarded.namespaces.names.insert("n" + std::to_string(i));
    }
    return guarded;
  };
  const auto selectors = [](const std::vector<GuardedResource>& wanted) {
    std::string text;
    json::Value built = DesiredConfiguration(ByService(), wanted, "");
    for (const json::Value& webhook : *built.At({"webhooks"})->AsArray()) {
      const auto& selector = *webhook.At({"namespaceSelector", "matchExpressions"})->AsArray();
      text.append(selector[0].StringAt({"operator"})).append(" ");
    }
    return text;
  };
  CHECK(selectors({in(Counted("secrets"), kMostNamespaces)}) == "In ");
  CHECK(selectors({in(Counted("secrets"), kMostNamespaces + 1)}) == "NotIn ");
  std::vector<GuardedResource> many;
  for (std::size_t i = 0; i < 11; ++i) {
    many.push_back(in(Counted("k" + std::to_string(i)), kMostNamespaces - i));
  }
  CHECK(selectors(many) == "NotIn ");
  many.resize(10);
  std::string all_in;
  for (std::size_t i = 0; i < many.size(); ++i) all_in += "In ";
  CHECK(selectors(many) == all_in);
}

TEST_CASE("webhook configuration: each label key is a webhook that leaves out the keys before it",
          "[admission]") {
  const std::vector<GuardedResource> wanted{Labelled(Pods(), {"team", "env", "x.io/y"}),
                                            Labelled(Counted("secrets"), {"team"}, {"shop"})};
  json::Value built = DesiredConfiguration(ByService(), wanted, "PEM");
  std::vector<std::string> asked;
  for (const json::Value& webhook : *built.At({"webhooks"})->AsArray()) {
    std::string text(webhook.StringAt({"name"}));
    text.resize(text.find(".quota-controller-manager"));
    asked.push_back(text + " " + LabelsOf(webhook));
  }
  CHECK(asked == std::vector<std::string>{
                     "core env", "creates-2.core team,!env", "creates-3.core x.io/y,!env,!team",
                     "creates-4.core kubernetes.io/metadata.name", "creates-5.core team",
                     "updates.pods.core env", "updates-2.pods.core team,!env",
                     "updates-3.pods.core x.io/y,!env,!team"});
  CHECK(*WebhookAt(built, 1).At({"namespaceSelector"}) == Json(R"({"matchExpressions":[
                  {"key":"team","operator":"Exists"},
                  {"key":"kubernetes.io/metadata.name","operator":"NotIn",
                   "values":["kube-node-lease","kube-public","kube-system","quota-system"]},
                  {"key":"env","operator":"DoesNotExist"}]})"));
  std::vector<GuardedResource> read = GuardedBy(built);
  std::ranges::sort(read);
  CHECK(read == wanted);
}

TEST_CASE("webhook configuration: a namespace is asked about once, and others never",
          "[admission]") {
  const json::Value built = DesiredConfiguration(
      ByService(), {Labelled(Counted("secrets"), {"a", "b", "c"}, {"shop", "web"})}, "");
  for (const char* ns : {"shop", "other", "kube-system", "quota-system"}) {
    for (int mask = 0; mask < 16; ++mask) {
      json::Object labels;
      for (int i = 0; i < 4; ++i) {
        if ((mask >> i & 1) != 0) labels.Set(std::string(1, static_cast<char>('a' + i)), "");
      }
      const std::string name = ns;
      const bool exempt = name == "kube-system" || name == "quota-system";
      const bool limited = !exempt && (name == "shop" || (mask & 7) != 0);
      INFO(name << " " << json::Write(json::Value(labels)));
      CHECK(Asking(built, "secrets", name, labels) == (limited ? 1 : 0));
    }
  }
}

TEST_CASE("webhook configuration: namespaces with exempt labels are never asked about",
          "[admission]") {
  ConfigurationOptions options = ByService();
  using Operator = api::LabelOperator;
  options.exempt_labels = GENERATE(api::LabelRequirement{"tier", Operator::kIn, {"s", "t"}},
                                   api::LabelRequirement{"tier", Operator::kNotIn, {"u"}},
                                   api::LabelRequirement{"tier", Operator::kExists, {}},
                                   api::LabelRequirement{"tier", Operator::kDoesNotExist, {}});
  const api::LabelRequirement& exempt = *options.exempt_labels;
  const auto is_exempt = [&](const char* tier) {
    const bool named = std::ranges::find(exempt.values, std::string(tier)) != exempt.values.end();
    switch (exempt.op) {
      case Operator::kIn:
        return named;
      case Operator::kNotIn:
        return !named;
      case Operator::kExists:
        return *tier != 0;
      default:
        return *tier == 0;
    }
  };
  const std::vector<GuardedResource> wanted{
      Counted("configmaps"), In(Counted("pods"), {"shop"}),
      Labelled(Counted("secrets"), {"team", "tier"}, {"web"})};
  const json::Value built = DesiredConfiguration(options, wanted, "");
  for (const char* tier : {"", "s", "u"}) {
    const int asks = is_exempt(tier) ? 0 : 1;
    INFO(json::Write(options.NotExempt()) << " tier=" << tier);
    json::Object labels{{"team", "a"}};
    if (*tier != 0) labels.Set("tier", tier);
    CHECK(Asking(built, "configmaps", "shop", labels) == asks);
    CHECK(Asking(built, "pods", "shop", labels) == asks);
    CHECK(Asking(built, "secrets", "web", labels) == asks);
    CHECK(Asking(built, "secrets", "shop", labels) == asks);
  }
  std::vector<GuardedResource> read = GuardedBy(built, options.NotExempt());
  std::ranges::sort(read);
  CHECK(read == wanted);
  read = GuardedAsDesired(built, built, options.Exempt(), options.NotExempt());
  std::ranges::sort(read);
  REQUIRE(read.size() == 3);
  CHECK(read[0].namespaces.all_but);
  CHECK(std::vector(read.begin() + 1, read.end()) == std::vector(wanted.begin() + 1, wanted.end()));
}

TEST_CASE("webhook configuration: selects all namespaces if there are too many label keys",
          "[admission]") {
  const auto keys = [](std::size_t count) {
    std::set<std::string, std::less<>> all;
    for (std::size_t i = 0; i < count; ++i) all.insert("key-" + std::to_string(i));
    return all;
  };
  const auto labels = [](const std::vector<GuardedResource>& wanted) {
    std::set<std::string> all;
    const json::Value built = DesiredConfiguration(ByService(), wanted, "");
    for (const json::Value& webhook : *built.At({"webhooks"})->AsArray()) {
      all.insert(LabelsOf(webhook));
    }
    return all;
  };
  CHECK(labels({Labelled(Counted("secrets"), keys(kMostLabelKeys))}).size() == kMostLabelKeys);
  CHECK(labels({Labelled(Counted("secrets"), keys(kMostLabelKeys + 1))}) ==
        std::set<std::string>{""});
  // Many resources, each limited elsewhere.
  std::vector<GuardedResource> many;
  for (std::size_t i = 0; i < kMostWebhooksForKeys; ++i) {
    many.push_back(Labelled(Counted("kind" + std::to_string(i)), {"k" + std::to_string(i)}));
  }
  many.push_back(In(Counted("secrets"), {"shop"}));
  CHECK(labels(many).size() == kMostWebhooksForKeys + 1);
  many.push_back(Labelled(Counted("more"), {"more"}));
  CHECK(labels(many) == std::set<std::string>{"", "kubernetes.io/metadata.name"});
}

TEST_CASE("webhook configuration: the largest one fits into a request", "[admission]") {
  // Names and keys of the greatest length, in all webhooks for label keys that there may be.
  std::set<std::string, std::less<>> keys;
  for (std::size_t i = 0; i < kMostLabelKeys; ++i) {
    keys.insert(std::string(252, 'd') + std::to_string(i) + "/" + std::string(63, 'k'));
  }
  std::vector<GuardedResource> wanted;
  for (std::size_t i = 0; i < kMostWebhooksForKeys / kMostLabelKeys / 2; ++i) {
    GuardedResource one = Labelled(Pods(), keys);
    one.resource = {std::string(200, 'g'), std::string(62, 'r') + std::to_string(i)};
    wanted.push_back(std::move(one));
  }
  ConfigurationOptions options = ByService();
  for (int i = 10; i < 60; ++i) {
    options.exempt_namespaces.push_back(std::string(61, 'e') + std::to_string(i));
  }
  const json::Value built = DesiredConfiguration(options, wanted, std::string(4000, 'P'));
  const std::vector<std::string> names = NamesOf(built);
  CHECK(names.size() > 40);
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  for (const std::string& name : names) CHECK(name.size() <= 253);
  CHECK(json::Write(built).size() < 1'000'000);  // etcd takes 1.5 MiB
}

TEST_CASE("webhook configuration: the longest conditions are left out if all take too much",
          "[admission]") {
  std::vector<GuardedResource> wanted;
  for (int i = 10; i < 110; ++i) {
    GuardedResource one = Counted("kind" + std::to_string(i), "x.io");
    one.updates = true;
    one.update_condition = "c" + std::to_string(i) + std::string(i < 60 ? 200 : 16'000, 'c');
    wanted.push_back(std::move(one));
  }
  const json::Value built = DesiredConfiguration(ByService(), wanted, std::string(2000, 'P'));
  CHECK(json::Write(built).size() < kMostBytesForConditions + 20'000);
  std::size_t asked_always = 0;
  const std::vector<GuardedResource> read = GuardedBy(built);
  REQUIRE(read.size() == wanted.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    CHECK(read[i].updates);
    const bool always = read[i].update_condition.empty();
    asked_always += always ? 1 : 0;
    INFO(read[i].resource.ToString());
    if (read[i].resource.resource < "kind60" && read[i].resource.resource >= "kind11")
      CHECK_FALSE(always);
  }
  CHECK(asked_always > 10);
  CHECK(asked_always < 50);
  // Many short ones are not small either.
  for (int i = 1000; i < 3000; ++i) {
    GuardedResource one = Counted("kind" + std::to_string(i), "x.io");
    one.updates = true;
    one.update_condition = "d" + std::to_string(i);
    wanted.push_back(std::move(one));
  }
  CHECK(json::Write(DesiredConfiguration(ByService(), wanted, std::string(2000, 'P'))).size() <
        kMostBytesForConditions + 100'000);
}

TEST_CASE("webhook configuration: hundreds of counted kinds are one webhook", "[admission]") {
  std::vector<GuardedResource> wanted;
  wanted.reserve(300);
  for (int i = 0; i < 300; ++i) wanted.push_back(Counted("kind" + std::to_string(i), "x.io"));
  const json::Value built = DesiredConfiguration(ByService(), wanted, "");
  CHECK(NamesOf(built).size() == 1);
  CHECK(json::Write(built).size() < 10'000);
}

TEST_CASE("webhook configuration: a name that is too long gets a hash", "[admission]") {
  GuardedResource a = Pods();
  a.resource = {std::string(240, 'g'), std::string(63, 'a')};
  GuardedResource b = a;
  b.resource.resource = std::string(63, 'b');
  const auto names = NamesOf(DesiredConfiguration(ByService(), {a, b}, ""));
  REQUIRE(names.size() == 3);
  CHECK(names[1] != names[2]);
  for (const std::string& name : names) {
    CHECK(name.size() <= 253);
    CHECK(name.ends_with(".core.quota-controller-manager.io") == (name != names[0]));
  }
}

TEST_CASE("webhook configuration: a quota cannot add a wildcard to the rules", "[admission]") {
  const json::Value built = DesiredConfiguration(
      ByService(),
      {Counted("*"), Counted("pods/*"), Counted("pods", "*"), Counted(""), Counted("Upper")}, "");
  CHECK(NamesOf(built).empty());
}

TEST_CASE("webhook configuration: each core evaluator with a condition has one webhook more",
          "[admission]") {
  const quota::QuotaApi core = quota::CoreQuotaApi();
  std::vector<GuardedResource> wanted;
  std::multiset<std::string> expected{"core.quota-controller-manager.io"};
  for (const auto& evaluator : core.evaluators) {
    wanted.push_back(Guarded("core", evaluator));
    if (evaluator.guard.update_condition.empty()) continue;
    expected.insert("updates." + evaluator.resource.ToString() +
                    ".core.quota-controller-manager.io");
  }
  CHECK(expected.contains("updates.pods.core.quota-controller-manager.io"));
  const std::vector<std::string> names = NamesOf(DesiredConfiguration(ByService(), wanted, ""));
  CHECK(std::multiset<std::string>(names.begin(), names.end()) == expected);
}

}  // namespace webhook::webhook_configuration_test
