// Claims are counted. Their one scope is the volume attributes class, of which a claim that moves
// between two refers to both (kubernetes-resourcequota.md 3.4).

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "pkg/quota/core/object_counter.h"

namespace quota::core::persistentvolumeclaims {
namespace {

constexpr const char* kScope = "VolumeAttributesClass";

base::Result<ObjectFacts> FactsOf(const json::Value& claim, base::WallTime /*now*/) {
  ObjectFacts facts;
  facts.now.usage = {{"persistentvolumeclaims", Quantity::FromInt(1)},
                     {"count/persistentvolumeclaims", Quantity::FromInt(1)}};
  std::vector<Attribute>& attributes = facts.now.attributes;
  for (const std::string_view name :
       {claim.StringAt({"spec", "volumeAttributesClassName"}),
        claim.StringAt({"status", "currentVolumeAttributesClassName"}),
        claim.StringAt({"status", "modifyVolumeStatus", "targetVolumeAttributesClassName"})}) {
    if (!name.empty()) attributes.emplace_back(kScope, name);
  }
  std::sort(attributes.begin(), attributes.end());
  attributes.erase(std::unique(attributes.begin(), attributes.end()), attributes.end());
  return facts;
}

}  // namespace

Evaluator MakeEvaluator() {
  Evaluator evaluator =
      CountObjects({.group = "", .resource = "persistentvolumeclaims"}, {"persistentvolumeclaims"});
  evaluator.fields = {"spec.volumeAttributesClassName", "status.currentVolumeAttributesClassName",
                      "status.modifyVolumeStatus.targetVolumeAttributesClassName"};
  evaluator.scopes = {kScope};
  evaluator.facts_of = FactsOf;
  return evaluator;
}

}  // namespace quota::core::persistentvolumeclaims
