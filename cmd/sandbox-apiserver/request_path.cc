#include "cmd/sandbox-apiserver/request_path.h"

#include <cstddef>

namespace sandbox {
namespace {

// The subresources of a Namespace. Any other name below a namespace is a resource inside of it.
bool IsNamespaceSubresource(std::string_view segment) {
  return segment == "status" || segment == "finalize";
}

// Everything behind the version.
bool ParseNames(const std::vector<std::string>& segments, std::size_t at, ResourcePath& path) {
  const std::size_t left = segments.size() - at;
  const bool namespaced = left >= 3 && segments[at] == "namespaces" &&
                          !(left == 3 && IsNamespaceSubresource(segments[at + 2]));
  if (namespaced) {
    path.ns = segments[at + 1];
    at += 2;
  }
  const std::size_t names = segments.size() - at;
  if (names < 1 || names > 3) return false;
  path.gvr.resource = segments[at];
  if (names > 1) path.name = segments[at + 1];
  if (names > 2) path.subresource = segments[at + 2];
  return true;
}

}  // namespace

std::string_view ToString(Verb verb) {
  switch (verb) {
    case Verb::kGet:
      return "get";
    case Verb::kList:
      return "list";
    case Verb::kWatch:
      return "watch";
    case Verb::kCreate:
      return "create";
    case Verb::kUpdate:
      return "update";
    case Verb::kPatch:
      return "patch";
    case Verb::kDelete:
      return "delete";
    case Verb::kDeleteCollection:
      return "deletecollection";
  }
  return "unknown";
}

std::optional<ResourcePath> ParseResourcePath(const std::vector<std::string>& segments) {
  ResourcePath path;
  std::size_t at = 0;
  if (segments.size() >= 3 && segments[0] == "api") {
    path.gvr.version = segments[1];
    at = 2;
  } else if (segments.size() >= 4 && segments[0] == "apis") {
    path.gvr.group = segments[1];
    path.gvr.version = segments[2];
    at = 3;
  } else {
    return std::nullopt;
  }
  if (!ParseNames(segments, at, path)) return std::nullopt;
  return path;
}

bool IsTrue(const http::Target& target, std::string_view parameter) {
  if (!target.Has(parameter)) return false;
  const std::string_view value = target.Get(parameter);
  return value != "0" && value != "false";
}

std::optional<Verb> VerbOf(std::string_view method, const ResourcePath& path,
                           const http::Target& target) {
  const bool collection = path.name.empty();
  if (method == "GET" || method == "HEAD") {
    if (collection) return IsTrue(target, "watch") ? Verb::kWatch : Verb::kList;
    return Verb::kGet;
  }
  if (method == "POST") {
    // POST to a subresource of a named object also creates: bindings, evictions, tokens.
    if (collection || !path.subresource.empty()) return Verb::kCreate;
    return std::nullopt;
  }
  if (method == "DELETE") return collection ? Verb::kDeleteCollection : Verb::kDelete;
  if (collection) return std::nullopt;
  if (method == "PUT") return Verb::kUpdate;
  if (method == "PATCH") return Verb::kPatch;
  return std::nullopt;
}

}  // namespace sandbox
