#pragma once

// What this process has been shown of one quota's objects. Valid until the next suspension.

#include <map>
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
  [[nodiscard]] bool HasShown(std::string_view resource, const quota::Uid& uid) const override;
  [[nodiscard]] bool IsPast(std::string_view resource, const quota::Uid& uid,
                            std::string_view version) const override;
  [[nodiscard]] quota::ResourceList Observed(std::string_view resource,
                                             const quota::Uid& uid) const override;
  [[nodiscard]] std::string Newest(std::string_view resource) const override;
  [[nodiscard]] bool Reaches(std::string_view resource, std::string_view version) const override;
  // The object was shown in this version, or in a later one, or is gone.
  [[nodiscard]] bool HasShownVersion(std::string_view resource, const quota::Uid& uid,
                                     std::string_view version) const;

  // What is observed of names that can be counted, and what entries let objects use beyond that.
  [[nodiscard]] quota::ResourceList Counted(const accounting::ReservationList& list) const;
  // What counts for the quota, watched or not.
  [[nodiscard]] std::vector<std::string> resources() const;
  // Where it is listed, in the quota's namespace; "": it is not watched.
  [[nodiscard]] const TrackedResource* Tracked(std::string_view resource) const;
  // The server does not have it, as far as it can say.
  [[nodiscard]] bool IsAbsent(std::string_view resource) const;

 private:
  [[nodiscard]] const UsageSource* Find(std::string_view resource) const;

  const ObservedUsage& usage_;
  const quota::Quota& quota_;
  std::map<std::string, UsageSource, std::less<>> sources_;
};

}  // namespace controllers
