// Every file of manifests/samples/usage is read, and counts an object of its kind.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "pkg/config/yaml.h"
#include "pkg/json/projection.h"
#include "pkg/quota/usage/defined_evaluator.h"
#include "tests/pkg/quota/quota_testing.h"
#include "tests/source_dir.h"

namespace quota::usage {
namespace {

// An object of the kind, and what it uses besides its count.
struct Sample {
  std::string spec;
  std::map<std::string, std::string> uses;
};

const std::map<std::string, Sample> kSamples = {
    {"objectbucketclaims.objectbucket.io",
     {R"({"storageClassName":"fast","additionalConfig":{"maxObjects":"1000","maxSize":"2G"}})",
      {{"example.com/bucket-bytes", "2G"}}}},
    {"clusters.postgresql.cnpg.io",
     {R"({"instances":3,"storage":{"size":"10Gi"},"walStorage":{"size":"2Gi"},"tablespaces":[
          {"name":"a","storage":{"size":"1Gi"}},{"name":"b","storage":{"size":"4Gi"}}],
          "ephemeralVolumeSource":{"volumeClaimTemplate":{"spec":{"resources":{"requests":{
          "storage":"7Gi"}}}}}})",
      {{"example.com/postgres-instances", "3"},
       {"example.com/postgres-storage", "30Gi"},
       {"example.com/postgres-tablespace-storage", "15Gi"},
       {"example.com/postgres-wal-storage", "6Gi"},
       {"example.com/postgres-wal-template-storage", "0"},
       {"example.com/postgres-temporary-storage", "21Gi"}}}},
    {"virtualmachines.kubevirt.io",
     {R"({"runStrategy":"Halted","template":{"spec":{"domain":{
          "memory":{"guest":"4Gi","hugepages":{"pageSize":"2Mi"}},
          "resources":{"requests":{"memory":"1Gi"},"limits":{"memory":"64Gi"}}}}}})",
      {{"example.com/vm-memory", "4Gi"},
       {"example.com/vm-requested-memory", "1Gi"},
       {"example.com/vm-memory-limit", "64Gi"},
       {"example.com/vm-page-memory", "2Mi"}}}},
    {"pods",
     {R"({"nodeSelector":{"nvidia.com/gpu.product":"A100"},"initContainers":[
          {"name":"i","resources":{"limits":{"nvidia.com/gpu":"1","nvidia.com/gpumem":"1001"}}},
          {"name":"s","restartPolicy":"Always",
           "resources":{"limits":{"nvidia.com/gpu":"2","nvidia.com/gpumem":"3000"}}}],"containers":[
          {"name":"a","resources":{"limits":{"nvidia.com/gpu":"2","nvidia.com/gpumem":"4096"}}},
          {"name":"b"},
          {"name":"c","resources":{"limits":{"nvidia.com/gpu":"1"}}}]})",
      {{"example.com/gpu-memory-mib", "90112"}, {"example.com/gpu-init-memory-mib", "7001"}}}},
    {"resourcebindings.work.karmada.io",
     {R"({"resource":{"apiVersion":"apps/v1","kind":"Deployment"},"replicas":3,
          "replicaRequirements":{"resourceRequest":{"cpu":"500m","memory":"1Gi"}},
          "clusters":[{"name":"a","replicas":2},{"name":"b","replicas":2}]})",
      {{"example.com/karmada-wanted-pods", "3"},
       {"example.com/karmada-wanted-cpu", "1500m"},
       {"example.com/karmada-wanted-memory", "3Gi"},
       {"example.com/karmada-placed-pods", "4"},
       {"example.com/karmada-placed-cpu", "2"},
       {"example.com/karmada-placed-memory", "4Gi"},
       {"example.com/karmada-component-pods", "0"},
       {"example.com/karmada-component-cpu", "0"},
       {"example.com/karmada-component-memory", "0"}}}},
    {"kafkanodepools.kafka.strimzi.io",
     {R"({"replicas":3,"roles":["broker"],"storage":{"type":"jbod","volumes":[
          {"id":0,"type":"persistent-claim","size":"100Gi"},
          {"id":1,"type":"persistent-claim","size":"50Gi"}]}})",
      {{"example.com/kafka-nodes", "3"},
       {"example.com/kafka-jbod-storage", "450Gi"},
       {"example.com/kafka-storage", "0"}}}},
    {"rayclusters.ray.io",
     {R"({"headGroupSpec":{"template":{"spec":{"containers":[
             {"name":"head","resources":{"limits":{"nvidia.com/gpu":"1"}}}],"initContainers":[
             {"name":"init","resources":{"limits":{"nvidia.com/gpu":"3"}}}]}}},
          "autoscalerOptions":{"resources":{"limits":{"cpu":"1","nvidia.com/gpu":"5"}}},
          "workerGroupSpecs":[
          {"groupName":"gpu","replicas":4,"minReplicas":1,"template":{"spec":{"containers":[
             {"name":"worker","resources":{"limits":{"cpu":"4","nvidia.com/gpu":"2"}}},
             {"name":"sidecar"}]}}},
          {"groupName":"least","replicas":0,"minReplicas":16,"template":{"spec":{"containers":[
             {"name":"worker","resources":{"limits":{"nvidia.com/gpu":"8"}}}]}}},
          {"groupName":"init","replicas":3,"minReplicas":2,"template":{"spec":{"containers":[
             {"name":"worker"}],"initContainers":[{"name":"sidecar","restartPolicy":"Always",
             "resources":{"limits":{"nvidia.com/gpu":"4"}}}]}}},
          {"groupName":"cpu","replicas":10,"template":{"spec":{"containers":[{"name":"w"}]}}},
          {"groupName":"tpu","replicas":2,"minReplicas":2,"numOfHosts":4,"template":{"spec":{
             "containers":[{"name":"w"}]}}},
          {"groupName":"off","template":{"spec":{"containers":[
             {"name":"w","resources":{"limits":{"nvidia.com/gpu":8}}}]}}}]})",
      {{"example.com/ray-workers", "25"},
       {"example.com/ray-min-workers", "27"},
       {"example.com/ray-worker-gpus", "8"},
       {"example.com/ray-min-worker-gpus", "130"},
       {"example.com/ray-worker-init-gpus", "12"},
       {"example.com/ray-min-worker-init-gpus", "8"},
       {"example.com/ray-head-gpus", "1"},
       {"example.com/ray-head-init-gpus", "3"},
       {"example.com/ray-autoscaler-gpus", "5"}}}}};

json::Value Read(const std::filesystem::path& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto value = config::ParseYaml(text);
  REQUIRE(value.has_value());
  return *value;
}

}  // namespace

TEST_CASE("samples of UsageDefinitions are read, and count what they say", "[usage]") {
  std::size_t files = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(tests::SourcePath("/manifests/samples/usage"))) {
    if (file.path().extension() != ".yaml") continue;
    ++files;
    INFO(file.path().string());
    const auto definition = ParseUsageDefinition(Read(file.path()));
    INFO((definition ? "" : definition.error().message));
    REQUIRE(definition.has_value());
    const auto sample = kSamples.find(definition->name);
    REQUIRE(sample != kSamples.end());
    const Evaluator evaluator = EvaluatorOf(*definition);
    const std::string object = R"({"spec":)" + sample->second.spec + "}";
    const auto decoded = json::ParseProjected(object, json::Projection(evaluator.fields));
    REQUIRE(decoded.has_value());
    const auto facts = evaluator.facts_of(*decoded, {});
    REQUIRE(facts.has_value());
    CHECK(facts->flaw == "");
    std::map<std::string, std::string> uses;
    for (const auto& [name, amount] : facts->now.usage) {
      if (!name.starts_with("count/")) uses.emplace(name, amount.ToString());
    }
    CHECK(uses == sample->second.uses);
  }
  CHECK(files == kSamples.size());
}

}  // namespace quota::usage
