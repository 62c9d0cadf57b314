#pragma once

// Watches the metadata of all namespaces: which there are, and their labels.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "controllers/usage/sync_state.h"
#include "controllers/usage/tracked_resource.h"
#include "pkg/quota/cluster/label_text.h"

namespace controllers {

class NamespaceWatch final : public informers::CollectionSink {
 public:
  using Labels = std::optional<quota::LabelText>;  // nullopt: the namespace is gone
  struct Hooks {
    // The namespace was shown; its labels may have changed.
    std::function<void(const std::string& ns, Labels labels)> on_namespace;
    std::function<void()> on_state;  // synced(), or a failure of the watch, may have changed
  };
  NamespaceWatch(const TrackingContext& context, Hooks hooks);

  base::Task<void> Run() { return reflector_->Run(); }
  // Lists the namespaces again, because the server was restored to an earlier state.
  void Relist();

  // True if all namespaces were shown, and the picture is current.
  [[nodiscard]] bool synced() const { return sync_state_.synced(); }
  [[nodiscard]] const std::optional<base::Error>& trouble() const {
    return reflector_->state().trouble;
  }
  // True if it lags only by the delay of an event (IsCurrent()).
  [[nodiscard]] bool Current(const StallDetector& stalls) const {
    return synced() && IsCurrent(context_.scheduler->Now(), reflector_->state(), stalls);
  }
  // As in NamespaceLabels. BehindUntil() holds for every quota.
  [[nodiscard]] base::TimePoint BehindUntil() const;
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const std::string& newest() const { return newest_; }
  [[nodiscard]] bool Reaches(std::string_view version) const;

  void BeginList() override;
  void Upsert(const json::Value& object) override;
  void Remove(const json::Value& object) override;
  bool SweepSome() override;
  void EndList() override;
  void OnState() override;

 private:
  const TrackingContext& context_;
  Hooks hooks_;
  // The namespaces that were shown, with the number of the list that showed it, or that preceded
  // its event.
  std::map<std::string, std::uint64_t> names_;
  std::uint64_t list_ = 0;
  std::string newest_;  // the newest version that was shown since the last list began
  std::string swept_;   // the names up to this one were compared with the list
  SyncState sync_state_;
  std::unique_ptr<metrics::InformerMetrics> metrics_;
  std::unique_ptr<informers::Reflector> reflector_;
};

}  // namespace controllers
