#pragma once

// Device claims, their classes, and pods with extended resources, for a ControllerFixture.

#include <string>
#include <utility>

#include "tests/controllers/quota/controller_fixture.h"

namespace fixture {

inline const api::GroupVersionResource kClaims{"resource.k8s.io", "v1", "resourceclaims"};
inline const api::GroupVersionResource kClasses{"resource.k8s.io", "v1", "deviceclasses"};
inline constexpr const char* kGpu = "requests.example.com/gpu";
inline constexpr const char* kImplicit = "requests.deviceclass.resource.kubernetes.io/gpu";
inline constexpr const char* kDevices = "gpu.deviceclass.resource.k8s.io/devices";

inline json::Value DeviceClass(const std::string& name, const std::string& extended) {
  json::Value object = json::Object{{"metadata", json::Object{{"name", name}}}};
  if (!extended.empty()) object.Make({"spec", "extendedResourceName"}) = extended;
  return object;
}

inline json::Value DeviceClaim(const std::string& name, int devices, const std::string& of = "gpu",
                               const std::string& ns = "team-a") {
  json::Object exactly{{"deviceClassName", of}, {"allocationMode", "ExactCount"}};
  exactly.Set("count", devices);
  json::Object request{{"name", "r"}, {"exactly", std::move(exactly)}};
  json::Value object = json::Object{{"metadata", json::Object{{"name", name}, {"namespace", ns}}}};
  object.Make({"spec", "devices", "requests"}) = json::Array{std::move(request)};
  return object;
}

inline json::Value GpuPod(const std::string& name, const std::string& gpus) {
  json::Value pod = MakePod(name);
  json::Object requests{{"example.com/gpu", gpus}};
  json::Object container{{"name", "main"},
                         {"resources", json::Object{{"requests", std::move(requests)}}}};
  pod.Make({"spec", "containers"}) = json::Array{std::move(container)};
  return pod;
}

// Called before the controller starts, as on a server that has always served them.
inline void ServeDevices(ControllerFixture& f) {
  f.Stop();
  f.cluster.Serve(kClaims, "ResourceClaim");
  f.cluster.Serve(kClasses, "DeviceClass", false);
  f.Start();
}

}  // namespace fixture
