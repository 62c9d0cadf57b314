#pragma once

// Watches the metadata of all namespaces, and reports their labels.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "controllers/quota/tracked_resource.h"

namespace controllers {

class NamespaceWatch final : public informers::CollectionSink {
 public:
  struct Callbacks {
    // The namespace was added or changed, with these labels (null: none), or was removed (nullopt).
    std::function<void(const std::string& name, std::optional<json::Value> labels)> on_namespace;
    std::function<void()> on_state;  // synced() or behind_until() may have changed
  };
  // Callbacks are called by Run().
  NamespaceWatch(TrackingContext context, Callbacks callbacks);

  // Watches until cancelled. After each Wake() it calls `work` until that returns false, with turns
  // of the event loop in between.
  base::Task<void> Run(std::function<bool()> work);
  void Wake() { wake_->Wake(); }
  // Lists again, because the server was restored to an earlier state.
  void Relist();

  // True if all namespaces were reported.
  [[nodiscard]] bool synced() const { return completeness_.synced(); }
  // As Completeness::BehindUntil().
  [[nodiscard]] base::TimePoint behind_until() const {
    return completeness_.BehindUntil(context_.scheduler->Now(), state());
  }
  [[nodiscard]] const informers::ReflectorState& state() const { return reflector_->state(); }
  [[nodiscard]] static const api::GroupVersionResource& resource();
  // The newest version that was shown since the last list began; "" if none.
  [[nodiscard]] const std::string& newest() const { return newest_; }
  [[nodiscard]] base::TimePoint started() const { return started_; }

  void BeginList() override;
  void Upsert(const json::Value& object) override;
  void Remove(const json::Value& object) override;
  bool SweepSome() override;
  void EndList() override;
  void OnState() override;

 private:
  void NoteVersion(const json::Value& object);

  TrackingContext context_;
  Callbacks callbacks_;
  // the number of the list that showed it, or that preceded its event
  std::map<std::string, std::uint64_t> names_;
  std::uint64_t list_ = 0;
  std::string newest_;
  std::string swept_;  // the names up to this one were compared with the list
  base::TaskGroup tasks_;
  std::unique_ptr<base::Alarm> wake_;
  std::unique_ptr<metrics::InformerMetrics> metrics_;
  std::unique_ptr<informers::Reflector> reflector_;
  base::TimePoint started_{};
  Completeness completeness_;
};

}  // namespace controllers
