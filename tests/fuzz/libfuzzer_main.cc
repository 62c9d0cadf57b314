// libFuzzer's entry points, for the one target that is linked in.

#include <glog/logging.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "tests/fuzz/target.h"

namespace {

// The CPU time that one input may use. libFuzzer's own limit is wall-clock time, which means
// nothing on a busy machine.
constexpr int kBusySeconds = 2;

std::uint64_t inputs_begun = 0;  // atomic, by the compiler's own words

// The signal can come at any moment. So the handler must not count as coverage of the input, and
// must not call anything that does. Otherwise two runs of one input would differ.
__attribute__((no_sanitize("coverage"))) void OnBusySecond(int /*signal*/) {
  static std::uint64_t seen = 0;
  static int seconds = 0;
  const std::uint64_t begun = __atomic_load_n(&inputs_begun, __ATOMIC_RELAXED);
  seconds = begun == seen ? seconds + 1 : 0;
  seen = begun;
  // The first of these seconds may have begun with another input.
  if (begun == 0 || seconds <= kBusySeconds) return;
  constexpr char kWords[] = "ERROR: the input keeps the processor busy for seconds\n";
  (void)!write(STDERR_FILENO, kWords, sizeof kWords - 1);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_FATAL;
  CHECK_EQ(fuzz::Targets().size(), 1U);
  std::signal(SIGPROF, OnBusySecond);
  const itimerval every_second{.it_interval = {1, 0}, .it_value = {1, 0}};
  PCHECK(setitimer(ITIMER_PROF, &every_second, nullptr) == 0);
  return 0;
}

// An exception ends the process where it is thrown, so that libFuzzer shows the place.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  __atomic_fetch_add(&inputs_begun, 1, __ATOMIC_RELAXED);
  fuzz::Targets().front().run({reinterpret_cast<const char*>(data), size});
  return 0;
}
