#pragma once

// Which resources are limited in which namespaces. A resource is limited where a quota has a name
// that its evaluator owns, or may own because of its classes.
//
// No I/O; one thread.

#include <cstddef>
#include <map>
#include <string>

#include "pkg/api/resource.h"

namespace controllers {

class LimitedNamespaces {
 public:
  using Counts = std::map<std::string, std::size_t>;  // number of quotas by namespace

  // A quota of this namespace starts, or stops, to name the resource. REQUIRES: each Remove()
  // follows its Add().
  void Add(const api::GroupResource& resource, const std::string& ns);
  void Remove(const api::GroupResource& resource, const std::string& ns);

  // Valid until the next change.
  [[nodiscard]] const Counts& Of(const api::GroupResource& resource) const;

 private:
  std::map<api::GroupResource, Counts> resources_;
};

}  // namespace controllers
