// The daemon as manifests/ installs it, on a real API server: it works with the shipped
// ServiceAccount, roles and arguments, and leaves nothing behind.
#include <catch2/catch.hpp>
#include <sstream>

#include "pkg/base/base64.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/installation.h"
#include "tests/e2e/harness/objects.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/source_dir.h"

namespace e2e::installed_test {
namespace {

constexpr const char* kNs = "team-a";

// The log lines about a right that the daemon lacks. An event about a refusal by a quota has the
// same words.
std::string LackedRights(const Daemon& daemon) {
  std::istringstream log(daemon.Log());
  std::string lacked;
  for (std::string line; std::getline(log, line);) {
    const bool refused = line.find("reason=RefusedByQuota") != std::string::npos;
    if (!refused && line.find("orbidden") != std::string::npos) lacked += line + "\n";
  }
  return lacked;
}

// A namespace with a quota, on an installation.
class Team {
 public:
  explicit Team(Installation& installation) : api_(installation.api()) {
    api_.Create(PathOf("namespaces"), Namespace(kNs));
  }
  void Limit(const std::string& name, const Quantities& hard) {
    api_.Create(PathOf("resourcequotas", kNs), Quota(name, hard));
  }
  [[nodiscard]] Quantities Used(const std::string& name) {
    return ToQuantities(api_.Get(PathOf("resourcequotas", kNs, name)).At({"status", "used"}));
  }
  void WaitUsed(const std::string& name, const Quantities& used) {
    Eventually(
        "quota " + name + " uses " + ToText(used),
        [&]() -> std::string {
          const Quantities seen = Used(name);
          return seen == used ? "" : "status.used " + ToText(seen);
        },
        Stretched(30s));
  }
  Attempt Post(const json::Value& pod) {
    return ToAttempt(api_.Do(PostOf(PathOf("pods", kNs), pod)));
  }
  // Messages of events on the quota, with this reason.
  [[nodiscard]] std::string Said(const std::string& quota, const std::string& reason) {
    std::string said;
    const json::Value events = api_.Get(PathOf("events", kNs));
    for (const json::Value& event : *events.At({"items"})->AsArray()) {
      if (event.StringAt({"involvedObject", "name"}) != quota) continue;
      if (event.StringAt({"reason"}) == reason) said.append(event.StringAt({"message"}));
    }
    return said;
  }
  void WaitSaid(const std::string& quota, const std::string& reason, const std::string& words) {
    Eventually(
        "of quota " + quota + " is said: " + reason,
        [&]() -> std::string {
          const std::string said = Said(quota, reason);
          return said.find(words) != std::string::npos ? "" : "said: " + said;
        },
        Stretched(60s));
  }

 private:
  Api& api_;
};

// cert-manager's Secret, mounted as in the pod.
class MountedCertificate {
 public:
  MountedCertificate() {
    const KeyPair pair = authority_.Server("webhook");
    dir_.Write("tls.crt", ReadFile(pair.cert_path));
    dir_.Write("tls.key", ReadFile(pair.key_path));
    dir_.Write("ca.crt", ca_pem());
  }
  [[nodiscard]] const std::string& folder() const { return dir_.path(); }
  [[nodiscard]] std::string ca_pem() const { return ReadFile(authority_.cert_path()); }

 private:
  TempDir dir_;
  CertificateAuthority authority_{dir_.path(), "authority"};
};

}  // namespace

TEST_CASE("the shipped installation counts, writes statuses, sends events and leads",
          "[e2e][manifests][real-only]") {
  Installation installation;
  installation.Apply("base");
  installation.Kubectl({"apply", "-f", kCountSecrets});
  Team team(installation);
  team.Limit("q", {{"pods", "10"},
                   {"secrets", "10"},
                   {"count/deployments.apps", "10"},
                   {"persistentvolumeclaims", "5"},
                   {"requests.storage", "10Gi"}});
  REQUIRE(team.Post(Pod("p")).ok());
  Daemon daemon(installation.AsDeployed("base"));
  daemon.WaitUntilReady();
  daemon.WaitForLog("became leader");
  team.WaitUsed("q", {{"pods", "1"},
                      {"secrets", "0"},
                      {"count/deployments.apps", "0"},
                      {"persistentvolumeclaims", "0"},
                      {"requests.storage", "0"}});
  installation.api().MergePatch(PathOf("resourcequotas", kNs, "q"), HardPatch({{"pods", "0"}}));
  team.WaitSaid("q", "QuotaExceeded", "pods");
  CHECK(LackedRights(daemon) == "");
  CHECK(daemon.Stop() == 0);
}

TEST_CASE(
    "the daemon without the roles for count/ and Secrets reports stale names and counts the rest",
    "[e2e][manifests][real-only]") {
  Installation installation;
  installation.Apply("base");
  installation.api().Delete(
      PathOf("clusterrolebindings", {}, "quota-controller-manager-count-any"));
  installation.api().Delete(PathOf("clusterroles", {}, "quota-controller-manager-count-any"));
  Team team(installation);
  team.Limit("own", {{"pods", "10"}, {"count/pods", "10"}, {"configmaps", "10"}});
  team.Limit("any", {{"pods", "10"}, {"count/deployments.apps", "10"}});
  team.Limit("secret", {{"secrets", "10"}});
  REQUIRE(team.Post(Pod("p")).ok());
  Daemon daemon(installation.AsDeployed("base"));
  team.WaitUsed("own", {{"pods", "1"}, {"count/pods", "1"}, {"configmaps", "0"}});
  team.WaitUsed("any", {{"pods", "1"}});
  team.WaitSaid("any", "QuotaStale", "count/deployments.apps");
  team.WaitSaid("secret", "QuotaStale", "secrets");
  CHECK(team.Said("own", "QuotaStale").empty());
  CHECK(daemon.MetricsText().find("quota_stale_quotas{") != std::string::npos);
  // Once the right is granted, the names are counted.
  installation.Apply("base");
  team.WaitUsed("any", {{"pods", "1"}, {"count/deployments.apps", "0"}});
  CHECK(team.Used("secret").empty());
  installation.Kubectl({"apply", "-f", kCountSecrets});
  team.WaitUsed("secret", {{"secrets", "0"}});
}

TEST_CASE("the shipped installation for enforcement maintains rules and certificate, and refuses",
          "[e2e][manifests][real-only][server]") {
  Installation installation;
  installation.Apply("core-enforced");
  Team team(installation);
  const std::string address = "127.0.0.1:" + std::to_string(FreePort());
  {
    // The options of the Deployment. No Service routes to the daemon here, so it refuses nothing
    // yet.
    Daemon daemon(
        installation.AsDeployed("core-enforced", {"--admission-bind-address=" + address}));
    daemon.WaitUntilReady();
    team.Limit("q", {{"pods", "1"}});
    team.WaitUsed("q", {{"pods", "0"}});
    const json::Value secret = installation.api().Get(
        PathOf("secrets", kQuotaSystem, "quota-controller-manager-certificate"));
    const json::Value stored = installation.api().Get(ConfigurationPath());
    const json::Value& webhook = stored.At({"webhooks"})->AsArray()->front();
    CHECK(webhook.StringAt({"clientConfig", "service", "name"}) == "quota-controller-manager");
    CHECK(webhook.StringAt({"clientConfig", "caBundle"}) == secret.StringAt({"data", "ca.crt"}));
    CHECK_FALSE(secret.StringAt({"data", "tls.key"}).empty());
    CHECK(LackedRights(daemon) == "");
    // An upgrade keeps the fields that the daemon wrote.
    installation.Apply("core-enforced");
    CHECK(installation.api().Get(ConfigurationPath()).At({"webhooks"}) != nullptr);
    CHECK(installation.api()
              .Get(PathOf("secrets", kQuotaSystem, "quota-controller-manager-certificate"))
              .StringAt({"data", "ca.crt"}) == secret.StringAt({"data", "ca.crt"}));
    CHECK(daemon.Stop() == 0);
  }
  Daemon daemon(installation.Enforcing("core-enforced"));
  daemon.WaitUntilReady();
  Eventually("a pod is admitted", [&] { return team.Post(Pod("a")).ok() ? "" : "not yet"; });
  const Attempt second = team.Post(Pod("b"));
  CHECK(second.exceeded());
  CHECK(LackedRights(daemon) == "");
}

TEST_CASE("the shipped installation decides defined names in ResourceQuotas beside the plugin",
          "[e2e][manifests][usage][real-only]") {
  Installation installation({.quota_plugin = true, .controllers = true});
  installation.Apply("cluster-enforced");
  Team team(installation);
  Daemon daemon(installation.Enforcing("cluster-enforced"));
  daemon.WaitUntilReady();
  installation.api().Create(
      UsageDefinitions::Path(),
      UsageDefinitions::Definition(
          "pods", Json(R"({"resource":{"group":"","resource":"pods"},"usage":[{"name":)"
                       R"("example.com/memory","path":".metadata.labels['memory']"}]})")));
  team.Limit("q", {{"example.com/memory", "5Gi"}, {"pods", "3"}});
  const auto post = [&](const std::string& name, const std::string& memory, bool dry_run = false) {
    json::Value pod = Pod(name);
    pod.Make({"metadata", "labels", "memory"}) = memory;
    client::ApiRequest request = PostOf(PathOf("pods", kNs), pod);
    if (dry_run) request.query = {{"dryRun", "All"}};
    return ToAttempt(installation.api().Do(std::move(request)));
  };
  Eventually("more than the limit is refused", [&] {
    const Attempt attempt = post("large", "6Gi", true);
    return attempt.exceeded() ? "" : attempt.Text();
  });
  CHECK(post("a", "4Gi").ok());
  team.WaitUsed("q", {{"example.com/memory", "4Gi"}, {"pods", "1"}});
  CHECK(post("b", "2Gi").exceeded());
  installation.api().MergePatch(PathOf("resourcequotas", kNs, "q"),
                                HardPatch({{"example.com/memory", "6Gi"}}));
  Eventually("the new limit is in force", [&] {
    const Attempt attempt = post("b", "2Gi");
    return attempt.ok() ? "" : attempt.Text();
  });
  team.WaitUsed("q", {{"example.com/memory", "6Gi"}, {"pods", "2"}});
  installation.api().Delete(PathOf("resourcequotas", kNs, "q"));
  Eventually("its part is gone", [&] {
    return installation.api().Exists(DefinedQuotas::Path(kNs, "q")) ? "it is there" : "";
  });
  CHECK(LackedRights(daemon) == "");
}

TEST_CASE("the CA bundle of cert-manager stays in the webhook configuration",
          "[e2e][manifests][real-only]") {
  Installation installation;
  installation.Apply("cert-manager");
  Team team(installation);
  // Acts as cert-manager: the mounted Secret, and the CA bundle in every webhook.
  const MountedCertificate mounted;
  Daemon daemon(
      installation.Enforcing("cert-manager", {"--admission-cert-dir=" + mounted.folder()}));
  team.Limit("q", {{"pods", "1"}});
  Eventually("the webhook configuration has a webhook", [&]() -> std::string {
    const json::Value stored = installation.api().Get(ConfigurationPath());
    CHECK(stored.StringAt({"metadata", "annotations", "cert-manager.io/inject-ca-from"}) ==
          "quota-system/quota-controller-manager");
    const json::Value* webhooks = stored.At({"webhooks"});
    if (webhooks == nullptr || webhooks->AsArray()->empty()) return "none";
    json::Value patch = json::Object{{"webhooks", *webhooks}};
    for (json::Value& webhook : *patch.Make({"webhooks"}).AsArray()) {
      webhook.Make({"clientConfig", "caBundle"}) = base::EncodeBase64(mounted.ca_pem());
    }
    installation.api().MergePatch(ConfigurationPath(), patch);
    return "";
  });
  daemon.WaitUntilReady();
  team.WaitUsed("q", {{"pods", "0"}});  // so its rule is stored
  Eventually("a pod is admitted", [&] { return team.Post(Pod("a")).ok() ? "" : "not yet"; });
  CHECK(team.Post(Pod("b")).exceeded());
}

TEST_CASE("an uninstall by manifests/README.md leaves no webhook", "[e2e][manifests][real-only]") {
  Installation installation;
  installation.Apply("core-enforced");
  Team team(installation);
  team.Limit("q", {{"pods", "1"}});
  {
    Daemon daemon(installation.Enforcing("core-enforced"));
    team.WaitUsed("q", {{"pods", "0"}});  // so its rule is stored
    CHECK(team.Post(Pod("a")).ok());
    CHECK(team.Post(Pod("b")).exceeded());
    const std::string namespaced = std::string("--namespace=") + kQuotaSystem;
    installation.Kubectl(
        {namespaced, "scale", "deployment", "quota-controller-manager", "--replicas=0"});
    CHECK(daemon.Stop() == 0);  // as by a kubelet
    installation.Kubectl({namespaced, "wait", "pod", "-l",
                          "app.kubernetes.io/name=quota-controller-manager", "--for=delete",
                          "--timeout=60s"});
  }
  CHECK(team.Post(Pod("b")).code == 500);  // nobody answers, but the rule is still stored
  // No controller finishes namespaces here, so do not wait for it.
  installation.Kubectl(
      {"delete", "-k", tests::SourcePath("/manifests/core-enforced"), "--wait=false"});
  const json::Value left = installation.api().Get(PathOf("validatingwebhookconfigurations"));
  CHECK(left.At({"items"})->AsArray()->empty());
  Eventually("a pod is admitted", [&] { return team.Post(Pod("b")).ok() ? "" : "not yet"; });
}

TEST_CASE("the shipped installation for ironcore counts machines by class, and refuses",
          "[e2e][manifests][real-only][since-1.30]") {
  Installation installation;
  const std::string folder = tests::SourcePath("/tests/e2e/ironcore/");
  for (const char* plural : {"machineclasses", "machines", "volumeclasses", "volumes",
                             "bucketclasses", "buckets", "resourcequotas"}) {
    installation.Kubectl({"apply", "-f", folder + plural + "-crd.yaml"});
  }
  installation.Kubectl({"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"});
  installation.Apply("ironcore");
  // The role for ironcore is sufficient without the others.
  installation.api().Delete(
      PathOf("clusterrolebindings", {}, "quota-controller-manager-count-any"));
  const std::string path = "/apis/compute.ironcore.dev/v1alpha1/";
  installation.api().Create(path + "machineclasses",
                            Json(R"({"apiVersion":"compute.ironcore.dev/v1alpha1",
      "kind":"MachineClass","metadata":{"name":"small"},
      "capabilities":{"cpu":"2","memory":"4Gi"}})"));
  const std::string quotas = "/apis/core.ironcore.dev/v1alpha1/namespaces/default/resourcequotas";
  installation.api().Create(quotas, Json(R"({"apiVersion":"core.ironcore.dev/v1alpha1",
      "kind":"ResourceQuota","metadata":{"name":"q"},
      "spec":{"hard":{"requests.cpu":"3","count/volumes.storage.ironcore.dev":"1"}}})"));
  Daemon daemon(installation.Enforcing("ironcore"));
  daemon.WaitUntilReady();
  const auto used = [&] {
    return ToText(ToQuantities(installation.api().Get(quotas + "/q").At({"status", "used"})));
  };
  const auto becomes = [&](const std::string& text) {
    Eventually(
        "used is " + text, [&] { return used() == text ? "" : used(); }, Stretched(30s));
  };
  becomes("count/volumes.storage.ironcore.dev=0,requests.cpu=0");
  const auto machine = [&](const std::string& name) {
    json::Value object = Json(R"({"apiVersion":"compute.ironcore.dev/v1alpha1","kind":"Machine",
        "spec":{"machineClassRef":{"name":"small"}}})");
    object.Make({"metadata", "name"}) = name;
    return ToAttempt(installation.api().Do(PostOf(path + "namespaces/default/machines", object)));
  };
  CHECK(machine("a").ok());
  becomes("count/volumes.storage.ironcore.dev=0,requests.cpu=2");
  CHECK(machine("b").exceeded());
  CHECK(LackedRights(daemon) == "");
}

TEST_CASE("the shipped installation for Karmada counts bindings as its user, and refuses",
          "[e2e][manifests][karmada][real-only][server]") {
  Installation installation;  // plays the Karmada API server
  const std::string bindings = tests::SourcePath("/tests/e2e/karmada/resourcebindings-crd.yaml");
  installation.Kubectl({"apply", "-f", bindings});
  installation.Apply("karmada");
  installation.Kubectl({"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"});
  const KeyPair user = installation.server().ClientCertificate("/CN=quota-controller-manager");
  KubeconfigFields fields = installation.server().Fields();
  fields.token.clear();
  fields.extra_user_lines =
      "    client-certificate: " + user.cert_path + "\n    client-key: " + user.key_path + "\n";
  const TempDir dir;
  const MountedCertificate mounted;
  const std::string address = "127.0.0.1:" + std::to_string(FreePort());
  DaemonOptions options;
  options.more_flags = DeployedArguments("karmada-host");
  options.more_flags.insert(
      options.more_flags.end(),
      {"--leader-elect=true", "--kubeconfig=" + dir.Write("kubeconfig", KubeconfigText(fields)),
       "--admission-cert-dir=" + mounted.folder(), "--admission-bind-address=" + address,
       "--admission-url=https://" + address});
  const std::string quotas = "/apis/policy.karmada.io/v1alpha1/namespaces/default/karmadaquotas";
  installation.api().Create(quotas, Json(R"({"apiVersion":"policy.karmada.io/v1alpha1",
      "kind":"KarmadaQuota","metadata":{"name":"q"},"spec":{"hard":{"pods":"3"}}})"));
  Daemon daemon(options);
  daemon.WaitUntilReady();
  daemon.WaitForLog("became leader");
  Eventually(
      "the quota is in force",
      [&] {
        const json::Value quota = installation.api().Get(quotas + "/q");
        return quota.StringAt({"status", "used", "pods"}) == "0" ? "" : json::Write(quota);
      },
      Stretched(30s));
  const auto bind = [&](const std::string& name, int replicas) {
    json::Value binding = Json(R"({"apiVersion":"work.karmada.io/v1alpha2",
        "kind":"ResourceBinding","spec":{"resource":{"apiVersion":"apps/v1",
        "kind":"Deployment"}}})");
    binding.Make({"metadata", "name"}) = name;
    binding.Make({"spec", "resource", "name"}) = name;
    binding.Make({"spec", "replicas"}) = replicas;
    return ToAttempt(installation.api().Do(
        PostOf("/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings", binding)));
  };
  CHECK(bind("a", 2).ok());
  CHECK(bind("b", 2).exceeded());
  CHECK(LackedRights(daemon) == "");
}

}  // namespace e2e::installed_test
