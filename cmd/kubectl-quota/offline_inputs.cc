#include "cmd/kubectl-quota/offline_inputs.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/config/yaml.h"
#include "pkg/inspect/apply.h"
#include "pkg/quota/cluster/cluster_quota.h"
#include "pkg/quota/quantity_field.h"

namespace kubectl_quota {
namespace {

using inspect::Manifest;

// Adds the members that only a server sets.
void GiveIdentity(json::Value& object) {
  for (const char* member : {"uid", "resourceVersion"}) {
    if (object.StringAt({"metadata", member}).empty()) object.Make({"metadata", member}) = "0";
  }
}

// Sets the usage of names without a count to zero.
void CountRest(quota::Quota& quota) {
  for (const auto& [name, limit] : quota.hard) {
    if (quota.status.used.Find(name) == nullptr) quota.status.used.Set(name, {});
  }
}

// In a file, what cannot be read is a mistake of the user.
base::Result<quota::Quota> WhollyRead(const json::Value& object, const quota::QuotaForm& form) {
  auto quota = quota::ParseQuota(object, form);
  if (!quota || quota->unreadable.why.empty()) return quota;
  return base::Error{.code = base::ErrorCode::kMalformed, .message = quota->unreadable.why};
}

base::Result<quota::Quota> ClusterQuotaFrom(json::Value object) {
  GiveIdentity(object);
  auto quota = WhollyRead(object, quota::ClusterQuotaApi().form);
  if (!quota) return quota;
  // Decide() reads limits from the status. Those of the spec count: an old status may be in the
  // file.
  quota->status.hard = quota->hard;
  quota->has_status_hard = true;
  quota->further_status = {};
  CountRest(*quota);
  return quota;
}

base::Result<quota::Quota> QuotaFrom(json::Value object) {
  GiveIdentity(object);
  const bool nowhere = api::Namespace(object).empty();
  if (nowhere) object.Make({"metadata", "namespace"}) = "-";
  auto quota = WhollyRead(object, {});
  if (!quota) return quota;
  if (nowhere) quota->key.ns.clear();
  // The file has the limits. An old status.hard in it must not replace them.
  quota->status.hard = {};
  CountRest(*quota);
  return quota;
}

// Returns the labels of all namespaces after those of the manifests are applied over the `stored`.
LabelsByNamespace LabelsAfter(const ManifestsByNamespace& manifests,
                              const std::map<std::string, json::Value>& stored) {
  LabelsByNamespace labels;
  for (const auto& [ns, object] : stored) labels[ns] = inspect::LabelsAfter(object, {});
  for (const auto& [ns, group] : manifests) {
    for (const Manifest& manifest : group) {
      if (!IsNamespace(manifest)) continue;
      const auto found = stored.find(ns);
      labels[ns] = inspect::LabelsAfter(manifest.object,
                                        found == stored.end() ? json::Value() : found->second);
    }
  }
  return labels;
}

struct ReadQuotaFiles {
  std::vector<quota::Quota> quotas;
  std::vector<quota::Quota> cluster_quotas;
  std::map<std::string, json::Value> namespaces;
  std::vector<json::Value> device_classes;
};

base::Result<ReadQuotaFiles> ReadQuotas(const std::vector<std::string>& paths) {
  auto manifests = ReadFiles(paths);
  if (!manifests) return manifests.error();
  ReadQuotaFiles read;
  for (Manifest& manifest : *manifests) {
    if (IsNamespace(manifest)) {
      read.namespaces[std::string(api::Name(manifest.object))] = manifest.object;
    }
    if (IsDeviceClass(manifest)) read.device_classes.push_back(manifest.object);
    const bool cluster = api::Kind(manifest.object) == "ClusterQuota";
    if (!cluster && api::Kind(manifest.object) != "ResourceQuota") continue;
    auto quota = cluster ? ClusterQuotaFrom(std::move(manifest.object))
                         : QuotaFrom(std::move(manifest.object));
    if (!quota) return quota.error().Wrap(manifest.where);
    (cluster ? read.cluster_quotas : read.quotas).push_back(std::move(*quota));
  }
  if (read.quotas.empty() && read.cluster_quotas.empty()) {
    return WrongInput("no ResourceQuota or ClusterQuota in what --quota-file names");
  }
  return read;
}

// Moves the DeviceClasses, which are in no namespace, out of the manifests.
void TakeDeviceClasses(OfflineInputs& inputs) {
  std::ranges::move(DeviceClassesIn(inputs.manifests), std::back_inserter(inputs.device_classes));
  for (auto& [ns, group] : inputs.manifests) std::erase_if(group, &IsDeviceClass);
  std::erase_if(inputs.manifests, [](const auto& group) { return group.second.empty(); });
}

void SetUsed(const quota::ResourceList& used, quota::Quota& quota) {
  for (const auto& [name, limit] : quota.hard) {
    if (const auto* amount = used.Find(name)) quota.status.used.Set(name, *amount);
  }
}

// True if what is stated for one of the namespaces holds for the other; "" is any.
bool Meet(std::string_view one, std::string_view other) {
  return one.empty() || other.empty() || one == other;
}

// Sets `used` as in the counted quota of the same name.
void SetUsedAs(const std::vector<quota::Quota>& counted, std::string_view ns, quota::Quota& quota) {
  const auto same = std::ranges::find_if(counted, [&](const quota::Quota& other) {
    return other.key.name == quota.key.name && Meet(other.key.ns, ns);
  });
  if (same != counted.end()) SetUsed(same->status.used, quota);
}

base::Result<void> SetPlainUsed(const json::Value& amounts, OfflineInputs& inputs) {
  const auto named = std::ranges::count_if(inputs.manifests,
                                           [](const auto& group) { return !group.first.empty(); });
  if (named > 1) {
    return WrongInput(
        "amounts by name are for one namespace, and the manifests are for several: give the quotas "
        "with their status");
  }
  const auto used = quota::ResourceListFrom(&amounts, "used");
  if (!used) return used.error();
  for (quota::Quota& quota : inputs.quotas) SetUsed(*used, quota);
  for (quota::Quota& quota : inputs.cluster_quotas) SetUsed(*used, quota);
  return {};
}

// Reads quotas with their status (`kubectl get quota -o yaml`), or amounts by name for all quotas.
base::Result<void> ReadUsed(const std::string& path, OfflineInputs& inputs) {
  const auto text = ReadText(path);
  if (!text) return text.error();
  const auto documents = config::ParseYamlDocuments(*text);
  if (!documents) return documents.error().Wrap(path);
  const bool plain = documents->size() == 1 && api::Kind(documents->front()).empty();
  if (plain) {
    auto set = SetPlainUsed(documents->front(), inputs);
    return set ? set : set.error().Wrap(path);
  }
  auto counted = ReadQuotas({path});
  if (!counted) return counted.error();
  inputs.counted = std::move(counted->quotas);
  for (quota::Quota& quota : inputs.cluster_quotas) SetUsedAs(counted->cluster_quotas, "", quota);
  return {};
}

// Returns the namespace of manifests without one: the only namespace of the quotas.
std::string HomeOf(const std::vector<quota::Quota>& quotas, const std::string& given) {
  if (!given.empty()) return given;
  std::set<std::string> all;
  for (const quota::Quota& quota : quotas) all.insert(quota.key.ns);
  return all.size() == 1 ? *all.begin() : "";
}

}  // namespace

std::vector<quota::Quota> OfflineInputs::QuotasOf(const std::string& ns) const {
  std::vector<quota::Quota> own;
  for (const quota::Quota& quota : quotas) {
    if (!Meet(quota.key.ns, ns)) continue;
    own.push_back(quota);
    SetUsedAs(counted, quota.key.ns.empty() ? ns : quota.key.ns, own.back());
  }
  return own;
}

base::Result<inspect::Surroundings> OfflineInputs::SurroundingsOf(const std::string& ns) const {
  inspect::Surroundings surroundings{.nodes_for = nodes_for};
  for (const Manifest& range : limit_ranges) {
    if (!Meet(api::Namespace(range.object), ns)) continue;
    auto added = inspect::AddLimitRange(range.object, surroundings.defaults);
    if (!added) return added.error().Wrap(range.where);
  }
  return surroundings;
}

std::vector<std::string> OfflineInputs::Unlabelled() const {
  const bool look = std::ranges::any_of(cluster_quotas, [](const quota::Quota& quota) {
    return quota.cluster->selector && !quota.cluster->selector->empty();
  });
  std::vector<std::string> unlabelled;
  for (const auto& [ns, group] : manifests) {
    if (look && !labels.contains(ns)) unlabelled.push_back(ns);
  }
  return unlabelled;
}

base::Result<OfflineInputs> ReadOffline(const Options& options) {
  const CheckOptions& check = options.check;
  OfflineInputs inputs;
  auto quotas = ReadQuotas(check.quota_files);
  if (!quotas) return quotas.error();
  inputs.quotas = std::move(quotas->quotas);
  inputs.cluster_quotas = std::move(quotas->cluster_quotas);
  auto ranges = ReadFiles(check.limit_range_files);
  if (!ranges) return ranges.error();
  std::erase_if(*ranges,
                [](const Manifest& range) { return api::Kind(range.object) != "LimitRange"; });
  inputs.limit_ranges = std::move(*ranges);
  const std::int64_t nodes = check.nodes;
  if (nodes >= 0) inputs.nodes_for = [nodes](const json::Value&) { return nodes; };
  auto manifests = ReadGrouped(options, HomeOf(inputs.quotas, options.place.ns));
  if (!manifests) return manifests.error();
  inputs.manifests = std::move(*manifests);
  inputs.device_classes = std::move(quotas->device_classes);
  TakeDeviceClasses(inputs);
  if (!check.used_file.empty()) {
    if (auto read = ReadUsed(check.used_file, inputs); !read) return read.error();
  }
  inputs.labels = LabelsAfter(inputs.manifests, quotas->namespaces);
  return inputs;
}

}  // namespace kubectl_quota
