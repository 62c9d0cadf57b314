// Several API servers over one etcd: some decide quotas by their plugin, and some call the daemon.
// Tests the change from the plugin to the daemon and back, as manifests/README.md describes it.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/under_load.h"

namespace e2e::api_servers_test {
namespace {

constexpr int kLimit = 6;

std::string Stored(Api& api, const std::string& ns) {
  const json::Value quota = api.Get(PathOf("resourcequotas", ns, "q"));
  return ToText(ToQuantities(quota.At({"status", "used"})));
}

Attempt Post(Api& api, const std::string& ns, const std::string& pod, bool dry_run = false) {
  client::ApiRequest request = PostOf(PathOf("pods", ns), Pod(pod));
  if (dry_run) request.query.emplace_back("dryRun", "All");
  return ToAttempt(api.Do(std::move(request)));
}

// Checks that a pod is admitted, and that it is charged exactly once when the answer comes.
// Retries, because the plugin reads quotas from a cache and may answer with a conflict.
void ExpectChargedOnce(Api& api, const std::string& ns, int number) {
  const std::string pod = "p" + std::to_string(number);
  Eventually("pod " + pod + " is admitted", [&] {
    const Attempt attempt = Post(api, ns, pod);
    return attempt.ok() ? std::string() : attempt.Text();
  });
  CHECK(Stored(api, ns) == "pods=" + std::to_string(number));
}

void ExpectRefused(Api& api, const std::string& ns) {
  Eventually("one more pod is refused", [&] {
    const Attempt attempt = Post(api, ns, "too-many");
    CHECK_FALSE(attempt.ok());
    return attempt.exceeded() ? std::string() : attempt.Text();
  });
}

// Creates pods on both servers in turn, in a new namespace with a new quota.
void ExpectDecided(const std::string& phase, ApiServer& first, ApiServer& second) {
  INFO(phase);
  Api a(first.Kubeconfig());
  Api b(second.Kubeconfig());
  const std::string ns = FreshName("moving");
  a.Create(PathOf("namespaces"), Namespace(ns));
  a.Create(PathOf("resourcequotas", ns), Quota("q", {{"pods", std::to_string(kLimit)}}));
  for (Api* api : {&a, &b}) {
    Eventually(phase + ": the server knows the quota and its limit", [&] {
      const Attempt attempt = Post(*api, ns, "probe", true);
      if (!attempt.ok()) return attempt.Text();
      const json::Value quota = api->Get(PathOf("resourcequotas", ns, "q"));
      return Unenforced(quota, {{"pods", std::to_string(kLimit)}});
    });
  }
  for (int number = 1; number <= kLimit; ++number)
    ExpectChargedOnce(number % 2 ? a : b, ns, number);
  ExpectRefused(a, ns);
  ExpectRefused(b, ns);
  CHECK(Stored(a, ns) == "pods=" + std::to_string(kLimit));
}

// Waits until every webhook of the daemon's configuration has this policy; "": until there is none.
void AwaitPolicy(Api& api, const std::string& policy) {
  Eventually("the failure policy is '" + policy + "'", [&] {
    std::string wrong;
    const json::Value stored = api.Get(ConfigurationPath());
    const json::Value* webhooks = stored.At({"webhooks"});
    const bool none = webhooks == nullptr || webhooks->AsArray()->empty();
    if (none != policy.empty()) return std::string(none ? "there are none" : "there are some");
    if (none) return wrong;
    for (const json::Value& webhook : *webhooks->AsArray()) {
      if (webhook.StringAt({"failurePolicy"}) != policy) wrong = webhook.StringAt({"name"});
    }
    return wrong;
  });
}

}  // namespace

TEST_CASE(
    "the change from the plugin to the daemon and back, server by server, keeps all limits and "
    "charges nothing twice",
    "[e2e][admission][neighbours][real-only][slow]") {
  const TempDir dir;
  CertificateAuthority callers(dir.path(), "callers");
  const KeyPair caller = callers.Client("api-server", "/CN=kube-apiserver-webhook-client");
  const ServerOptions plugin{.quota_plugin = true};
  const ServerOptions asks{.admission_config = ConfigWithClient(dir, caller)};
  const auto first = StartServer(plugin);
  const auto second = first->StartBeside(plugin);

  // 1. The daemon answers only servers with the certificate. The policy Ignore lets the other
  // servers continue without an answer.
  Admission a(*first,
              {.more_flags = {"--admission-client-ca=" + callers.cert_path(),
                              "--admission-failure-policy=Ignore", "--charge-in-advance=false"}});
  const auto restart_daemon = [&](const std::string& flag) {
    DaemonOptions options = a.daemon_options();
    options.more_flags.push_back(flag);
    a.daemon().Restart(options);
    a.daemon().WaitUntilReady();
  };
  UnderLoad load(a.scenario());
  load.AwaitDecided(50);
  AwaitPolicy(a.api(), "Ignore");
  ExpectDecided("both have the plugin", *first, *second);

  // 2. One server after the other calls the daemon instead of its plugin.
  first->Restart(asks);
  load.AwaitDecided(50);
  load.ExpectTrue();
  ExpectDecided("only the second has the plugin", *first, *second);
  second->Restart(asks);
  load.AwaitDecided(50);
  load.ExpectTrue();
  ExpectDecided("both ask the daemon", *first, *second);

  // 3. From now on the servers refuse requests without an answer of the daemon. The load pauses,
  // because the only replica is away while it restarts.
  load.Pause();
  restart_daemon("--admission-failure-policy=Fail");
  AwaitPolicy(a.api(), "Fail");
  load.Resume();
  load.AwaitDecided(50);
  load.ExpectTrue();
  ExpectDecided("both need the daemon", *first, *second);

  // Now the same steps in reverse order.
  load.Pause();
  restart_daemon("--admission-failure-policy=Ignore");
  AwaitPolicy(a.api(), "Ignore");
  load.Resume();
  first->Restart(plugin);
  load.AwaitDecided(50);
  load.ExpectTrue();
  ExpectDecided("the first has the plugin again", *first, *second);
  second->Restart(plugin);
  load.AwaitDecided(50);
  load.ExpectTrue();
  ExpectDecided("both have the plugin again", *first, *second);
  restart_daemon("--enforce=");
  AwaitPolicy(a.api(), "");
  load.AwaitDecided(50);
  load.ExpectTrue();
  ExpectDecided("the daemon only counts", *first, *second);
}

}  // namespace e2e::api_servers_test
