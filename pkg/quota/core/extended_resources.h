#pragma once

// The names of resources that are neither Kubernetes' own nor counted objects: a vendor's, such as
// "example.com/gpu", and those of device classes (kubernetes v1.36.3,
// pkg/apis/core/helper/helpers.go and pkg/quota/v1/evaluator/core/resource_claims.go). A quota
// limits them as "requests.<name>". Pure functions; any thread.

#include <string_view>

namespace quota::core {

inline constexpr std::string_view kRequestsPrefix = "requests.";
// Followed by the name of the device class.
inline constexpr std::string_view kImplicitDeviceClass = "deviceclass.resource.kubernetes.io/";

// True if the name has a domain that is not Kubernetes' own.
inline bool IsForeign(std::string_view name) {
  return name.find('/') != std::string_view::npos &&
         name.find("kubernetes.io/") == std::string_view::npos;
}

inline bool IsImplicitDeviceClass(std::string_view name) {
  return name.starts_with(kImplicitDeviceClass);
}

// True for "requests.<name>" of either kind.
inline bool IsExtendedRequest(std::string_view name) {
  if (!name.starts_with(kRequestsPrefix)) return false;
  return IsForeign(name) || IsImplicitDeviceClass(name.substr(kRequestsPrefix.size()));
}

}  // namespace quota::core
