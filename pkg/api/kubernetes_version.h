#pragma once

// The version of Kubernetes that an API server has. Values; any thread.

#include <compare>
#include <string>

#include "pkg/base/error.h"
#include "pkg/json/value.h"

namespace api {

struct KubernetesVersion {
  int major = 0;
  int minor = 0;
  auto operator<=>(const KubernetesVersion&) const = default;
  [[nodiscard]] std::string ToString() const;  // "1.37"
};

// The answer of /version. Some providers write a minor version as "33+". Errors: kMalformed.
base::Result<KubernetesVersion> ParseKubernetesVersion(const json::Value& answer);

}  // namespace api
