#pragma once

// The data for AppliedClusterQuotas: which ClusterQuotas reach a namespace, and the content of each
// object. ClusterListener reports changes.
//
// Single-threaded.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/applied/applied_object.h"

namespace controllers {

class AppliedSource {
 public:
  virtual ~AppliedSource() = default;
  // True if all quotas and all namespaces are known. Until then, an empty result means nothing.
  [[nodiscard]] virtual bool Synced() const = 0;
  // Returns the names of the quotas that reach the namespace, each once.
  [[nodiscard]] virtual std::vector<std::string> QuotasOf(std::string_view ns) const = 0;
  // True if the quota reaches the namespace only through a quota below it. REQUIRES: it reaches it.
  [[nodiscard]] virtual bool IsAbove(std::string_view ns, std::string_view quota) const = 0;
  // nullopt: the quota is not counted yet.
  [[nodiscard]] virtual std::optional<AppliedContent> ContentOf(const std::string& ns,
                                                                const std::string& quota) const = 0;
};

// Has no quotas, so the plan deletes the objects of earlier daemons.
class NothingApplied final : public AppliedSource {
 public:
  [[nodiscard]] bool Synced() const override { return true; }
  [[nodiscard]] std::vector<std::string> QuotasOf(std::string_view /*ns*/) const override {
    return {};
  }
  [[nodiscard]] bool IsAbove(std::string_view /*ns*/, std::string_view /*quota*/) const override {
    return false;
  }
  [[nodiscard]] std::optional<AppliedContent> ContentOf(
      const std::string& /*ns*/, const std::string& /*quota*/) const override {
    return std::nullopt;
  }
};

}  // namespace controllers
