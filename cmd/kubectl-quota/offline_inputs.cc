#include "cmd/kubectl-quota/offline_inputs.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "cmd/kubectl-quota/manifest_files.h"
#include "cmd/kubectl-quota/usage_names.h"
#include "pkg/api/object_meta.h"
#include "pkg/config/yaml.h"
#include "pkg/inspect/apply.h"
#include "pkg/quota/cluster/cluster_quota.h"
#include "pkg/quota/quantity_field.h"

namespace kubectl_quota {
namespace {

using inspect::Is;
using inspect::Manifest;

// Sets the usage of names without a count to zero.
void CountRest(quota::Quota& quota) {
  for (const auto& [name, limit] : quota.hard) {
    if (quota.status.used.Find(name) == nullptr) quota.status.used.Set(name, {});
  }
}

std::vector<FileQuotas> NoQuotas() {
  std::vector<FileQuotas> none;
  for (ServedQuotaApi& api : KnownQuotaApis()) none.push_back({.of = std::move(api)});
  return none;
}

// Returns the place of the object if it is a quota, but no ClusterQuota; nullptr if it is not.
FileQuotas* QuotasLike(const json::Value& object, std::vector<FileQuotas>& all) {
  const auto found = std::ranges::find_if(
      all, [&](const FileQuotas& own) { return Is(object, QuotaKindOf(own.of.api)); });
  return found == all.end() ? nullptr : &*found;
}

// Returns the quota of a file of quotas, with the usage in its status. `of` is null for a
// ClusterQuota. Errors: as QuotaOf().
base::Result<quota::Quota> CountedQuotaOf(const json::Value& object, const FileQuotas* of) {
  auto quota = of == nullptr ? ClusterQuotaOf(object) : QuotaOf(object, {}, of->of.api.form);
  if (!quota) return quota;
  const json::Value* used = object.At({"status", "used"});
  auto amounts = quota::ResourceListFrom(used, "status.used");
  if (!amounts) return amounts.error();
  quota->status.used = std::move(*amounts);
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
  std::vector<FileQuotas> quotas = NoQuotas();
  std::vector<quota::Quota> cluster_quotas;
  std::map<std::string, json::Value> namespaces;
  ClusterPolicies policies;
};

base::Result<ReadQuotaFiles> ReadQuotas(const std::vector<std::string>& paths) {
  auto manifests = ReadFiles(paths);
  if (!manifests) return manifests.error();
  ReadQuotaFiles read;
  bool any = false;
  read.policies = ClusterPoliciesIn({{"", *manifests}});
  for (const Manifest& manifest : *manifests) {
    if (IsNamespace(manifest)) {
      read.namespaces[std::string(api::Name(manifest.object))] = manifest.object;
    }
    FileQuotas* of = QuotasLike(manifest.object, read.quotas);
    if (of == nullptr && !Is(manifest.object, kClusterQuota)) continue;
    auto quota = CountedQuotaOf(manifest.object, of);
    if (!quota) return quota.error().Wrap(manifest.where);
    any = true;
    (of == nullptr ? read.cluster_quotas : of->quotas).push_back(std::move(*quota));
  }
  if (!any) {
    return WrongInput("no ResourceQuota, ClusterQuota or KarmadaQuota in what --quota-file names");
  }
  return read;
}

// Moves what is in no namespace out of the manifests.
void TakeClusterPolicies(OfflineInputs& inputs) {
  const ClusterPolicies taken = ClusterPoliciesIn(inputs.manifests);
  Replace(taken.usage_classes, inputs.policies.usage_classes);
  Replace(taken.priority_classes, inputs.policies.priority_classes);
  Replace(taken.runtime_classes, inputs.policies.runtime_classes);
  Replace(taken.storage_classes, inputs.policies.storage_classes);
  Replace(taken.definitions, inputs.policies.definitions);
  Replace(taken.usage_definitions, inputs.policies.usage_definitions);
  Replace(taken.propagations, inputs.policies.propagations);
  Replace(taken.interpreters, inputs.policies.interpreters);
  Replace(taken.interpreter_webhooks, inputs.policies.interpreter_webhooks);
  inputs.policies.cluster_quotas = taken.cluster_quotas;
  for (auto& [ns, group] : inputs.manifests) std::erase_if(group, &IsClusterPolicy);
  std::erase_if(inputs.manifests, [](const auto& group) { return group.second.empty(); });
}

// Puts the quota of a manifest in place of that of its name, and keeps the usage.
void PutQuota(quota::Quota quota, std::vector<quota::Quota>& quotas) {
  const auto same = std::ranges::find(quotas, quota.key, &quota::Quota::key);
  const auto similar = std::ranges::find_if(quotas, [&](const quota::Quota& other) {
    return other.key.name == quota.key.name && other.key.ns.empty();
  });
  const auto before = same != quotas.end() ? same : similar;
  if (before != quotas.end()) quota.status.used = before->status.used;
  CountRest(quota);
  if (same != quotas.end()) {
    *same = std::move(quota);
  } else {
    quotas.push_back(std::move(quota));
  }
}

// Adds the quotas of the manifests. Errors: as QuotaOf().
base::Result<void> PutQuotas(OfflineInputs& inputs) {
  for (const json::Value& object : inputs.policies.cluster_quotas) {
    auto quota = ClusterQuotaOf(object);
    if (!quota) return quota.error().Wrap(inspect::NameOf(object).ToString());
    PutQuota(std::move(*quota), inputs.cluster_quotas);
  }
  for (const auto& [ns, group] : inputs.manifests) {
    for (FileQuotas& own : inputs.quotas) {
      for (const json::Value& object : OfKind(group, QuotaKindOf(own.of.api))) {
        auto quota = QuotaOf(object, {}, own.of.api.form);
        if (!quota) return quota.error().Wrap(inspect::NameOf(object).ToString());
        PutQuota(std::move(*quota), own.quotas);
      }
    }
  }
  return {};
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
  for (FileQuotas& own : inputs.quotas) {
    for (quota::Quota& quota : own.quotas) SetUsed(*used, quota);
  }
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
  for (std::size_t i = 0; i < inputs.quotas.size(); ++i) {
    inputs.quotas[i].counted = std::move(counted->quotas[i].quotas);
  }
  for (quota::Quota& quota : inputs.cluster_quotas) SetUsedAs(counted->cluster_quotas, "", quota);
  return {};
}

// Returns the namespace of manifests without one: the only namespace of the quotas.
std::string HomeOf(const std::vector<FileQuotas>& quotas, const std::string& given) {
  if (!given.empty()) return given;
  std::set<std::string> all;
  for (const FileQuotas& own : quotas) {
    for (const quota::Quota& quota : own.quotas) all.insert(quota.key.ns);
  }
  return all.size() == 1 ? *all.begin() : "";
}

}  // namespace

std::vector<quota::Quota> FileQuotas::Of(const std::string& ns) const {
  std::vector<quota::Quota> own;
  for (const quota::Quota& quota : quotas) {
    if (!Meet(quota.key.ns, ns)) continue;
    // One for all namespaces gives way to one of its name for this one.
    const bool replaced =
        quota.key.ns.empty() && std::ranges::any_of(quotas, [&](const quota::Quota& other) {
          return !ns.empty() && other.key == api::ObjectKey{ns, quota.key.name};
        });
    if (replaced) continue;
    own.push_back(quota);
    SetUsedAs(counted, quota.key.ns.empty() ? ns : quota.key.ns, own.back());
  }
  return own;
}

inspect::Surroundings OfflineInputs::SurroundingsOf() const {
  inspect::Surroundings surroundings{.nodes_for = nodes_for};
  SetClasses(policies.runtime_classes, policies.priority_classes, policies.storage_classes,
             surroundings.defaults);
  return surroundings;
}

std::vector<json::Value> OfflineInputs::LimitRangesOf(const std::string& ns) const {
  std::vector<json::Value> ranges;
  for (const Manifest& range : limit_ranges) {
    if (Meet(api::Namespace(range.object), ns)) ranges.push_back(range.object);
  }
  return ranges;
}

bool OfflineInputs::IsNew(const std::string& ns) const {
  const auto found = manifests.find(ns);
  if (found == manifests.end() || std::ranges::none_of(found->second, &IsNamespace)) return false;
  return std::ranges::all_of(quotas.front().Of(ns), [](const quota::Quota& quota) {
    return std::ranges::all_of(quota.status.used,
                               [](const auto& used) { return used.second.IsZero(); });
  });
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
  std::erase_if(*ranges, [](const Manifest& range) { return !Is(range.object, kLimitRange); });
  inputs.limit_ranges = std::move(*ranges);
  const std::int64_t nodes = check.nodes;
  if (nodes >= 0) inputs.nodes_for = [nodes](const json::Value&) { return nodes; };
  auto manifests = ReadGrouped(options, HomeOf(inputs.quotas, options.place.ns));
  if (!manifests) return manifests.error();
  inputs.manifests = std::move(*manifests);
  inputs.policies = std::move(quotas->policies);
  TakeClusterPolicies(inputs);
  const std::vector<json::Value>& definitions = inputs.policies.usage_definitions;
  if (auto fine = CheckDefinitions(definitions); !fine) return fine.error();
  for (FileQuotas& own : inputs.quotas) Define(definitions, own.of.api);
  if (auto put = PutQuotas(inputs); !put) return put.error();
  if (!check.used_file.empty()) {
    if (auto read = ReadUsed(check.used_file, inputs); !read) return read.error();
  }
  inputs.labels = LabelsAfter(inputs.manifests, quotas->namespaces);
  return inputs;
}

}  // namespace kubectl_quota
