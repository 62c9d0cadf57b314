#include "pkg/quota/cluster/place.h"

#include "pkg/api/names.h"

namespace quota {
namespace {

// Each operator that is false for a namespace without the label.
bool Demands(api::LabelOperator op) {
  return op != api::LabelOperator::kNotIn && op != api::LabelOperator::kDoesNotExist;
}

}  // namespace

std::vector<Place> PlacesOf(const api::LabelSelector& selector) {
  Place labelled;
  for (const api::LabelRequirement& requirement : selector.requirements()) {
    if (requirement.key == api::kNamespaceLabel) {
      if (requirement.op != api::LabelOperator::kIn) continue;  // every namespace has the label
      std::vector<Place> named;
      for (const std::string& ns : requirement.values) named.push_back({Place::Kind::kNamed, ns});
      return named;
    }
    if (!Demands(requirement.op)) continue;
    if (labelled.kind == Place::Kind::kAll || requirement.key < labelled.text) {
      labelled = {Place::Kind::kLabelled, requirement.key};
    }
  }
  return {labelled};
}

}  // namespace quota
