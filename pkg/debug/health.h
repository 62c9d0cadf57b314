#pragma once

// Named health checks, and the answers of /healthz, /livez and /readyz (apiserver v0.36.3,
// pkg/server/healthz).
//
// Liveness says that the process can make progress. It never depends on an API server: a restart
// would not help. Readiness says that the process does its work. /livez and /healthz run the
// liveness checks; /readyz runs these and the readiness checks. A check is logged once when it
// begins to fail and once when it passes again. The answer withholds the reason, because everybody
// may ask.
//
// Single-threaded. Checks must not block.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/http/message.h"

namespace debug {

// Returns why the check fails; nullopt if it passes.
using Check = std::function<std::optional<std::string>()>;

class Health {
 public:
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
    bool failing = false;
  };
  bool Passes(Named& named);

  std::vector<Named> checks_;
};

}  // namespace debug
