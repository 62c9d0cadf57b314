// A library to preload into a program under test. Its wall clock is wrong by the number of seconds
// in the file $SHIFTED_CLOCK_FILE (eight bytes, signed, native byte order), which may change at any
// time. Monotonic clocks are not changed.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

const std::int64_t* g_shift = nullptr;  // NOLINT: set once, before main

__attribute__((constructor)) void MapShift() {
  const char* path = std::getenv("SHIFTED_CLOCK_FILE");
  const int fd = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  void* mapped = mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped != MAP_FAILED) g_shift = static_cast<const std::int64_t*>(mapped);
}

std::int64_t Shift() { return g_shift == nullptr ? 0 : __atomic_load_n(g_shift, __ATOMIC_RELAXED); }

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long result = syscall(SYS_clock_gettime, clock, time);
  const bool wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && wall) time->tv_sec += Shift();
  return static_cast<int>(result);
}

int gettimeofday(timeval* __restrict time, void* __restrict /*zone*/) noexcept {
  timespec now{};
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}
}
