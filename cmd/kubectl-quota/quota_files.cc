#include "cmd/kubectl-quota/quota_files.h"

#include <algorithm>
#include <utility>

#include "cmd/kubectl-quota/check_inputs.h"
#include "cmd/kubectl-quota/manifest_files.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/refusals.h"
#include "pkg/quota/quantity_field.h"

namespace kubectl_quota {
namespace {

using inspect::Is;

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
  return quota;
}

std::vector<FileQuotas> NoQuotas() {
  std::vector<FileQuotas> none;
  for (ServedQuotaApi& api : KnownQuotaApis()) none.push_back({.of = std::move(api)});
  return none;
}

}  // namespace

void CountRest(quota::Quota& quota) {
  for (const auto& [name, limit] : quota.hard) {
    if (quota.status.used.Find(name) == nullptr) quota.status.used.Set(name, {});
  }
}

bool Meet(std::string_view one, std::string_view other) {
  return one.empty() || other.empty() || one == other;
}

void SetUsed(const quota::ResourceList& used, quota::Quota& quota) {
  for (const auto& [name, limit] : quota.hard) {
    if (const auto* amount = used.Find(name)) quota.status.used.Set(name, *amount);
  }
}

void SetUsedAs(const std::vector<quota::Quota>& counted, std::string_view ns, quota::Quota& quota) {
  const auto same = std::ranges::find_if(counted, [&](const quota::Quota& other) {
    return other.key.name == quota.key.name && Meet(other.key.ns, ns);
  });
  if (same != counted.end()) SetUsed(same->status.used, quota);
}

std::vector<quota::Quota> FileQuotas::Of(const std::string& ns) const {
  std::vector<quota::Quota> own = ToldOf(ns);
  std::ranges::for_each(own, CountRest);
  return own;
}

std::vector<quota::Quota> FileQuotas::ToldOf(const std::string& ns) const {
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

base::Result<ReadQuotaFiles> ReadQuotas(const std::vector<std::string>& paths) {
  auto manifests = ReadFiles(paths);
  if (!manifests) return manifests.error();
  ReadQuotaFiles read{.quotas = NoQuotas()};
  bool any = false;
  read.policies = ClusterPoliciesIn({{"", *manifests}});
  for (const inspect::Manifest& manifest : *manifests) {
    if (IsNamespace(manifest)) {
      read.namespaces[std::string(api::Name(manifest.object))] = manifest.object;
    }
    if (Is(manifest.object, kLimitRange)) read.limit_ranges.push_back(manifest);
    FileQuotas* of = QuotasLike(manifest.object, read.quotas);
    if (of == nullptr && !Is(manifest.object, kClusterQuota)) continue;
    auto quota = CountedQuotaOf(manifest.object, of);
    if (!quota) return quota.error().Wrap(manifest.where);
    any = true;
    for (const std::string& refusal : inspect::RefusalsOf(manifest.object, {})) {
      read.doubts.push_back(manifest.where + ": " + inspect::NameOf(manifest.object).ToString() +
                            ": " + refusal);
    }
    (of == nullptr ? read.cluster_quotas : of->quotas).push_back(std::move(*quota));
  }
  if (!any) {
    return WrongInput("no ResourceQuota, ClusterQuota or KarmadaQuota in what --quota-file names");
  }
  return read;
}

}  // namespace kubectl_quota
