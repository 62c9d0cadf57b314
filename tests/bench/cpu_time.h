#pragma once

// Processor time to the nanosecond: what the clock ticks of /proc/PID/stat are too coarse for.

#include <chrono>

namespace bench {

using Micros = std::chrono::duration<double, std::micro>;

// Of all threads that the process has now; zero if it is gone.
Micros CpuOfProcess(int pid);
// Of the calling thread.
Micros CpuOfThisThread();

}  // namespace bench
