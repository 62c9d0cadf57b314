#pragma once

// Usage that admission granted and that the watches have not shown yet. Values; any thread.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "pkg/quota/resource_list.h"
#include "pkg/quota/uid.h"

namespace accounting {

using quota::ResourceList;
using quota::Uid;

// An entry. There are three kinds:
// - With objects: each object may use `usage` in all. The request started from its version `from`
//   ("": a creation).
// - Unassigned: `usage` is for all creations that the writer expects.
// - Merged, without objects and not unassigned: `usage` is the sum of the entries that it replaces.
struct Reservation {
  std::string by;       // the process that wrote it
  std::uint64_t n = 0;  // unique among the entries of this process
  std::string of;       // the resource of its objects, for example "machines.compute.ironcore.dev"
  std::string ns = {};  // namespace of its objects; "": the quota's own, or no objects
  ResourceList usage;
  std::vector<Uid> objects;
  std::string from;
  ResourceList stored;           // the object's usage in that version, under names of `usage`
  std::uint64_t unassigned = 0;  // number of expected creations
  // The timeout of the slowest other webhook that the writer knew. The API server may wait this
  // long before it stores the object. Of a long burst: WebhookOfBurst().
  std::chrono::seconds webhook{0};
  // Members that this version does not know, as JSON text: `"a":1,"b":[]`. They are kept as they
  // are, and change nothing in what the known ones mean.
  std::string further = {};

  [[nodiscard]] bool Names(const Uid& uid) const {
    return std::ranges::find(objects, uid) != objects.end();
  }
  bool operator==(const Reservation&) const = default;
};

}  // namespace accounting
