#include "cmd/kubectl-quota/words.h"

namespace kubectl_quota {

std::string ServerWords(const base::Error& error) {
  const std::string before = " " + std::to_string(error.http_status) + " " + error.reason + ": ";
  const std::size_t at = error.message.find(before);
  if (error.http_status == 0 || at == std::string::npos) return error.message;
  return error.message.substr(at + before.size());
}

std::string ErrorText(const base::Error& error) {
  if (error.http_status != 0) {
    return "Error from server (" + error.reason + "): " + ServerWords(error);
  }
  switch (error.code) {
    case base::ErrorCode::kUnavailable:
    case base::ErrorCode::kTimeout:
    case base::ErrorCode::kTls:
      return "Unable to connect to the server: " + error.message;
    default:
      return "error: " + error.message;
  }
}

}  // namespace kubectl_quota
