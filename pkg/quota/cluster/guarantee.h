#pragma once

// What quotas of a tree are guaranteed, and what remains for the others: see DESIGN.md. Pure
// functions; any thread.

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "pkg/quota/decision.h"
#include "pkg/quota/quota.h"

namespace quota {

// What the spec guarantees, under `hard`: nothing without a limit, and never more than it.
ResourceList Guaranteed(const ClusterSpec& spec, const ResourceList& hard);

// TreePlace::promised of a quota that uses `used`: what its parent keeps free for it. Nothing under
// names that are not in status.hard, or have no count yet: a guarantee begins with the first count.
ResourceList Promised(const Quota& quota, const ResourceList& used);

// By standing: what its `used` has for the object of a request already.
using Had = std::map<std::size_t, ResourceList>;

// What a quota keeps free of a request, one of whose needs is `need`: all that will be promised to
// its children then. 0 if the request only takes what is promised to a child on its way: that is
// free for it, also where the child has it already.
Quantity HeldBack(const std::vector<Standing>& standings, const std::vector<Need>& needs,
                  const Had& had, const Need& need, std::string_view name);

// What may still be used in the namespaces of a quota, together: as far as its limit goes, and what
// the quotas above leave to it. Those above that are only tried, or count by scopes only a part of
// what this one counts, limit nothing. A name without a count is absent.
ResourceList Available(const std::vector<Standing>& standings, std::size_t quota);

}  // namespace quota
