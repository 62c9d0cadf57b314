// The samples of UsageDefinitions: each is counted, beside a sum by hand, for a dozen objects of
// the shapes that its project documents.
#include <catch2/catch.hpp>

#include "tests/e2e/usage/by_hand.h"
#include "tests/e2e/usage/counted_sample.h"

namespace e2e::usage_samples_test {
namespace {

using by_hand::Sums;

const AdmissionOptions kEnforced{.server = Managed(), .more_flags = {"--enforce=cluster"}};

struct Operators {
  Admission a{kEnforced};
  UsageDefinitions definitions{a.api()};

  void Count(const std::string& crd, const UsageSample& sample,
             const std::string& folder = "usage") {
    const OperatorCrd kind(a.api(), crd, folder);
    TrySample(a, definitions, sample, [&](const std::string& ns) { return kind.In(ns); });
  }
};

}  // namespace

TEST_CASE_METHOD(Operators, "usage samples: CloudNativePG's clusters, as summed by hand",
                 "[e2e][cluster][usage]") {
  Count("clusters.postgresql.cnpg.io",
        {.file = "cloudnative-pg-clusters",
         .objects = "clusters",
         .uses = by_hand::PostgresCluster,
         .changes = {{"three", R"({"spec":{"instances":4}})"},
                     {"with-wal", R"({"spec":{"walStorage":{"size":"30Gi"}}})"},
                     {"no-tablespaces", R"({"spec":{"tablespaces":[
                          {"name":"new","storage":{"size":"7Gi"}}]}})"}},
         .refused = {{R"({"instances":1,"storage":{"pvcTemplate":{"resources":{"requests":{
                          "storage":"1Gi"}}}}})",
                      "spec.storage.size: is missing"},
                     {R"({"instances":1,"storage":{"size":"1Gi"},"tablespaces":[
                          {"name":"t","storage":{"pvcTemplate":{"resources":{"requests":{
                          "storage":"1Gi"}}}}}]})",
                      "spec.tablespaces[0].storage.size: is missing"},
                     {R"({"instances":1,"storage":{"size":"much"}})", "spec.storage.size"}}});
}

TEST_CASE_METHOD(Operators, "usage samples: KubeRay's clusters, as summed by hand",
                 "[e2e][cluster][usage]") {
  Count("rayclusters.ray.io",
        {.file = "ray-rayclusters",
         .objects = "rayclusters",
         .uses = by_hand::RayCluster,
         .changes = {{"suspended", R"({"spec":{"suspend":false}})"},
                     {"gpu-workers", R"({"spec":{"suspend":true}})"},
                     {"head-only", R"({"spec":{"workerGroupSpecs":[{"groupName":"new",
                          "replicas":3,"minReplicas":1,"maxReplicas":5,"template":{"spec":{
                          "containers":[{"name":"ray-worker"}]}}}]}})"}},
         .refused = {{R"({"headGroupSpec":{"template":{"spec":{"containers":[{"name":"h"}]}}},
                          "workerGroupSpecs":[{"groupName":"g","replicas":-1,"minReplicas":0,
                          "maxReplicas":5,"template":{"spec":{"containers":[{"name":"w"}]}}}]})",
                      "must not be negative"}}});
}

TEST_CASE_METHOD(Operators, "usage samples: Strimzi's pools of nodes, as summed by hand",
                 "[e2e][cluster][usage]") {
  Count("kafkanodepools.kafka.strimzi.io",
        {.file = "strimzi-kafkanodepools",
         .objects = "kafkanodepools",
         .uses = by_hand::KafkaNodePool,
         .changes = {{"one-claim", R"({"spec":{"replicas":9}})"},
                     {"scaled-to-zero", R"({"spec":{"replicas":2}})"},
                     {"disks", R"({"spec":{"replicas":0}})"}},
         .refused = {{R"({"replicas":1,"roles":["broker"],"storage":{"type":"jbod","volumes":[
                          {"id":0,"type":"persistent-claim","size":"-1Gi"}]}})",
                      "must not be negative"},
                     {R"({"replicas":1,"roles":["broker"],"storage":{
                          "type":"persistent-claim","size":"100GB"}})",
                      "spec.storage.size"}}});
}

TEST_CASE_METHOD(Operators, "usage samples: claims of Rook's buckets, as summed by hand",
                 "[e2e][cluster][usage]") {
  Count(
      "objectbucketclaims.objectbucket.io",
      {.file = "rook-objectbucketclaims",
       .objects = "objectbucketclaims",
       .uses = by_hand::ObjectBucketClaim,
       .changes = {{"decimal", R"({"spec":{"additionalConfig":{"maxSize":"3G"}}})"}},
       .refused = {{R"({"storageClassName":"fast"})", "spec.additionalConfig.maxSize: is missing"},
                   {R"({"additionalConfig":null})", "spec.additionalConfig.maxSize: is missing"},
                   {R"({"additionalConfig":{"bucketMaxSize":"1G"}})", "maxSize: is missing"},
                   {R"({"additionalConfig":{"maxSize":"-1"}})", "must not be negative"}}});
}

TEST_CASE_METHOD(Operators, "usage samples: Karmada's bindings, as summed by hand",
                 "[e2e][cluster][usage]") {
  Count("resourcebindings.work.karmada.io",
        {.file = "karmada-resourcebindings",
         .objects = "resourcebindings",
         .uses = by_hand::ResourceBinding,
         .changes = {{"unscheduled", R"({"spec":{"clusters":[{"name":"m1","replicas":3}]}})"},
                     {"divided", R"({"spec":{"replicas":1,"clusters":[
                          {"name":"m2","replicas":1}]}})"}},
         .refused = {{R"({"resource":{"apiVersion":"apps/v1","kind":"Deployment","name":"a"},
                          "replicas":-1})",
                      "must not be negative"}},
         .scoped = {{.scope = "example.com/priority-class",
                     .value = "high",
                     .limit = "example.com/karmada-wanted-cpu",
                     .spec = R"({"resource":{"apiVersion":"apps/v1","kind":"Deployment",
                          "name":"a"},"replicas":1,"replicaRequirements":{
                          "priorityClassName":"high","resourceRequest":{"cpu":"1"}}})"},
                    {.scope = "example.com/template-kind",
                     .value = "CronJob",
                     .limit = "count/resourcebindings.work.karmada.io",
                     .spec = R"({"resource":{"apiVersion":"batch/v1","kind":"CronJob",
                          "name":"a"}})"}}},
        "karmada");
}

TEST_CASE_METHOD(Operators, "usage samples: shared GPUs of pods, as summed by hand",
                 "[e2e][cluster][usage]") {
  TrySample(a, definitions,
            {.file = "pods-by-gpu",
             .objects = "gpu-pods",
             .uses = by_hand::GpuPod,
             .changes = {},
             .refused = {},
             .scoped = {{.scope = "example.com/gpu-product",
                         .value = "B200",
                         .limit = "requests.nvidia.com/gpu",
                         .spec = R"({"nodeSelector":{"nvidia.com/gpu.product":"B200"},"containers":[
                          {"name":"a","image":"i","resources":{"limits":{
                          "nvidia.com/gpu":"1"}}}]})"}}},
            [](const std::string& ns) { return PathOf("pods", ns); });
}

TEST_CASE_METHOD(Operators, "usage samples: KubeVirt's machines, as summed by hand",
                 "[e2e][cluster][usage]") {
  const OperatorCrd types(a.api(), "virtualmachineclusterinstancetypes.instancetype.kubevirt.io");
  Sums memory;
  for (const json::Value& type : SampleObjects("virtualmachineclusterinstancetypes")) {
    a.api().Create(types.InCluster(), type);
    memory[std::string(type.StringAt({"metadata", "name"}))] =
        by_hand::AmountOf(*type.At({"spec", "memory", "guest"}));
  }
  Count("virtualmachines.kubevirt.io",
        {.file = "kubevirt-virtualmachines",
         .objects = "virtualmachines",
         .uses = [&](const json::Value& one) { return by_hand::VirtualMachine(one, memory); },
         .changes = {{"running", R"({"spec":{"runStrategy":"Halted"}})"},
                     {"hot-plug", R"({"spec":{"template":{"spec":{"domain":{"memory":{
                          "guest":"32Gi"}}}}}})"},
                     {"of-an-instance-type", R"({"spec":{"instancetype":{"name":"m1.8xlarge"}}})"}},
         .refused = {{R"({"instancetype":{"name":"unheard-of"},"template":{"spec":{"domain":{
                          "devices":{}}}}})",
                      "unheard-of"},
                     {R"({"template":{"spec":{"domain":{"devices":{},"memory":{
                          "guest":"-1Gi"}}}}})",
                      "must not be negative"}},
         .scoped = {{.scope = "example.com/vm-instancetype-kind",
                     .value = "VirtualMachineClusterInstancetype",
                     .limit = "count/virtualmachines.kubevirt.io",
                     .spec = R"({"instancetype":{"kind":"virtualmachineinstancetypes",
                          "name":"u1.medium"},"template":{"spec":{"domain":{"devices":{}}}}})",
                     .any_but_it = true}}});
}

}  // namespace e2e::usage_samples_test
