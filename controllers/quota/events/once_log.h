#pragma once

// Logs a problem of a subject when it begins or changes. While problems last, ten of those that are
// met again are logged again every five minutes. Single-threaded.

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "pkg/base/clock.h"

namespace controllers {

class OnceLog {
 public:
  // `clock` must outlive this.
  OnceLog(std::string quota_api, const base::Clock& clock)
      : quota_api_(std::move(quota_api)), clock_(clock) {}

  // Reports that `what` of the subject fails, for example "status of" of "team-a/compute". An empty
  // message: the problem is solved. Returns true if it was logged now.
  bool Set(std::string_view what, const std::string& subject, const std::string& message);
  // The subject is gone.
  void Forget(const std::string& subject) { said_.erase(subject); }

 private:
  struct Said {
    std::string message;
    base::TimePoint at;
  };

  std::string quota_api_;
  const base::Clock& clock_;
  std::map<std::string, std::map<std::string, Said, std::less<>>> said_;
  base::TimePoint repeating_since_{};
  int repeated_ = 0;  // since then
};

}  // namespace controllers
