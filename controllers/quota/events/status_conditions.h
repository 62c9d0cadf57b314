#pragma once

// status.conditions of an object. Other programs may add conditions of their own to the list.
// Values; any thread.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/json/value.h"

namespace controllers {

// A condition that should be stored.
struct QuotaCondition {
  std::string type;
  bool holds = false;
  std::string reason;
  std::string message;
};

// The reason of a condition Ready that becomes True by itself.
inline constexpr std::string_view kNotCountedYet = "NotCountedYet";

// Returns the conditions Reconciling and Stalled beside this condition Ready, for tools that wait
// (sigs.k8s.io/cli-utils v0.37.2, pkg/kstatus/status/generic.go): one of them holds if Ready does
// not. Reconciling passes by itself, Stalled waits for somebody.
std::vector<QuotaCondition> ProgressOf(const QuotaCondition& ready);

// The maximum in the CRD.
inline constexpr std::size_t kMostConditions = 16;

// Returns the condition of this type; null if there is none.
const json::Value* FindCondition(const json::Value* conditions, std::string_view type);

// Returns `stored` with these conditions about this generation of the object. A condition that says
// the same as before stays unchanged. lastTransitionTime changes only with the status of the
// condition. Beyond kMostConditions, the last conditions of other programs are removed.
json::Array WithConditions(const json::Value* stored, const std::vector<QuotaCondition>& wanted,
                           std::int64_t generation, const std::string& now);

// What a list of conditions says about a problem: Ready is False, or Stale or OverLimit is True.
// The views are of the list. A reason that is no word of at most 64 characters is "Other".
struct Problem {
  std::string_view condition;  // "Ready", "Stale" or "OverLimit"
  std::string_view reason;
  std::string_view message;
};
// At most one of each condition.
std::vector<Problem> ProblemsIn(const json::Value* conditions);

// True if the two lists are equal except for messages.
bool SayTheSame(const json::Value* some, const json::Value* others);

}  // namespace controllers
