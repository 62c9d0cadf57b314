#pragma once

// Logs a problem of a subject once, until it changes. Single-threaded.

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace controllers {

class OnceLog {
 public:
  explicit OnceLog(std::string quota_api) : quota_api_(std::move(quota_api)) {}

  // Reports that `what` of the subject fails, for example "status of" of "team-a/compute". An empty
  // message: the problem is solved.
  void Set(std::string_view what, const std::string& subject, const std::string& message);
  // The subject is gone.
  void Forget(const std::string& subject) { said_.erase(subject); }

 private:
  std::string quota_api_;
  std::unordered_map<std::string, std::map<std::string, std::string, std::less<>>> said_;
};

}  // namespace controllers
