#pragma once

// Where ClusterQuotas limit each resource: in the places that a quota with a limit for it, or a
// quota below that one, selects. Elsewhere no quota can be charged for the resource, whatever the
// labels of namespaces become within their keys.
//
// A change costs the places that it adds or removes, for each ancestor. No I/O; not thread-safe.

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/quota/cluster/place.h"

namespace quota {

class LimitedPlaces {
 public:
  using Counts = std::map<Place, std::size_t>;  // never 0
  using Resources = std::set<api::GroupResource>;

  // Sets the resources that the quota limits, and the places that it selects itself (each once).
  // A new quota has no parent.
  void Put(const std::string& quota, const Resources& limited, const std::vector<Place>& selected);
  // Its children then have no parent.
  void Remove(const std::string& quota);
  // Sets the parents of quotas; "": none. Unknown quotas, also as parents, are left out. REQUIRES:
  // with these parents, and those of all other quotas, there is no cycle.
  void Move(const std::map<std::string, std::string>& parents);

  // The places where the resource is limited. Valid until the next change.
  [[nodiscard]] const Counts& In(const api::GroupResource& resource) const;
  // The places that the quota and those below it select; null for an unknown quota. Valid until the
  // next change.
  [[nodiscard]] const Counts* Below(std::string_view quota) const;

 private:
  struct Node {
    Resources limited;
    std::set<Place> selected;
    Counts below;  // its own places and those of its descendants
    Node* up = nullptr;
    std::set<Node*> children;
  };
  void Add(Node* node, const Place& place, std::size_t count);
  void Subtract(Node* node, const Place& place, std::size_t count);
  void Hang(Node& node, Node* up);
  void Limit(Node& node, const Resources& limited);
  [[nodiscard]] Node* Find(std::string_view quota);

  std::map<std::string, Node, std::less<>> nodes_;
  std::map<api::GroupResource, Counts> in_;  // by resource: how many quotas limit it in each place
};

}  // namespace quota
