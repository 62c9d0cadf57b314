// The webhook configuration as a file of kube-apiserver: manifests/static-webhook.
#include <catch2/catch.hpp>
#include <filesystem>

#include "pkg/base/base64.h"
#include "pkg/config/yaml.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/sockets.h"
#include "tests/source_dir.h"

namespace e2e::static_webhook_test {
namespace {

constexpr const char* kName = "quota-controller-manager.static.k8s.io";

json::Value Shipped(const std::string& file) {
  auto value = config::ParseYaml(ReadFile(tests::SourcePath("/manifests/" + file)));
  REQUIRE(value.has_value());
  return std::move(*value);
}

// What the files say besides their names and the address of the daemon.
json::Value WithoutAddress(json::Value configuration) {
  configuration.Make({"metadata"}) = json::Object{};
  for (json::Value& webhook : *configuration.Make({"webhooks"}).AsArray()) {
    webhook.Make({"clientConfig"}) = json::Object{};
  }
  return configuration;
}

}  // namespace

TEST_CASE("the webhook configuration in a file of kube-apiserver has the rules of the manual one",
          "[e2e][admission]") {
  const json::Value own = Shipped("static-webhook/webhooks/webhook-configuration.yaml");
  CHECK(own.StringAt({"metadata", "name"}) == kName);
  CHECK(WithoutAddress(own) ==
        WithoutAddress(Shipped("manual-webhook/webhook-configuration.yaml")));
}

TEST_CASE("admission: rules in a file of kube-apiserver cannot be deleted through the API",
          "[e2e][admission][server][real-only][since-1.37]") {
  TempDir dir;
  CertificateAuthority authority(dir.path(), "ca");
  const KeyPair pair = authority.Server("webhook");
  dir.Write("tls.crt", ReadFile(pair.cert_path));
  dir.Write("tls.key", ReadFile(pair.key_path));
  const std::string address = "127.0.0.1:" + std::to_string(FreePort());

  const std::string folder = dir.path() + "/webhooks";
  std::filesystem::create_directory(folder);
  json::Value rules = Shipped("static-webhook/webhooks/webhook-configuration.yaml");
  for (json::Value& webhook : *rules.Make({"webhooks"}).AsArray()) {
    webhook.Make({"clientConfig"}) =
        json::Object{{"url", "https://" + address + "/validate/core"},
                     {"caBundle", base::EncodeBase64(ReadFile(authority.cert_path()))}};
  }
  const std::string file = dir.Write("webhooks/rules.json", json::Write(rules));
  json::Value config = Shipped("static-webhook/admission-configuration.yaml");
  json::Value& plugin = config.Make({"plugins"}).AsArray()->front();
  plugin.Make({"configuration", "staticManifestsDir"}) = folder;
  const auto server =
      StartServer({.admission_config = dir.Write("admission.json", json::Write(config))});

  Scenario s(*server);
  s.StartDaemon(
      {.kubeconfig = server->Kubeconfig(),
       .more_flags = {"--enforce=core", "--manage-webhook=false",
                      "--admission-cert-dir=" + dir.path(), "--admission-bind-address=" + address,
                      "--admission-url=https://" + address}});
  s.Create("resourcequotas", Quota("q", {{"pods", "1"}}));
  Eventually("the quota is enforced", [&] { return Unenforced(s.GetQuota("q"), {{"pods", "1"}}); });
  const auto create = [&](const std::string& name) {
    return ToAttempt(s.api().Do(PostOf(s.Path("pods"), Pod(name))));
  };
  CHECK(create("first").ok());
  const Attempt second = create("second");
  INFO(second.Text());
  CHECK(second.exceeded());

  // An administrator neither sees nor replaces them.
  CHECK_FALSE(s.api().Exists(ConfigurationPath(kName)));
  const auto remove = ToAttempt(s.api().Do({.verb = "DELETE", .path = ConfigurationPath(kName)}));
  CHECK(remove.code == 404);
  const auto replace = ToAttempt(s.api().Do(PostOf(ConfigurationPath(""), rules)));
  INFO(replace.Text());
  CHECK_FALSE(replace.ok());
  CHECK(create("second").exceeded());

  std::filesystem::remove(file);
  Eventually(
      "without the file nothing is refused",
      [&]() -> std::string {
        const Attempt attempt = create("second");
        return attempt.ok() ? "" : attempt.Text();
      },
      Stretched(std::chrono::seconds(90)));
}

}  // namespace e2e::static_webhook_test
