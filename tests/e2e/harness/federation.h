#pragma once

// A server with the parts of a Karmada control plane that quotas need: the project's own CRD of
// KarmadaQuota, ResourceBindings, and functions that act as Karmada's detector and scheduler. The
// scenario deletes the CRDs at its end, because other scenarios do not expect them.

#include <string>

#include "pkg/json/value.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e {

struct FederationOptions {
  bool serve = true;  // the CRDs exist before the daemon starts
  // Flags of the daemon; none of them names a quota API, because by default it counts and enforces
  // KarmadaQuota.
  std::vector<std::string> more_flags{};
  bool reachable = true;  // the API server can reach its webhook
  // The daemon is a user with the rights of manifests/karmada. Real servers only.
  bool shipped_rights = false;
};

class Federation {
 public:
  explicit Federation(const FederationOptions& options = {});
  ~Federation();
  Federation(const Federation&) = delete;
  Federation& operator=(const Federation&) = delete;

  [[nodiscard]] Scenario& scenario() { return scenario_; }
  [[nodiscard]] Api& api() { return scenario_.api(); }
  [[nodiscard]] Daemon& daemon() { return scenario_.daemon(); }

  // Creates the CRD of "resourcebindings", "karmadaquotas", … from manifests/karmada or
  // tests/e2e/karmada.
  void Serve(const std::string& plural);
  void StopServing(const std::string& plural);

  [[nodiscard]] std::string Path(std::string_view resource, std::string_view name = {},
                                 std::string_view subresource = {}) const;
  // Creates a KarmadaQuota; if admission is reachable, returns when all its names are enforced.
  void Limit(const std::string& name, const Quantities& hard, const std::string& more_spec = "");
  Attempt Post(const json::Value& binding) const;
  Attempt Patch(const std::string& binding, const std::string& merge_patch) const;
  // Deletes it at once with its finalizers, as when all its Works are gone.
  void Delete(const std::string& binding);

  [[nodiscard]] json::Value GetQuota(const std::string& name) const;
  void WaitUsed(const std::string& quota, const Quantities& used,
                std::chrono::milliseconds timeout = Patience()) const;
  [[nodiscard]] std::size_t Count() const;  // bindings

 private:
  void GrantShippedRights();
  [[nodiscard]] std::string KubeconfigOfDaemon();

  mutable Scenario scenario_;
  bool reachable_;
  TempDir dir_;
};

// The binding of a Deployment, not scheduled yet.
json::Value Binding(const std::string& name, int replicas, const Quantities& requests,
                    const std::string& priority_class = "");
// The binding of another kind, without replicas.
json::Value BindingOf(const std::string& name, const std::string& api_version,
                      const std::string& kind);
// {"spec":{"clusters":[…]}}, the scheduler's merge patch: {{"member1", 2}, …}.
std::string Placed(const std::vector<std::pair<std::string, int>>& clusters);

}  // namespace e2e
