#include "tests/differential/random_requests.h"

#include <string>
#include <utility>
#include <vector>

#include "tests/differential/random_objects.h"

namespace differential {
namespace {

using json::Array;
using json::Object;
using json::Value;

const std::vector<std::string> kLimitable = {"pods",
                                             "count/pods",
                                             "cpu",
                                             "memory",
                                             "requests.cpu",
                                             "requests.memory",
                                             "limits.cpu",
                                             "limits.memory",
                                             "ephemeral-storage",
                                             "limits.ephemeral-storage",
                                             "hugepages-2Mi",
                                             "requests.hugepages-2Mi",
                                             "requests.example.com/gpu",
                                             "requests.vendor.io/fpga",
                                             "requests.deviceclass.resource.kubernetes.io/gold",
                                             "services",
                                             "services.loadbalancers",
                                             "services.nodeports",
                                             "count/services",
                                             "persistentvolumeclaims",
                                             "count/persistentvolumeclaims",
                                             "requests.storage",
                                             "high.storageclass.storage.k8s.io/requests.storage",
                                             "gold.deviceclass.resource.k8s.io/devices",
                                             "gpu.deviceclass.resource.k8s.io/devices",
                                             "count/resourceclaims.resource.k8s.io",
                                             "configmaps",
                                             "count/configmaps"};

Object RandomLimits(Random& random) {
  Object limits;
  for (std::size_t n = 1 + random.Below(8); n > 0; --n) {
    limits.Set(random.OneOf(kLimitable), random.OneOf({"0", "1", "2", "5", "10", "50", "500m",
                                                       "1500m", "1Ki", "100Mi", "4Gi", "1E"}));
  }
  return limits;
}

// Often that of the spec; sometimes of an earlier spec, without a count, or not there yet.
Object RandomStatus(Random& random, Object hard) {
  if (random.Percent(8)) return {};
  if (random.Percent(20)) hard = RandomLimits(random);
  Object used;
  for (const auto& [name, limit] : hard) {
    if (random.Percent(3)) continue;
    used.Set(name, random.Percent(50) ? "0" : random.OneOf({"1", "2", "7", "500m", "1Gi"}));
  }
  return {{"hard", std::move(hard)}, {"used", std::move(used)}};
}

// Only what an API server accepts: departures.h has the rest.
Object RandomClassSelector(Random& random) {
  const std::string op = random.OneOf({"In", "NotIn", "Exists", "DoesNotExist"});
  Object expression{{"scopeName", random.OneOf({"PriorityClass", "VolumeAttributesClass"})},
                    {"operator", op}};
  if (op == "In" || op == "NotIn") {
    expression.Set("values", Array{random.OneOf({"high", "low"}), random.OneOf({"low", "gold"})});
  }
  return {{"matchExpressions", Array{std::move(expression)}}};
}

Object RandomQuota(Random& random, const std::string& name) {
  Object hard = RandomLimits(random);
  Object spec{{"hard", hard}};
  if (random.Percent(40)) {
    spec.Set("scopes", Array{random.OneOf({"Terminating", "NotTerminating", "BestEffort",
                                           "NotBestEffort", "CrossNamespacePodAffinity",
                                           "PriorityClass", "VolumeAttributesClass"})});
  }
  if (random.Percent(30)) spec.Set("scopeSelector", RandomClassSelector(random));
  return {{"metadata", Object{{"name", name},
                              {"namespace", "n"},
                              {"uid", "uid-of-" + name},
                              {"resourceVersion", "5"}}},
          {"spec", std::move(spec)},
          {"status", RandomStatus(random, std::move(hard))}};
}

std::string PodName(std::size_t number) { return "p" + std::to_string(number); }

Object RandomOwnedPod(Random& random, std::size_t number) {
  Object requests;
  for (const char* name :
       {"cpu", "example.com/gpu", "vendor.io/fpga", "deviceclass.resource.kubernetes.io/gold"}) {
    if (random.Percent(50)) requests.Set(name, random.OneOf({"0", "1", "2", "3"}));
  }
  Object status{{"phase", random.OneOf({"Running", "Running", "Pending", "Succeeded"})}};
  if (random.Percent(40)) {
    status.Set("extendedResourceClaimStatus",
               Object{{"resourceClaimName", random.OneOf({"c0", "c1", "c2", "gone"})}});
  }
  const Object container{{"name", "c"}, {"resources", Object{{"requests", std::move(requests)}}}};
  return {
      {"metadata",
       Object{{"name", PodName(number)}, {"namespace", "n"}, {"uid", "uid-of-" + PodName(number)}}},
      {"spec", Object{{"containers", Array{container}}}},
      {"status", std::move(status)}};
}

Object RandomOwner(Random& random) {
  const std::string name = PodName(random.Below(3));
  Object owner{{"apiVersion", random.OneOf({"v1", "v1", "v1", "v2"})},
               {"kind", random.OneOf({"Pod", "Pod", "Pod", "Job"})},
               {"name", name},
               {"uid", "uid-of-" + name}};
  if (random.Percent(75)) owner.Set("controller", true);
  return owner;
}

Object RandomMadeClaim(Random& random, std::size_t number) {
  const std::string name = "c" + std::to_string(number);
  Object claim = RandomDeviceClaim(random);
  Object metadata{
      {"name", name},
      {"namespace", "n"},
      {"uid", "uid-of-" + name},
      {"creationTimestamp", random.OneOf({"2024-05-01T10:00:00Z", "2024-05-01T10:00:01Z"})}};
  if (random.Percent(85)) {
    metadata.Set("annotations", Object{{"resource.kubernetes.io/extended-resource-claim",
                                        random.OneOf({"true", "true", "true", "false"})}});
  }
  Array owners;
  for (std::size_t n = random.Below(3); n > 0; --n) owners.emplace_back(RandomOwner(random));
  metadata.Set("ownerReferences", std::move(owners));
  claim.Set("metadata", std::move(metadata));
  return claim;
}

}  // namespace

Object RandomRequest(Random& random) {
  using Make = Object (*)(Random&);
  constexpr Make kMakers[] = {RandomPod,         RandomPod,         RandomPod,
                              RandomService,     RandomVolumeClaim, RandomVolumeClaim,
                              RandomDeviceClaim, RandomConfigMap};
  const Make make = kMakers[random.Below(8)];
  Array quotas;
  for (std::size_t n = 1 + random.Below(3); n > 0; --n) {
    quotas.emplace_back(RandomQuota(random, "q" + std::to_string(n)));
  }
  Object request{{"quotas", std::move(quotas)}, {"object", make(random)}};
  if (random.Percent(50)) return request;
  Value old = random.Percent(30) ? *request.Find("object") : Value(make(random));
  if (random.Percent(95)) old.Make({"metadata", "resourceVersion"}) = "7";
  request.Set("old", std::move(old));
  if (make == RandomPod && random.Percent(70)) request.Set("subresource", "resize");
  return request;
}

Object RandomClaimsOfPods(Random& random) {
  Array pods;
  for (std::size_t number = 0; number < 3; ++number) {
    if (random.Percent(85)) pods.emplace_back(RandomOwnedPod(random, number));
  }
  Array claims;
  for (std::size_t number = 0; number < 5; ++number) {
    if (random.Percent(80)) claims.emplace_back(RandomMadeClaim(random, number));
  }
  return {{"pods", std::move(pods)}, {"claims", std::move(claims)}};
}

}  // namespace differential
