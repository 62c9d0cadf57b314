#pragma once

// The quotas of one namespace, of every quota API, and what objects need of them; the same with a
// cluster and without one. Single-threaded.

#include <memory>
#include <string>
#include <vector>

#include "cmd/kubectl-quota/objects.h"
#include "pkg/inspect/check_view.h"
#include "pkg/inspect/fit.h"
#include "pkg/inspect/helm.h"
#include "pkg/inspect/workload.h"

namespace kubectl_quota {

// The quotas of one API, and the evaluators of the objects that they count.
struct ApiBook {
  const quota::QuotaApi& api;
  Counters counters;
  inspect::FitBook book;
  inspect::FitBook empty;  // without any needs
  // Its quotas count objects of any kind, not only those that it has evaluators of.
  [[nodiscard]] bool CountsAnyKind() const { return api.object_counter != nullptr; }
};

class Books {
 public:
  // Adds the quotas of an API, first Kubernetes' own, whose server counts by these rules. `kinds`
  // and `api` must outlive it. Returns what lives as long as this object.
  ApiBook& Open(const client::Discovered& kinds, const quota::QuotaApi& api, quota::Rules rules,
                const inspect::FitBook& book);

  [[nodiscard]] const std::vector<std::unique_ptr<ApiBook>>& all() const { return all_; }
  // Kubernetes' own quotas and the ClusterQuotas. REQUIRES: they were added.
  [[nodiscard]] ApiBook& core() const { return *all_.front(); }
  // All quotas.
  [[nodiscard]] const std::vector<quota::Quota>& quotas() const { return quotas_; }

  // All UsageDefinitions are known that there are: a name that none has is not counted, and nothing
  // is in a scope that none has. Without it both are unknown.
  void KnowDefinitions() { knows_definitions_ = true; }
  // Returns what is therefore not known of an object's need of the quotas of `of`, as
  // UndefinedOf().
  [[nodiscard]] std::vector<std::string> Undefined(ApiBook& of, const json::Value& object) const;
  // Adds the needs of one expanded manifest, and its notes to `checked`; what is not counted is
  // unknown there if a quota may limit it. Errors: of FitBook::Add().
  base::Result<void> Add(inspect::Expansion expansion, base::WallTime now,
                         inspect::Checked& checked);
  // Call before each manifest is added. Once the phase of Helm's hooks has changed, hooks that Helm
  // deletes at the end of the phase before do not count any more. Errors: of FitBook::Add().
  base::Result<void> Begin(inspect::HelmPhase phase, base::WallTime now);
  // True if the object fits without the objects that controllers create for it.
  [[nodiscard]] bool FitsAlone(const inspect::ObjectName& name, const inspect::Expansion& expansion,
                               base::WallTime now) const;
  // Adds the results, and what is not known, to `checked`. Call last.
  void Close(const std::string& ns, inspect::Checked& checked);

 private:
  void NoteUndefined(ApiBook& of, const inspect::Expansion& expansion,
                     inspect::Checked& checked) const;

  bool knows_definitions_ = false;
  inspect::HelmPhase phase_ = inspect::HelmPhase::kBefore;
  std::vector<inspect::Piece> ending_;  // of the phase
  std::vector<std::unique_ptr<ApiBook>> all_;
  std::vector<quota::Quota> quotas_;
};

}  // namespace kubectl_quota
