#include "pkg/base/error.h"

#include <glog/logging.h>

namespace base {

std::string_view ToString(ErrorCode code) {
  switch (code) {
    case ErrorCode::kCancelled:
      return "Cancelled";
    case ErrorCode::kInvalidArgument:
      return "InvalidArgument";
    case ErrorCode::kMalformed:
      return "Malformed";
    case ErrorCode::kTooLarge:
      return "TooLarge";
    case ErrorCode::kTimeout:
      return "Timeout";
    case ErrorCode::kUnavailable:
      return "Unavailable";
    case ErrorCode::kUnauthorized:
      return "Unauthorized";
    case ErrorCode::kForbidden:
      return "Forbidden";
    case ErrorCode::kNotFound:
      return "NotFound";
    case ErrorCode::kAlreadyExists:
      return "AlreadyExists";
    case ErrorCode::kConflict:
      return "Conflict";
    case ErrorCode::kExpired:
      return "Expired";
    case ErrorCode::kInvalid:
      return "Invalid";
    case ErrorCode::kTooManyRequests:
      return "TooManyRequests";
    case ErrorCode::kTls:
      return "Tls";
    case ErrorCode::kInternal:
      return "Internal";
  }
  return "Unknown";
}

Error Error::Wrap(std::string_view action) const {
  Error wrapped = *this;
  wrapped.message = std::string(action) + ": " + message;
  return wrapped;
}

void throw_exception_from_error(const Error& error, const boost::source_location& where) {
  LOG(FATAL) << "value() of a failed Result at " << where.file_name() << ":" << where.line() << ": "
             << error.message;
  std::abort();
}

}  // namespace base
