// `check` says yes only if everything that may limit was seen.

#include <catch2/catch.hpp>

#include "pkg/quota/cluster/cluster_quota.h"
#include "pkg/quota/karmada/karmada_quota.h"
#include "tests/cmd/kubectl-quota/plugin.h"

namespace check_unknown_test {
namespace {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;
using kubectl_quota_tests::Told;

const api::GroupVersionResource kQuotas{"", "v1", "resourcequotas"};
const api::GroupVersionResource kNodes{"", "v1", "nodes"};
const api::GroupVersionResource kLimitRanges{"", "v1", "limitranges"};
const api::GroupVersionResource kApplied{"quota-controller-manager.io", "v1alpha1",
                                         "appliedclusterquotas"};

constexpr const char* kRoomy =
    "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: {hard: "
    "{pods: 9}}, status: {hard: {pods: 9}, used: {pods: 1}}}";
constexpr const char* kPod =
    "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {containers: [{name: "
    "c}]}}";
constexpr const char* kAgent =
    "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent, namespace: shop}, spec: "
    "{template: {spec: {containers: [{name: c}]}}}}";
constexpr const char* kCustom =
    "{apiVersion: x.io/v1, kind: Cluster, metadata: {name: pg, namespace: shop}, spec: {replicas: "
    "9}}";

constexpr const char* kMap =
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: m, namespace: shop}}";
const api::GroupVersionResource kDeviceClasses{"resource.k8s.io", "v1", "deviceclasses"};
const api::GroupVersionResource kDeviceClaims{"resource.k8s.io", "v1", "resourceclaims"};
constexpr const char* kDeviceClaim =
    "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: two, namespace: shop}, "
    "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: big, count: 2}}]}}}";
// With the template of its claim.
constexpr const char* kPodWithClaim =
    "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {containers: [{name: "
    "c}], resourceClaims: [{name: g, resourceClaimTemplateName: gpu}]}}\n---\n"
    "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: gpu, "
    "namespace: shop}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: "
    "big}}]}}}}";

class Partly : public Plugin {
 public:
  // The user may not read what has this in its path.
  void Forbid(const std::string& part) {
    cluster.fault = [part](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (request.path.find(part) == std::string::npos) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
    };
  }
  Told Check(const std::string& files, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"check", "-n", "shop", "-f", File("files.yaml", files)});
    return Ask(more);
  }
};

std::string LastLine(const std::string& text) {
  const std::size_t end = text.rfind('\n', text.size() - 2);
  return text.substr(end == std::string::npos ? 0 : end + 1);
}

// A quota of a resource that device claims may use, too.
void LimitDevices(Partly& plugin) {
  plugin.cluster.Serve(kDeviceClasses, "DeviceClass", false);
  plugin.cluster.Serve(kDeviceClaims, "ResourceClaim");
  plugin.Put(kQuotas,
             "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: "
             "{hard: {pods: 9, requests.nvidia.com/gpu: 4}}, status: {hard: {pods: 9, "
             "requests.nvidia.com/gpu: 4}, used: {pods: 1, requests.nvidia.com/gpu: 0}}}");
}

// Checks that this alone keeps the answer from yes.
void CheckUnknown(Partly& plugin, const std::string& files, const std::string& why,
                  const std::vector<std::string>& more = {}) {
  const auto told = plugin.Check(files, more);
  INFO(told.output << told.warnings);
  CHECK(told.code == 3);
  CHECK_THAT(LastLine(told.output),
             Catch::StartsWith("Cannot tell: all that is known fits, but: ") && Contains(why));
  CHECK_THAT(told.output, !Contains("Yes"));
  std::vector<std::string> allowed = more;
  allowed.emplace_back("--allow-unknown");
  const auto yes = plugin.Check(files, allowed);
  CHECK(yes.code == 0);
  CHECK_THAT(LastLine(yes.output), Catch::StartsWith("Yes: "));
}

}  // namespace

TEST_CASE("check: ClusterQuotas that may not be listed are unknown", "[kubectl-quota]") {
  Partly plugin;
  plugin.cluster.Serve(quota::ClusterQuotaApi().resource, "ClusterQuota", false);
  plugin.cluster.Serve(kApplied, "AppliedClusterQuota");
  const bool applied_too = GENERATE(true, false);
  plugin.Forbid(applied_too ? "clusterquotas" : "/clusterquotas");
  CheckUnknown(plugin, kPod,
               "whether a ClusterQuota limits namespace shop cannot be seen: error: ");
  plugin.Put(kQuotas, kRoomy);
  CheckUnknown(plugin, kPod, "whether a ClusterQuota limits namespace shop");
  SECTION("in every format") {
    const auto document = json::Parse(plugin.Check(kPod, {"-o", "json"}).output);
    REQUIRE(document.has_value());
    CHECK_FALSE(document->At({"fits"})->AsBool().value());
    CHECK(document->ArrayAt({"unknown"}).size() == 1);
    CHECK_THAT(plugin.Check(kPod, {"-o", "junit"}).output, Contains("failures=\"1\""));
    CHECK_THAT(plugin.Check(kPod, {"-o", "junit", "--allow-unknown"}).output,
               Contains("failures=\"0\" skipped=\"1\""));
  }
  SECTION("a no stays a no") {
    const auto no = plugin.Check(
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: shop}, spec: "
        "{replicas: 50, template: {spec: {containers: [{name: c}]}}}}");
    CHECK(no.code == 1);
    CHECK_THAT(LastLine(no.output), Catch::StartsWith("No: "));
  }
}

TEST_CASE("check: pods of a DaemonSet are unknown if nodes may not be listed", "[kubectl-quota]") {
  Partly plugin;
  plugin.cluster.Serve(kNodes, "Node", false);
  plugin.Forbid("/nodes");
  CHECK(plugin.Check(kAgent).code == 0);  // no quota can limit them
  plugin.Put(kQuotas, kRoomy);
  CheckUnknown(plugin, kAgent, "daemonset.apps/agent: its pods are not counted");
  CHECK(plugin.Check(kAgent, {"--nodes", "2"}).code == 0);
  CHECK(plugin.Check(kPod).code == 0);
  const std::string quota = plugin.File("quota.yaml", kRoomy);
  CheckUnknown(plugin, kAgent, "its pods are not counted", {"--quota-file", quota});
}

TEST_CASE("check: what a custom kind makes is unknown", "[kubectl-quota]") {
  Partly plugin;
  plugin.cluster.Serve({"x.io", "v1", "clusters"}, "Cluster");
  CHECK(plugin.Check(kCustom).code == 0);
  plugin.Put(kQuotas, kRoomy);
  CheckUnknown(plugin, kCustom, "cluster.x.io/pg: counted as the object that it is");
  CheckUnknown(plugin, kCustom, "cluster.x.io/pg",
               {"--quota-file", plugin.File("quota.yaml", kRoomy)});
}

TEST_CASE("check: a kind that the server does not serve is refused as by kubectl",
          "[kubectl-quota]") {
  Partly plugin;
  const auto told = plugin.Check(kCustom);
  CHECK(told.code == 1);
  CHECK_THAT(told.output,
             Contains("cluster.x.io/pg: no matches for kind \"Cluster\" in version \"x.io/v1\"\n"
                      "No: 1 object or its pods would be refused whatever is free.\n"));
  // A version that is gone.
  const std::string old =
      "{apiVersion: extensions/v1beta1, kind: Deployment, metadata: {name: web, namespace: shop}, "
      "spec: {template: {spec: {containers: [{name: c}]}}}}";
  CHECK_THAT(plugin.Check(old).output,
             Contains("no matches for kind \"Deployment\" in version \"extensions/v1beta1\""));
  SECTION("unless the files define it") {
    const std::string definition =
        "---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: "
        "{name: clusters.x.io}, spec: {group: x.io, names: {kind: Cluster, plural: clusters}}}\n"
        "---\n";
    plugin.cluster.Serve({"apiextensions.k8s.io", "v1", "customresourcedefinitions"},
                         "CustomResourceDefinition", false);
    CHECK(plugin.Check(definition + kCustom).code == 0);
    const auto asked = plugin.Check(definition + kCustom, {"--dry-run=server"});
    CHECK(asked.code == 0);
    CHECK_THAT(asked.output, Contains("server: cluster.x.io/pg is not judged: its kind cannot be "
                                      "seen on the server\n"));
  }
  SECTION("with the same words where the server is asked") {
    CHECK_THAT(plugin.Check(kCustom, {"--dry-run=server"}).output,
               Contains("server: cluster.x.io/pg is refused: no matches for kind \"Cluster\" in "
                        "version \"x.io/v1\"\n"));
  }
  SECTION("but is unknown while discovery cannot show it") {
    plugin.cluster.Serve({"x.io", "v1", "clusters"}, "Cluster");
    plugin.cluster.SetStale("x.io", true);
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{}, {"--dry-run=server"}}) {
      const auto unseen = plugin.Check(kCustom, more);
      INFO(unseen.output);
      CHECK(unseen.code == 3);
      CHECK_THAT(unseen.output, !Contains("is refused"));
    }
  }
}

TEST_CASE("check: the last line has the first reasons", "[kubectl-quota]") {
  Partly plugin;
  plugin.cluster.Serve({"x.io", "v1", "clusters"}, "Cluster");
  plugin.Put(kQuotas, kRoomy);
  std::string files;
  for (int i = 0; i < 8; ++i) {
    files +=
        "---\n" +
        std::string(kCustom).replace(std::string(kCustom).find("pg"), 2, "pg" + std::to_string(i)) +
        "\n";
  }
  CheckUnknown(plugin, files, "; and 3 more\n");
}

TEST_CASE("check: quotas of other APIs that may not be listed are unknown", "[kubectl-quota]") {
  Partly plugin;
  const quota::QuotaApi karmada = quota::KarmadaQuotaApi();
  plugin.cluster.Serve(karmada.resource, karmada.kind);
  CHECK(plugin.Check(kPod).code == 0);
  plugin.Forbid("karmadaquotas");
  CheckUnknown(plugin, kPod, "shown without karmadaquota.policy.karmada.io: ");
}

TEST_CASE("check: a quota that is not counted yet is unknown", "[kubectl-quota]") {
  Partly plugin;
  plugin.Put(kQuotas,
             "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: "
             "{hard: {pods: 9}}}");
  CheckUnknown(plugin, kPod, "what is used of pods of quota q is not counted yet");
}

TEST_CASE("check: LimitRanges and autoscalers that may not be listed are unknown",
          "[kubectl-quota]") {
  Partly plugin;
  plugin.Put(kQuotas, kRoomy);
  plugin.cluster.Serve(kLimitRanges, "LimitRange");
  plugin.cluster.Serve({"autoscaling", "v2", "horizontalpodautoscalers"},
                       "HorizontalPodAutoscaler");
  plugin.Forbid("limitranges");
  CheckUnknown(plugin, kPod, "counted without the defaults of LimitRanges");
  plugin.Forbid("autoscalers");
  CheckUnknown(plugin,
               "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: shop}, "
               "spec: {replicas: 1, template: {spec: {containers: [{name: c}]}}}}",
               "counted without the HorizontalPodAutoscalers");
}

TEST_CASE("check: device classes that may not be listed are unknown only to claims",
          "[kubectl-quota]") {
  Partly plugin;
  LimitDevices(plugin);
  plugin.Forbid("deviceclasses");
  const std::string why =
      "resourceclaim.resource.k8s.io/two: usage that depends on deviceclasses.resource.k8s.io is "
      "left out: ";
  for (const std::string files : {kPod, kMap}) {
    const auto told = plugin.Check(files);
    INFO(told.output << told.warnings);
    CHECK(told.code == 0);
    CHECK(told.warnings.empty());
  }
  CheckUnknown(plugin, kDeviceClaim, why);
  CheckUnknown(plugin, std::string(kPod) + "\n---\n" + kDeviceClaim, why);
  SECTION("that a pod makes, too") {
    plugin.cluster.Serve({"resource.k8s.io", "v1", "resourceclaimtemplates"},
                         "ResourceClaimTemplate");
    CheckUnknown(plugin, kPodWithClaim, "pod/p: usage that depends on deviceclasses");
  }
  SECTION("of classes that are in no file") {
    const std::string declared =
        "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: big}, spec: "
        "{extendedResourceName: nvidia.com/gpu}}\n---\n";
    const auto told = plugin.Check(declared + kDeviceClaim);
    CHECK(told.code == 0);
    CHECK_THAT(told.output, Contains("requests.nvidia.com/gpu   0        2       2       4"));
  }
  SECTION("if a quota limits what they may change") {
    plugin.Put(kQuotas, kRoomy);
    CHECK(plugin.Check(kDeviceClaim).code == 0);
  }
  SECTION("and to the count of a new quota") {
    const std::string quota =
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: new, namespace: shop}, spec: "
        "{hard: {requests.nvidia.com/gpu: 4}}}";
    CHECK(plugin.Check(quota).code == 0);
    plugin.Put(kDeviceClaims, kDeviceClaim);
    CheckUnknown(plugin, quota, "usage that depends on deviceclasses.resource.k8s.io is left out");
  }
}

TEST_CASE("check offline: what claims of a class that no file has use is unknown",
          "[kubectl-quota]") {
  Partly plugin;
  for (const char* name :
       {"requests.nvidia.com/gpu", "requests.deviceclass.resource.kubernetes.io/big"}) {
    const std::string quota = plugin.File(
        "quota.yaml",
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: {hard: "
        "{" +
            std::string(name) + ": 4}}}");
    CheckUnknown(plugin, kDeviceClaim,
                 "resourceclaim.resource.k8s.io/two: what it uses is not known: device class "
                 "\"big\" not found",
                 {"--quota-file", quota});
    CHECK(plugin.Check(kPod, {"--quota-file", quota}).code == 0);
  }
}

TEST_CASE("who: unseen device classes are a warning if there are claims", "[kubectl-quota]") {
  Partly plugin;
  LimitDevices(plugin);
  plugin.Put({"", "v1", "pods"}, kPod);
  plugin.Forbid("deviceclasses");
  const std::string left_out =
      "Warning: usage that depends on deviceclasses.resource.k8s.io is left out: ";
  CHECK(plugin.Ask({"who", "q"}).warnings.empty());
  plugin.Put(kDeviceClaims, kDeviceClaim);
  CHECK_THAT(plugin.Ask({"who", "q"}).warnings, Catch::StartsWith(left_out));
  CHECK_THAT(plugin.Ask({"who", "q", "--name", "pods"}).warnings, !Contains("deviceclasses"));
}

TEST_CASE("check: whether a namespace exists is unknown if it may not be read", "[kubectl-quota]") {
  Partly plugin;
  plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (!request.path.ends_with("/namespaces/shop")) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
  };
  CheckUnknown(plugin, kPod, "whether namespace shop exists cannot be seen");
  plugin.Put(kQuotas, kRoomy);  // only where it does
  CHECK(plugin.Check(kPod).code == 0);
}

TEST_CASE("check offline: a namespace without any quota in the files is unknown",
          "[kubectl-quota]") {
  Partly plugin;
  CheckUnknown(plugin, kPod, "no quota of the files is for namespace shop",
               {"--quota-file",
                plugin.File("quota.yaml",
                            "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: "
                            "other}, spec: {hard: {pods: 9}}}")});
}

TEST_CASE("check: an error that judges nothing is no refusal of the server", "[kubectl-quota]") {
  struct Row {
    int status;
    const char* reason;
    const char* words;
    int code = 0;
  };
  const Row row = GENERATE(
      Row{400, "BadRequest", "admission webhook \"w\" does not support dry run"},
      Row{403, "Forbidden", "pods is forbidden: User \"jane\" cannot create resource \"pods\""},
      Row{409, "AlreadyExists", "pods \"p\" already exists"},
      Row{409, "AlreadyExists",
          "admission webhook \"w\" denied the request: pods \"p\" already exists"},
      Row{409, "Conflict", "Operation cannot be fulfilled on resourcequotas \"q\""},
      Row{429, "TooManyRequests", "too many requests", 3},
      Row{500, "InternalError", "failed calling webhook \"w\"", 3},
      Row{504, "Timeout", "the server did not answer in time", 3});
  Partly plugin;
  plugin.cluster.Serve({"", "v1", "pods"}, "Pod");
  plugin.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "POST") return std::nullopt;
    return base::Error{
        .code = base::ErrorCode::kInvalidArgument,
        .message = "POST pods: " + std::to_string(row.status) + " " + row.reason + ": " + row.words,
        .http_status = row.status,
        .reason = row.reason};
  };
  const auto told = plugin.Check(kPod, {"--dry-run=server"});
  INFO(told.output);
  CHECK(told.code == row.code);
  CHECK_THAT(told.output,
             Contains("server: pod/p is not judged: " + std::string(row.words) + "\n"));
  plugin.cluster.ForgetFunctions();
}

TEST_CASE("check: a webhook denies with any status", "[kubectl-quota]") {
  const int status = GENERATE(400, 403, 409, 429, 500);
  const std::string why =
      GENERATE("no", "it cannot create resource \"x\"", "the policy does not support dry run",
               "namespaces \"shop\" not found");
  Partly plugin;
  plugin.cluster.Serve({"", "v1", "pods"}, "Pod");
  plugin.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "POST") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kInvalidArgument,
                       .message = "POST pods: admission webhook \"w\" denied the request: " + why,
                       .http_status = status};
  };
  CHECK(plugin.Check(kPod, {"--dry-run=server"}).code == 1);
  plugin.cluster.ForgetFunctions();
}

TEST_CASE("check: a hook that Helm does not create is not sent to the server", "[kubectl-quota]") {
  const std::string hook = GENERATE("test", "pre-delete", "post-rollback");
  Partly plugin;
  plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "POST") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kInvalidArgument,
                       .message = "POST pods: 403 Forbidden: exceeded quota: q",
                       .http_status = 403,
                       .reason = "Forbidden"};
  };
  const auto pod = [](const std::string& of) {
    return "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop, annotations: "
           "{helm.sh/hook: " +
           of + "}}, spec: {containers: [{name: c}]}}";
  };
  const auto told = plugin.Check(pod(hook), {"--dry-run=server"});
  INFO(told.output);
  CHECK(told.code == 0);
  CHECK_THAT(told.output, !Contains("server:"));
  CHECK(plugin.Check(pod("pre-install"), {"--dry-run=server"}).code == 1);
}

TEST_CASE("check: a refusal of the server is a no", "[kubectl-quota]") {
  Partly plugin;
  plugin.cluster.Serve({"", "v1", "pods"}, "Pod");
  plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "POST") return std::nullopt;
    return base::Error{.code = base::ErrorCode::kInvalidArgument,
                       .message = "POST pods: 422 Invalid: bad name",
                       .http_status = 422,
                       .reason = "Invalid"};
  };
  const auto told = plugin.Check(kPod, {"--dry-run=server"});
  CHECK(told.code == 1);
  CHECK_THAT(told.output,
             Contains("server: pod/p is refused: bad name (check foresees no refusal)\n"
                      "No: the server refuses 1 object.\n"));
  CHECK_THAT(plugin.Check(kPod, {"--dry-run=server", "-o", "json"}).output,
             Contains("\"fits\": false"));
}

TEST_CASE("suggest, top and who tell in documents what could not be seen", "[kubectl-quota]") {
  Partly plugin;
  const quota::QuotaApi karmada = quota::KarmadaQuotaApi();
  plugin.cluster.Serve(karmada.resource, karmada.kind);
  plugin.Put(kQuotas,
             "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: "
             "{hard: {pods: 9, secrets: 9}}, status: {hard: {pods: 9, secrets: 9}, used: {pods: 1, "
             "secrets: 1}}}");
  plugin.Put({"", "v1", "pods"}, kPod);
  const auto unknown = [&](const std::vector<std::string>& arguments) {
    const auto told = plugin.Ask(arguments);
    INFO(told.output << told.warnings);
    CHECK(told.code == 0);
    const auto value = json::Parse(told.output);
    REQUIRE(value.has_value());
    const json::Array& texts = value->ArrayAt({"unknown"});
    return texts.empty() ? "" : *texts.front().AsString();
  };
  CHECK(unknown({"top", "-o", "json"}).empty());
  CHECK(unknown({"who", "q", "-o", "json"}).empty());
  SECTION("a kind of quota") {
    plugin.Forbid("karmadaquotas");
    CHECK_THAT(unknown({"top", "-o", "json"}),
               Catch::StartsWith("shown without karmadaquota.policy.karmada.io: "));
  }
  SECTION("a kind of object") {
    plugin.Forbid("/secrets");
    CHECK_THAT(unknown({"who", "q", "-o", "json"}), Catch::StartsWith("shown without secrets: "));
    const auto told = plugin.Ask({"suggest"});
    CHECK(told.code == 0);
    CHECK_THAT(told.output, Contains("# unknown: shown without secrets: "));
    CHECK_THAT(told.output, Contains("    pods: "));
    CHECK_THAT(plugin.Ask({"report", "-o", "html"}).output, !Contains("shown without secrets"));
  }
  SECTION("everything that a suggestion has") {
    plugin.Forbid("/namespaces/shop/");
    const auto told = plugin.Ask({"suggest"});
    CHECK(told.code == 2);
    CHECK(told.output.empty());
    CHECK_THAT(told.warnings, Contains("nothing that is used in namespace shop can be seen"));
  }
}

}  // namespace check_unknown_test
