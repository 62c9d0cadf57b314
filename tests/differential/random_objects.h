#pragma once

// Objects as an API server might serve them, and what to ask about them. Names are unique where
// validation says so, and types are right; everything else that can vary does. Pure but for the
// source of chance.

#include <string>

#include "pkg/json/value.h"
#include "tests/differential/random.h"

namespace differential {

json::Object RandomPod(Random& random);
json::Object RandomService(Random& random);
json::Object RandomVolumeClaim(Random& random);
json::Object RandomDeviceClaim(Random& random);
json::Object RandomConfigMap(Random& random);

// A name from, or nearly from, spec.hard of a quota.
std::string RandomQuotaName(Random& random);

// Some of the names that require something of a pod, and some that do not.
json::Array RandomLimitedNames(Random& random);

// {"scopeName": …, "operator": …, "values": […]}: of any scope, known or not, with every operator.
json::Object RandomSelector(Random& random);

// A moment at, before or after those at which the pods are deleted: "2024-05-01T10:00:07Z".
std::string RandomNow(Random& random);

}  // namespace differential
