#pragma once

// Named health checks, and the answers of /healthz, /livez and /readyz (apiserver v0.36.3,
// pkg/server/healthz).
//
// Liveness says that the process can make progress. It never depends on an API server: a restart
// would not help. Readiness says that the process does its work. /livez and /healthz run the
// liveness checks; /readyz runs these and the readiness checks. A check is logged when it begins to
// fail, every five minutes while it fails, and when it passes again.
//
// The answer has the reason, unlike that of kube-apiserver. Everybody may ask, so a reason is in
// our own words; what servers and files say is only logged.
//
// Single-threaded. Checks must not block.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/reminder.h"
#include "pkg/http/message.h"

namespace debug {

struct Failure {
  std::string reason;  // for everybody: one line, no text of others, no secret
  std::string detail;  // for the log; may be empty
};
// Returns why the check fails; nullopt if it passes.
using Check = std::function<std::optional<Failure>()>;

class Health {
 public:
  // `clock` must outlive this.
  explicit Health(const base::Clock& clock) : clock_(clock) {}
  void AddLiveness(std::string name, Check check);
  void AddReadiness(std::string name, Check check);

  // True if /readyz would answer 200 now.
  [[nodiscard]] bool IsReady() const;

  // True for /healthz, /livez, /readyz, and each of these followed by the name of a check.
  [[nodiscard]] bool Handles(const http::Target& target) const;
  // Answers 200 "ok", or 500 with a line for each check. ?verbose always lists the checks;
  // ?exclude=<name> skips one. REQUIRES: Handles(target).
  [[nodiscard]] http::Response Answer(const http::Target& target);

 private:
  struct Named {
    std::string name;
    Check check;
    bool readiness = false;
    base::Reminder failing;
  };
  // Runs the check, and logs what changed.
  std::optional<Failure> Run(Named& named);

  const base::Clock& clock_;
  std::vector<Named> checks_;
};

}  // namespace debug
