#pragma once

// Where ours deliberately says something else than upstream. Each is one predicate that holds for
// exactly that case; the comparison passes over nothing else.
//
//   kBeyondLimit     a number beyond ±(2^127 - 1) nanos (1.7e29) is refused; upstream's are
//                    unbounded.
//   kExponentWraps   upstream cuts an exponent to 32 bits, so that 1e4294967296 is 1 there; here it
//                    is refused like every number beyond the limit, or rounds to 1n like 1e-10.
//   kDroppedSuffix   upstream prints 1000E as "1", having no suffix for 10^21; here text equals
//                    value.
//   kLabelSelector   upstream puts a selector's classes through label selectors, and one that is
//                    none (a class name longer than 63 characters, In without values) is an error
//                    that leaves used at 0; here names are compared as they are.
//   kPredicate       In, NotIn and DoesNotExist on a scope that has no classes, which the
//                    API server refuses, are taken by upstream for Exists; here they are taken as
//                    written.
//   kRemoval         a pod past its deletion grace counts two seconds longer, until the API server
//                    has removed it.
//   kManyDevices     more than 2^63 - 1 devices of one class in one claim are refused.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "pkg/base/clock.h"
#include "pkg/json/value.h"
#include "pkg/quantity/quantity.h"
#include "pkg/quota/scope.h"

namespace differential {

enum class Departure {
  kBeyondLimit,
  kExponentWraps,
  kDroppedSuffix,
  kLabelSelector,
  kPredicate,
  kRemoval,
  kManyDevices
};

// How often each was met.
class Departures {
 public:
  void Add(Departure departure) { ++met_[static_cast<std::size_t>(departure)]; }
  [[nodiscard]] std::string ToString() const;

 private:
  std::array<std::size_t, 7> met_{};
};

// `nanos` is upstream's number, in decimal.
bool IsBeyondLimit(std::string_view nanos);
// What upstream prints of a number with no suffix for its size; "" where it has one.
std::string WithDroppedSuffix(const quantity::Quantity& number);
// True if the text ends in an exponent that does not fit 32 bits.
bool ExponentWraps(std::string_view text);
// True if a sum over amounts of this object may pass the limit: all its amounts together do.
bool MayPassLimit(const json::Value& object);
// True if the object's deletion grace has ended, two seconds ago at most.
bool IsBeingRemoved(const json::Value& object, base::WallTime now);
// True if upstream counts more devices of one class in a claim than fit 64 bits.
bool HasManyDevices(const json::Object& usage);
// True if upstream cannot make a label selector of it.
bool IsNoLabelSelector(const quota::ScopeRequirement& requirement);
// True if the scope has no classes and the operator is not the one it allows.
bool IsOperatorOnPredicate(const quota::ScopeRequirement& requirement);

}  // namespace differential
