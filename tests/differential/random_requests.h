#pragma once

// Random requests with the quotas of their namespace, and random claims with the pods that they
// were made for. Pure except for the source of randomness.

#include "pkg/json/value.h"
#include "tests/differential/random.h"

namespace differential {

// {"quotas": […], "object": {…}, "old": {…}, "subresource": "resize"}. Without "old" the request is
// a CREATE. An old object without a resourceVersion is not stored.
json::Object RandomRequest(Random& random);

// {"pods": […], "claims": […]}: claims that say to be made for a pod, and pods that name a claim.
// Not all of it is true.
json::Object RandomClaimsOfPods(Random& random);

}  // namespace differential
