// Renderings of Helm: hooks, and the Secret of the release.

#include <catch2/catch.hpp>

#include "tests/cmd/kubectl-quota/plugin.h"

namespace check_helm_test {
namespace {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;
using kubectl_quota_tests::Told;

std::string Job(const std::string& name, const std::string& annotations) {
  return "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: " + name + ", annotations: {" +
         annotations + "}}, spec: {parallelism: 2, template: {spec: {containers: [{name: c}]}}}}\n";
}

constexpr const char* kWeb =
    "---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {replicas: 2, "
    "template: {spec: {containers: [{name: c}]}}}}\n";

}  // namespace

TEST_CASE("check: hooks of Helm that an installation does not create are not counted",
          "[kubectl-quota]") {
  Plugin plugin;
  const std::string hook =
      GENERATE("test", "test-success", "pre-delete", "post-rollback", "'post-delete,pre-rollback'");
  const Told told =
      plugin.CheckFiles(Job("t", "helm.sh/hook: " + hook), "{limits.cpu: 1, pods: 1}");
  INFO(hook);
  CHECK(told.code == 0);
  CHECK_THAT(told.output, Contains("note: job.batch/t: not counted: Helm creates this hook"));
}

TEST_CASE("check: each hook of Helm ends before the next objects are created", "[kubectl-quota]") {
  Plugin plugin;
  const std::string hard = "{pods: 9, count/pods: 99, count/jobs.batch: 9}";
  const auto asked = [&](const std::string& files, const char* pods, const char* all,
                         const char* jobs) {
    const Told told = plugin.CheckFiles(files, hard);
    INFO(told.output);
    CHECK_THAT(told.output, Contains(std::string("count/jobs.batch   0        ") + jobs + "   "));
    CHECK_THAT(told.output, Contains(std::string("count/pods         0        ") + all + "   "));
    CHECK_THAT(told.output,
               Contains(std::string("q       pods               0        ") + pods + "   "));
  };
  const std::string before = "helm.sh/hook: 'pre-install,pre-upgrade'";
  const std::string deleted = ", helm.sh/hook-delete-policy: hook-succeeded";
  // In whatever place they are in the files.
  // Helm deletes them when all hooks of the phase have succeeded.
  asked(kWeb + Job("a", before + deleted) + Job("b", before + deleted), "2", "4", "2");
  asked(kWeb + Job("a", before), "2", "4", "1");
  asked(Job("a", "helm.sh/hook: post-install" + deleted) + kWeb, "4", "4", "1");
  asked(Job("a", "helm.sh/hook: 'pre-install,post-upgrade'") + kWeb, "4", "4", "1");
  asked(Job("a", "other: hook") + kWeb, "4", "4", "1");
}

TEST_CASE("check: hooks of one name in two phases are two", "[kubectl-quota]") {
  Plugin plugin;
  const std::string before = Job("db", "helm.sh/hook: pre-install");
  const std::string never = Job("db", "helm.sh/hook: pre-delete");
  for (const std::string& files : {before + never, never + before}) {
    INFO(files);
    CHECK(plugin.CheckFiles(files, "{pods: 1}").code == 1);
    CHECK(plugin.CheckFiles(files, "{pods: 2}").code == 0);
  }
}

TEST_CASE("check: the stored hook of the last release makes room for the next one",
          "[kubectl-quota]") {
  Plugin plugin;
  const api::GroupVersionResource jobs{"batch", "v1", "jobs"};
  const std::string annotations = "annotations: {helm.sh/hook: 'pre-install,pre-upgrade'}";
  const std::string requests = "containers: [{name: c, resources: {requests: {cpu: 500m}}}]";
  const auto answer = [&](const std::string& hard, const std::string& used,
                          const std::string& file) {
    plugin.Put({"", "v1", "resourcequotas"},
               "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: "
               "{hard: " +
                   hard + "}, status: {hard: " + hard + ", used: " + used + "}}");
    const Told told = plugin.Ask({"check", "-f", plugin.File("files.yaml", file)});
    UNSCOPED_INFO(told.output << told.warnings);
    return told.code;
  };
  SECTION("a finished Job holds itself and its pods as objects") {
    const std::string job =
        "{apiVersion: batch/v1, kind: Job, metadata: {name: m, namespace: "
        "shop, " +
        annotations + "}, spec: {template: {spec: {" + requests + "}}}";
    plugin.cluster.Serve(jobs, "Job");
    plugin.Put(jobs, job +
                         ", status: {succeeded: 1, conditions: [{type: Complete, status: "
                         "'True'}]}}");
    CHECK(answer("{requests.cpu: 1}", "{requests.cpu: 500m}", job + "}") == 0);
    CHECK(answer("{requests.cpu: 1}", "{requests.cpu: 600m}", job + "}") == 1);
    CHECK(answer("{pods: 1}", "{pods: 1}", job + "}") == 1);
    CHECK(answer("{count/jobs.batch: 1, count/pods: 1}", "{count/jobs.batch: 1, count/pods: 1}",
                 job + "}") == 0);
  }
  SECTION("a running Job holds its pods, which go with it") {
    const std::string job =
        "{apiVersion: batch/v1, kind: Job, metadata: {name: m, namespace: shop, uid: m, " +
        annotations + "}, spec: {parallelism: 2, template: {spec: {" + requests + "}}}";
    plugin.cluster.Serve(jobs, "Job");
    plugin.Put(jobs, job + ", status: {active: 2}}");
    const auto put = [&](const std::string& owner) {
      const std::string rest = ", namespace: shop, ownerReferences: [{uid: " + owner +
                               "}]}, spec: {" + requests + "}, status: {phase: Running}}";
      for (const char* name : {"m-1", "m-2"}) {
        std::string pod = "{apiVersion: v1, kind: Pod, metadata: {name: ";
        pod.append(name).append(rest);
        plugin.Put({"", "v1", "pods"}, pod);
      }
    };
    put("m");
    CHECK(answer("{requests.cpu: 1}", "{requests.cpu: 1}", job + "}") == 0);
    CHECK(answer("{pods: 2}", "{pods: 2}", job + "}") == 0);
    put("other");
    CHECK(answer("{requests.cpu: 1}", "{requests.cpu: 1}", job + "}") == 1);
  }
  SECTION("a pod that ended holds itself") {
    const std::string pod = "{apiVersion: v1, kind: Pod, metadata: {name: m, namespace: shop, " +
                            annotations + "}, spec: {" + requests + "}";
    plugin.Put({"", "v1", "pods"}, pod + ", status: {phase: Succeeded}}");
    CHECK(answer("{requests.cpu: 1}", "{requests.cpu: 600m}", pod + "}") == 1);
    CHECK(answer("{count/pods: 1}", "{count/pods: 1}", pod + "}") == 0);
  }
}

TEST_CASE("check: a hook that is deleted makes room for the others", "[kubectl-quota]") {
  Plugin plugin;
  const auto map = [](const std::string& name, const std::string& annotations) {
    return "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", annotations: {" +
           annotations + "}}}\n";
  };
  const std::string before = "helm.sh/hook: pre-install";
  const std::string deleted = ", helm.sh/hook-delete-policy: hook-succeeded";
  const auto code = [&](const std::string& annotations) {
    return plugin.CheckFiles(map("a", annotations) + map("b", ""), "{configmaps: 1}").code;
  };
  CHECK(code(before + deleted) == 0);
  CHECK(code(before) == 1);
  const std::string two = map("a", before + deleted) + map("b", before + deleted);
  CHECK(plugin.CheckFiles(two, "{configmaps: 1}").code == 1);
  CHECK(plugin.CheckFiles(two + map("c", "") + map("d", ""), "{configmaps: 2}").code == 0);
}

TEST_CASE("check: the Secret of a release is noted", "[kubectl-quota]") {
  Plugin plugin;
  const std::string files =
      "{apiVersion: v1, kind: Secret, metadata: {name: s, labels: {app.kubernetes.io/managed-by: "
      "Helm}}}";
  const std::string note = "note: Helm stores each version of a release in a Secret";
  CHECK_THAT(plugin.CheckFiles(files, "{secrets: 2}").output, Contains(note));
  CHECK_THAT(plugin.CheckFiles(files, "{pods: 2}").output, !Contains(note));
  plugin.Put({"", "v1", "resourcequotas"},
             "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: "
             "{hard: {secrets: 2}}, status: {hard: {secrets: 2}, used: {secrets: 0}}}");
  CHECK_THAT(plugin.Ask({"check", "-f", plugin.File("s.yaml", files)}).output, Contains(note));
}

}  // namespace check_helm_test
