#pragma once

// Parses a path of the Kubernetes API into the verb and the names of the request.
//
//   /api/v1/namespaces/a/pods/x/status   → v1 pods, ns a, name x, subresource status
//   /apis/apps/v1/deployments?watch=1    → apps/v1 deployments in every namespace, verb watch
//   /api/v1/namespaces/a                 → the object itself, not a list inside of it
//
// Pure; any thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/http/message.h"

namespace sandbox {

enum class Verb { kGet, kList, kWatch, kCreate, kUpdate, kPatch, kDelete, kDeleteCollection };

// As RBAC and discovery write them: "deletecollection".
std::string_view ToString(Verb verb);

struct ResourcePath {
  api::GroupVersionResource gvr;
  std::string ns;
  std::string name;         // "" for the collection
  std::string subresource;  // "status", "scale", …
};

// nullopt: no path of a resource (discovery, /version, or nothing at all).
std::optional<ResourcePath> ParseResourcePath(const std::vector<std::string>& segments);

// "1", "true" and the bare parameter are true; "0", "false" and its absence are not.
bool IsTrue(const http::Target& target, std::string_view parameter);

// Returns nullopt for a method that the path does not support (405).
std::optional<Verb> VerbOf(std::string_view method, const ResourcePath& path,
                           const http::Target& target);

}  // namespace sandbox
