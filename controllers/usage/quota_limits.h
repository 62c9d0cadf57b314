#pragma once

// What the quotas of one quota API limit: names, the resources whose objects count under them, and
// the namespaces in which each resource is limited. No I/O; one thread.

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pkg/quota/quota.h"

namespace controllers {

using SharedEvaluator = std::shared_ptr<const quota::Evaluator>;
using LimitedCounts = std::map<std::string, std::size_t>;  // limited name → number of quotas
// The namespaces with quotas that have a name which an evaluator owns, or may own because of its
// classes, and the number of these quotas.
using LimitedNamespaces = std::map<std::string, std::size_t>;

class QuotaLimits {
 public:
  // `api` must outlive it. `by_namespace`: NamespacesOf() is used.
  QuotaLimits(const quota::QuotaApi& api, bool by_namespace)
      : api_(api), by_namespace_(by_namespace) {}

  // Returns the names that only this quota limits.
  std::vector<std::string> Add(const quota::Quota& quota);
  // The same for a quota that was added, and is removed.
  std::vector<std::string> Remove(const quota::Quota& quota);
  // The resource is counted by `after` in place of `before`; either may be null: by nothing.
  // `quotas` are all that were added. Returns those that limit, or limited, objects of the
  // resource.
  std::vector<const quota::Quota*> OnEvaluator(const api::GroupResource& resource,
                                               const quota::Evaluator* before,
                                               const quota::Evaluator* after,
                                               const std::vector<const quota::Quota*>& quotas);

  [[nodiscard]] const LimitedCounts& names() const { return names_; }
  // How many of them the evaluator counts.
  [[nodiscard]] std::size_t NamesOf(const quota::Evaluator* evaluator) const;
  // The evaluators that count under the name: those that own it, and the one that counts the
  // objects of a count/… name.
  [[nodiscard]] std::vector<SharedEvaluator> EvaluatorsOf(const std::string& name) const;
  // The resources of the evaluators of `hard`, and of evaluators that may own a name of `hard`
  // because of their classes.
  [[nodiscard]] std::set<api::GroupResource> LimitedBy(const quota::ResourceList& hard) const;
  // The namespaces in which quotas limit the resource. Empty unless `by_namespace`. Valid until a
  // quota is added or removed, or OnEvaluator().
  [[nodiscard]] const LimitedNamespaces& NamespacesOf(const api::GroupResource& resource) const;

 private:
  // The resource whose objects a count/… name counts.
  [[nodiscard]] std::optional<api::GroupResource> CountedResource(const std::string& name) const;
  [[nodiscard]] bool Counts(const quota::Evaluator& evaluator, const std::string& name) const;
  [[nodiscard]] bool IsLimitedBy(const quota::Evaluator* evaluator,
                                 const quota::ResourceList& hard) const;
  void UnlimitIn(const api::GroupResource& resource, const std::string& ns);

  const quota::QuotaApi& api_;
  const bool by_namespace_;
  LimitedCounts names_;
  std::map<api::GroupResource, LimitedNamespaces> namespaces_;
};

}  // namespace controllers
