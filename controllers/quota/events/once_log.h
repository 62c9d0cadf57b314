#pragma once

// Logs a problem of a subject when it begins or changes, and every five minutes while it lasts, as
// far as base::LogLimit lets it: a message may name an object, and users create and delete objects
// all the time. Single-threaded.

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "pkg/base/clock.h"
#include "pkg/base/log_limit.h"

namespace controllers {

class OnceLog {
 public:
  // `clock` must outlive this.
  OnceLog(std::string quota_api, const base::Clock& clock)
      : quota_api_(std::move(quota_api)), clock_(clock) {}

  // Reports that `what` of the subject fails, for example "status of" of "team-a/compute". An empty
  // message: the problem is solved. Returns true if the problem began or changed, or is logged
  // again.
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
  base::LogLimit lines_;
};

}  // namespace controllers
