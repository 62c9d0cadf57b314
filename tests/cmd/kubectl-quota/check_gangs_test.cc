// Gangs, PodGroups with a minCount, of which only some pods fit: these never start, but hold quota.

#include <catch2/catch.hpp>

#include "pkg/quota/core/core_quota.h"
#include "tests/cmd/kubectl-quota/plugin.h"

namespace check_gangs_test {
namespace {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;
using kubectl_quota_tests::Told;

const api::GroupVersionResource kGroups{"scheduling.k8s.io", "v1beta1", "podgroups"};
const api::GroupVersionResource kPods{"", "v1", "pods"};
const api::GroupVersionResource kJobs{"batch", "v1", "jobs"};
constexpr const char* kClaims = "count/resourceclaims.resource.k8s.io";

std::string Group(const std::string& policy, const std::string& more = "") {
  return "---\n{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: train, "
         "namespace: shop}, spec: {schedulingPolicy: {" +
         policy + "}" + more + "}}\n";
}

// A pod of the group, with a CPU.
std::string PodSpec(const std::string& more = "") {
  return "{schedulingGroup: {podGroupName: train}, " + more +
         "containers: [{name: c, resources: {requests: {cpu: 1}}}]}";
}

std::string Job(const std::string& name, int pods, const std::string& more = "") {
  return "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
         ", namespace: shop}, spec: {parallelism: " + std::to_string(pods) +
         ", template: {spec: " + PodSpec(more) + "}}}\n";
}

std::string Pod(const std::string& name, const std::string& more = "") {
  return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
         ", namespace: shop}, spec: " + PodSpec(more) + "}\n";
}

// Two pods without a group, with a CPU each.
const std::string kWeb =
    "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: "
    "{replicas: 2, template: {spec: {containers: [{name: c, resources: {requests: {cpu: "
    "1}}}]}}}}\n";

const std::string kTemplate =
    "---\n{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: gpu, "
    "namespace: shop}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: "
    "gpu}}]}}}}\n";
constexpr const char* kClaim = "resourceClaims: [{name: a, resourceClaimTemplateName: gpu}]";

// Returns the note on the group of these manifests; "" if there is none.
std::string NoteOn(const std::string& manifests, const std::string& hard) {
  Plugin plugin;
  const Told told = plugin.CheckFiles(manifests, hard);
  INFO(told.output << told.warnings);
  CHECK(told.warnings.empty());
  const std::string before = "note: podgroup.scheduling.k8s.io/train: minCount ";
  const auto from = told.output.find(before);
  if (from == std::string::npos) return "";
  CHECK(told.code == 1);
  const auto start = from + before.size();
  return told.output.substr(start, told.output.find('\n', start) - start);
}

const std::string kHeld = ": those that are created hold quota and do not start";

}  // namespace

TEST_CASE("check: a gang that does not fit as a whole is told", "[kubectl-quota]") {
  const std::string gang = Group("gang: {minCount: 4}");
  const std::string two = "{requests.cpu: 2}";
  CHECK(NoteOn(gang + Job("j", 4), two) == "is 4, but only 2 of its 4 new pods fit" + kHeld);
  CHECK(NoteOn(Job("j", 4) + gang, two) == "is 4, but only 2 of its 4 new pods fit" + kHeld);
  CHECK(NoteOn(gang + Job("j", 4), "{requests.cpu: 1}") ==
        "is 4, but only 1 of its 4 new pods fits" + kHeld);
  CHECK(NoteOn(gang + Job("j", 4), "{pods: 0}") == "is 4, but none of its 4 new pods fits");
  CHECK(NoteOn(gang + Pod("a") + Pod("b") + Job("j", 2), "{requests.cpu: 3}") ==
        "is 4, but only 3 of its 4 new pods fit" + kHeld);
  SECTION("of several names, the one that lets through least decides") {
    CHECK(NoteOn(gang + Job("j", 4), "{pods: 1, requests.cpu: 3}") ==
          "is 4, but only 1 of its 4 new pods fits" + kHeld);
  }
  SECTION("not if enough of its pods fit") {
    CHECK(NoteOn(gang + Job("j", 4), "{requests.cpu: 4}").empty());
    CHECK(NoteOn(gang + Job("j", 6), "{requests.cpu: 4}").empty());
    // What does not fit is of others.
    CHECK(NoteOn(gang + Job("j", 4) + kWeb, "{requests.cpu: 5}").empty());
  }
  SECTION("not if all of it fits, and more pods are to come") {
    CHECK(NoteOn(gang + Job("j", 3), "{requests.cpu: 4}").empty());
    CHECK(NoteOn(gang + kWeb, "{requests.cpu: 1}").empty());
  }
  SECTION("not of a group that is no gang") {
    CHECK(NoteOn(Group("basic: {}") + Job("j", 4), two).empty());
    CHECK(NoteOn(Job("j", 4), two).empty());
  }
  SECTION("what stands before it in the files is created before it") {
    CHECK(NoteOn(gang + kWeb + Job("j", 4), "{requests.cpu: 5}") ==
          "is 4, but only 3 of its 4 new pods fit" + kHeld);
  }
  SECTION("nothing is created by what is refused") {
    CHECK(NoteOn(gang + Job("j", 4), "{count/jobs.batch: 0}") ==
          "is 4, but none of its 4 new pods fits");
    CHECK(NoteOn(gang + Job("j", 4), "{limits.cpu: 9}") == "is 4, but none of its 4 new pods fits");
  }
  SECTION("finished pods of a CronJob do not start") {
    const std::string cron =
        "---\n{apiVersion: batch/v1, kind: CronJob, metadata: {name: c, namespace: shop}, spec: "
        "{schedule: '* * * * *', jobTemplate: {spec: {parallelism: 4, template: {spec: " +
        PodSpec() + "}}}}}\n";
    CHECK(NoteOn(gang + cron, "{requests.cpu: 2}") ==
          "is 4, but only 2 of its 4 new pods fit" + kHeld);
  }
  SECTION("in documents, too") {
    Plugin plugin;
    const std::string files = plugin.File("files.yaml", gang + Job("j", 4));
    const std::string quota = plugin.File("quota.yaml",
                                          "{apiVersion: v1, kind: ResourceQuota, metadata: {name: "
                                          "q, namespace: shop}, spec: {hard: {requests.cpu: 2}}}");
    const Told told = plugin.Ask({"check", "-f", files, "--quota-file", quota, "-o", "json"});
    const auto value = json::Parse(told.output);
    REQUIRE(value.has_value());
    const auto& notes = value->ArrayAt({"notes"});
    REQUIRE(notes.size() == 1);
    CHECK(*notes.front().AsString() ==
          "podgroup.scheduling.k8s.io/train: minCount is 4, but only 2 of its 4 new pods fit" +
              kHeld);
  }
}

TEST_CASE("check: a pod of a gang does not start without its claims", "[kubectl-quota]") {
  const std::string hard = std::string("{requests.cpu: 9, ") + kClaims + ": ";
  const std::string own = kClaim + std::string(", ");
  SECTION("of its own") {
    const std::string files = kTemplate + Group("gang: {minCount: 4}");
    CHECK(NoteOn(files + Job("j", 4, own), hard + "2}") ==
          "is 4, but only 2 of its 4 new pods fit" + kHeld);
    CHECK(NoteOn(files + Pod("a", own) + Pod("b", own), hard + "1}") ==
          "is 4, but only 1 of its 2 new pods fits" + kHeld);
  }
  SECTION("that the group shares") {
    const std::string files =
        kTemplate + Group("gang: {minCount: 4}", ", " + std::string(kClaim)) + Job("j", 4, own);
    CHECK(NoteOn(files, hard + "1}").empty());
    CHECK(NoteOn(files, hard + "0}") == "is 4, but none of its 4 new pods fits" + kHeld);
  }
}

TEST_CASE("check: pods that a gang has already count", "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve(kGroups, "PodGroup");
  plugin.cluster.Serve(kJobs, "Job");
  plugin.Put(quota::CoreQuotaApi().resource,
             "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, "
             "spec: {hard: {requests.cpu: 4}}, status: {hard: {requests.cpu: 4}, used: "
             "{requests.cpu: 2}}}");
  plugin.Put(kGroups,
             "{metadata: {name: train, namespace: shop}, spec: {schedulingPolicy: {gang: "
             "{minCount: 4}}}}");
  const auto put = [&](const std::string& name, const std::string& phase) {
    plugin.Put(kPods, "{metadata: {name: " + name + ", namespace: shop}, spec: " + PodSpec() +
                          ", status: {phase: " + phase + "}}");
  };
  const auto told = [&] { return plugin.Ask({"check", "-f", plugin.File("j.yaml", Job("j", 3))}); };
  const std::string start = "note: podgroup.scheduling.k8s.io/train: minCount is 4, but only 2 of ";
  put("done", "Succeeded");
  CHECK_THAT(told().output, Contains(start + "its 3 new pods fit" + kHeld + "\n"));
  put("a", "Running");
  CHECK_THAT(told().output, Contains(start + "its 3 new pods fit and 1 pod exists" + kHeld + "\n"));
  put("b", "Pending");
  const Told enough = told();
  CHECK(enough.code == 1);
  CHECK_THAT(enough.output, !Contains("minCount"));

  std::string hidden = "/pods";
  plugin.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find(hidden) == std::string::npos) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
  };
  const Told unseen = told();
  CHECK_THAT(unseen.output, Contains(start + "its 3 new pods fit" + kHeld + "\n"));
  CHECK_THAT(unseen.warnings, Contains("pods that PodGroups have already are left out: "));
  hidden = "/podgroups/train";
  const Told unknown = told();
  CHECK_THAT(unknown.output, !Contains("minCount"));
  CHECK_THAT(unknown.warnings, Contains("claims of PodGroup train are counted for each pod, and "
                                        "its minCount is not known: "));
  plugin.cluster.ForgetFunctions();
}

TEST_CASE("check: a rollout before a gang uses what is free", "[kubectl-quota]") {
  Plugin plugin;
  plugin.cluster.Serve(kGroups, "PodGroup");
  plugin.cluster.Serve(kJobs, "Job");
  const auto web = [](int replicas, const std::string& image) {
    return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, uid: "
           "w}, spec: {replicas: " +
           std::to_string(replicas) +
           ", strategy: {rollingUpdate: {maxSurge: 1}}, selector: {matchLabels: {app: web}}, "
           "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: " +
           image + ", resources: {requests: {cpu: 1}}}]}}}";
  };
  plugin.Put(quota::CoreQuotaApi().resource,
             "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, "
             "spec: {hard: {requests.cpu: 6}}, status: {hard: {requests.cpu: 6}, used: "
             "{requests.cpu: 2}}}");
  plugin.Put({"apps", "v1", "deployments"}, web(2, "one") + ", status: {replicas: 2}}");
  plugin.Put({"apps", "v1", "replicasets"},
             "{metadata: {name: web-1, namespace: shop, uid: r, labels: {app: web}, "
             "ownerReferences: [{uid: w}]}, spec: {template: {metadata: {labels: {app: web}}, "
             "spec: {containers: [{name: c, image: one, resources: {requests: {cpu: 1}}}]}}}}");
  for (const char* name : {"a", "b"}) {
    plugin.Put(kPods, std::string("{metadata: {name: ") + name +
                          ", namespace: shop, labels: {app: web}, ownerReferences: [{uid: r}]}, "
                          "spec: {containers: [{name: c, image: one, resources: {requests: {cpu: "
                          "1}}}]}, status: {phase: Running}}");
  }
  const std::string gang = Group("gang: {minCount: 4}") + Job("j", 4);
  const auto told = [&](const std::string& image) {
    return plugin.Ask({"check", "-f", plugin.File("f.yaml", web(2, image) + "}\n" + gang)}).output;
  };
  CHECK_THAT(told("one"), Contains("Yes: all of it fits."));
  CHECK_THAT(told("two"), Contains("minCount is 4, but only 3 of its 4 new pods fit" + kHeld));
}

}  // namespace check_gangs_test
