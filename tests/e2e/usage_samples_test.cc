// The samples of UsageDefinitions: each is counted, beside a sum by hand, for a dozen objects of
// the shapes that its project documents. The CRDs are those in tests/e2e/usage. With
// QCM_OPERATOR_CRDS=FOLDER they are FOLDER/<name of the CRD>.yaml: the projects' own, whole.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>

#include "pkg/config/yaml.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/usage/by_hand.h"
#include "tests/source_dir.h"

namespace e2e::usage_samples_test {
namespace {

using by_hand::Sums;

std::vector<json::Value> Documents(const std::string& path) {
  auto documents = config::ParseYamlDocuments(ReadFile(tests::SourcePath(path)));
  INFO(path);
  REQUIRE(documents.has_value());
  REQUIRE_FALSE(documents->empty());
  return std::move(*documents);
}

std::vector<json::Value> Objects(const std::string& file) {
  return Documents("/tests/e2e/usage/" + file + ".yaml");
}

// A CRD that exists during the lifetime of this object.
class Crd {
 public:
  Crd(Api& api, const std::string& name) : api_(api), name_(name) {
    const std::string plural = name.substr(0, name.find('.'));
    json::Value crd = Objects(plural + "-crd").front();
    if (const char* folder = std::getenv("QCM_OPERATOR_CRDS")) {
      const std::string file = std::string(folder) + "/" + name + ".yaml";
      auto whole = config::ParseYaml(ReadFile(file));
      INFO(file);
      REQUIRE(whole.has_value());
      crd = std::move(*whole);
    }
    REQUIRE(crd.StringAt({"metadata", "name"}) == name);
    const json::Value& version = crd.ArrayAt({"spec", "versions"}).front();
    collection_ = "/apis/" + std::string(crd.StringAt({"spec", "group"})) + "/" +
                  std::string(version.StringAt({"name"}));
    plural_ = "/" + plural;
    api_.Create(PathOf("customresourcedefinitions"), crd);
    WaitServed(api_, collection_ + plural_);
  }
  ~Crd() {
    const std::string path = PathOf("customresourcedefinitions", "", name_);
    (void)api_.Do({.verb = "DELETE", .path = path});
    (void)PollUntil([&] { return !api_.Exists(path); }, Stretched(60s));
  }
  Crd(const Crd&) = delete;
  Crd& operator=(const Crd&) = delete;

  [[nodiscard]] std::string InCluster() const { return collection_ + plural_; }
  [[nodiscard]] std::string In(const std::string& ns) const {
    return collection_ + "/namespaces/" + ns + plural_;
  }

 private:
  Api& api_;
  std::string name_;
  std::string collection_;  // "/apis/ray.io/v1"
  std::string plural_;
};

// One that an admission refuses: the spec of an object, and a part of the message.
struct Refused {
  const char* spec;
  const char* message;
};

// With this scope, a quota forbids an object: its limit is 0.
struct Scoped {
  std::string scope;
  std::string value;
  std::string limit;
  std::string spec;  // of an object in the scope
};

struct Sample {
  std::string file;  // of manifests/samples/usage
  std::string objects;
  std::function<Sums(const json::Value&)> uses;
  // Changes of objects by name. All is compared again after them.
  std::vector<std::pair<std::string, std::string>> changes;
  std::vector<Refused> refused;
  std::vector<Scoped> scoped{};
};

// A team whose quota limits all names of a sample.
class Counted {
 public:
  // `collection`: where the objects of the team are.
  Counted(Admission& a, UsageDefinitions& definitions, const Sample& sample)
      : a_(a), definitions_(definitions), sample_(sample) {}

  void Run(const std::function<std::string(const std::string& ns)>& collection) {
    const json::Value definition =
        Documents("/manifests/samples/usage/" + sample_.file + ".yaml").front();
    const std::string name(definition.StringAt({"metadata", "name"}));
    a_.api().Create(UsageDefinitions::Path(), definition);
    definitions_.WaitCondition(name, "Ready", "True NotLimited");
    collection_ = collection(ns_.name());
    std::vector<json::Value> objects = Objects(sample_.objects);
    for (const json::Value& amount : definition.ArrayAt({"spec", "usage"})) {
      hard_[std::string(amount.StringAt({"name"}))] = "1000P";
    }
    quotas_.Create(team_, SelectTeam(team_, Limits()));
    WaitSums({});

    for (const json::Value& object : objects) {
      INFO(json::Write(object));
      const Attempt created = ToAttempt(a_.api().Do(PostOf(collection_, object)));
      INFO(created.Text());
      REQUIRE(created.ok());
    }
    Compare(objects.size());
    for (const auto& [object, patch] : sample_.changes) {
      INFO(object << ": " << patch);
      const Attempt changed = ToAttempt(a_.api().Do(PatchOf(collection_ + "/" + object, patch)));
      INFO(changed.Text());
      REQUIRE(changed.ok());
    }
    Compare(objects.size());
    a_.api().Delete(collection_ + "/" + NameOf(objects.back()));
    Compare(objects.size() - 1);
    TryRefused(objects.front());
    for (const Scoped& scoped : sample_.scoped) TryScoped(scoped, objects.front());
    TryOneMore(objects[1]);
  }

 private:
  static std::string NameOf(const json::Value& object) {
    return std::string(object.StringAt({"metadata", "name"}));
  }

  [[nodiscard]] std::string Limits() const { return R"("hard":)" + json::Write(ToObject(hard_)); }

  Sums ByHand() {
    Sums sums;
    const json::Value list = a_.api().Get(collection_);
    for (const json::Value& object : list.ArrayAt({"items"})) {
      for (const auto& [name, sum] : sample_.uses(object)) sums[name] += sum;
    }
    return sums;
  }

  void WaitSums(const Sums& sums) {
    Sums wanted;
    for (const auto& [name, limit] : hard_) wanted[name] = 0;
    for (const auto& [name, sum] : sums) wanted[name] = sum;
    Eventually("counted as by hand: " + by_hand::ToText(wanted), [&]() -> std::string {
      const json::Value quota = quotas_.Get(team_);
      Sums used;
      for (const auto& [name, text] : ToQuantities(quota.At({"status", "used"}))) {
        used[name] = by_hand::ReadAmount(text);
      }
      return used == wanted ? "" : json::Write(quota);
    });
  }

  void Compare(std::size_t objects) {
    const json::Value list = a_.api().Get(collection_);
    REQUIRE(list.ArrayAt({"items"}).size() == objects);
    const Sums sums = ByHand();
    REQUIRE(sums.size() == hard_.size());
    for (const auto& [name, sum] : sums) {
      INFO(name);
      CHECK(static_cast<double>(sum) > 0);  // or nothing is compared
    }
    WaitSums(sums);
  }

  void TryRefused(const json::Value& object) {
    for (const auto& [spec, message] : sample_.refused) {
      json::Value one = object;
      one.Make({"metadata", "name"}) = "refused";
      one.Make({"spec"}) = Json(spec);
      const Attempt attempt = ToAttempt(a_.api().Do(PostOf(collection_, one)));
      INFO(spec << ": " << attempt.Text());
      CHECK(attempt.code == 403);
      CHECK(attempt.message.find(message) != std::string::npos);
    }
  }

  void TryScoped(const Scoped& scoped, json::Value object) {
    const std::string forbidden = FreshName("forbidden");
    const json::Value scope = json::Object{
        {"scopeName", scoped.scope}, {"operator", "In"}, {"values", json::Array{scoped.value}}};
    quotas_.Create(forbidden, SelectTeam(team_, R"("scopeSelector":{"matchExpressions":[)" +
                                                    json::Write(scope) + R"(]},"hard":{")" +
                                                    scoped.limit + R"(":"0"})"));
    quotas_.WaitUsed(forbidden, {{scoped.limit, "0"}});
    object.Make({"metadata", "name"}) = "scoped";
    object.Make({"spec"}) = Json(scoped.spec);
    const Attempt attempt = ToAttempt(a_.api().Do(PostOf(collection_, object)));
    INFO(attempt.Text());
    CHECK(attempt.code == 403);
    CHECK(attempt.message.find("exceeded cluster quota: " + forbidden) != std::string::npos);
    a_.api().Delete(ClusterQuotas::Path(forbidden));
  }

  // With limits that are used up, there is no room for a copy of an object.
  void TryOneMore(json::Value object) {
    Quantities full = ToQuantities(quotas_.Get(team_).At({"status", "used"}));
    a_.api().MergePatch(ClusterQuotas::Path(team_),
                        json::Object{{"spec", json::Object{{"hard", ToObject(full)}}}});
    quotas_.WaitUsed(team_, full);
    object.Make({"metadata", "name"}) = "one-more";
    const Attempt attempt = ToAttempt(a_.api().Do(PostOf(collection_, object)));
    INFO(attempt.Text());
    CHECK(attempt.code == 403);
    CHECK(attempt.message.find("exceeded cluster quota: " + team_) != std::string::npos);
  }

  Admission& a_;
  UsageDefinitions& definitions_;
  const Sample& sample_;
  ClusterQuotas quotas_{a_.api()};
  const std::string team_ = FreshName("team");
  TeamNamespace ns_{a_.api(), team_};
  Quantities hard_;
  std::string collection_;
};

const AdmissionOptions kEnforced{.server = Managed(), .more_flags = {"--enforce=cluster"}};

struct Operators {
  Admission a{kEnforced};
  UsageDefinitions definitions{a.api()};

  void Count(const std::string& crd, const Sample& sample) {
    const Crd kind(a.api(), crd);
    Counted(a, definitions, sample).Run([&](const std::string& ns) { return kind.In(ns); });
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

TEST_CASE_METHOD(Operators, "usage samples: shared GPUs of pods, as summed by hand",
                 "[e2e][cluster][usage]") {
  Counted(a, definitions,
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
                          "nvidia.com/gpu":"1"}}}]})"}}})
      .Run([](const std::string& ns) { return PathOf("pods", ns); });
}

TEST_CASE_METHOD(Operators, "usage samples: KubeVirt's machines, as summed by hand",
                 "[e2e][cluster][usage]") {
  const Crd types(a.api(), "virtualmachineclusterinstancetypes.instancetype.kubevirt.io");
  Sums memory;
  for (const json::Value& type : Objects("virtualmachineclusterinstancetypes")) {
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
                     .value = "VirtualMachineInstancetype",
                     .limit = "count/virtualmachines.kubevirt.io",
                     .spec = R"({"instancetype":{"kind":"VirtualMachineInstancetype",
                          "name":"u1.medium"},"template":{"spec":{"domain":{"devices":{}}}}})"}}});
}

}  // namespace e2e::usage_samples_test
