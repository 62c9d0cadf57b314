#pragma once

// The classes that one evaluator reads (quota::ClassSource): a reflector and a table. The table
// keeps only what one unit of each class uses. Several quota APIs may use it (shared_resources.h).
//
// Single-threaded. Stop() must have returned before it is destroyed.

#include <memory>
#include <string>

#include "controllers/usage/tracked_resource.h"

namespace controllers {

class ClassWatch final : public informers::CollectionSink {
 public:
  // REQUIRES: `evaluator` reads classes.
  ClassWatch(TrackingContext context, api::GroupVersionResource resource,
             quota::Evaluator evaluator);

  // `user` is told of changes from now on, but not of what was listed before.
  void AddUser(UsageListener& user) { users_.Add(user); }
  void RemoveUser(UsageListener& user) { users_.Remove(user); }
  [[nodiscard]] bool used() const { return !users_.empty(); }

  void Start();  // no effect after the first call
  base::Task<void> Stop();
  void Relist() {
    sync_state_.OnRelist();
    reflector_->Relist();
  }

  [[nodiscard]] const api::GroupVersionResource& resource() const { return resource_; }
  [[nodiscard]] const quota::Evaluator& evaluator() const { return evaluator_; }
  [[nodiscard]] const quota::ClassTable& table() const { return table_; }
  [[nodiscard]] const informers::ReflectorState& state() const { return reflector_->state(); }
  // True if the table was complete once.
  [[nodiscard]] bool listed() const { return sync_state_.listed(); }
  // True if the table is complete and current.
  [[nodiscard]] bool synced() const { return sync_state_.synced(); }

  void BeginList() override;
  void Upsert(const json::Value& object) override;
  void Remove(const json::Value& object) override;
  void EndList() override;
  void OnState() override;

 private:
  TrackingContext context_;
  api::GroupVersionResource resource_;
  quota::Evaluator evaluator_;
  UsageListeners users_;
  bool running_ = false;
  quota::ClassTable table_;
  base::TaskGroup tasks_;
  std::unique_ptr<metrics::InformerMetrics> metrics_;
  std::unique_ptr<informers::Reflector> reflector_;
  SyncState sync_state_;
};

}  // namespace controllers
