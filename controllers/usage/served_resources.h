#pragma once

// What the API server serves, from the last discovery, and by which rules it counts. Maps a group
// and resource to the version to watch.
//
// A group that did not answer keeps its last known state. A resource is absent only if a complete
// answer lacks it (kubernetes v1.36.3, pkg/controller/resourcequota/resource_quota_controller.go).
// If a resource of such a group was never seen, it is neither served nor absent. Shared by all
// quota APIs. Single-threaded.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "controllers/usage/server_rules.h"
#include "pkg/api/resource.h"
#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/base/gate.h"
#include "pkg/base/reminder.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/client/discovery.h"

namespace controllers {

enum class ResourceScope : std::uint8_t { kNamespaced, kCluster };

class ServedResources {
 public:
  // Both must outlive it.
  ServedResources(client::ApiClient& client, base::Scheduler& scheduler)
      : rules_(client, scheduler), discovery_(client), scheduler_(scheduler), gate_(scheduler) {}

  // Asks the server. Callers that wait at the same time share one request. Errors: the server did
  // not answer; the known state stays, and the error is logged once.
  base::Task<base::Result<void>> Refresh();
  // When the server was last asked.
  [[nodiscard]] base::TimePoint last_look() const { return last_look_; }
  // The preferred version of a resource of this scope that can be listed and watched.
  [[nodiscard]] std::optional<api::GroupVersionResource> Find(
      const api::GroupResource& resource, ResourceScope scope = ResourceScope::kNamespaced) const;
  // The kind of a resource that can be listed and watched; "" if it is not served.
  [[nodiscard]] std::string KindOf(const api::GroupResource& resource) const;
  // True if a complete answer of the resource's group did not have it.
  [[nodiscard]] bool IsAbsent(const api::GroupResource& resource,
                              ResourceScope scope = ResourceScope::kNamespaced) const;
  // True if the server answered, but it is unknown whether it serves the resource: its group is
  // stale.
  [[nodiscard]] bool IsUnknown(const api::GroupResource& resource,
                               ResourceScope scope = ResourceScope::kNamespaced) const;
  // True if exactly this version can be listed and watched, as far as is known.
  [[nodiscard]] bool HasVersion(const api::GroupVersionResource& resource) const;
  // True if two answers in a row, both complete for its group, did not have it. One of several API
  // servers, or one that has just started, may not serve the kind of a CRD yet.
  [[nodiscard]] bool LacksVersion(const api::GroupVersionResource& resource) const;

  // The rules by which the server counts.
  [[nodiscard]] const quota::Rules& rules() const { return rules_.rules(); }
  // Increases with each answer that changed what is served. 0: no answer yet.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  // Visits every namespaced resource that can be listed and watched.
  void ForEachKind(const std::function<void(const api::GroupResource& resource,
                                            const std::string& kind)>& visit) const;

 private:
  base::Task<base::Result<void>> Look();
  void Take(const client::Discovered& found);
  // Remembers the present state as that of an answer.
  void Remember();
  void SayFailed(const std::set<std::string>& failed) const;

  ServerRules rules_;
  client::Discovery discovery_;
  base::Scheduler& scheduler_;
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
  // What the answers of one moment may have had.
  struct Moment {
    base::TimePoint began{};
    std::set<api::GroupVersionResource> versions{};
    std::set<std::string> failed_groups{};
    [[nodiscard]] bool Lacks(const api::GroupVersionResource& resource) const {
      return !versions.contains(resource) && !failed_groups.contains(resource.group);
    }
  };
  std::set<api::GroupVersionResource> versions_;  // all versions
  Moment last_;                                   // if `answered_`
  std::optional<Moment> before_;                  // the moment before
  std::set<std::string> failed_groups_;
  bool answered_ = false;
  std::uint64_t generation_ = 0;
  base::Reminder trouble_;
};

}  // namespace controllers
