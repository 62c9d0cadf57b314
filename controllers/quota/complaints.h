#pragma once

// What is wrong, said once for each subject until it changes. Single-threaded.

#include <string>
#include <string_view>
#include <unordered_map>

namespace controllers {

class Complaints {
 public:
  explicit Complaints(std::string quota_api) : quota_api_(std::move(quota_api)) {}

  // `about` is "status of team-a/compute"; an empty message: it is well again.
  void Say(const std::string& about, const std::string& message);
  void Forget(const std::string& about) { said_.erase(about); }

 private:
  std::string quota_api_;
  std::unordered_map<std::string, std::string> said_;
};

}  // namespace controllers
