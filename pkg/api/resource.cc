#include "pkg/api/resource.h"

namespace api {

std::string GroupResource::ToString() const {
  return group.empty() ? resource : resource + "." + group;
}

std::string GroupVersionResource::GroupVersion() const {
  return group.empty() ? version : group + "/" + version;
}

std::string GroupVersionResource::Path(std::string_view ns, std::string_view name,
                                       std::string_view subresource) const {
  std::string path = (group.empty() ? "/api/" : "/apis/") + GroupVersion();
  if (!ns.empty()) path.append("/namespaces/").append(ns);
  path.append("/").append(resource);
  if (!name.empty()) path.append("/").append(name);
  if (!subresource.empty()) path.append("/").append(subresource);
  return path;
}

std::string GroupVersionResource::ToString() const {
  const std::string versioned = resource + "." + version;
  return group.empty() ? versioned : versioned + "." + group;
}

}  // namespace api
