#pragma once

// How expected failures travel: Result<T> is a value or an Error, never an exception.
//
// An Error says what was attempted and what stood in the way, in words fit for a log line, and
// carries the little a caller may decide from: a code, and for answers of an API server the HTTP
// status, the Status reason and the Retry-After. Each layer that adds knowledge wraps once:
// `error.Wrap("patch status of quota team-a/compute")` reads "patch status of …: <inner>".
//
// Values; any thread.

#include <boost/system/result.hpp>
#include <chrono>
#include <string>
#include <string_view>

namespace base {

enum class ErrorCode {
  kCancelled,        // we were told to stop; never logged as a failure
  kInvalidArgument,  // the caller's input (flag, file, quantity) is wrong
  kMalformed,        // foreign bytes that do not parse, or parse to another shape
  kTooLarge,         // more bytes than any bound of ours allows
  kTimeout,          // a deadline of ours passed, or the server says 504
  kUnavailable,      // no connection, connection lost, 5xx
  kUnauthorized,     // 401
  kForbidden,        // 403
  kNotFound,         // 404
  kAlreadyExists,    // 409 with reason AlreadyExists
  kConflict,         // 409 otherwise
  kExpired,          // 410: Gone or Expired
  kInvalid,          // 400, 422 and the rest of 4xx: the server refuses this for good
  kTooManyRequests,  // 429
  kTls,              // the peer could not be trusted: wrong CA, expired certificate, wrong name
  kInternal,         // a bug or an unexpected system error
};

// The code's name without its k, for logs and metrics: "Conflict".
std::string_view ToString(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  int http_status = 0;                       // 0: no answer was received
  std::string reason;                        // Status.reason, "" if none
  std::chrono::milliseconds retry_after{0};  // 0: the server named no time
  bool too_large_resource_version = false;   // 504: the server has not reached that version yet

  // This error with "action: " before its message.
  [[nodiscard]] Error Wrap(std::string_view action) const;
  [[nodiscard]] bool Is(ErrorCode other) const { return code == other; }
};

template <typename T>
using Result = boost::system::result<T, Error>;

// A bug: somebody asked a failed Result for its value. Ends the process.
[[noreturn]] void throw_exception_from_error(const Error& error,
                                             const boost::source_location& where);

}  // namespace base
