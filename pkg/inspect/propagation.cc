#include "pkg/inspect/propagation.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/api/selector.h"
#include "pkg/base/text.h"
#include "pkg/inspect/owners.h"
#include "pkg/quota/quantity_field.h"

namespace inspect {
namespace {

using json::Array;
using json::Object;
using json::Value;

// Karmada makes no bindings of its own objects, and this binding is in no namespace.
bool IsTemplate(const Value& object) {
  return !GroupOf(api::ApiVersion(object)).ends_with("karmada.io") &&
         !Is(object, {"Namespace", ""});
}

// Kinds whose pods the native interpreter knows.
bool HasReplicas(const Value& object) {
  return Is(object, kDeployment) || Is(object, kReplicaSet) || Is(object, kStatefulSet) ||
         Is(object, kJob) || Is(object, kPod);
}

std::int64_t ReplicasOf(const Value& object) {
  if (Is(object, kPod)) return 1;
  if (!Is(object, kJob)) return NumberAt(object, {"spec", "replicas"}, 1);
  const std::int64_t parallelism = NumberAt(object, {"spec", "parallelism"}, 1);
  return std::min(parallelism, NumberAt(object, {"spec", "completions"}, parallelism));
}

// How well a policy's selector fits: by the name, by labels, or by the kind. 0: not at all.
int FitOf(const Value& selector, const Value& object) {
  if (selector.StringAt({"apiVersion"}) != api::ApiVersion(object)) return 0;
  if (selector.StringAt({"kind"}) != api::Kind(object)) return 0;
  const std::string_view ns = selector.StringAt({"namespace"});
  if (!ns.empty() && ns != api::Namespace(object)) return 0;
  const std::string_view name = selector.StringAt({"name"});
  if (!name.empty()) return name == api::Name(object) ? 3 : 0;
  const Value* labels = selector.At({"labelSelector"});
  if (labels == nullptr || labels->IsNull()) return 1;
  const auto wanted = api::LabelSelector::FromJson(*labels);
  return wanted && wanted->Matches(object.At({"metadata", "labels"})) ? 2 : 0;
}

// Returns the policy that takes the object: the highest priority, the best fit, the first name.
const Value* PolicyIn(const std::vector<Value>& policies, const Value& object) {
  const Value* best = nullptr;
  std::pair<std::int64_t, int> rank;
  for (const Value& policy : policies) {
    int fit = 0;
    for (const Value& selector : policy.ArrayAt({"spec", "resourceSelectors"})) {
      fit = std::max(fit, FitOf(selector, object));
    }
    if (fit == 0) continue;
    const std::pair own(NumberAt(policy, {"spec", "priority"}, 0), fit);
    const bool better =
        best == nullptr || own > rank || (own == rank && api::Name(policy) < api::Name(*best));
    if (!better) continue;
    best = &policy;
    rank = own;
  }
  return best;
}

const Value* PolicyOf(const Value& object, const Propagation& propagation) {
  const Value* own = PolicyIn(propagation.policies, object);
  return own != nullptr ? own : PolicyIn(propagation.cluster_policies, object);
}

bool HasText(const Array& texts, std::string_view wanted) {
  return std::ranges::any_of(texts, [&](const Value& text) {
    return text.AsString() != nullptr && (*text.AsString() == wanted || *text.AsString() == "*");
  });
}

// True if the webhook, or the customization, reads objects of this kind instead of Karmada.
bool Interprets(const Value& interpreter, const Value& object) {
  if (Is(interpreter, kInterpreter)) {
    return interpreter.StringAt({"spec", "target", "apiVersion"}) == api::ApiVersion(object) &&
           interpreter.StringAt({"spec", "target", "kind"}) == api::Kind(object);
  }
  for (const Value& webhook : interpreter.ArrayAt({"webhooks"})) {
    for (const Value& rule : webhook.ArrayAt({"rules"})) {
      const bool group = HasText(rule.ArrayAt({"apiGroups"}), GroupOf(api::ApiVersion(object)));
      if (group && HasText(rule.ArrayAt({"kinds"}), api::Kind(object))) return true;
    }
  }
  return false;
}

quota::ResourceList AmountsOf(const Value* amounts) {
  return quota::ReadAmounts(amounts, "", quota::Negative::kReadable).list;
}

// The requests of one container; a missing one is its limit.
quota::ResourceList RequestsOf(const Value& container) {
  quota::ResourceList requests = AmountsOf(container.At({"resources", "limits"}));
  requests.SetAll(AmountsOf(container.At({"resources", "requests"})));
  return requests;
}

// The containers together, raised to the largest init container, and the overhead. Karmada does not
// look at restart policies of init containers.
Object RequestOf(const Value& spec) {
  quota::ResourceList sum;
  for (const Value& container : spec.ArrayAt({"containers"})) sum.Add(RequestsOf(container));
  for (const Value& init : spec.ArrayAt({"initContainers"})) sum.RaiseTo(RequestsOf(init));
  sum.Add(AmountsOf(spec.At({"overhead"})));
  return quota::ToJson(sum);
}

bool IsDivided(const Value& policy) {
  return policy.StringAt({"spec", "placement", "replicaScheduling", "replicaSchedulingType"}) ==
         "Divided";
}

// The clusters that get a copy each, as far as the policy names them; nullopt: it leaves that open.
std::optional<std::vector<std::string>> ClustersOf(const Value& policy) {
  const Value* affinity = policy.At({"spec", "placement", "clusterAffinity"});
  const bool open = affinity == nullptr || affinity->At({"labelSelector"}) != nullptr ||
                    affinity->At({"fieldSelector"}) != nullptr ||
                    !policy.ArrayAt({"spec", "placement", "spreadConstraints"}).empty() ||
                    affinity->ArrayAt({"clusterNames"}).empty();
  if (open) return std::nullopt;
  std::vector<std::string> names;
  for (const Value& name : affinity->ArrayAt({"clusterNames"})) {
    if (name.AsString() == nullptr) continue;
    if (!HasText(affinity->ArrayAt({"exclude"}), *name.AsString()))
      names.push_back(*name.AsString());
  }
  return names;
}

// Sets where the replicas are placed. Returns what is not known about it.
std::string Place(const Value& policy, std::int64_t replicas, Value& binding) {
  if (IsDivided(policy) || replicas == 0) return "";
  std::vector<std::string> names;
  for (const Value& placed : binding.ArrayAt({"spec", "clusters"})) {
    names.emplace_back(placed.StringAt({"name"}));
  }
  if (const auto given = ClustersOf(policy)) names = *given;
  Array clusters;
  for (const std::string& name : names) {
    clusters.emplace_back(Object{{"name", name}, {"replicas", replicas}});
  }
  if (!clusters.empty()) binding.Make({"spec", "clusters"}) = std::move(clusters);
  if (!names.empty()) return "";
  return "counted with one copy, but policy " + std::string(api::Name(policy)) +
         " makes one in each member cluster that fits";
}

}  // namespace

std::string BindingName(const Value& object) {
  return base::ToLower(std::string(api::Name(object)) + "-" + std::string(api::Kind(object)));
}

Bound BindingOf(const Value& object, const Propagation& propagation, const Value& stored) {
  if (!IsTemplate(object) || propagation.given.contains(BindingName(object))) return {};
  const bool counted = HasReplicas(object) || propagation.counts_objects || Is(object, kService) ||
                       Is(object, {"Secret", ""});
  const Value* policy = PolicyOf(object, propagation);
  if (policy == nullptr) {
    if (!counted) return {};
    return {.binding = {},
            .unknown = "no propagation policy selects it, so its binding is not known"};
  }
  Bound bound{.binding = stored.IsNull() ? Value(Object()) : stored, .unknown = ""};
  Value& binding = bound.binding;
  binding.Make({"apiVersion"}) = "work.karmada.io/v1alpha2";
  binding.Make({"kind"}) = "ResourceBinding";
  binding.Make({"metadata", "namespace"}) = api::Namespace(object);
  binding.Make({"metadata", "name"}) = BindingName(object);
  binding.Make({"spec", "resource", "apiVersion"}) = api::ApiVersion(object);
  binding.Make({"spec", "resource", "kind"}) = api::Kind(object);
  binding.Make({"spec", "resource", "name"}) = api::Name(object);
  const bool custom = std::ranges::any_of(propagation.interpreters, [&](const Value& interpreter) {
    return Interprets(interpreter, object);
  });
  if (custom) {
    bound.unknown = "a custom resource interpreter decides what its binding needs";
    return bound;
  }
  if (FlagAt(*policy, {"spec", "propagateDeps"}) && propagation.counts_objects) {
    bound.unknown = "what policy " + std::string(api::Name(*policy)) +
                    " propagates with it (propagateDeps) is not counted";
  }
  if (!HasReplicas(object)) return bound;
  const Value* spec = PodSpecOf(object);
  const std::int64_t replicas = ReplicasOf(object);
  binding.Make({"spec", "replicas"}) = replicas;
  binding.Make({"spec", "replicaRequirements", "resourceRequest"}) =
      RequestOf(spec == nullptr ? Value(Object()) : *spec);
  const bool by_class =
      propagation.by_class && spec != nullptr && !spec->StringAt({"priorityClassName"}).empty();
  if (by_class) {
    bound.unknown =
        "whether its binding has its priority class depends on Karmada's feature gate "
        "ResourceQuotaEstimate";
  }
  std::string open = Place(*policy, replicas, binding);
  if (!open.empty()) bound.unknown = std::move(open);
  return bound;
}

}  // namespace inspect
