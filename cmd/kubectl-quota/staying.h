#pragma once

// Objects whose deletion frees nothing at once: with a finalizer, and claims that pods use, which
// stay until these pods are gone (kubernetes v1.36.3, pkg/controller/volume/pvcprotection).
// Single-threaded.

#include <set>
#include <string>

#include "cmd/kubectl-quota/cluster.h"
#include "cmd/kubectl-quota/counting.h"
#include "pkg/inspect/unused_claims.h"

namespace kubectl_quota {

class Staying {
 public:
  // Returns what FillBook() calls with each object, if the book reads finalizers. Valid as long as
  // this object.
  Onlooker Look();

  // Returns the titles of those seen objects that would stay. If pods may not be listed, all claims
  // may be in use.
  base::Task<base::Result<std::set<std::string>>> Find(Cluster& cluster, std::string ns);

 private:
  std::set<std::string> titles_;  // with a finalizer
  std::set<std::string> names_;   // of PersistentVolumeClaims
  inspect::UnusedClaims claims_;
};

}  // namespace kubectl_quota
