#pragma once

// The objects of the sandbox and every rule by which they change (as apiserver v0.36.3,
// pkg/registry/generic/registry/store.go).
//
// A write has three steps, so that the HTTP surface can call admission webhooks in between:
//   auto write = store.preparer().Create(…);   // decoded, defaulted, patched; nothing is stored
//   store.preparer().Complete(*write);         // system fields, strategy, validation
//   … validating webhooks judge write->object, with write->old_object beside it …
//   store.Commit(*write);                      // stored and sent to the watches, or 409
// Create(), Update(), Patch(), Delete() do all three. Commit() answers 409 if the object has
// changed since the first step. If `write.unconditional` is set, the caller then prepares again (up
// to five times).
//
// Timestamps come from the clock given. No I/O; one thread. Watches must not outlive the store.

#include <cstdint>

#include "cmd/sandbox-apiserver/background.h"
#include "cmd/sandbox-apiserver/objects.h"
#include "cmd/sandbox-apiserver/outcome.h"
#include "cmd/sandbox-apiserver/patch.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "cmd/sandbox-apiserver/write.h"
#include "cmd/sandbox-apiserver/write_preparer.h"
#include "pkg/base/clock.h"
#include "pkg/json/value.h"

namespace sandbox {

struct StoreOptions {
  std::size_t history = 10000;      // events kept for each resource
  std::uint64_t first_version = 1;  // the RV before the first write
  std::uint64_t seed = 0;           // of uids and generated names; 0: taken from the system
};

class Store {
 public:
  // With the namespaces that every server has.
  Store(Registry& registry, const base::Clock& clock, StoreOptions options = {});
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  [[nodiscard]] Objects& objects() { return objects_; }
  [[nodiscard]] WritePreparer& preparer() { return preparer_; }
  [[nodiscard]] Background& background() { return background_; }

  // The third step of a write.
  Outcome<WriteResult> Commit(PendingWrite write);

  // All three steps, without webhooks in between.
  Outcome<WriteResult> Create(const Target& target, json::Value body,
                              const WriteOptions& options = {});
  Outcome<WriteResult> Update(const Target& target, json::Value body,
                              const WriteOptions& options = {});
  Outcome<WriteResult> Patch(const Target& target, const PatchRequest& patch,
                             const WriteOptions& options = {});
  Outcome<WriteResult> Delete(const Target& target, const DeleteOptions& options = {});

 private:
  Outcome<WriteResult> Finish(Outcome<PendingWrite> write);
  Outcome<WriteResult> CommitCreate(PendingWrite write);
  Outcome<WriteResult> CommitUpdate(PendingWrite write);
  Outcome<WriteResult> CommitDelete(PendingWrite write);
  Outcome<WriteResult> CommitMarked(const PendingWrite& write, json::Value marked);
  // Changes of objects, and of what is served: a stored CustomResourceDefinition adds its kind.
  ObjectPtr Put(const TypePtr& type, json::Value object, const ObjectPtr& old);
  ObjectPtr Remove(const TypePtr& type, const json::Value& last, const ObjectPtr& old);
  void Serve(const json::Value& crd, const ObjectPtr& old);
  void StopServing(const json::Value& crd);

  Registry& registry_;
  const base::Clock& clock_;
  Objects objects_;
  WritePreparer preparer_;
  Background background_;
};

}  // namespace sandbox
