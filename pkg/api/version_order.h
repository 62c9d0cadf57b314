#pragma once

// The order of the versions of a kind: the API server prefers the first one that it serves
// (apimachinery v0.36.3, pkg/version/helpers.go). Pure; any thread.

#include <string_view>

namespace api {

// True if `version` comes before `other`: GA before beta before alpha, higher numbers first, other
// names last: v2, v1, v1beta1, v1alpha1, foo. Other names are in no order among each other.
bool ComesBefore(std::string_view version, std::string_view other);

}  // namespace api
