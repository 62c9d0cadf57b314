// If an installation is deleted while its daemon runs, no rule without a webhook stays behind.
#include <catch2/catch.hpp>

#include "pkg/webhook/stored_configuration.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/installation.h"
#include "tests/e2e/harness/proxy.h"
#include "tests/source_dir.h"

namespace e2e::installation_goes_test {

TEST_CASE("a webhook configuration deleted with its owning role stays deleted while a daemon runs",
          "[e2e][manifests][real-only][uninstall][controller-manager]") {
  Installation installation;
  installation.Apply("core-enforced");
  installation.api().Create(PathOf("namespaces"), Namespace("team-a"));
  installation.api().Create(PathOf("resourcequotas", "team-a"), Quota("q", {{"pods", "0"}}));
  Daemon daemon(installation.Enforcing("core-enforced"));
  daemon.WaitUntilReady();
  const auto post = [&] {
    return ToAttempt(installation.api().Do(PostOf(PathOf("pods", "team-a"), Pod(FreshName("p")))));
  };
  Eventually("pods are refused", [&] {
    const Attempt attempt = post();
    return attempt.exceeded() ? std::string() : attempt.Text();
  });
  const auto stored = [&] { return installation.api().Get(ConfigurationPath()); };
  CHECK(stored().At({"metadata", "ownerReferences"})->AsArray()->at(0).StringAt({"kind"}) ==
        "ClusterRole");
  const std::string version(stored().StringAt({"metadata", "resourceVersion"}));
  Always(
      "nobody writes the webhook configuration again",
      [&] {
        const bool same = stored().StringAt({"metadata", "resourceVersion"}) == version;
        return same ? std::string() : "it changed:\n" + Tail(daemon.Log(), 30);
      },
      3s);
  TempDir dir;
  const auto collector =
      StartBuiltinController("garbage-collector-controller", installation.server().Kubeconfig(),
                             dir.path() + "/controller.log");
  installation.Kubectl(
      {"delete", "--wait=false", "-k", tests::SourcePath("/manifests/core-enforced")});
  Eventually(
      "pods pass",
      [&] {
        const Attempt attempt = post();
        return attempt.ok() ? std::string() : attempt.Text();
      },
      Stretched(90s));
  Eventually(
      "the webhook configuration is deleted",
      [&] { return installation.api().Exists(ConfigurationPath()) ? "it is there" : ""; },
      Stretched(90s));
  Always(
      "the webhook configuration stays deleted",
      [&] { return installation.api().Exists(ConfigurationPath()) ? "it is there" : ""; }, 3s);
}

TEST_CASE("a role created again under its name does not delete the rules",
          "[e2e][manifests][real-only][uninstall][controller-manager]") {
  Installation installation;
  installation.Apply("core-enforced");
  installation.api().Create(PathOf("namespaces"), Namespace("team-a"));
  installation.api().Create(PathOf("resourcequotas", "team-a"), Quota("q", {{"pods", "0"}}));
  Daemon daemon(installation.Enforcing("core-enforced"));
  daemon.WaitUntilReady();
  const auto owner = [&] {
    const auto live = installation.api().Do({.path = ConfigurationPath()});
    if (!live) return std::string();
    const json::Value object = Json(live->body);
    const json::Value* owners = object.At({"metadata", "ownerReferences"});
    return owners == nullptr ? std::string()
                             : std::string(owners->AsArray()->at(0).StringAt({"uid"}));
  };
  Eventually("the webhook configuration has an owner",
             [&] { return owner().empty() ? "not yet" : ""; });
  TempDir dir;
  const auto collector =
      StartBuiltinController("garbage-collector-controller", installation.server().Kubeconfig(),
                             dir.path() + "/controller.log");
  const std::string path = PathOf("clusterroles", "", "quota-controller-manager");
  installation.api().Delete(path);
  installation.Apply("core-enforced");
  const std::string uid(installation.api().Get(path).StringAt({"metadata", "uid"}));
  Eventually(
      "the new role owns it",
      [&] {
        if (owner() == uid) return std::string();
        return "owned by " + owner() + "; the daemon's log:\n" + Tail(daemon.Log(), 30);
      },
      Stretched(90s));
  Eventually(
      "pods are refused",
      [&] {
        const Attempt attempt =
            ToAttempt(installation.api().Do(PostOf(PathOf("pods", "team-a"), Pod(FreshName("p")))));
        return attempt.exceeded() ? std::string() : attempt.Text();
      },
      Stretched(60s));
}

TEST_CASE("the rules are deleted with the daemon's namespace",
          "[e2e][manifests][real-only][uninstall]") {
  Installation installation;
  installation.Apply("core-enforced");
  installation.api().Create(PathOf("namespaces"), Namespace("team-a"));
  installation.api().Create(PathOf("resourcequotas", "team-a"), Quota("q", {{"pods", "5"}}));
  Daemon daemon(installation.AsDeployed(
      "core-enforced", {"--admission-bind-address=127.0.0.1:" + std::to_string(FreePort())}));
  daemon.WaitUntilReady();
  Eventually("the rules are stored", [&] {
    return webhook::AsksNobody(installation.api().Get(ConfigurationPath())) ? "none" : "";
  });
  const auto post = [&] {
    return ToAttempt(installation.api().Do(PostOf(PathOf("pods", "team-a"), Pod(FreshName("p")))));
  };
  // No Service routes to the daemon here, so calls of the webhook fail.
  Eventually("creations of pods fail", [&] { return post().ok() ? "not yet" : ""; });
  SECTION("a restart keeps the rules") {
    CHECK(daemon.Stop() == 0);
    CHECK_FALSE(webhook::AsksNobody(installation.api().Get(ConfigurationPath())));
  }
  SECTION("a deletion of the namespace deletes the rules") {
    installation.api().Delete(PathOf("namespaces", "", kQuotaSystem));
    CHECK(daemon.Stop() == 0);
    CHECK_FALSE(installation.api().Exists(ConfigurationPath()));
    Eventually("pods are admitted without rules", [&] {
      const Attempt attempt = post();
      return attempt.ok() ? std::string() : attempt.Text();
    });
  }
}

}  // namespace e2e::installation_goes_test
