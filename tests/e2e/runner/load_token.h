#pragma once

// Only one scenario that keeps the processors busy may run at a time on this machine, in all test
// runs. Beside a second one, neither the daemon nor the API server would answer in time.

#include <string>

namespace e2e {

class LoadToken {
 public:
  // Runs with the same `path` share the token. Throws if the file cannot be created.
  explicit LoadToken(const std::string& path);
  ~LoadToken();
  LoadToken(const LoadToken&) = delete;
  LoadToken& operator=(const LoadToken&) = delete;

  // Returns false while this or another run holds it. The kernel releases it when a process dies.
  [[nodiscard]] bool TryTake();
  void GiveBack();

 private:
  int descriptor_ = -1;
  bool taken_ = false;
};

}  // namespace e2e
