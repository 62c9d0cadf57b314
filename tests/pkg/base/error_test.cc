#include "pkg/base/error.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

namespace base::error_test {
namespace {

TEST_CASE("error: wrapping adds the action and keeps the rest", "[base]") {
  const Error error{.code = ErrorCode::kConflict,
                    .message = "modified",
                    .http_status = 409,
                    .reason = "Conflict",
                    .retry_after = std::chrono::seconds(2),
                    .too_large_resource_version = true};
  const Error wrapped = error.Wrap("patch status").Wrap("quota a/b");
  CHECK(wrapped.message == "quota a/b: patch status: modified");
  CHECK(wrapped.Is(ErrorCode::kConflict));
  CHECK(wrapped.http_status == 409);
  CHECK(wrapped.reason == "Conflict");
  CHECK(wrapped.retry_after == std::chrono::seconds(2));
  CHECK(wrapped.too_large_resource_version);
  CHECK(error.message == "modified");
}

TEST_CASE("error: every code has a name of its own", "[base]") {
  std::set<std::string_view> names;
  const int last = static_cast<int>(ErrorCode::kInternal);
  for (int code = 0; code <= last; ++code) names.insert(ToString(static_cast<ErrorCode>(code)));
  CHECK(names.size() == static_cast<std::size_t>(last) + 1);
  CHECK_FALSE(names.contains("Unknown"));
  CHECK(ToString(ErrorCode::kNotFound) == "NotFound");
}

TEST_CASE("error: a result is a value or an error", "[base]") {
  const Result<std::string> value = std::string("x");
  CHECK(value.has_value());
  CHECK(*value == "x");
  const Result<std::string> error = Error{.code = ErrorCode::kTimeout, .message = "late"};
  CHECK_FALSE(error.has_value());
  CHECK(error.error().message == "late");
}

}  // namespace
}  // namespace base::error_test
