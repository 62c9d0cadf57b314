#pragma once

// The ResourceBinding that Karmada makes of an object on its control plane: of each object that a
// PropagationPolicy or ClusterPropagationPolicy selects, with the replicas and requests that its
// resource interpreter reads (karmada v1.16.0, pkg/detector and
// pkg/resourceinterpreter/default/native). Pure; any thread.

#include <set>
#include <string>
#include <vector>

#include "pkg/inspect/workload_kinds.h"
#include "pkg/json/value.h"

namespace inspect {

inline constexpr WorkloadKind kBinding{"ResourceBinding", "work.karmada.io"};
inline constexpr WorkloadKind kPropagation{"PropagationPolicy", "policy.karmada.io"};
inline constexpr WorkloadKind kClusterPropagation{"ClusterPropagationPolicy", "policy.karmada.io"};
inline constexpr WorkloadKind kInterpreter{"ResourceInterpreterCustomization", "config.karmada.io"};
inline constexpr WorkloadKind kInterpreterWebhook{"ResourceInterpreterWebhookConfiguration",
                                                  "config.karmada.io"};

// What decides about bindings in one namespace.
struct Propagation {
  std::vector<json::Value> policies;  // PropagationPolicies of the namespace
  std::vector<json::Value> cluster_policies;
  std::vector<json::Value> interpreters;  // customizations and webhook configurations
  std::set<std::string> given = {};       // bindings in the files
  bool counts_objects = false;  // a quota limits the number of Secrets, or of objects of a kind
  bool by_class = false;        // a quota has a scope over priority classes
};

struct Bound {
  json::Value binding;  // null: none is made, or it is not known
  std::string unknown;  // what of it cannot be known; "" if all of it is
};

// Returns the binding of an object that is complete. `stored` is its present one, which may be
// null: it tells where it is placed.
Bound BindingOf(const json::Value& object, const Propagation& propagation,
                const json::Value& stored = {});

// Returns "web-deployment", the name of the object's binding.
std::string BindingName(const json::Value& object);

}  // namespace inspect
