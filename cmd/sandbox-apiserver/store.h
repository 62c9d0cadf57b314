#pragma once

// The objects of the sandbox and every rule by which they change (as apiserver v0.36.3,
// pkg/registry/generic/registry/store.go).
//
// A write has three steps, so that the HTTP surface can call admission webhooks in between:
//   auto write = store.PrepareCreate(…);    // decoded, defaulted, patched; nothing is stored
//   … mutating webhooks change write->object, with write->old_object beside it …
//   store.Complete(*write);                 // system fields, strategy, validation
//   … validating webhooks judge it …
//   store.Commit(*write);                   // stored and sent to the watches, or 409
// Create(), Update(), Patch(), Delete() do all three. Commit() answers 409 if the object has
// changed since Prepare…(). If `write.unconditional` is set, the caller then prepares again (up to
// five times).
//
// Background work (end of a pod's grace, contents of a terminating namespace, dependents of deleted
// owners) is done by RunDue(). The caller runs it at the time of NextDue(), and sets a callback by
// OnWork() for the case that this time becomes earlier.
//
// Objects are immutable once stored and shared. Timestamps come from the clock given. No I/O;
// one thread. Watches must not outlive the store.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/sandbox-apiserver/history.h"
#include "cmd/sandbox-apiserver/outcome.h"
#include "cmd/sandbox-apiserver/patch.h"
#include "cmd/sandbox-apiserver/query.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "pkg/api/object_meta.h"
#include "pkg/api/resource.h"
#include "pkg/base/clock.h"
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

enum class FieldValidation { kIgnore, kWarn, kStrict };

struct WriteOptions {
  bool dry_run = false;
  std::string field_manager;
  FieldValidation field_validation = FieldValidation::kWarn;
};

struct DeleteOptions {
  std::optional<std::int64_t> grace_period_seconds;
  std::string uid;  // preconditions; "" = none
  std::string resource_version;
  bool dry_run = false;

  // From a DeleteOptions body; null (no body) gives the defaults.
  static Outcome<DeleteOptions> FromJson(const json::Value& body);
};

enum class Operation { kCreate, kUpdate, kDelete };

// A write between its steps.
struct PendingWrite {
  Target target;  // with the name, once it is known
  Operation operation = Operation::kCreate;
  json::Value object;    // as it will be stored; null for a delete
  ObjectPtr old_object;  // as it is stored; null for a create
  bool dry_run = false;
  bool unconditional = false;  // no precondition: after a lost race it may be prepared again
  WriteOptions options;
  DeleteOptions delete_options;       // of a delete
  std::vector<std::string> warnings;  // for Warning headers
};

struct WriteResult {
  ObjectPtr object;          // in the requested version; after a removal, the last state
  bool created = false;      // 201
  bool changed = false;      // an event was added to the history
  bool removed = false;      // the object is gone
  bool show_status = false;  // a removal that is answered with a Status, not with the object
  std::vector<std::string> warnings;
};

struct StoreOptions {
  std::size_t history = 10000;      // events kept for each resource
  std::uint64_t first_version = 1;  // the RV before the first write
  std::uint64_t seed = 0;           // of uids and generated names; 0: taken from the system
};

class Store {
 public:
  Store(Registry& registry, const base::Clock& clock, StoreOptions options = {});
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Reads. Objects have the version of the requested type.
  [[nodiscard]] Outcome<ObjectPtr> Get(const Target& target) const;
  [[nodiscard]] Outcome<ListPage> List(const TypePtr& type, const ListQuery& query) const;
  // Calls `notify` whenever Next() may have a new event, during a write. So `notify` must post, and
  // not call the store. It is never called after the Watch is destroyed.
  Outcome<std::unique_ptr<Watch>> StartWatch(const TypePtr& type, const WatchQuery& query,
                                             std::function<void()> notify);

  // The first step of a write.
  Outcome<PendingWrite> PrepareCreate(const Target& target, json::Value body,
                                      const WriteOptions& options);
  Outcome<PendingWrite> PrepareUpdate(const Target& target, json::Value body,
                                      const WriteOptions& options);
  // Server-side apply of a missing object prepares a create.
  Outcome<PendingWrite> PreparePatch(const Target& target, const PatchRequest& patch,
                                     const WriteOptions& options);
  Outcome<PendingWrite> PrepareDelete(const Target& target, const DeleteOptions& options);
  // The second and the third step.
  Outcome<void> Complete(PendingWrite& write);
  Outcome<WriteResult> Commit(PendingWrite write);

  // All three steps, without webhooks in between.
  Outcome<WriteResult> Create(const Target& target, json::Value body,
                              const WriteOptions& options = {});
  Outcome<WriteResult> Update(const Target& target, json::Value body,
                              const WriteOptions& options = {});
  Outcome<WriteResult> Patch(const Target& target, const PatchRequest& patch,
                             const WriteOptions& options = {});
  Outcome<WriteResult> Delete(const Target& target, const DeleteOptions& options = {});

  // Background work.
  [[nodiscard]] std::optional<base::TimePoint> NextDue() const;
  void RunDue();
  void OnWork(std::function<void()> on_work) { on_work_ = std::move(on_work); }

  // Forgets the history (of all resources): watches and tokens of older versions get 410.
  void ExpireHistory();
  [[nodiscard]] std::uint64_t current_version() const { return version_; }
  [[nodiscard]] const Registry& registry() const { return registry_; }

 private:
  struct Collection {
    std::map<std::string, ObjectPtr, std::less<>> objects;  // by "ns/name" or "name"
    std::shared_ptr<History> history;
  };

  using Keys = std::set<std::pair<api::GroupResource, std::string>>;

  Collection& CollectionOf(const ResourceType& type);
  [[nodiscard]] const Collection* FindCollection(const ResourceType& type) const;
  [[nodiscard]] ObjectPtr FindStored(const ResourceType& type, std::string_view key) const;
  [[nodiscard]] Outcome<ObjectPtr> Current(const Target& target) const;
  [[nodiscard]] Outcome<std::uint64_t> VersionOfList(const ListQuery& query,
                                                     const std::optional<ContinueToken>& token,
                                                     const Collection* collection) const;

  // The steps of a write.
  Outcome<WriteResult> Finish(Outcome<PendingWrite> write);
  [[nodiscard]] Outcome<void> CheckNamespaceForCreate(const Target& target) const;
  Outcome<void> Decode(PendingWrite& write) const;
  Outcome<void> CompleteCreate(PendingWrite& write);
  Outcome<void> CompleteUpdate(PendingWrite& write);
  Outcome<WriteResult> CommitCreate(PendingWrite write);
  Outcome<WriteResult> CommitUpdate(PendingWrite write);
  Outcome<WriteResult> CommitDelete(PendingWrite write);
  [[nodiscard]] json::Value MarkedForDeletion(const PendingWrite& write, std::int64_t grace) const;
  Outcome<WriteResult> CommitMarked(const PendingWrite& write, json::Value marked);
  [[nodiscard]] WriteResult RemovedResult(const PendingWrite& write, const ObjectPtr& last) const;

  // Objects change only by these two functions. Both add an event.
  ObjectPtr Put(const TypePtr& type, json::Value object, const ObjectPtr& old);
  ObjectPtr Remove(const TypePtr& type, const json::Value& last, const ObjectPtr& old);
  void Index(const ResourceType& type, const json::Value& object, bool add);
  void AfterPut(const ObjectPtr& crd, const ObjectPtr& old);
  void AfterRemove(const TypePtr& type, const json::Value& last);

  Outcome<void> AssignPorts(PendingWrite& write) const;
  void EnsureName(PendingWrite& write);
  [[nodiscard]] std::string Timestamp() const;
  std::string NewUid();
  std::string RandomSuffix();

  // Background work.
  void Schedule(base::TimePoint when, std::function<void()> work);
  void ScheduleNamespace(const std::string& name);
  void FinalizeNamespace(const std::string& name);
  bool DeleteContents(const std::string& ns);
  void ReapPod(const Target& target, const std::string& uid);
  void CollectDependents(const std::string& owner_uid);
  void DropCrd(const json::Value& crd);
  void AddDefaultNamespaces();

  Registry& registry_;
  const base::Clock& clock_;
  StoreOptions options_;
  std::uint64_t version_;
  std::map<api::GroupResource, Collection> collections_;
  std::multimap<base::TimePoint, std::function<void()>> due_;
  std::set<std::string> namespaces_due_;    // with a FinalizeNamespace() scheduled
  std::map<std::string, Keys> dependents_;  // by the uid of an owner
  std::set<std::string> uids_;              // of all stored objects
  std::function<void()> on_work_;
  std::mt19937_64 random_;
};

}  // namespace sandbox
