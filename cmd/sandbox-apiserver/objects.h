#pragma once

// What is stored: the objects of every resource, and their histories, which watches read. A store
// decides about changes (cmd/sandbox-apiserver/store.h); here they get their versions and events.
//
// Objects are immutable once stored, and shared. No I/O; one thread. Watches must not outlive this.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cmd/sandbox-apiserver/history.h"
#include "cmd/sandbox-apiserver/outcome.h"
#include "cmd/sandbox-apiserver/query.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "pkg/api/object_meta.h"
#include "pkg/api/resource.h"
#include "pkg/json/value.h"

namespace sandbox {

// The key under which the store keeps an object: "ns/name", or "name" of a cluster-scoped one.
inline std::string KeyOf(std::string_view ns, std::string_view name) {
  return ns.empty() ? std::string(name) : std::string(ns).append("/").append(name);
}
inline std::string KeyOf(const json::Value& object) {
  return KeyOf(api::Namespace(object), api::Name(object));
}

// The type and the names that a request addresses.
struct Target {
  TypePtr type;
  std::string ns;           // "" for cluster-scoped
  std::string name;         // "" for create
  std::string subresource;  // "", "status", "finalize" of a namespace, "resize" of a pod
};

class Objects {
 public:
  // `history`: events kept for each resource. `first_version`: the version before the first write.
  Objects(const Registry& registry, std::size_t history, std::uint64_t first_version)
      : registry_(registry),
        history_(history),
        first_version_(first_version),
        version_(first_version) {}
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  // Reads. Objects have the version of the requested type.
  [[nodiscard]] Outcome<ObjectPtr> Get(const Target& target) const;
  [[nodiscard]] Outcome<ListPage> List(const TypePtr& type, const ListQuery& query) const;
  // Calls `notify` whenever Next() may have a new event, during a write. So `notify` must post, and
  // not change anything here. It is never called after the Watch is destroyed.
  Outcome<std::unique_ptr<Watch>> StartWatch(const TypePtr& type, const WatchQuery& query,
                                             std::function<void()> notify);
  [[nodiscard]] std::uint64_t current_version() const { return version_; }
  [[nodiscard]] const Registry& registry() const { return registry_; }

  // The object as it is stored; nullptr, or 404.
  [[nodiscard]] ObjectPtr Find(const ResourceType& type, std::string_view key) const;
  [[nodiscard]] Outcome<ObjectPtr> Current(const Target& target) const;
  // All objects in the namespace, and all that name this owner.
  [[nodiscard]] std::vector<Target> TargetsIn(const std::string& ns) const;
  [[nodiscard]] std::vector<Target> DependentsOf(const std::string& owner_uid) const;
  [[nodiscard]] bool IsStored(const std::string& uid) const { return uids_.contains(uid); }

  // Objects change only by these two. Both add an event. `old` is null for a new object.
  ObjectPtr Put(const TypePtr& type, json::Value object, const ObjectPtr& old);
  ObjectPtr Remove(const TypePtr& type, json::Value last, const ObjectPtr& old);
  History& HistoryOf(const ResourceType& type) { return *CollectionOf(type).history; }
  // Forgets the history of all resources: watches and tokens of older versions get 410.
  void ExpireHistory();

 private:
  using Map = std::map<std::string, ObjectPtr, std::less<>>;  // by "ns/name" or "name"
  struct Collection {
    Map objects;
    std::shared_ptr<History> history;
  };
  using Place = std::pair<api::GroupResource, std::string>;  // the string is the key

  Collection& CollectionOf(const ResourceType& type);
  [[nodiscard]] const Collection* FindCollection(const ResourceType& type) const;
  [[nodiscard]] Outcome<std::uint64_t> VersionOfList(const ListQuery& query,
                                                     const std::optional<ContinueToken>& token,
                                                     const Collection* collection) const;
  static Map SnapshotAt(Map objects, const History& history, std::uint64_t version);
  static ListPage MakePage(const Map& objects, const Selection& selection, const ResourceType& type,
                           std::int64_t limit, const std::string& start, std::uint64_t version);
  // Gives the object the version in which it is stored, and a new resourceVersion.
  ObjectPtr Stamped(const ResourceType& type, json::Value object);
  void Index(const ResourceType& type, const json::Value& object, bool add);

  const Registry& registry_;
  std::size_t history_;
  std::uint64_t first_version_;
  std::uint64_t version_;
  std::map<api::GroupResource, Collection> collections_;
  std::map<std::string, std::set<Place>> dependents_;  // by the uid of an owner
  std::set<std::string> uids_;                         // of all stored objects
};

}  // namespace sandbox
