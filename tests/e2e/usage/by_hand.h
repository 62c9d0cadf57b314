#pragma once

// What objects of other projects use, summed as their documentation says and not as a definition
// does: no part of pkg/quota is used here. For the samples of UsageDefinitions. Pure functions.

#include <map>
#include <string>
#include <string_view>

#include "pkg/json/value.h"

namespace e2e::by_hand {

// A thousandth.
__extension__ typedef __int128 Milli;
using Sums = std::map<std::string, Milli, std::less<>>;

// "1.5Gi", "500m", "1e3", or a number. Throws if it is none, or has a smaller part than Milli.
Milli AmountOf(const json::Value& amount);
Milli ReadAmount(std::string_view text);
// "example.com/kafka-nodes=14, …", in whole numbers or with three decimals.
std::string ToText(const Sums& sums);

// Each takes one object, and gives all names of the sample of its kind.
Sums PostgresCluster(const json::Value& cluster);
Sums RayCluster(const json::Value& cluster);
Sums KafkaNodePool(const json::Value& pool);
Sums ObjectBucketClaim(const json::Value& claim);
Sums GpuPod(const json::Value& pod);
Sums ResourceBinding(const json::Value& binding);
// `types` has the memory of each instance type.
Sums VirtualMachine(const json::Value& machine, const Sums& types);

}  // namespace e2e::by_hand
