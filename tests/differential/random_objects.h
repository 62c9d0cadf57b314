#pragma once

// Random objects as an API server may serve them, and questions about them. Names are unique where
// validation requires it, and types are right; everything else varies. Pure except for the source
// of randomness.

#include <string>

#include "pkg/json/value.h"
#include "tests/differential/random.h"

namespace differential {

json::Object RandomPod(Random& random);
json::Object RandomService(Random& random);
json::Object RandomVolumeClaim(Random& random);
json::Object RandomDeviceClaim(Random& random);
json::Object RandomConfigMap(Random& random);

// A name of a quota's spec.hard, or almost one.
std::string RandomQuotaName(Random& random);

// Names of which some require something of a pod.
json::Array RandomLimitedNames(Random& random);

// {"scopeName": …, "operator": …, "values": […]}: any scope, known or not, with any operator.
json::Object RandomSelector(Random& random);

// A time at, before or after the deletion times of the pods: "2024-05-01T10:00:07Z".
std::string RandomNow(Random& random);

}  // namespace differential
