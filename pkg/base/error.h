#pragma once

// Expected failures: Result<T> is a value or an Error; nothing is thrown.
//
// An Error says what was attempted and what failed, in words fit for a log line. It also carries
// what a caller may decide from: a code, and for an API server's answer the HTTP status, the Status
// reason and the Retry-After. Each layer that knows more wraps the error once: `error.Wrap("patch
// status of quota team-a/compute")` reads "patch status of …: <inner>".
//
// Values; any thread.

#include <boost/system/result.hpp>
#include <chrono>
#include <string>
#include <string_view>

namespace base {

enum class ErrorCode {
  kCancelled,        // we were asked to stop; never logged as a failure
  kInvalidArgument,  // the caller's input (flag, file, quantity) is wrong
  kMalformed,        // bytes of others that do not parse, or have another shape
  kTooLarge,         // more bytes than our bound allows
  kTimeout,          // our deadline passed, or the server answered 504
  kUnavailable,      // no connection, connection lost, 5xx
  kUnauthorized,     // 401
  kForbidden,        // 403
  kNotFound,         // 404
  kAlreadyExists,    // 409 with reason AlreadyExists
  kConflict,         // 409 otherwise
  kExpired,          // 410: Gone or Expired
  kInvalid,          // 400, 422 and other 4xx: a retry would not help
  kTooManyRequests,  // 429
  kTls,              // the peer is not trusted: wrong CA, expired certificate, wrong name
  kInternal,         // a bug or an unexpected system error
};

// The code's name without the k, for logs and metrics: "Conflict".
std::string_view ToString(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  int http_status = 0;                       // 0: no answer was received
  std::string reason;                        // Status.reason, "" if none
  std::chrono::milliseconds retry_after{0};  // 0: the server gave none
  bool too_large_resource_version = false;   // 504: the server has not reached that version yet

  // Returns this error with "action: " before its message.
  [[nodiscard]] Error Wrap(std::string_view action) const;
  [[nodiscard]] bool Is(ErrorCode other) const { return code == other; }
};

template <typename T>
using Result = boost::system::result<T, Error>;

// Called when value() is asked of a failed Result. That is a bug: ends the process.
[[noreturn]] void throw_exception_from_error(const Error& error,
                                             const boost::source_location& where);

}  // namespace base
