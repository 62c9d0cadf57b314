#pragma once

// The objects of scenarios, small enough to read at the call.

#include <map>
#include <string>
#include <string_view>

#include "pkg/json/value.h"

namespace e2e {

using Quantities = std::map<std::string, std::string>;

// With apiVersion, kind and metadata.name only.
json::Value NamedObject(const std::string& api_version, const std::string& kind,
                        const std::string& name);
json::Value Namespace(const std::string& name);
// A pod with one container with these requests ({"cpu", "100m"}).
json::Value Pod(const std::string& name, const Quantities& requests = {});
json::Value PodOfClass(const std::string& name, const std::string& priority_class);
json::Value Quota(const std::string& name, const Quantities& hard);
json::Value Secret(const std::string& name);
json::Value ConfigMap(const std::string& name);
json::Value ClusterIpService(const std::string& name);
json::Value Claim(const std::string& name, const std::string& size);
json::Value ReplicationController(const std::string& name);
json::Value Deployment(const std::string& name);
// Its pods have the label app=name, and one container with these requests.
json::Value DeploymentOf(const std::string& name, int replicas, const Quantities& requests = {});
// Returns the object with a reference to its controller.
json::Value Owned(json::Value object, const json::Value& controller);
json::Value PriorityClass(const std::string& name, int value);

// {"spec":{"hard":{…}}} and {"status":{"phase":…}}: merge patches.
json::Value HardPatch(const Quantities& hard);
json::Value PhasePatch(const std::string& phase);

json::Object ToObject(const Quantities& quantities);
Quantities ToQuantities(const json::Value* object);
// "" if the quota's status enforces exactly these limits, with a usage for each; else the quota.
std::string Unenforced(const json::Value& quota, const Quantities& hard);
std::string ToText(const Quantities& quantities);  // "cpu=1,pods=2"

}  // namespace e2e
