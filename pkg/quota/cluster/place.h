#pragma once

// Namespaces as the namespaceSelector of a webhook can name them. No I/O; any thread.

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "pkg/api/selector.h"

namespace quota {

// All namespaces, those that have a label, or one namespace.
struct Place {
  enum class Kind : std::uint8_t { kAll, kLabelled, kNamed };
  Kind kind = Kind::kAll;
  std::string text = {};  // the key of the label, or the name of the namespace
  auto operator<=>(const Place&) const = default;
};

// Returns places that together contain every namespace which the selector selects, now or after any
// change of labels that lets it select more. These are the namespaces that it names with
// kubernetes.io/metadata.name, or those that have a label which it demands (the first such key in
// alphabetical order). Without any, all namespaces.
std::vector<Place> PlacesOf(const api::LabelSelector& selector);

}  // namespace quota
