#pragma once

// ClusterQuotas in a scenario: served by their CRD while this lives.

#include <string>

#include "tests/e2e/harness/scenario.h"

namespace e2e {

class ClusterQuotas {
 public:
  explicit ClusterQuotas(Api& api);
  ~ClusterQuotas();
  ClusterQuotas(const ClusterQuotas&) = delete;
  ClusterQuotas& operator=(const ClusterQuotas&) = delete;

  // "": the collection.
  [[nodiscard]] static std::string Path(const std::string& name = "");
  [[nodiscard]] static json::Value Quota(const std::string& name, const json::Value& spec);
  json::Value Create(const std::string& name, const std::string& spec) {
    return api_.Create(Path(), Quota(name, Json(spec)));
  }
  [[nodiscard]] json::Value Get(const std::string& name) { return api_.Get(Path(name)); }
  // Waits until status.used is exactly this, and status.hard equals spec.hard.
  void WaitUsed(const std::string& name, const Quantities& used);
  // Waits until the status has these members.
  void WaitStatus(const std::string& name, const json::Value& members);

 private:
  Api& api_;
};

}  // namespace e2e
