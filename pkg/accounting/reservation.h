#pragma once

// Usage that admission granted and that the watches have not shown yet. Values; any thread.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "pkg/quota/resource_list.h"
#include "pkg/quota/uid.h"

namespace accounting {

using quota::ResourceList;
using quota::Uid;

// One of three kinds. With objects: each of them may come to use `usage` in all, by a request that
// was made from version `from` of it ("": a creation). Unassigned: `usage` in all, for creations
// that its writer is yet to be asked about. Else merged: `usage` in all, for whoever it was.
struct Reservation {
  std::string by;       // the process that wrote it
  std::uint64_t n = 0;  // of all that it wrote
  std::string of;       // the resource of its objects, "machines.compute.ironcore.dev"
  std::string ns = {};  // of its objects; "": the quota's own, or there are no objects
  ResourceList usage;
  std::vector<Uid> objects;
  std::string from;
  ResourceList stored;           // what the object used in that version, of the names of `usage`
  std::uint64_t unassigned = 0;  // creations
  // Of the slowest webhook of others that the writer knew: so long the API server may wait before
  // it stores what was granted.
  std::chrono::seconds webhook{0};

  bool operator==(const Reservation&) const = default;
};

}  // namespace accounting
