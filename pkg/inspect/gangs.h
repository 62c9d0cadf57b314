#pragma once

// Finds gangs that do not fit: PodGroups with a minCount of which fewer pods fit. The scheduler
// then starts none of these pods, but those that were created use quota (kubernetes v1.36.3,
// pkg/scheduler/framework/plugins/gangscheduling). Values; any thread.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pkg/inspect/fit.h"

namespace inspect {

struct Gang {
  ObjectName of;
  std::int64_t least = 0;    // minCount
  std::int64_t asked = 0;    // its new pods
  std::int64_t created = 0;  // those of them that quotas admit
  std::int64_t fit = 0;      // those of these whose claims, and the group's, are admitted, too
};

// Returns the gangs with new pods that do not fit, and fewer than minCount that do. Admits what was
// asked in the order of the manifests, as far as it fits.
std::vector<Gang> ShortGangs(const FitBook& book, const PodGroups& groups);

using Members = std::map<std::string, std::int64_t, std::less<>>;  // pods by PodGroup
// Returns a note on each gang, except those that have enough with the pods that exist.
std::vector<std::string> GangNotes(const std::vector<Gang>& gangs, const Members& existing = {});

}  // namespace inspect
