#pragma once

// The model of the API server: what is stored, with versions, history and guards. Requests of
// replicas are handled at one moment each; their way there and back is the link's matter.

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
  // The labels of a namespace, or the spec of a ClusterQuota, have changed; before what follows of
  // it.
  virtual void OnTree() = 0;
  // A ClusterQuota reaches other namespaces than before: also some that were there and it did not
  // reach, if it `gained`.
  virtual void OnReach(const StoredQuota& quota, bool gained) = 0;
  // A status was written, or a write was accepted that changed nothing.
  virtual void OnStatus(const StoredQuota& before, const StoredQuota& after) = 0;
  // Watches of the resource have something to show.
  virtual void OnHistory(Resource resource) = 0;
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
  // nullopt: the path is no collection that can be listed and watched.
  static std::optional<Resource> CollectionAt(const std::string& path);

  // What clients other than replicas do.
  [[nodiscard]] const Thing* FindThing(Resource resource, const Key& key) const;
  // As it was before its last change, if it had one; else as it is.
  [[nodiscard]] const Thing* FindEarlier(Resource resource, const Key& key) const;
  [[nodiscard]] const StoredQuota* FindQuota(const Key& key) const;
  [[nodiscard]] std::string NewUid();
  void Store(Thing thing);
  void Remove(Resource resource, const Key& key);
  // Told to go, and kept by a finalizer until it is removed.
  void Mark(Resource resource, const Key& key);
  // Creates the quota, or changes its spec.
  void PutQuota(const Key& key, const Amounts& hard, bool gold,
                std::optional<InTree> tree = std::nullopt);
  void RemoveQuota(const Key& key);
  // Creates the class, or changes it.
  void PutClass(const std::string& name, const Amounts& says);
  void RemoveClass(const std::string& name);
  // Creates the namespace, or changes its labels.
  void PutNamespace(const std::string& name, const Labels& labels);
  // With all that is in it.
  void RemoveNamespace(const std::string& name);
  // False: nothing can be stored there. Only servers with ClusterQuotas have namespaces.
  [[nodiscard]] bool HasNamespace(const std::string& name) const;
  // Creates or changes somebody else's webhook configuration; 0 seconds: deletes it.
  void PutWebhook(const std::string& name, int seconds);
  // What the slowest of them may take.
  [[nodiscard]] base::Duration SlowestWebhook() const;

  // Put back to how it was at the last Backup(), versions included, what came since then is lost;
  // watches from a version that is yet to come are silent, or refused. While it is away everything
  // fails.
  void Backup();
  void SetAway() { away_ = true; }
  void Restore(bool silent);
  [[nodiscard]] bool away() const { return away_; }
  // How often it was put back.
  [[nodiscard]] int restores() const { return restores_; }
  // False: such a watch is silent until the server has come that far. Errors: none can begin there.
  [[nodiscard]] base::Result<bool> ShowsFrom(std::uint64_t version) const;

  // By somebody who is no replica.
  void WriteStatus(const Key& key, const Amounts& hard, const Amounts& used);

  [[nodiscard]] const Quotas& quotas() const { return quotas_; }
  [[nodiscard]] const Namespaces& namespaces() const { return namespaces_; }
  [[nodiscard]] const std::map<Key, Thing>& things(Resource resource) const;
  [[nodiscard]] const Classes& classes() const { return classes_; }
  [[nodiscard]] std::uint64_t version() const { return version_; }
  // Of the last change of a class; 0: there was none.
  [[nodiscard]] std::uint64_t classes_version() const { return classes_version_; }
  // The same of labels of namespaces, and of specs of ClusterQuotas.
  [[nodiscard]] std::uint64_t labels_version() const { return labels_version_; }
  [[nodiscard]] std::uint64_t specs_version() const { return specs_version_; }
  // The truth: what of the names in `hard` the stored objects use. A name that they use by a class
  // that does not say it is absent: nobody knows.
  [[nodiscard]] Amounts TrueUse(const StoredQuota& quota) const;
  // What of the thing's usage this quota counts now.
  [[nodiscard]] Amounts CountedBy(const StoredQuota& quota, const Thing& thing) const {
    return simulation::CountedBy(quota, thing, classes_);
  }

 private:
  struct Path;
  // What a backup has.
  struct State {
    std::uint64_t version = 100;
    Quotas quotas;
    std::map<Key, Thing> claims;
    std::map<Key, Thing> secrets;
    std::map<std::string, Thing> earlier;  // by uid: objects before their last change
    std::map<std::string, StoredWebhook> webhooks;
    json::Value lease;
  };
  std::map<Key, Thing>& ThingsOf(Resource resource);
  void Announce(Resource resource, const char* type, const std::string& json);
  base::Result<client::ApiResponse> HandleLease(const client::ApiRequest& request);
  base::Result<client::ApiResponse> PatchStatus(const Key& key, const client::ApiRequest& request);
  // `name`: that one alone; "": all.
  [[nodiscard]] std::string ListBody(Resource resource, const std::string& ns,
                                     const std::string& name) const;
  // `added`: a namespace that there never was before; "": none.
  void UpdateReach(const std::string& added = "");

  ServerObserver& observer_;
  const Api api_;
  State backup_;
  bool away_ = false;
  int restores_ = 0;
  bool silent_ = false;       // to watches from a version that is yet to come
  std::uint64_t oldest_ = 0;  // watches may begin there
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
  std::set<std::string> had_;  // names of namespaces that there are, or were
  std::uint64_t labels_version_ = 0;
  std::uint64_t specs_version_ = 0;
  std::map<std::string, Thing> earlier_;  // by uid: objects before their last change
  json::Value lease_;
  std::map<Resource, std::vector<Event>> history_;
};

}  // namespace simulation
