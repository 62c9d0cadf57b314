#pragma once

// Named checks, and what /healthz, /livez and /readyz answer from them (apiserver v0.36.3,
// pkg/server/healthz).
//
// Liveness says that the process can make progress, never that an API server is reachable: a
// restart would not help. Readiness says that it does its work. /livez and /healthz run the
// liveness checks, /readyz these and the readiness checks. A check that begins to fail, and one
// that is well again, is logged once; the answer withholds the reason, as everybody may ask.
//
// Single-threaded. Checks must not block.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/http/message.h"

namespace debug {

// Why the check fails; nullopt if all is well.
using Check = std::function<std::optional<std::string>()>;

class Health {
 public:
  void AddLiveness(std::string name, Check check);
  void AddReadiness(std::string name, Check check);

  // Whether /readyz would say 200 now.
  [[nodiscard]] bool IsReady() const;

  // Whether this path is one of ours: /healthz, /livez, /readyz, or one of these and a check's
  // name.
  [[nodiscard]] bool Handles(const http::Target& target) const;
  // 200 "ok", or 500 with a line per check; ?verbose lists them always, ?exclude=<name> leaves one
  // out. REQUIRES: Handles(target).
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
