#pragma once

// The Status object with which an API server explains a refusal or confirms a deletion: as a value,
// from and to JSON, and the common ones with the messages of kube-apiserver (apimachinery v0.36.3,
// pkg/api/errors/errors.go).
//
// A Status can be the error of a boost::system::result. Values; any thread.

#include <boost/assert/source_location.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/json/value.h"

namespace api {

struct StatusCause {
  std::string reason;  // "FieldValueInvalid"
  std::string message;
  std::string field;  // "spec.hard[cpu]"
  bool operator==(const StatusCause&) const = default;
};

// The object of a Status; empty members are left out of the JSON.
struct StatusDetails {
  std::string name;
  std::string group;
  std::string kind;  // the resource; the kind if the reason is Invalid
  std::string uid;
  std::vector<StatusCause> causes;
  bool operator==(const StatusDetails&) const = default;
};

struct Status {
  std::string status = "Failure";  // or "Success"
  int code = 0;
  std::string reason;  // "NotFound"
  std::string message;
  StatusDetails details;
  int retry_after_seconds = 0;  // 0: none
  std::string continue_token;   // of an expired list: continues it at another version

  [[nodiscard]] json::Value ToJson() const;
  bool operator==(const Status&) const = default;
};

// nullopt if `value` is not a v1 Status (a missing apiVersion is read as v1). Members of a wrong
// type read as absent.
std::optional<Status> ParseStatus(const json::Value& value);

// The common failures. An empty group in `what` is the core group.
Status NotFound(const GroupResource& what, std::string_view name);
Status AlreadyExists(const GroupResource& what, std::string_view name);
Status Conflict(const GroupResource& what, std::string_view name, std::string_view why);
// The conflict of an outdated resourceVersion.
Status ModifiedConflict(const GroupResource& what, std::string_view name);
// An empty name or resource is left out of the message.
Status Forbidden(const GroupResource& what, std::string_view name, std::string_view why);
// `kind` is a kind, not a resource: "ResourceQuota". The message joins the messages of the causes,
// with their fields.
Status Invalid(std::string_view group, std::string_view kind, std::string_view name,
               std::vector<StatusCause> causes);
Status BadRequest(std::string_view message);
Status Unauthorized();
Status Gone(std::string_view message);
Status Expired(std::string_view message);
Status MethodNotAllowed(const GroupResource& what, std::string_view verb);
Status NotAcceptable(const std::vector<std::string>& accepted);
Status UnsupportedMediaType(const std::vector<std::string>& accepted);
Status RequestEntityTooLarge(std::string_view why);
Status TooManyRequests(std::string_view message, int retry_after_seconds);
Status InternalError(std::string_view why);
Status ServiceUnavailable(std::string_view message);
// 504: a deadline of the server passed.
Status Timeout(std::string_view why, int retry_after_seconds);

// Called when value() is asked of a failed result. That is a bug: ends the process.
[[noreturn]] void throw_exception_from_error(const Status& status,
                                             const boost::source_location& where);

}  // namespace api
