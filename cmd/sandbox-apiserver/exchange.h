#pragma once

// One parsed request about a resource. The handlers work on it. It lives until the request is
// answered.

#include "cmd/sandbox-apiserver/auth.h"
#include "cmd/sandbox-apiserver/negotiation.h"
#include "cmd/sandbox-apiserver/outcome.h"
#include "cmd/sandbox-apiserver/request_path.h"
#include "cmd/sandbox-apiserver/store.h"
#include "pkg/http/message.h"

namespace sandbox {

struct Exchange {
  http::Request request;
  http::Target target;
  User user;
  Verb verb = Verb::kGet;
  ResourcePath path;
  TypePtr type;
  Form form = Form::kObject;  // of the answer

  // The store's key of the object or collection that the path names.
  [[nodiscard]] Target store_target() const { return {type, path.ns, path.name, path.subresource}; }
  [[nodiscard]] std::string Parameter(std::string_view name) const {
    return std::string(target.Get(name));
  }
};

// The query parameters of a list.
Outcome<ListQuery> ListQueryOf(const Exchange& exchange);
// The kind of the options of a write, such as PatchOptions.
std::string_view OptionsKind(Verb verb);
// Reads dryRun, fieldManager and fieldValidation. Errors: 422.
Outcome<WriteOptions> WriteOptionsOf(const Exchange& exchange);
// Reads the options from the body. Members that the body lacks come from the query.
Outcome<DeleteOptions> DeleteOptionsOf(const Exchange& exchange);
// Parses the body as a JSON object. Errors: 415 for the media type, 400 for a body that does not
// parse.
Outcome<json::Value> BodyOf(const Exchange& exchange);
// Errors: 415.
Outcome<PatchRequest> PatchOf(const Exchange& exchange);
}  // namespace sandbox
