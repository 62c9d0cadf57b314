#pragma once

// Of the scenarios that keep the processors busy, one runs at a time on this machine, whatever
// other runs there are: beside a second one, neither the daemon nor the API server answers in time.

#include <string>

namespace e2e {

class LoadToken {
 public:
  // Runs that share `path` share the token. Throws if the file cannot be made.
  explicit LoadToken(const std::string& path);
  ~LoadToken();
  LoadToken(const LoadToken&) = delete;
  LoadToken& operator=(const LoadToken&) = delete;

  // False while this run or another one has it. The kernel gives back what a dead process had.
  [[nodiscard]] bool TryTake();
  void GiveBack();

 private:
  int descriptor_ = -1;
  bool taken_ = false;
};

}  // namespace e2e
