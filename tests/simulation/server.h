#pragma once

// The model of the API server: stored objects with versions, history and guards. It handles each
// request of a replica at one moment. The link models the delays before and after.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/client/api_client.h"
#include "pkg/json/value.h"
#include "tests/simulation/objects.h"
#include "tests/simulation/tree.h"

namespace simulation {

// Told of everything that is stored, before the next request is handled.
class ServerObserver {
 public:
  virtual ~ServerObserver() = default;
  virtual void OnThing(const Thing* before, const Thing* after) = 0;
  virtual void OnQuotaSpec(const StoredQuota* before, const StoredQuota* after) = 0;
  virtual void OnClass(const StoredClass* before, const StoredClass* after) = 0;
  // The labels of a namespace or the spec of a ClusterQuota have changed. Called before the
  // consequences are computed.
  virtual void OnTree() = 0;
  // A ClusterQuota reaches other namespaces than before. `gained`: it now reaches a namespace that
  // existed before and that it did not reach.
  virtual void OnReach(const StoredQuota& quota, bool gained) = 0;
  // A status was written, or a write was accepted that changed nothing.
  virtual void OnStatus(const StoredQuota& before, const StoredQuota& after) = 0;
  // Watches of the resource have a new event.
  virtual void OnHistory(Resource resource) = 0;
};

// The limits in the spec of a quota.
struct SpecLimits {
  Amounts hard = {};
  std::set<std::string> unread = {};  // names with a limit that is no amount
  // 1: spec.scopes is no list, 2: spec.scopeSelector is no object. Then all names are in `unread`,
  // with their limits in `said`.
  int scope = 0;
  Amounts said = {};
  bool operator==(const SpecLimits&) const = default;
};

class Server {
 public:
  using Key = std::pair<std::string, std::string>;  // namespace, name
  struct Event {
    std::uint64_t version = 0;
    std::string line;
  };

  Server(ServerObserver& observer, Api api) : observer_(observer), api_(api) {}

  base::Result<client::ApiResponse> Handle(const client::ApiRequest& request);
  [[nodiscard]] const std::vector<Event>& History(Resource resource) const;
  // nullopt if the path is not a collection that can be listed and watched.
  static std::optional<Resource> CollectionAt(const std::string& path);

  // What clients other than replicas do.
  [[nodiscard]] const Thing* FindThing(Resource resource, const Key& key) const;
  // The object before its last change, or the stored one if it never changed.
  [[nodiscard]] const Thing* FindEarlier(Resource resource, const Key& key) const;
  [[nodiscard]] const StoredQuota* FindQuota(const Key& key) const;
  [[nodiscard]] std::string NewUid();
  void Store(Thing thing);
  void Remove(Resource resource, const Key& key);
  // Deleted by a client, but kept by a finalizer until Remove().
  void Mark(Resource resource, const Key& key);
  // Creates the quota, or changes its spec.
  void PutQuota(const Key& key, const SpecLimits& limits, bool gold,
                std::optional<InTree> tree = std::nullopt);
  // The consequences of all quotas that `put` puts are computed once, after the last one.
  void PutAtOnce(const std::function<void()>& put);
  void RemoveQuota(const Key& key);
  // Creates the class, or changes it.
  void PutClass(const std::string& name, const Amounts& says);
  void RemoveClass(const std::string& name);
  // Creates the namespace, or changes its labels.
  void PutNamespace(const std::string& name, const Labels& labels);
  // Marks it as terminating: creations there are refused.
  void MarkNamespace(const std::string& name);
  // Removes one object or one quota of the namespace. Returns false if there is none.
  bool RemoveOneIn(const std::string& ns);
  // Removes the namespace and all its objects.
  void RemoveNamespace(const std::string& name);
  // If false, nothing can be stored there. Only servers with ClusterQuotas have namespaces.
  [[nodiscard]] bool HasNamespace(const std::string& name) const;
  [[nodiscard]] const StoredNamespace* FindNamespace(const std::string& name) const;
  // If false, creations are refused there.
  [[nodiscard]] bool TakesNew(const std::string& ns) const;
  // Creates or changes a webhook configuration of somebody else, or deletes it with 0 seconds.
  void PutWebhook(const std::string& name, int seconds);
  // The longest timeout of these webhooks.
  [[nodiscard]] base::Duration SlowestWebhook() const;

  // Restore() returns the server to the last Backup(), including its versions. Later changes are
  // lost. Watches from a version that is not reached again are then silent, or refused. While the
  // server is away, each request fails.
  void Backup();
  void SetAway() { away_ = true; }
  void Restore(bool silent);
  [[nodiscard]] bool away() const { return away_; }
  // How often it was restored.
  [[nodiscard]] int restores() const { return restores_; }
  // False if a watch from this version is silent until the server has reached it. An error if no
  // watch can start there.
  [[nodiscard]] base::Result<bool> ShowsFrom(std::uint64_t version) const;

  // Writes by others than replicas.
  void WriteStatus(const Key& key, const Amounts& hard, const Amounts& used);
  // One amount of the status. It may be any text. REQUIRES: the quota has a status.
  void WriteText(const Key& key, bool used, const std::string& name, const std::string& text);
  void WriteReservations(const Key& key, const std::string& text);
  void WriteFurther(const Key& key, const json::Object& further);

  [[nodiscard]] const Quotas& quotas() const { return quotas_; }
  [[nodiscard]] const Namespaces& namespaces() const { return namespaces_; }
  [[nodiscard]] const std::map<Key, Thing>& things(Resource resource) const;
  [[nodiscard]] const Classes& classes() const { return classes_; }
  [[nodiscard]] std::uint64_t version() const { return version_; }
  // The version of the last change of a class; 0 if there was none.
  [[nodiscard]] std::uint64_t classes_version() const { return classes_version_; }
  // The same for labels of namespaces, and for specs of ClusterQuotas.
  [[nodiscard]] std::uint64_t labels_version() const { return labels_version_; }
  [[nodiscard]] std::uint64_t specs_version() const { return specs_version_; }
  // The truth: how much the stored objects use of the names in `hard`. A name is absent if it is
  // unknown, because an object uses it by a class that does not state it.
  [[nodiscard]] Amounts TrueUse(const StoredQuota& quota) const;
  // The part of the thing's usage that this quota counts now.
  [[nodiscard]] Amounts CountedBy(const StoredQuota& quota, const Thing& thing) const {
    return simulation::CountedBy(quota, thing, classes_);
  }

 private:
  struct Path;
  // The contents of a backup.
  struct State {
    std::uint64_t version = 100;
    Quotas quotas;
    std::map<Key, Thing> claims;
    std::map<Key, Thing> secrets;
    std::map<std::string, Thing> earlier;  // by uid: objects before their last change
    std::map<std::string, StoredWebhook> webhooks;
    json::Value lease;
    Namespaces namespaces = {};
  };
  std::map<Key, Thing>& ThingsOf(Resource resource);
  void Announce(Resource resource, const char* type, const std::string& json);
  void Edited(const StoredQuota& before, StoredQuota& quota);
  base::Result<client::ApiResponse> HandleLease(const client::ApiRequest& request);
  base::Result<client::ApiResponse> PatchStatus(const Key& key, const client::ApiRequest& request);
  // Lists only the object with this name, or all if it is "". `metadata`: nothing else of objects.
  [[nodiscard]] std::string ListBody(Resource resource, const std::string& ns,
                                     const std::string& name, bool metadata) const;
  // `added`: a new namespace whose name was never used before, or "".
  void UpdateReach(const std::string& added = "");

  ServerObserver& observer_;
  const Api api_;
  State backup_;
  bool away_ = false;
  bool at_once_ = false;
  int restores_ = 0;
  bool silent_ = false;       // watches from a version that is not reached are silent
  std::uint64_t oldest_ = 0;  // the oldest version from which watches can start
  std::map<std::string, StoredWebhook> webhooks_;
  std::uint64_t version_ = 100;
  std::uint64_t uids_ = 0;
  Quotas quotas_;
  std::map<Key, Thing> claims_;
  std::map<Key, Thing> secrets_;
  std::map<Key, Thing> machines_;
  Classes classes_;
  std::uint64_t classes_version_ = 0;
  Namespaces namespaces_;
  std::set<std::string> had_;  // names of all present and deleted namespaces
  std::uint64_t labels_version_ = 0;
  std::uint64_t specs_version_ = 0;
  std::map<std::string, Thing> earlier_;  // by uid: objects before their last change
  json::Value lease_;
  std::string lease_text_;
  std::map<Resource, std::vector<Event>> history_;
};

}  // namespace simulation
