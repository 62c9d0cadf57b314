#pragma once

// The classes that one evaluator reads (quota::ClassSource): a reflector and a table.
// Cluster-scoped objects are few, so nothing is kept of them but what one unit uses.
//
// Single-threaded. Stop() must have returned before it is destroyed.

#include <functional>
#include <memory>
#include <string>

#include "controllers/quota/tracked_resource.h"

namespace controllers {

class ClassWatch final : public informers::CollectionSink {
 public:
  struct Callbacks {
    std::function<void(const std::string& name)> on_change;  // a class came, changed or went
    std::function<void()> on_state;                          // synced() or state() may differ
  };
  // `source` outlives the watch. No callback comes before Start() or after Stop().
  ClassWatch(TrackingContext context, api::GroupVersionResource resource,
             const quota::ClassSource& source, Callbacks callbacks);

  void Start();
  base::Task<void> Stop();
  void Relist() { reflector_->Relist(); }

  [[nodiscard]] const api::GroupVersionResource& resource() const { return resource_; }
  [[nodiscard]] const quota::ClassTable& table() const { return table_; }
  [[nodiscard]] const informers::ReflectorState& state() const { return reflector_->state(); }
  // True if the table is a complete and current picture.
  [[nodiscard]] bool synced() const { return synced_ && !listing_; }

  void BeginList() override;
  void Upsert(const json::Value& object) override;
  void Remove(const json::Value& object) override;
  void EndList() override;
  void OnState() override;

 private:
  TrackingContext context_;
  api::GroupVersionResource resource_;
  const quota::ClassSource& source_;
  Callbacks callbacks_;
  quota::ClassTable table_;
  base::TaskGroup tasks_;
  std::unique_ptr<metrics::InformerMetrics> metrics_;
  std::unique_ptr<informers::Reflector> reflector_;
  bool synced_ = false;   // a complete list has been seen
  bool listing_ = false;  // a list is coming in
};

}  // namespace controllers
