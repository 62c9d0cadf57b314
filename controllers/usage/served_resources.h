#pragma once

// What the API server serves, from discovery, and by which rules it counts (pkg/quota/rules.h).
// Maps a group and resource to the version to watch.
//
// A group that did not answer keeps its last known state. A resource is absent only if complete
// answers lack it (kubernetes v1.36.3, pkg/controller/resourcequota/resource_quota_controller.go).
// If a resource of such a group was never seen, it is neither served nor absent.
//
// What was served stays until two answers in a row lack it: one of several API servers, or one that
// has just started, may not serve the kind of a CRD yet.
//
// While servers of two versions answer, as during an upgrade, the rules are those of the older one:
// kube-controller-manager is upgraded after all of them. Which server answers is not ours to
// choose, so an older one counts as present until it has not answered for ten minutes. Without any
// answer the rules are the oldest.
//
// Shared by all quota APIs. Single-threaded.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pkg/api/kubernetes_version.h"
#include "pkg/api/resource.h"
#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/base/gate.h"
#include "pkg/base/reminder.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/client/discovery.h"
#include "pkg/quota/rules.h"

namespace controllers {

enum class ResourceScope : std::uint8_t { kNamespaced, kCluster };

class ServedResources {
 public:
  // Both must outlive it.
  ServedResources(client::ApiClient& client, base::Scheduler& scheduler)
      : client_(client), scheduler_(scheduler), discovery_(client), gate_(scheduler) {}

  // Asks the server. Callers that wait at the same time share one request. Errors: the server did
  // not answer; the known state stays, and the error is logged once.
  base::Task<base::Result<void>> Refresh();
  // When the server was last asked.
  [[nodiscard]] base::TimePoint last_look() const { return last_look_; }
  // True while it is being asked.
  [[nodiscard]] bool IsLooking() const { return gate_.busy(); }
  // The preferred version of a resource of this scope that can be listed and watched.
  [[nodiscard]] std::optional<api::GroupVersionResource> Find(
      const api::GroupResource& resource, ResourceScope scope = ResourceScope::kNamespaced) const;
  // The same in this version, if it is served; "": the preferred one.
  [[nodiscard]] std::optional<api::GroupVersionResource> FindIn(
      const std::string& version, const api::GroupResource& resource,
      ResourceScope scope = ResourceScope::kNamespaced) const;
  // All versions of such a resource, the preferred one first. Empty if there is none.
  [[nodiscard]] std::vector<std::string> VersionsOf(
      const api::GroupResource& resource, ResourceScope scope = ResourceScope::kNamespaced) const;
  // The kind of a resource that can be listed and watched; "" if it is not served.
  [[nodiscard]] std::string KindOf(const api::GroupResource& resource) const;
  // True if the resource's group has answered completely, and the resource is not served.
  [[nodiscard]] bool IsAbsent(const api::GroupResource& resource,
                              ResourceScope scope = ResourceScope::kNamespaced) const;
  // True if the server answered, but it is unknown whether it serves the resource: its group is
  // stale.
  [[nodiscard]] bool IsUnknown(const api::GroupResource& resource,
                               ResourceScope scope = ResourceScope::kNamespaced) const;
  // True if a resource of this name is served with the other scope: its CRD was created anew.
  [[nodiscard]] bool HasOtherScope(const api::GroupResource& resource, ResourceScope scope) const;
  // True if exactly this version can be listed and watched, as far as is known.
  [[nodiscard]] bool HasVersion(const api::GroupVersionResource& resource) const;
  // True if two answers in a row, both complete for its group, did not have it.
  [[nodiscard]] bool LacksVersion(const api::GroupVersionResource& resource) const;

  // The rules by which the server counts.
  [[nodiscard]] const quota::Rules& rules() const { return rules_; }
  // Increases with each answer that changed what is served. 0: no answer yet.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  // Visits every namespaced resource that can be listed and watched.
  void ForEachKind(const std::function<void(const api::GroupResource& resource,
                                            const std::string& kind)>& visit) const;

 private:
  // What the answers of one moment may have had.
  struct Moment {
    base::TimePoint began{};
    std::set<api::GroupVersionResource> versions{};  // all versions
    std::set<std::string> failed_groups{};
    [[nodiscard]] bool Lacks(const api::GroupVersionResource& resource) const {
      return !versions.contains(resource) && !failed_groups.contains(resource.group);
    }
  };
  base::Task<base::Result<void>> Look();
  void Take(const client::Discovered& found);
  void Remember(Moment now);
  void SayFailed(const std::set<std::string>& failed) const;
  // Asks a server for its version, unless one has told it a moment ago. If none does, the rules
  // stay, which is logged.
  base::Task<void> RefreshRules();

  client::ApiClient& client_;
  base::Scheduler& scheduler_;
  client::Discovery discovery_;
  base::Gate gate_;  // held by the caller that asks
  base::TimePoint last_look_{};
  base::Result<void> last_outcome_;
  struct Served {
    api::GroupVersionResource preferred;
    ResourceScope scope = ResourceScope::kNamespaced;
    std::string kind;
    bool operator==(const Served&) const = default;
  };
  std::map<api::GroupResource, Served> served_;
  Moment last_;                                // if there was an answer
  std::optional<Moment> before_;               // the moment before
  std::set<api::GroupVersionResource> known_;  // what is served, all versions
  std::set<std::string> failed_groups_;        // of the last answer
  std::uint64_t generation_ = 0;
  base::Reminder trouble_;
  std::map<api::KubernetesVersion, base::TimePoint> told_;  // versions, and when each was told last
  quota::Rules rules_;
  base::Reminder version_trouble_;
};

}  // namespace controllers
