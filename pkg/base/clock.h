#pragma once

// Time as a dependency. Deciding code takes time points or a Clock; only RealClock reads the system
// clocks. Deadlines and measured durations use Now() (monotonic); timestamps in objects use
// WallNow().

#include <chrono>

namespace base {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;
using WallTime = std::chrono::system_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint Now() const = 0;
  [[nodiscard]] virtual WallTime WallNow() const = 0;
};

class RealClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] WallTime WallNow() const override { return std::chrono::system_clock::now(); }
};

// A clock that moves only when a test moves it. It starts far from zero, so that a wrong
// subtraction from Now() is noticed.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return now_; }
  [[nodiscard]] WallTime WallNow() const override {
    return WallTime(std::chrono::duration_cast<WallTime::duration>(now_.time_since_epoch()));
  }
  void Advance(Duration by) { now_ += by; }
  void Set(TimePoint now) { now_ = now; }

 private:
  TimePoint now_{std::chrono::hours(24 * 365 * 55)};
};

}  // namespace base
