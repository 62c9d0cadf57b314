#pragma once

// What counting needs of the watch of namespaces: by their labels ClusterQuotas reach them. Where
// it has not shown all of them, no name of a ClusterQuota is known: nothing is not the same as
// none. Implemented where that watch is.

#include <optional>
#include <string>
#include <string_view>

#include "controllers/quota/quota_conditions.h"
#include "pkg/api/resource.h"
#include "pkg/base/clock.h"

namespace controllers {

class NamespaceLabels {
 public:
  virtual ~NamespaceLabels() = default;
  // Why it is not known which namespaces there are; its names are left empty. kPending: it may be
  // known soon, and takes no longer than `patience`. nullopt: it is known.
  [[nodiscard]] virtual std::optional<Obstacle> Incomplete(base::Duration patience) const = 0;
  // As QuotaCount::behind_until.
  [[nodiscard]] virtual base::TimePoint behind_until() const = 0;
  // Where they are listed. Its ToString() without the version stands in floors.
  [[nodiscard]] virtual const api::GroupVersionResource& resource() const = 0;
  // The newest version of a namespace that was shown; "": none.
  [[nodiscard]] virtual std::string Newest() const = 0;
  // All that happened up to this version was shown.
  [[nodiscard]] virtual bool Reaches(std::string_view version) const = 0;
};

}  // namespace controllers
