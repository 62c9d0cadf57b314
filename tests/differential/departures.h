#pragma once

// Intended differences from upstream. Each is one predicate that holds exactly for its case; the
// comparison ignores no other difference. Two more are in what upstream is given to count
// (upstream/departures.go): what a pod as a whole has not given back, and admin access to devices.
//
//   kSaturated       a number from 2^127 - 1 nanos (1.7e29) on is saturated; upstream's numbers are
//                    unbounded.
//   kExponentWraps   upstream truncates an exponent to 32 bits, so that 1e4294967296 is 1 there;
//                    here it is saturated, or rounded to 1n like 1e-10.
//   kOtherText       an API server that is sent what upstream prints would store another number:
//                    "1" for 1000E, because there is no suffix for 10^21, or 14Ei, which is capped
//                    when it is parsed. Here the text equals the value.
//   kLabelSelector   upstream turns a selector's classes into label selectors. An invalid one (a
//                    class name longer than 63 characters, In without values) is an error there
//                    that leaves used at 0; here names are compared as they are.
//   kPredicate       upstream treats In, NotIn and DoesNotExist as Exists on a scope without
//                    classes, which the API server refuses; here they are evaluated as written.
//   kRemoval         a pod past its deletion grace counts two seconds longer, until the API server
//                    has removed it.
//   kManyDevices     upstream's numbers beyond 2^63 - 1 share memory, so that subtracting the usage
//                    of a pod from one name of its claim lowers the other names of the class, too
//                    (pkg/quota/v1/evaluator/core/resource_claims.go, at v1.36.3).
//   kFreeUpdate      an update that needs no more quota is admitted, even if the quota is not
//                    counted yet or a container does not specify what is limited; upstream refuses
//                    it.
//   kUncounted       an extended resource without a count refuses only pods that use it; upstream
//                    refuses every pod.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "pkg/base/clock.h"
#include "pkg/json/value.h"
#include "pkg/quantity/quantity.h"
#include "pkg/quota/decision.h"
#include "pkg/quota/scope.h"

namespace differential {

enum class Departure {
  kSaturated,
  kExponentWraps,
  kOtherText,
  kLabelSelector,
  kPredicate,
  kRemoval,
  kManyDevices,
  kFreeUpdate,
  kUncounted
};

// How often each departure occurred.
class Departures {
 public:
  void Add(Departure departure) { ++met_[static_cast<std::size_t>(departure)]; }
  [[nodiscard]] std::string ToString() const;

 private:
  std::array<std::size_t, 9> met_{};
};

// True if upstream's number, in decimal, is what `ours` is saturated for.
bool IsSaturation(const quantity::Quantity& ours, std::string_view nanos);
// True if upstream prints this number, which is not saturated, with a text that does not read back.
bool HasOtherText(const quantity::Quantity& number);
// True if an amount does not fit 64 bits.
bool HasManyDevices(const quota::ResourceList& usage);
// True if the text ends in an exponent that does not fit 32 bits.
bool ExponentWraps(std::string_view text);
// True if the object's deletion grace ended at most two seconds ago.
bool IsBeingRemoved(const json::Value& object, base::WallTime now);
// True if upstream cannot turn it into a label selector.
bool IsNoLabelSelector(const quota::ScopeRequirement& requirement);
// True if the scope has no classes and the operator is not the one it allows.
bool IsOperatorOnPredicate(const quota::ScopeRequirement& requirement);
// True if the request is an UPDATE that needs nothing, and upstream refuses it for another reason.
bool IsFreeUpdate(const quota::Request& request, const quota::Verdict& verdict,
                  std::string_view refusal);
// True if upstream refuses the request because `quota` has no count, and all names without one are
// extended resources that the object does not use.
bool IsUncounted(const quota::Request& request, const quota::Quota& quota,
                 std::string_view refusal);

}  // namespace differential
