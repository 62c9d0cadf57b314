#pragma once

// Computes the guarantees of quotas in a tree, and what they leave to others (DESIGN.md). Pure
// functions; any thread.

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "pkg/quota/decision.h"
#include "pkg/quota/quota.h"

namespace quota {

// Returns spec.guaranteed, at most `hard`. A name without a limit is guaranteed nothing.
ResourceList Guaranteed(const ClusterSpec& spec, const ResourceList& hard);

// Returns the part of its guarantee that a quota with this `used` has not used yet
// (TreePlace::promised). Its parent keeps that part free. A name that is missing in status.hard or
// in `used` is not promised: a guarantee begins with the first count. If what stands in its place
// cannot be read, or scopes cannot, it had a count, so the whole guarantee is promised.
ResourceList Promised(const Quota& quota, const ResourceList& used);

// Sets what is promised to a child, and changes what its parent keeps free by the difference.
void Promise(std::vector<Standing>& standings, std::size_t child, ResourceList promised);

// What a request takes of a quota that has a parent.
struct Taking {
  std::size_t child = 0;  // the index of its standing
  ResourceList growth;    // by which its `used` grows
  ResourceList had;       // what its `used` already includes for the object of the request
};
using Takings = std::multimap<std::size_t, Taking>;  // by the parent's standing

// Returns the amount that a quota keeps free for its children when it judges a request: the sum
// that is promised to them after the request. `need` is what the request needs of this quota.
// Returns 0 if the whole need was promised to children that count the object, including what their
// `used` already has for it.
Quantity HeldBack(const std::vector<Standing>& standings, const Takings& takings, const Need& need,
                  std::string_view name);

// Returns how much more the namespaces of a quota may use together, within its own limit and within
// the amounts that its ancestors leave to it. An ancestor does not count here if its mode is Warn
// or Audit, or if its scopes count only a part of what this quota counts. Names without a count are
// absent.
ResourceList Available(const std::vector<Standing>& standings, std::size_t quota);

// Returns the promised amount that others have used: the parent has less left than it promises to
// all its children. The maximum is the promise to this quota. Returns nothing if the parent does
// not count in Available().
ResourceList Missing(const std::vector<Standing>& standings, std::size_t quota);

}  // namespace quota
