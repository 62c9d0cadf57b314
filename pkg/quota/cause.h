#pragma once

// The reasons of a refusal for programs: `details.causes` of the Status that refuses a request
// (k8s.io/apimachinery v0.36.3, pkg/apis/meta/v1/types.go). pkg/admission/README.md promises them
// to users, so a reason keeps its name. Values; any thread.

#include <array>
#include <string>
#include <string_view>

namespace quota {

namespace cause {

inline constexpr std::string_view kQuotaExceeded = "QuotaExceeded";
// It would fit into the limit, but not beside what a ClusterQuota guarantees to others.
inline constexpr std::string_view kGuaranteedToOthers = "GuaranteedToOthers";
inline constexpr std::string_view kMustSpecify = "MustSpecify";
inline constexpr std::string_view kNotCounted = "NotCounted";        // the usage is not known
inline constexpr std::string_view kNegativeUsage = "NegativeUsage";  // of the object
// The usage of the object cannot be computed.
inline constexpr std::string_view kUncountable = "Uncountable";
inline constexpr std::string_view kAlreadyExists = "AlreadyExists";
inline constexpr std::string_view kTookTooLong = "TookTooLong";
inline constexpr std::string_view kNotReserved = "NotReserved";  // the quota cannot be written

inline constexpr std::array kAll{kQuotaExceeded, kGuaranteedToOthers, kMustSpecify,
                                 kNotCounted,    kNegativeUsage,      kUncountable,
                                 kAlreadyExists, kTookTooLong,        kNotReserved};

}  // namespace cause

struct Cause {
  std::string_view reason;   // one of cause::kAll
  std::string limit = {};    // a name of status.hard; "": it is not about one limit
  std::string message = {};  // "requested: 1, used: 2, limited: 2"
};

}  // namespace quota
