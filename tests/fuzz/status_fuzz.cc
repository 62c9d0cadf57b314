// Refusals of an API server: a Status is the same when written and read again, and every refusal is
// an error with a message.

#include "pkg/api/status.h"

#include "pkg/client/api_client.h"
#include "pkg/client/api_error.h"
#include "tests/fuzz/target.h"

namespace {

void CheckStatus(const json::Value& value) {
  const auto status = api::ParseStatus(value);
  if (!status) return;
  const auto again = api::ParseStatus(status->ToJson());
  fuzz::Require(again && *again == *status, "a Status survives being written");
}

void CheckError(std::string_view body, std::string_view retry_after) {
  constexpr int kCodes[] = {400, 401, 403, 404, 409, 410, 422, 429, 500, 503, 504, 302};
  fuzz::Chance chance(body);
  for (int i = 0; i < 2; ++i) {
    const int code = kCodes[chance.Below(std::size(kCodes))];
    const base::Error error =
        client::ErrorFromAnswer("GET", "/api/v1/pods", code, retry_after, body);
    fuzz::Require(error.http_status == code, "the status is kept");
    fuzz::Require(error.message.find("/api/v1/pods") != std::string::npos, "the path is named");
    fuzz::Require(error.message.size() < 8192, "the words are bounded");
    fuzz::Require(error.retry_after >= std::chrono::milliseconds(0), "no time in the past");
    fuzz::Require(error.retry_after <= std::chrono::minutes(1), "no wait of hours");
    fuzz::Require(!error.Is(base::ErrorCode::kCancelled), "nobody cancelled");
  }
  const auto failure = client::FailureInSuccess("GET", "/api/v1/pods", body);
  if (failure) fuzz::Require(!failure->message.empty(), "a failure has words");
}

FUZZ_TARGET(status) {
  if (const auto value = json::Parse(input)) CheckStatus(*value);
  CheckError(input, input.substr(0, input.find('\n')));
}

}  // namespace
