#pragma once

// In which namespaces quotas limit what: for each resource of an evaluator that owns, or by its
// classes may own, a name of some quota, the namespaces of those quotas.
//
// No I/O; one thread.

#include <cstddef>
#include <map>
#include <string>

#include "pkg/api/resource.h"

namespace controllers {

class LimitedNamespaces {
 public:
  using Counts = std::map<std::string, std::size_t>;  // by namespace: quotas

  // A quota of this namespace names the resource, or no longer does. REQUIRES: each Remove() has
  // had its Add().
  void Add(const api::GroupResource& resource, const std::string& ns);
  void Remove(const api::GroupResource& resource, const std::string& ns);

  // Valid until the next change.
  [[nodiscard]] const Counts& Of(const api::GroupResource& resource) const;

 private:
  std::map<api::GroupResource, Counts> resources_;
};

}  // namespace controllers
