#pragma once

// Reads the data for AppliedClusterQuotas from the quota controller. No I/O; one thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/applied/applied_source.h"
#include "controllers/quota/quota_controller.h"

namespace controllers {

class AppliedView final : public AppliedSource {
 public:
  // `controller` handles ClusterQuotas, and must outlive the view.
  explicit AppliedView(const QuotaController& controller) : controller_(controller) {}

  [[nodiscard]] bool Synced() const override { return controller_.KnowsReach(); }
  [[nodiscard]] std::vector<std::string> QuotasOf(std::string_view ns) const override;
  [[nodiscard]] bool IsAbove(std::string_view ns, std::string_view quota) const override;
  [[nodiscard]] std::optional<AppliedContent> ContentOf(const std::string& ns,
                                                        const std::string& quota) const override;

 private:
  const QuotaController& controller_;
};

}  // namespace controllers
