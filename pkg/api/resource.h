#pragma once

// The API server's names of resources. Values without I/O; any thread.

#include <compare>
#include <string>
#include <string_view>

namespace api {

// A resource of any version, as quotas and evaluators name it.
struct GroupResource {
  std::string group;     // "": the core group
  std::string resource;  // plural, lower case: "pods"
  auto operator<=>(const GroupResource&) const = default;
  // "pods", "deployments.apps": as in count/<…> and in error messages.
  [[nodiscard]] std::string ToString() const;
};

struct GroupVersionResource {
  std::string group;
  std::string version;
  std::string resource;
  auto operator<=>(const GroupVersionResource&) const = default;
  [[nodiscard]] GroupResource WithoutVersion() const { return {group, resource}; }
  // "v1", "apps/v1": as in apiVersion.
  [[nodiscard]] std::string GroupVersion() const;
  // "/api/v1/pods", "/apis/apps/v1/namespaces/a/deployments/x/status"; empty parts are left out.
  [[nodiscard]] std::string Path(std::string_view ns = {}, std::string_view name = {},
                                 std::string_view subresource = {}) const;
  [[nodiscard]] std::string ToString() const;  // "pods.v1", "deployments.v1.apps"
};

struct ObjectKey {
  std::string ns;
  std::string name;
  auto operator<=>(const ObjectKey&) const = default;
  [[nodiscard]] std::string ToString() const { return ns.empty() ? name : ns + "/" + name; }
};

}  // namespace api

template <>
struct std::hash<api::ObjectKey> {
  std::size_t operator()(const api::ObjectKey& key) const noexcept {
    return std::hash<std::string>()(key.ns) * 31 + std::hash<std::string>()(key.name);
  }
};
