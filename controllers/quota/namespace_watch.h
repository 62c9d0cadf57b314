#pragma once

// The namespaces of the API server, as metadata: a reflector, which tells of their labels.
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
    // It came or changed, with these labels (null: none), or went (nullopt).
    std::function<void(const std::string& name, std::optional<json::Value> labels)> on_namespace;
    std::function<void()> on_state;  // synced() or behind_until() may differ
  };
  // Callbacks come from Run().
  NamespaceWatch(TrackingContext context, Callbacks callbacks);

  // Watches until cancelled. After each Wake() calls `work`, as often as it returns true, with
  // turns of the loop in between.
  base::Task<void> Run(std::function<bool()> work);
  void Wake() { wake_->Wake(); }
  // The server was put back to an earlier state: lists again.
  void Relist();

  // True if all was told: not before the first list, and not in the middle of another one.
  [[nodiscard]] bool synced() const { return synced_ && !listing_ && !relists_; }
  [[nodiscard]] bool listing() const { return listing_; }
  // As TrackedResource::behind_until().
  [[nodiscard]] base::TimePoint behind_until() const;
  [[nodiscard]] const informers::ReflectorState& state() const { return reflector_->state(); }
  [[nodiscard]] static const api::GroupVersionResource& resource();
  // The newest version that was shown since the last list began; "": none.
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
  std::map<std::string, std::uint64_t> names_;  // the list that each was seen in, or after
  std::uint64_t list_ = 0;
  std::string newest_;
  std::string swept_;  // the namespaces up to this one were compared with the list
  base::TaskGroup tasks_;
  std::unique_ptr<base::Alarm> wake_;
  std::unique_ptr<metrics::InformerMetrics> metrics_;
  std::unique_ptr<informers::Reflector> reflector_;
  base::TimePoint started_{};
  base::TimePoint behind_until_{};
  bool synced_ = false;   // a complete list has been seen
  bool listing_ = false;  // a list is coming in
  bool relists_ = false;  // it is to come: what is known is not believed
};

}  // namespace controllers
