#pragma once

// What this process has been shown of one quota's objects. Valid until the next suspension.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/quota/observed_usage.h"
#include "pkg/accounting/settle.h"

namespace controllers {

class QuotaView final : public accounting::View {
 public:
  QuotaView(const Tracker& tracker, const ObservedUsage& usage, const quota::Quota& quota);

  [[nodiscard]] bool Follows(std::string_view resource) const override;
  [[nodiscard]] bool Ignores(std::string_view resource) const override;
  [[nodiscard]] bool HasShown(const accounting::ObjectRef& object) const override;
  [[nodiscard]] bool IsPast(const accounting::ObjectRef& object,
                            std::string_view version) const override;
  [[nodiscard]] quota::ResourceList Observed(const accounting::ObjectRef& object) const override;
  [[nodiscard]] std::string Newest(std::string_view resource) const override;
  [[nodiscard]] bool Reaches(std::string_view resource, std::string_view version) const override;
  // The object was shown in this version, or in a later one, or is gone.
  [[nodiscard]] bool HasShownVersion(const accounting::ObjectRef& object,
                                     std::string_view version) const;

  // What is observed of names that can be counted, and what entries let objects use beyond that.
  [[nodiscard]] quota::ResourceList Counted(const accounting::ReservationList& list) const;
  // What counts for the quota, watched or not.
  [[nodiscard]] std::vector<std::string> resources() const;
  // These, and the namespaces where the quota depends on their labels: a count rests on all of
  // them.
  [[nodiscard]] std::vector<std::string> floor_resources() const;
  // What is watched; null: it is not.
  [[nodiscard]] const TrackedResource* Tracked(std::string_view resource) const;
  // Where it is listed, if it is watched: a resource of the quota, or the namespaces.
  [[nodiscard]] std::optional<api::GroupVersionResource> Served(std::string_view resource) const;
  // The namespace that an entry means by `ns`; "": it may be any.
  [[nodiscard]] std::string_view NamespaceOf(std::string_view ns) const {
    return quota_.key.ns.empty() ? ns : std::string_view(quota_.key.ns);
  }
  // The server does not have it, as far as it can say.
  [[nodiscard]] bool IsAbsent(std::string_view resource) const;

 private:
  [[nodiscard]] const UsageSource* Find(std::string_view resource) const;
  // Null unless it is the resource of the namespaces whose labels the quota depends on.
  [[nodiscard]] const NamespaceLabels* FindLabels(std::string_view resource) const;

  const ObservedUsage& usage_;
  const quota::Quota& quota_;
  std::map<std::string, UsageSource, std::less<>> sources_;
};

}  // namespace controllers
