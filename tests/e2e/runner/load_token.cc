#include "tests/e2e/runner/load_token.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <stdexcept>

namespace e2e {

LoadToken::LoadToken(const std::string& path)
    // Workers must not inherit it: the lock would outlive this process in them.
    : descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) throw std::runtime_error("cannot make " + path);
}

LoadToken::~LoadToken() { close(descriptor_); }

bool LoadToken::TryTake() {
  if (taken_) return false;
  taken_ = flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
  return taken_;
}

void LoadToken::GiveBack() {
  if (!taken_) return;
  flock(descriptor_, LOCK_UN);
  taken_ = false;
}

}  // namespace e2e
