#include "controllers/usage/quota_limits.h"

#include <glog/logging.h>

#include <algorithm>

namespace controllers {

std::vector<std::string> QuotaLimits::Add(const quota::Quota& quota) {
  std::vector<std::string> names;
  for (const auto& [name, limit] : quota.hard) {
    if (++names_[name] == 1) names.push_back(name);
  }
  if (!by_namespace_) return names;
  for (const auto& resource : LimitedBy(quota.hard)) ++namespaces_[resource][quota.key.ns];
  return names;
}

std::vector<std::string> QuotaLimits::Remove(const quota::Quota& quota) {
  std::vector<std::string> names;
  for (const auto& [name, limit] : quota.hard) {
    const auto at = names_.find(name);
    CHECK(at != names_.end()) << "a limit of " << quota.key.ToString()
                              << " was not added: " << name;
    if (--at->second > 0) continue;
    names_.erase(at);
    names.push_back(name);
  }
  if (!by_namespace_) return names;
  for (const auto& resource : LimitedBy(quota.hard)) UnlimitIn(resource, quota.key.ns);
  CHECK(!names_.empty() || namespaces_.empty()) << "namespaces are limited by no quota";
  return names;
}

void QuotaLimits::UnlimitIn(const api::GroupResource& resource, const std::string& ns) {
  const auto limited = namespaces_.find(resource);
  CHECK(limited != namespaces_.end()) << resource.ToString() << " is limited nowhere";
  const auto at = limited->second.find(ns);
  CHECK(at != limited->second.end()) << resource.ToString() << " is not limited in " << ns;
  if (--at->second == 0) limited->second.erase(at);
  if (limited->second.empty()) namespaces_.erase(limited);
}

std::optional<api::GroupResource> QuotaLimits::CountedResource(const std::string& name) const {
  const bool counts = api_.counted_resource && api_.object_counter;
  return counts ? api_.counted_resource(name) : std::nullopt;
}

// The objects of a kind are counted by its own evaluator, whether or not it owns the name.
bool QuotaLimits::Counts(const quota::Evaluator& evaluator, const std::string& name) const {
  return evaluator.owns(name) || CountedResource(name) == evaluator.resource;
}

std::size_t QuotaLimits::NamesOf(const quota::Evaluator* evaluator) const {
  if (evaluator == nullptr) return 0;
  const auto counts = [&](const auto& entry) { return Counts(*evaluator, entry.first); };
  return static_cast<std::size_t>(std::ranges::count_if(names_, counts));
}

std::vector<SharedEvaluator> QuotaLimits::EvaluatorsOf(const std::string& name) const {
  std::vector<SharedEvaluator> evaluators;
  const auto counted = CountedResource(name);
  for (const SharedEvaluator& evaluator : api_.evaluators.shared()) {
    if (evaluator->owns(name) || counted == evaluator->resource) evaluators.push_back(evaluator);
  }
  if (!counted || api_.evaluators.Find(*counted) != nullptr) return evaluators;
  if (auto counter = api_.CountedBy(*counted)) evaluators.push_back(std::move(counter));
  return evaluators;
}

std::set<api::GroupResource> QuotaLimits::LimitedBy(const quota::ResourceList& hard) const {
  std::set<api::GroupResource> resources;
  for (const auto& [name, limit] : hard) {
    for (const SharedEvaluator& evaluator : EvaluatorsOf(name)) {
      resources.insert(evaluator->resource);
    }
  }
  for (const quota::Evaluator& evaluator : api_.evaluators) {
    if (!quota::NamesOfClasses(evaluator, hard).empty()) resources.insert(evaluator.resource);
  }
  return resources;
}

bool QuotaLimits::IsLimitedBy(const quota::Evaluator* evaluator,
                              const quota::ResourceList& hard) const {
  if (evaluator == nullptr) return false;
  const auto counts = [&](const auto& limit) { return Counts(*evaluator, limit.first); };
  return std::ranges::any_of(hard, counts) || !quota::NamesOfClasses(*evaluator, hard).empty();
}

std::vector<const quota::Quota*> QuotaLimits::OnEvaluator(
    const api::GroupResource& resource, const quota::Evaluator* before,
    const quota::Evaluator* after, const std::vector<const quota::Quota*>& quotas) {
  std::vector<const quota::Quota*> limiting;
  for (const quota::Quota* quota : quotas) {
    const bool is_limiting = IsLimitedBy(after, quota->hard);
    const bool was_limiting = IsLimitedBy(before, quota->hard);
    if (by_namespace_ && is_limiting) ++namespaces_[resource][quota->key.ns];
    if (by_namespace_ && was_limiting) UnlimitIn(resource, quota->key.ns);
    if (is_limiting || was_limiting) limiting.push_back(quota);
  }
  return limiting;
}

const LimitedNamespaces& QuotaLimits::NamespacesOf(const api::GroupResource& resource) const {
  static const LimitedNamespaces none;
  const auto limited = namespaces_.find(resource);
  return limited == namespaces_.end() ? none : limited->second;
}

}  // namespace controllers
