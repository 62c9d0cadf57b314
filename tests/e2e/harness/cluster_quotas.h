#pragma once

// ClusterQuotas in a scenario: their CRD exists during the lifetime of a ClusterQuotas object. The
// same for AppliedClusterQuotas, UsageDefinitions and DefinedQuotas, and for namespaces that quotas
// select.

#include <string>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e {

// A shared server with the built-in plugin and controllers of quotas, as on every managed cluster.
ServerOptions Managed();

class ClusterQuotas {
 public:
  // Creates the CRD, and deletes it at the end. `installed`: it is there, and stays.
  explicit ClusterQuotas(Api& api, bool installed = false);
  ~ClusterQuotas();
  ClusterQuotas(const ClusterQuotas&) = delete;
  ClusterQuotas& operator=(const ClusterQuotas&) = delete;

  // Returns the path of a quota; "": of the collection.
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
  // "False ParentNotFound: there is no ClusterQuota x"; "" without a condition of this type.
  [[nodiscard]] std::string Condition(const std::string& name, const std::string& type);
  // Waits until the condition begins like that.
  void WaitCondition(const std::string& name, const std::string& type, const std::string& begin,
                     std::chrono::milliseconds timeout = Stretched(60s));

 private:
  Api& api_;
  bool installed_;
};

// The same for AppliedClusterQuotas.
class AppliedQuotas {
 public:
  explicit AppliedQuotas(Api& api);
  ~AppliedQuotas();
  AppliedQuotas(const AppliedQuotas&) = delete;
  AppliedQuotas& operator=(const AppliedQuotas&) = delete;

  // Returns the path of an object; "": of the collection.
  [[nodiscard]] static std::string Path(const std::string& ns, const std::string& name = "");
  // Waits until the namespace has the object of this quota, with these members in its status.
  void WaitStatus(const std::string& ns, const std::string& quota, const json::Value& members);
  void WaitGone(const std::string& ns, const std::string& quota);

 private:
  Api& api_;
};

// The same for UsageDefinitions.
class UsageDefinitions {
 public:
  explicit UsageDefinitions(Api& api);
  ~UsageDefinitions();
  UsageDefinitions(const UsageDefinitions&) = delete;
  UsageDefinitions& operator=(const UsageDefinitions&) = delete;

  // Returns the path of a definition; "": of the collection.
  [[nodiscard]] static std::string Path(const std::string& name = "");
  // `name` is <resource>.<group>, as in the spec.
  [[nodiscard]] static json::Value Definition(const std::string& name, const json::Value& spec);
  // `spec` without the resource, which follows from the name.
  json::Value Create(const std::string& name, const std::string& spec);
  [[nodiscard]] json::Value Get(const std::string& name) { return api_.Get(Path(name)); }
  // Waits until the condition begins like that, as in ClusterQuotas.
  void WaitCondition(const std::string& name, const std::string& type, const std::string& begin);

 private:
  Api& api_;
};

// The same for DefinedQuotas.
class DefinedQuotas {
 public:
  explicit DefinedQuotas(Api& api);
  ~DefinedQuotas();
  DefinedQuotas(const DefinedQuotas&) = delete;
  DefinedQuotas& operator=(const DefinedQuotas&) = delete;

  // Returns the path of an object; "": of the collection.
  [[nodiscard]] static std::string Path(const std::string& ns, const std::string& name = "");
  // Waits until the object enforces these limits, and no others.
  void WaitEnforced(const std::string& ns, const std::string& name, const Quantities& hard);
  void WaitGone(const std::string& ns, const std::string& name);

 private:
  Api& api_;
};

// A namespace with the label team=<team>. The destructor deletes it.
class TeamNamespace {
 public:
  TeamNamespace(Api& api, const std::string& team, const std::string& name = FreshName("team"));
  ~TeamNamespace();
  TeamNamespace(const TeamNamespace&) = delete;
  TeamNamespace& operator=(const TeamNamespace&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string Pods() const { return PathOf("pods", name_); }
  void Create(const std::string& pod) { api_.Create(Pods(), Pod(pod)); }
  // Like Create(), but returns the server's answer.
  Attempt Try(const std::string& pod, bool dry_run = false);
  void Delete(const std::string& pod) { api_.Delete(PathOf("pods", name_, pod)); }
  void Relabel(const std::string& team);
  [[nodiscard]] std::size_t CountPods();

 private:
  Api& api_;
  std::string name_;
};

// Returns the spec of a quota over the namespaces of a team. `more` has its other members, such as
// R"("hard":{"pods":"5"})".
// "True Counting: text" of a status; "" without a condition of this type.
std::string ConditionOf(const json::Value& object, const std::string& type);
std::string SelectTeam(const std::string& team, const std::string& more);

// True if there is an Event about this ClusterQuota with the reason.
bool IsSaid(Api& api, const std::string& quota, const std::string& reason);

}  // namespace e2e
