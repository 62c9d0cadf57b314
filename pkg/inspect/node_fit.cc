#include "pkg/inspect/node_fit.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "pkg/api/object_meta.h"
#include "pkg/api/selector.h"

namespace inspect {
namespace {

using json::Array;
using json::Value;

// A term of a node selector. It has the JSON form of a label selector, and also Gt and Lt.
bool MatchesExpression(const Value& expression, const Value& node, bool by_name) {
  const std::string_view op = expression.StringAt({"operator"});
  const std::string key(expression.StringAt({"key"}));
  // matchFields can only name metadata.name.
  const auto label = by_name ? std::optional(api::Name(node)) : api::Label(node, key);
  const Array& values = expression.ArrayAt({"values"});
  const bool named = label && std::ranges::any_of(values, [&](const Value& value) {
                       return value.AsString() != nullptr && *value.AsString() == *label;
                     });
  if (op == "In") return named;
  if (op == "NotIn") return !named;
  if (op == "Exists") return label.has_value();
  if (op == "DoesNotExist") return !label;
  if (!label || values.size() != 1 || values[0].AsString() == nullptr) return false;
  // Gt and Lt compare integers, as label selectors with > and < do.
  const std::string text = key + (op == "Gt" ? ">" : "<") + *values[0].AsString();
  const auto selector = api::LabelSelector::Parse(text);
  return selector && selector->Matches(api::Labels(node));
}

bool MatchesTerm(const Value& term, const Value& node) {
  const Array& labels = term.ArrayAt({"matchExpressions"});
  const Array& fields = term.ArrayAt({"matchFields"});
  // As in Kubernetes, an empty term matches no node.
  if (labels.empty() && fields.empty()) return false;
  const auto holds = [&](bool by_name) {
    return [&node, by_name](const Value& e) { return MatchesExpression(e, node, by_name); };
  };
  return std::ranges::all_of(labels, holds(false)) && std::ranges::all_of(fields, holds(true));
}

bool MatchesAffinity(const Value& spec, const Value& node) {
  const Value* required =
      spec.At({"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  if (required == nullptr || required->IsNull()) return true;
  return std::ranges::any_of(required->ArrayAt({"nodeSelectorTerms"}),
                             [&](const Value& term) { return MatchesTerm(term, node); });
}

bool MatchesSelector(const Value& spec, const Value& node) {
  const Value* selector = spec.At({"nodeSelector"});
  if (selector == nullptr || !selector->IsObject()) return true;
  return std::ranges::all_of(*selector->AsObject(), [&](const auto& entry) {
    const auto label = api::Label(node, entry.first);
    return label && entry.second.AsString() != nullptr && *entry.second.AsString() == *label;
  });
}

// The taints that every DaemonSet pod tolerates.
bool AlwaysTolerated(std::string_view key, std::string_view effect, const Value& spec) {
  constexpr std::string_view kOurs = "node.kubernetes.io/";
  if (!key.starts_with(kOurs)) return false;
  key.remove_prefix(kOurs.size());
  // A node that is not ready keeps its pods and gets no new ones.
  if (effect == "NoExecute") return key == "not-ready" || key == "unreachable";
  const Value* host = spec.At({"hostNetwork"});
  if (key == "network-unavailable") return host != nullptr && host->AsBool().value_or(false);
  return key == "disk-pressure" || key == "memory-pressure" || key == "pid-pressure" ||
         key == "unschedulable";
}

bool Tolerates(const Value& toleration, const Value& taint) {
  const std::string_view key = toleration.StringAt({"key"});
  const std::string_view op = toleration.StringAt({"operator"});
  const std::string_view effect = toleration.StringAt({"effect"});
  if (!effect.empty() && effect != taint.StringAt({"effect"})) return false;
  // Without a key, Exists tolerates every taint.
  if (key.empty()) return op == "Exists";
  if (key != taint.StringAt({"key"})) return false;
  return op == "Exists" || toleration.StringAt({"value"}) == taint.StringAt({"value"});
}

bool ToleratesTaints(const Value& spec, const Value& node) {
  const Array& tolerations = spec.ArrayAt({"tolerations"});
  return std::ranges::all_of(node.ArrayAt({"spec", "taints"}), [&](const Value& taint) {
    const std::string_view effect = taint.StringAt({"effect"});
    if (effect != "NoSchedule" && effect != "NoExecute") return true;
    return AlwaysTolerated(taint.StringAt({"key"}), effect, spec) ||
           std::ranges::any_of(tolerations, [&](const Value& t) { return Tolerates(t, taint); });
  });
}

}  // namespace

bool DaemonRunsOn(const Value& pod_spec, const Value& node) {
  const std::string_view wanted = pod_spec.StringAt({"nodeName"});
  if (!wanted.empty() && wanted != api::Name(node)) return false;
  return MatchesSelector(pod_spec, node) && MatchesAffinity(pod_spec, node) &&
         ToleratesTaints(pod_spec, node);
}

}  // namespace inspect
