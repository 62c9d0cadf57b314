// `check` counts machines, volumes and buckets against the quotas of ironcore.

#include <catch2/catch.hpp>

#include "pkg/quota/ironcore/ironcore_quota.h"
#include "tests/cmd/kubectl-quota/plugin.h"

namespace check_ironcore_test {
namespace {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;
using kubectl_quota_tests::Told;

const api::GroupVersionResource kMachines{"compute.ironcore.dev", "v1alpha1", "machines"};
const api::GroupVersionResource kMachineClasses{"compute.ironcore.dev", "v1alpha1",
                                                "machineclasses"};
const api::GroupVersionResource kVolumes{"storage.ironcore.dev", "v1alpha1", "volumes"};

constexpr const char* kLarge =
    "{apiVersion: compute.ironcore.dev/v1alpha1, kind: MachineClass, metadata: {name: large}, "
    "capabilities: {cpu: 4, memory: 16Gi}}";
// With a disk of 10Gi that becomes a volume, and one that does not.
constexpr const char* kMachine =
    "{apiVersion: compute.ironcore.dev/v1alpha1, kind: Machine, metadata: {name: m, namespace: "
    "shop}, spec: {machineClassRef: {name: large}, volumes: [{name: data, ephemeral: "
    "{volumeTemplate: {spec: {volumeClassRef: {name: fast}, resources: {storage: 10Gi}}}}}, {name: "
    "root, localDisk: {sizeLimit: 9Gi}}]}}";

std::string Quota(const std::string& hard, const std::string& more = "") {
  return "{apiVersion: core.ironcore.dev/v1alpha1, kind: ResourceQuota, metadata: {name: q, "
         "namespace: shop}, spec: {hard: " +
         hard + more + "}}";
}

std::string Documents(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) text += one + "\n---\n";
  return text;
}

class Cloud : public Plugin {
 public:
  Told Offline(const std::string& files, const std::string& quotas) {
    return Ask({"check", "-n", "shop", "-f", File("files.yaml", files), "--quota-file",
                File("quotas.yaml", quotas)});
  }
  void Serve() {
    const quota::QuotaApi api = quota::IroncoreQuotaApi();
    cluster.Serve(api.resource, api.kind);
    cluster.Serve(kMachines, "Machine");
    cluster.Serve(kVolumes, "Volume");
    cluster.Serve(kMachineClasses, "MachineClass", false);
  }
  void Limit(const std::string& hard, const std::string& used) {
    Put(quota::IroncoreQuotaApi().resource,
        "{apiVersion: core.ironcore.dev/v1alpha1, kind: ResourceQuota, metadata: {name: q, "
        "namespace: shop}, spec: {hard: " +
            hard + "}, status: {hard: " + hard + ", used: " + used + "}}");
  }
  Told Live(const std::string& files) {
    return Ask({"check", "-n", "shop", "-f", File("files.yaml", files)});
  }
};

}  // namespace

TEST_CASE("check: a machine counts with its class and its ephemeral volumes",
          "[kubectl-quota][ironcore]") {
  Cloud cloud;
  const std::string quota = Quota(
      "{requests.cpu: 3, requests.memory: 64Gi, requests.storage: 15Gi, "
      "count/machines.compute.ironcore.dev: 9}");
  const auto told = cloud.Offline(kMachine, Documents({quota, kLarge}));
  INFO(told.warnings);
  CHECK(told.code == 1);
  const std::string title = "resourcequota.core.ironcore.dev/q   ";
  CHECK(told.output ==
        "QUOTA" + std::string(title.size() - 5, ' ') +
            "RESOURCE                              BEFORE   ASKED   AFTER   LIMIT   FITS\n" +
            title + "count/machines.compute.ironcore.dev   0        1       1       9       yes\n" +
            title +
            "requests.cpu                          0        4       4       3       no, lacks 1\n" +
            title + "requests.memory                       0        16Gi    16Gi    64Gi    yes\n" +
            title +
            "requests.storage                      0        10Gi    10Gi    15Gi    yes\n"
            "No: 1 of 4 limits would be exceeded.\n");
}

TEST_CASE("check: the class of a machine must be known", "[kubectl-quota][ironcore]") {
  Cloud cloud;
  const std::string quota = Quota("{requests.cpu: 9, count/machines.compute.ironcore.dev: 9}");
  SECTION("without a cluster it must be in a file") {
    const auto told = cloud.Offline(kMachine, quota);
    CHECK(told.code == 3);
    CHECK_THAT(told.output, Contains("Cannot tell: all that is known fits, but: "
                                     "machine.compute.ironcore.dev/m: what it uses is not known: "
                                     "machine class \"large\" not found\n"));
    CHECK(cloud.Offline(Documents({kLarge, kMachine}), quota).code == 0);
    CHECK(cloud.Offline(kMachine, Documents({quota, kLarge})).code == 0);
    // A quota that does not depend on it does not ask.
    CHECK(cloud.Offline(kMachine, Quota("{count/machines.compute.ironcore.dev: 9}")).code == 0);
  }
  SECTION("with a cluster") {
    cloud.Serve();
    cloud.Limit("{requests.cpu: 9}", "{requests.cpu: 4}");
    const auto none = cloud.Live(kMachine);
    CHECK(none.code == 1);
    CHECK_THAT(none.output, Contains("failed quota: q: machine class \"large\" not found"));
    CHECK(cloud.Live(Documents({kLarge, kMachine})).code == 0);
    cloud.Put(kMachineClasses, kLarge);
    const auto told = cloud.Live(kMachine);
    CHECK(told.code == 0);
    CHECK_THAT(told.output, Contains("requests.cpu   4        4       8       9       yes\n"));
    SECTION("that may not show it") {
      cloud.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
        if (request.path.find("machineclasses") == std::string::npos) return std::nullopt;
        return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
      };
      const auto unseen = cloud.Live(kMachine);
      CHECK(unseen.code == 3);
      CHECK_THAT(unseen.output,
                 !Contains("failed quota") &&
                     Contains("Cannot tell: all that is known fits, but: "
                              "machine.compute.ironcore.dev/m: usage that depends on "
                              "machineclasses.compute.ironcore.dev is left out: "));
      // Neither the class nor the doubt matters to what no class concerns.
      CHECK(cloud.Live("{apiVersion: v1, kind: ConfigMap, metadata: {name: m}}").code == 0);
      // The machine class of the files is known all the same.
      CHECK_THAT(cloud.Live(Documents({kLarge, kMachine})).output, Contains("8       9"));
      cloud.Put(kMachines, kMachine);
      CHECK_THAT(cloud.Ask({"who", "q"}).warnings,
                 Contains("Warning: usage that depends on machineclasses.compute.ironcore.dev"));
    }
  }
}

TEST_CASE("check: a machine without a class is refused", "[kubectl-quota][ironcore]") {
  Cloud cloud;
  const auto told = cloud.Offline(
      "{apiVersion: compute.ironcore.dev/v1alpha1, kind: Machine, metadata: {name: m, namespace: "
      "shop}, spec: {}}",
      Quota("{requests.cpu: 9}"));
  CHECK(told.code == 1);
  CHECK_THAT(told.output, Contains("it cannot be counted: spec.machineClassRef.name: must name"));
}

TEST_CASE("check: scopes over ironcore's classes select", "[kubectl-quota][ironcore]") {
  Cloud cloud;
  const auto scoped = [](const std::string& scope, const std::string& name) {
    return ", scopeSelector: {matchExpressions: [{scopeName: " + scope +
           ", operator: In, values: [" + name + "]}]}";
  };
  const std::string none = "{requests.storage: 1Gi}";
  const std::string volumes = Documents({kLarge, kMachine});
  CHECK(cloud.Offline(volumes, Quota(none, scoped("VolumeClass", "fast"))).code == 1);
  CHECK(cloud.Offline(volumes, Quota(none, scoped("VolumeClass", "slow"))).code == 0);
  const std::string one = "{requests.cpu: 1}";
  CHECK(cloud.Offline(volumes, Quota(one, scoped("MachineClass", "large"))).code == 1);
  CHECK(cloud.Offline(volumes, Quota(one, scoped("MachineClass", "small"))).code == 0);
}

TEST_CASE("check: buckets count with the capabilities of their class",
          "[kubectl-quota][ironcore]") {
  Cloud cloud;
  const std::string bucket =
      "{apiVersion: storage.ironcore.dev/v1alpha1, kind: Bucket, metadata: {name: b, namespace: "
      "shop}, spec: {bucketClassRef: {name: large}}}";
  // Of the same name as the machine class.
  const std::string type =
      "{apiVersion: storage.ironcore.dev/v1alpha1, kind: BucketClass, metadata: {name: large}, "
      "capabilities: {tps: 100Mi, iops: 200}}";
  const auto told =
      cloud.Offline(Documents({bucket, kMachine}),
                    Documents({Quota("{requests.iops: 100, requests.cpu: 8}"), kLarge, type}));
  CHECK(told.code == 1);
  CHECK_THAT(told.output,
             Contains("requests.iops   0        200     200     100     no, lacks 100"));
  CHECK_THAT(told.output, Contains("requests.cpu    0        4       4       8       yes"));
}

TEST_CASE("check: of a stored machine only new ephemeral volumes count",
          "[kubectl-quota][ironcore]") {
  Cloud cloud;
  cloud.Serve();
  cloud.Put(kMachineClasses, kLarge);
  cloud.Put(kMachines, kMachine);
  cloud.Limit("{requests.cpu: 4, requests.storage: 12Gi}",
              "{requests.cpu: 4, requests.storage: 10Gi}");
  CHECK(cloud.Live(kMachine).output == "Yes: no quota limits any of it.\n");
  std::string more = kMachine;
  more.insert(more.find("{name: root"),
              "{name: more, ephemeral: {volumeTemplate: {spec: {volumeClassRef: {name: fast}, "
              "resources: {storage: 3Gi}}}}}, ");
  const auto told = cloud.Live(more);
  CHECK(told.code == 1);
  CHECK_THAT(told.output,
             Contains("requests.storage   10Gi     3Gi     13Gi    12Gi    no, lacks 1Gi"));
}

TEST_CASE("check: a quota of ironcore beside Kubernetes' own, in the files",
          "[kubectl-quota][ironcore]") {
  Cloud cloud;
  cloud.Serve();
  cloud.Limit("{requests.cpu: 9}", "{requests.cpu: 4}");
  cloud.Put({"", "v1", "resourcequotas"},
            "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: "
            "{hard: {pods: 9}}, status: {hard: {pods: 9}, used: {pods: 1}}}");
  // The one of ironcore is lowered by the files; the other one has the same name.
  const auto told = cloud.Live(Documents({Quota("{requests.cpu: 5}"), kLarge, kMachine}));
  CHECK(told.code == 1);
  CHECK_THAT(
      told.output,
      Contains("resourcequota.core.ironcore.dev/q   requests.cpu   4        4       8       5"));
  CHECK_THAT(told.output, !Contains("NAMESPACE") && !Contains("pods"));
}

}  // namespace check_ironcore_test
