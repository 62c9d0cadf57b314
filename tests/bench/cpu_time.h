#pragma once

// CPU time in nanoseconds; the clock ticks of /proc/PID/stat are too coarse.

#include <chrono>

namespace bench {

using Micros = std::chrono::duration<double, std::micro>;

// CPU time of all current threads of the process; zero if it is gone.
Micros CpuOfProcess(int pid);
// CPU time of the calling thread.
Micros CpuOfThisThread();

}  // namespace bench
