// The random quotas, LimitRanges and classes.

#include <algorithm>

#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/objects.h"
#include "tests/e2e/harness/random_manifests.h"

namespace e2e {
namespace {

bool IsClaimOrPod(const json::Value& manifest) {
  const std::string_view kind = manifest.StringAt({"kind"});
  return kind == "Pod" || kind == "PersistentVolumeClaim";
}

}  // namespace

void RandomManifests::AddScope(const std::string& scope, json::Value& quota) {
  if (scope != "PriorityClass") {
    quota.Make({"spec", "scopes"}) = json::Array{scope};
    return;
  }
  json::Value match = json::Object{{"scopeName", scope}, {"operator", "Exists"}};
  if (Chance(80)) {
    match.Make({"operator"}) = Pick({"In", "In", "NotIn"});
    json::Array classes{"quota-check-high"};
    if (!priority_class_.empty() && Chance(60)) classes = json::Array{priority_class_};
    match.Make({"values"}) = std::move(classes);
  }
  quota.Make({"spec", "scopeSelector", "matchExpressions"}) = json::Array{std::move(match)};
}

json::Value RandomManifests::Quota(int number) {
  json::Value quota = NamedObject("v1", "ResourceQuota", "quota-" + std::to_string(number));
  const auto limit = [&](const std::string& name, const std::vector<std::string>& amounts) {
    quota.Make({"spec", "hard", name}) = Pick(amounts);
  };
  if (Chance(25)) {
    const std::string scope =
        Pick({"BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "PriorityClass"});
    AddScope(scope, quota);
    limit("pods", {"0", "2", "5", "9"});
    if (scope != "BestEffort" && Chance(50)) limit("requests.cpu", {"500m", "2", "6"});
    return quota;
  }
  if (Chance(50)) limit("pods", {"2", "5", "9"});
  if (Chance(45)) limit(Pick({"requests.cpu", "cpu"}), {"500m", "2", "6"});
  if (Chance(30)) limit("requests.memory", {"1Gi", "4Gi", "10G"});
  if (Chance(25)) limit("limits.cpu", {"2", "8", "20"});
  if (Chance(20)) limit("limits.memory", {"2Gi", "16Gi"});
  if (Chance(25)) limit("persistentvolumeclaims", {"1", "3"});
  if (Chance(25)) limit("requests.storage", {"1Gi", "8Gi", "20Gi"});
  if (Chance(10)) limit("slow.storageclass.storage.k8s.io/requests.storage", {"1Gi", "9Gi"});
  if (!storage_class_.empty() && Chance(70)) {
    limit(storage_class_ + ".storageclass.storage.k8s.io/requests.storage", {"1Gi", "9Gi"});
  }
  if (Chance(15)) limit("count/endpoints", {"0", "1", "2"});
  if (Chance(15)) limit("count/endpointslices.discovery.k8s.io", {"0", "1", "2"});
  if (Chance(20)) limit("services.nodeports", {"0", "1", "4"});
  if (Chance(20)) limit("services.loadbalancers", {"0", "1"});
  if (Chance(20)) limit("count/replicasets.apps", {"1", "2", "3"});
  if (Chance(20)) limit("count/controllerrevisions.apps", {"1", "2", "4"});
  if (Chance(20)) limit("count/jobs.batch", {"0", "1", "3"});
  if (Chance(20))
    limit(Pick({"count/deployments.apps", "configmaps", "secrets", "count/pods",
                "count/cronjobs.batch", "replicationcontrollers"}),
          {"0", "1", "2", "5"});
  if (quota.At({"spec", "hard"}) == nullptr) limit("pods", {"4"});
  return quota;
}

json::Value RandomManifests::LimitRange() {
  json::Value range = NamedObject("v1", "LimitRange", "range");
  json::Value item = json::Object{{"type", "Container"}};
  if (Chance(60)) item.Make({"default", "cpu"}) = "1";
  if (Chance(60)) item.Make({"default", "memory"}) = "2Gi";
  if (Chance(60)) item.Make({"defaultRequest", "cpu"}) = "200m";
  if (Chance(30)) item.Make({"max", "cpu"}) = "1500m";
  if (Chance(15)) item.Make({"min", "cpu"}) = "200m";
  if (Chance(10)) item.Make({"maxLimitRequestRatio", "cpu"}) = "4";
  json::Array items{std::move(item)};
  if (Chance(15))
    items.push_back(json::Object{{"type", "Pod"}, {"max", json::Object{{"memory", "2Gi"}}}});
  if (Chance(15)) {
    items.push_back(
        json::Object{{"type", "PersistentVolumeClaim"}, {"max", json::Object{{"storage", "1Gi"}}}});
  }
  range.Make({"spec", "limits"}) = std::move(items);
  return range;
}

void RandomManifests::AddClasses(const std::string& ns, RandomCase& made) {
  const auto name = [&](const char* kind) { return Chance(15) ? ns + "-" + kind : ""; };
  priority_class_ = name("high");
  runtime_class_ = name("heavy");
  storage_class_ = name("gold");
  if (!priority_class_.empty()) {
    json::Value high = NamedObject("scheduling.k8s.io/v1", "PriorityClass", priority_class_);
    high.Make({"value"}) = 5;
    made.manifests.push_back(std::move(high));
  }
  if (!runtime_class_.empty()) {
    json::Value heavy = NamedObject("node.k8s.io/v1", "RuntimeClass", runtime_class_);
    heavy.Make({"handler"}) = "heavy";
    heavy.Make({"overhead", "podFixed", "cpu"}) = Pick({"100m", "1"});
    made.manifests.push_back(std::move(heavy));
  }
  if (!storage_class_.empty()) {
    json::Value gold = NamedObject("storage.k8s.io/v1", "StorageClass", storage_class_);
    gold.Make({"provisioner"}) = "none";
    made.manifests.push_back(std::move(gold));
  }
}

// Moves rules into the files, or lets the files have other ones of the same names.
void RandomManifests::AddPolicies(const std::string& ns, RandomCase& made) {
  std::vector<json::Value>& files = made.manifests;
  if (Chance(10)) {
    files.insert(files.begin(), NamedObject("v1", "Namespace", ns));
    std::ranges::move(made.rules, std::back_inserter(files));
    made.rules.clear();
  }
  if (Chance(15) && !made.rules.empty()) {
    if (Chance(50)) {
      files.push_back(std::move(made.rules.back()));
      made.rules.pop_back();
    } else {
      // Applied over the stored one, whose scopes cannot change.
      json::Value over = Quota(0);
      const auto scoped = [](const json::Value& quota) {
        return quota.At({"spec", "scopes"}) || quota.At({"spec", "scopeSelector"});
      };
      if (!scoped(over) && !scoped(made.rules.front())) files.push_back(std::move(over));
    }
  }
  // Controllers may create pods before a LimitRange that follows their workload in the files, so
  // what creates them comes last.
  const auto range = std::ranges::find_if(
      files, [](const json::Value& one) { return one.StringAt({"kind"}) == "LimitRange"; });
  if (range == files.end()) return;
  json::Value own = std::move(*range);
  files.erase(range);
  const bool late = Chance(40);
  const auto workloads =
      std::stable_partition(files.begin(), files.end(),
                            [&](const json::Value& one) { return late && IsClaimOrPod(one); });
  files.insert(workloads, std::move(own));
}

}  // namespace e2e
