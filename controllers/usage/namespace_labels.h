#pragma once

// The interface of the watch of namespaces for counting: ClusterQuotas select namespaces by labels.
// Until the watch has shown all namespaces, no name of a ClusterQuota is known: an unknown
// namespace is not an empty one.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "controllers/usage/obstacle.h"
#include "pkg/api/resource.h"
#include "pkg/base/clock.h"

namespace controllers {

// Floors name it by ToString() without the version.
inline const api::GroupVersionResource kNamespaces{"", "v1", "namespaces"};

class NamespaceLabels {
 public:
  virtual ~NamespaceLabels() = default;
  // Returns why the namespaces are not known; the obstacle has no names. kPending: they may be
  // known soon, within `patience`. nullopt: they are known.
  [[nodiscard]] virtual std::optional<Obstacle> Incomplete(base::Duration patience) const = 0;
  // True if the namespace was shown and is not deleted: then the objects in it count.
  [[nodiscard]] virtual bool HasShown(std::string_view ns) const = 0;
  // As QuotaCount::behind_until, for the quota of this name.
  [[nodiscard]] virtual base::TimePoint BehindUntil(std::string_view quota) const = 0;
  // The number of namespaces that were shown and are not deleted.
  [[nodiscard]] virtual std::size_t size() const = 0;
  // The newest version of a namespace that was shown; "" if none.
  [[nodiscard]] virtual std::string Newest() const = 0;
  // True if everything up to this version was shown.
  [[nodiscard]] virtual bool Reaches(std::string_view version) const = 0;
};

}  // namespace controllers
