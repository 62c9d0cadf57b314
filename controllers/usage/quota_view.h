#pragma once

// What the watches have shown of one quota's objects. Valid until the next suspension.

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/usage/observed_usage.h"
#include "pkg/accounting/settle.h"

namespace controllers {

class QuotaView final : public accounting::View {
 public:
  QuotaView(const ObservedUsage& usage, const quota::Quota& quota)
      : tracker_(usage.tracker()), usage_(usage), quota_(quota) {}

  [[nodiscard]] bool Follows(std::string_view resource) const override;
  [[nodiscard]] bool Ignores(std::string_view resource) const override;
  [[nodiscard]] bool HasShown(const accounting::ObjectRef& object) const override;
  [[nodiscard]] bool IsPast(const accounting::ObjectRef& object,
                            std::string_view version) const override;
  [[nodiscard]] quota::ResourceList Observed(const accounting::ObjectRef& object) const override;
  [[nodiscard]] std::string Newest(std::string_view resource) const override;
  [[nodiscard]] bool Reaches(std::string_view resource, std::string_view version) const override;
  // True if the object was shown in this version or a later one, or was deleted.
  [[nodiscard]] bool HasShownVersion(const accounting::ObjectRef& object,
                                     std::string_view version) const;

  // `observed` plus the usage that entries allow beyond it, for the same names.
  [[nodiscard]] quota::ResourceList Counted(const quota::ResourceList& observed,
                                            const accounting::ReservationList& list) const;
  // The same for the observed usage of all names that can be counted.
  [[nodiscard]] quota::ResourceList Counted(const accounting::ReservationList& list) const {
    return Counted(usage_.Count(quota_, {}).observed.used, list);
  }
  // All resources that count for the quota, watched or not.
  [[nodiscard]] std::vector<std::string> resources() const;
  // Those whose objects count under the name.
  [[nodiscard]] std::vector<std::string> ResourcesOf(std::string_view name) const;
  // resources(), and `namespaces` if the quota depends on their labels: a count depends on all of
  // them.
  [[nodiscard]] std::vector<std::string> floor_resources() const;
  // The watched resource; null if it is not watched.
  [[nodiscard]] const TrackedResource* Tracked(std::string_view resource) const;
  // How many objects the watch has shown of Served(); 0 if it is not watched.
  [[nodiscard]] std::size_t SizeOf(std::string_view resource) const;
  // The API resource to list, if it is watched: a resource of the quota, or the namespaces.
  [[nodiscard]] std::optional<api::GroupVersionResource> Served(std::string_view resource) const;
  // The namespace that `ns` of an entry means; "" if it may be any.
  [[nodiscard]] std::string_view NamespaceOf(std::string_view ns) const {
    return quota_.key.ns.empty() ? ns : std::string_view(quota_.key.ns);
  }
  // Everything of the resource that was stored before this time is shown, because it was listed
  // since. max(): the quota counts no such objects, or the server does not serve them. min(): it is
  // not known.
  [[nodiscard]] base::TimePoint ShownUntil(std::string_view resource) const;
  // A version that the watch had reached at this moment, so that the server must have it, too. "":
  // unknown, also while the resource is being listed.
  [[nodiscard]] std::string ShownVersion(std::string_view resource) const;

 private:
  [[nodiscard]] const UsageSource* Find(std::string_view resource) const;
  // The watched resource of an object; null if it is not watched, or if the namespace of the object
  // was not shown yet: then the quota does not count what the watch of the object has shown.
  [[nodiscard]] const TrackedResource* Watched(const accounting::ObjectRef& object) const;
  // Null unless `resource` is namespaces and the quota depends on their labels.
  [[nodiscard]] const NamespaceLabels* FindLabels(std::string_view resource) const;

  using Sources = std::map<std::string, UsageSource, std::less<>>;
  [[nodiscard]] const Sources& sources() const;
  // By name, the resources whose objects count under it.
  using Counting = std::map<std::string, std::set<std::string>, std::less<>>;
  [[nodiscard]] const Counting& counting() const;

  const Tracker& tracker_;
  const ObservedUsage& usage_;
  const quota::Quota& quota_;
  // filled on demand, because most quotas have no reservations
  mutable std::optional<Sources> sources_;
  mutable std::optional<Counting> counting_;
};

}  // namespace controllers
