#include "controllers/quota/limited_namespaces.h"

#include <glog/logging.h>

namespace controllers {

void LimitedNamespaces::Add(const api::GroupResource& resource, const std::string& ns) {
  ++resources_[resource][ns];
}

void LimitedNamespaces::Remove(const api::GroupResource& resource, const std::string& ns) {
  const auto counts = resources_.find(resource);
  CHECK(counts != resources_.end()) << resource.ToString();
  const auto quotas = counts->second.find(ns);
  CHECK(quotas != counts->second.end()) << resource.ToString() << " in " << ns;
  if (--quotas->second == 0) counts->second.erase(quotas);
  if (counts->second.empty()) resources_.erase(counts);
}

const LimitedNamespaces::Counts& LimitedNamespaces::Of(const api::GroupResource& resource) const {
  static const Counts none;
  const auto counts = resources_.find(resource);
  return counts == resources_.end() ? none : counts->second;
}

}  // namespace controllers
