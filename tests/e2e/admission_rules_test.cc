// The webhook configuration, managed by the daemon or by the admin.
#include <algorithm>
#include <catch2/catch.hpp>

#include "pkg/base/base64.h"
#include "pkg/config/yaml.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/custom_kind.h"
#include "tests/source_dir.h"

namespace e2e::admission_rules_test {
namespace {

// The resources of all rules: "pods", "pods/resize".
std::vector<std::string> Guarded(const json::Value& configuration) {
  std::vector<std::string> guarded;
  const json::Value* webhooks = configuration.At({"webhooks"});
  if (webhooks == nullptr || webhooks->AsArray() == nullptr) return guarded;
  for (const json::Value& webhook : *webhooks->AsArray()) {
    for (const json::Value& rule : *webhook.At({"rules"})->AsArray()) {
      for (const json::Value& resource : *rule.At({"resources"})->AsArray()) {
        guarded.push_back(*resource.AsString());
      }
    }
  }
  return guarded;
}

bool Has(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

}  // namespace

TEST_CASE("admission: a name enters status.hard only after its rule is stored",
          "[e2e][admission]") {
  // A configuration of that name without the daemon's label: the daemon must neither change it nor
  // rely on it.
  Api admin(SharedServer().Kubeconfig());
  admin.Create(ConfigurationPath(""), Json(R"({"apiVersion":"admissionregistration.k8s.io/v1",
      "kind":"ValidatingWebhookConfiguration","metadata":{"name":"quota-controller-manager"}})"));
  Admission a({.wait_until_ready = false});
  a.scenario().Create("resourcequotas", Quota("q", {{"pods", "1"}}));
  a.daemon().WaitForLog("somebody else's");
  Always(
      "nothing is enforced",
      [&]() -> std::string {
        const auto hard = ToQuantities(a.scenario().GetQuota("q").At({"status", "hard"}));
        return hard.empty() ? "" : ToText(hard);
      },
      1s);
  CHECK(a.daemon().Probe("/readyz") != 200);
  CHECK(Guarded(a.api().Get(ConfigurationPath())).empty());

  admin.Delete(ConfigurationPath());
  a.scenario().WaitUsed("q", {{"pods", "0"}});
  CHECK(Has(Guarded(a.api().Get(ConfigurationPath())), "pods"));
  a.daemon().WaitUntilReady();
  // Once a name is shown in status.hard, it is enforced.
  for (int i = 0; i < 5; ++i) {
    const auto name = "only-" + std::to_string(i);
    a.api().MergePatch(a.scenario().Path("resourcequotas", "q"),
                       HardPatch({{"pods", "1"}, {"secrets", "1"}}));
    a.scenario().WaitUsed("q", {{"pods", "0"}, {"secrets", "0"}});
    CHECK(Has(Guarded(a.api().Get(ConfigurationPath())), "secrets"));
    CHECK(a.Post("secrets", Secret(name)).ok());
    CHECK(a.Post("secrets", Secret(name + "-too")).exceeded());
    a.scenario().Delete("secrets", name);
    a.scenario().WaitUsed("q", {{"pods", "0"}, {"secrets", "0"}});
  }
}

TEST_CASE("admission: a kind that appears is guarded as soon as it is counted",
          "[e2e][admission]") {
  Admission a;
  const CustomKind kind("things");
  a.scenario().Create("resourcequotas", Quota("q", {{kind.CountName(), "1"}, {"pods", "1"}}));
  a.api().Create(PathOf("customresourcedefinitions"), kind.Definition());
  a.scenario().WaitUsed("q", {{kind.CountName(), "0"}, {"pods", "0"}}, Stretched(60s));
  CreateCustom(a.scenario(), kind, "one");
  const Attempt second =
      ToAttempt(a.api().Do(PostOf(kind.Path(a.scenario().ns()), kind.Object("two"))));
  CHECK(second.code == 403);
  CHECK(second.message ==
        Denied(kind.Crd() +
               " \"two\" is forbidden: exceeded quota: q, requested: " + kind.CountName() +
               "=1, used: " + kind.CountName() + "=1, limited: " + kind.CountName() + "=1"));
  a.api().Delete(PathOf("customresourcedefinitions", "", kind.Crd()));
}

TEST_CASE("admission: a deleted or edited webhook configuration is restored", "[e2e][admission]") {
  Admission a;
  a.Limit("q", {{"pods", "0"}, {"secrets", "0"}});
  const json::Value before = a.api().Get(ConfigurationPath());
  const auto put_back = [&](const std::string& what) {
    INFO(what);
    Eventually("the configuration is restored", [&]() -> std::string {
      const auto now = a.api().Do({.path = ConfigurationPath()});
      if (!now) return now.error().message;
      const json::Value stored = Json(now->body);
      const json::Value* webhooks = stored.At({"webhooks"});
      return webhooks != nullptr && *webhooks == *before.At({"webhooks"}) ? "" : now->body;
    });
    Eventually("the restored rules have effect", [&]() -> std::string {
      const Attempt attempt = a.Post("pods", Pod("p"), true);
      return attempt.exceeded() ? "" : attempt.Text();
    });
    CHECK(a.Post("secrets", Secret("s"), true).exceeded());
  };
  a.api().Delete(ConfigurationPath());
  put_back("deleted");
  a.api().MergePatch(ConfigurationPath(), Json(R"({"webhooks":null})"));
  put_back("emptied");
  json::Value ignoring = *before.At({"webhooks"});
  for (json::Value& webhook : *ignoring.AsArray()) webhook.Make({"failurePolicy"}) = "Ignore";
  a.api().MergePatch(ConfigurationPath(), json::Object{{"webhooks", ignoring}});
  put_back("made to ignore failures");
}

TEST_CASE("admission: the admin's own webhook configuration and certificate are used unchanged",
          "[e2e][admission]") {
  TempDir dir;
  CertificateAuthority authority(dir.path(), "ca");
  const KeyPair pair = authority.Server("webhook");
  dir.Write("tls.crt", ReadFile(pair.cert_path));
  dir.Write("tls.key", ReadFile(pair.key_path));
  Admission a({.more_flags = {"--manage-webhook=false", "--admission-cert-dir=" + dir.path()}});
  auto manifest = config::ParseYaml(
      ReadFile(tests::SourcePath("/manifests/manual-webhook/webhook-configuration.yaml")));
  REQUIRE(manifest.has_value());
  const std::string name = FreshName("by-hand");
  manifest->Make({"metadata", "name"}) = name;
  for (json::Value& webhook : *manifest->Make({"webhooks"}).AsArray()) {
    webhook.Make({"clientConfig"}) = json::Object{
        {"url", a.Url()}, {"caBundle", base::EncodeBase64(ReadFile(authority.cert_path()))}};
    webhook.Make({"namespaceSelector", "matchLabels", "kubernetes.io/metadata.name"}) =
        a.scenario().ns();
  }
  a.AlsoDelete(name);
  const json::Value stored = a.api().Create(ConfigurationPath(""), *manifest);
  a.Limit("q", {{"pods", "1"}, {"count/deployments.apps", "0"}});
  Eventually("the API server calls the webhook", [&]() -> std::string {
    const Attempt attempt = a.Post("deployments", Deployment("d"), true);
    return attempt.exceeded() ? "" : attempt.Text();
  });
  CHECK(a.Post("pods", Pod("p1")).ok());
  CHECK(a.Post("pods", Pod("p2")).exceeded());
  CHECK(json::Write(a.api().Get(ConfigurationPath(name))) == json::Write(stored));
  CHECK_FALSE(a.api().Exists(ConfigurationPath()));
}

}  // namespace e2e::admission_rules_test
