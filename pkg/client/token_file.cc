#include "pkg/client/token_file.h"

#include <glog/logging.h>

#include "pkg/client/files.h"
#include "pkg/json/value.h"

namespace client {
namespace {

// A token is trusted for a minute, and read again ten seconds before that ends.
constexpr std::chrono::seconds kRereadToken{50};

base::Result<std::string> ReadToken(const std::string& path) {
  base::Result<std::string> content = ReadFile(path);
  if (!content) return content;
  std::string token(Trim(*content));
  const bool broken = token.find_first_of("\r\n") != std::string::npos;
  if (!token.empty() && !broken) return token;
  return base::Error{
      .code = base::ErrorCode::kInvalidArgument,
      .message = "token file " + path + (broken ? " has more than one line" : " is empty")};
}

}  // namespace

TokenFile::TokenFile(std::string path, std::string initial)
    : path_(std::move(path)), token_(std::move(initial)) {}

base::Result<std::string> TokenFile::Get(base::TimePoint now) {
  if (due_ && now < *due_) return token_;
  base::Result<std::string> fresh = ReadToken(path_);
  // Without any token the next call reads the file again, so `due_` is not set.
  if (!fresh && token_.empty()) return fresh;
  due_ = now + kRereadToken;
  if (!fresh) {
    LOG_IF(WARNING, unreadable_.Meet(fresh.error().message, now))
        << "keeping the last token error=" << json::Quote(fresh.error().message);
    return token_;
  }
  LOG_IF(INFO, unreadable_.Solve()) << "the token can be read again file=" << json::Quote(path_);
  if (*fresh != token_) {
    token_ = std::move(*fresh);
    ++generation_;
  }
  return token_;
}

}  // namespace client
