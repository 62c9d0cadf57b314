#pragma once

// Which PersistentVolumeClaims no pod uses, and since when. Kubernetes 1.37 says it in the
// condition Unused of a claim (KEP-5541). Of a claim without this condition the pods tell whether
// it is used, but not since when. Values; one thread.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "pkg/base/clock.h"
#include "pkg/json/value.h"

namespace inspect {

class UnusedClaims {
 public:
  struct Unused {
    std::optional<base::WallTime> since;  // nullopt: nobody knows
  };

  // The fields that AddClaim() and AddPod() read, besides names and uids.
  static constexpr std::string_view kClaimFields = "status.conditions metadata.ownerReferences";
  static constexpr std::string_view kPodFields = "spec.volumes status.phase";

  void AddClaim(const json::Value& claim);
  // Returns how many claims have no condition. If there are any, all pods of their namespaces must
  // be added, or else these claims be dropped.
  [[nodiscard]] std::size_t WithoutCondition() const { return untold_.size(); }
  void AddPod(const json::Value& pod);
  void DropWithoutCondition() { untold_.clear(); }

  // Returns nullptr if a pod uses the claim.
  [[nodiscard]] const Unused* Find(std::string_view ns, std::string_view name) const;

 private:
  using Key = std::pair<std::string, std::string>;  // namespace and name
  struct Untold {
    std::string controller;  // its uid: the pod of an ephemeral volume
    Unused unused = {};
  };
  std::map<Key, Unused> unused_;
  std::map<Key, Untold> untold_;  // without the condition, as long as no pod uses them
};

// Keeps the earlier one of two times, as far as they are known.
void SetEarlier(std::optional<base::WallTime>& time, const std::optional<base::WallTime>& other);

}  // namespace inspect
