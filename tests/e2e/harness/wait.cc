#include "tests/e2e/harness/wait.h"

#include <poll.h>

#include <algorithm>
#include <stdexcept>

#include "tests/e2e/harness/files.h"

namespace e2e {
namespace {

#ifdef QCM_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// The slowdown of this program and of the daemon under test, if there is one.
int Slowness() {
  static const int slowness = [] {
    if (kSanitized) return 4;
    try {
      return IsSanitized(BuiltProgram("quota-controller-manager")) ? 4 : 1;
    } catch (const std::runtime_error&) {
      return 1;  // it is not built
    }
  }();
  return slowness;
}

using std::chrono::milliseconds;

constexpr milliseconds kShortestInterval{10};
constexpr milliseconds kLongestInterval{100};
constexpr milliseconds kAlwaysInterval{50};

// A tenth of the time waited so far.
milliseconds GrowingInterval(milliseconds waited) {
  return std::clamp(waited / 10, kShortestInterval, kLongestInterval);
}

void Pause(milliseconds duration) { poll(nullptr, 0, static_cast<int>(duration.count())); }

}  // namespace

std::chrono::milliseconds Stretched(std::chrono::milliseconds duration) {
  return duration * Slowness();
}

std::chrono::milliseconds Patience() { return Stretched(30s); }

bool PollUntil(const std::function<bool()>& done, milliseconds timeout,
               std::optional<milliseconds> interval) {
  const auto started = std::chrono::steady_clock::now();
  while (!done()) {
    const auto waited =
        std::chrono::floor<milliseconds>(std::chrono::steady_clock::now() - started);
    if (waited >= timeout) return false;
    Pause(std::min(interval.value_or(GrowingInterval(waited)), timeout - waited));
  }
  return true;
}

void Eventually(const std::string& fact, const std::function<std::string()>& missing,
                std::chrono::milliseconds timeout) {
  std::string last;
  const auto done = [&] {
    last = missing();
    return last.empty();
  };
  if (!PollUntil(done, timeout)) {
    throw std::runtime_error("not within " + std::to_string(timeout.count()) + " ms: " + fact +
                             "\n  last seen: " + last);
  }
}

void Always(const std::string& fact, const std::function<std::string()>& broken,
            std::chrono::milliseconds period) {
  std::string answer;
  const auto fails = [&] {
    answer = broken();
    return !answer.empty();
  };
  if (PollUntil(fails, period, kAlwaysInterval)) {
    throw std::runtime_error("no longer true: " + fact + "\n  seen: " + answer);
  }
}

}  // namespace e2e
