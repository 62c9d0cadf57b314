#include "cmd/kubectl-quota/offline_inputs.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "cmd/kubectl-quota/manifest_files.h"
#include "cmd/kubectl-quota/usage_names.h"
#include "pkg/api/object_meta.h"
#include "pkg/base/text.h"
#include "pkg/config/yaml.h"
#include "pkg/inspect/apply.h"
#include "pkg/inspect/forest.h"
#include "pkg/quota/quantity_field.h"

namespace kubectl_quota {
namespace {

using inspect::Is;
using inspect::Manifest;

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

// Errors: kInvalidArgument, naming the names that no quota limits.
base::Result<void> CheckLimited(const quota::ResourceList& used, const OfflineInputs& inputs) {
  std::set<std::string> limited;
  const auto add = [&](const std::vector<quota::Quota>& quotas) {
    for (const quota::Quota& quota : quotas) {
      for (const auto& [name, limit] : quota.hard) limited.insert(name);
    }
  };
  for (const FileQuotas& own : inputs.quotas) add(own.quotas);
  add(inputs.cluster_quotas);
  std::vector<std::string> others;
  for (const auto& [name, amount] : used) {
    if (!limited.contains(name)) others.push_back(name);
  }
  if (others.empty()) return {};
  return WrongInput("no quota limits " + base::Join(others, ", "));
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
  if (auto limited = CheckLimited(*used, inputs); !limited) return limited;
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
  inputs.counted = true;
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

// Adds a text if the usage of a name is not told.
void NoteUntold(const quota::Quota& quota, const std::string& title,
                std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (const auto& [name, limit] : quota.hard) {
    if (quota.status.used.Find(name) == nullptr) names.push_back(name);
  }
  if (names.empty()) return;
  texts.push_back("what is used of " + base::Join(names, ", ") + " of quota " + title +
                  " is not in what --used-file names");
}

}  // namespace

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

std::vector<std::string> OfflineInputs::UntoldIn(const std::string& ns) const {
  std::vector<std::string> texts;
  if (!counted) return texts;
  const auto group = manifests.find(ns);
  const bool made = group != manifests.end() && std::ranges::any_of(group->second, &IsNamespace);
  for (const FileQuotas& own : quotas) {
    // Nothing is used in a new namespace.
    const bool seen = std::ranges::any_of(
        own.counted, [&](const quota::Quota& quota) { return Meet(quota.key.ns, ns); });
    if (made && !seen) continue;
    for (const quota::Quota& quota : own.ToldOf(ns)) {
      NoteUntold(quota, own.of.kind.empty() ? quota.key.name : own.of.kind + "/" + quota.key.name,
                 texts);
    }
  }
  return texts;
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
  std::ranges::move(quotas->limit_ranges, std::back_inserter(inputs.limit_ranges));
  inputs.doubts = std::move(quotas->doubts);
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
  for (quota::Quota& quota : inputs.cluster_quotas) {
    if (inputs.counted) NoteUntold(quota, inspect::TitleOf(quota), inputs.doubts);
    CountRest(quota);
  }
  inputs.labels = LabelsAfter(inputs.manifests, quotas->namespaces);
  return inputs;
}

}  // namespace kubectl_quota
