#pragma once

// Programs that link this library use jemalloc, and return free memory to the kernel step by step.
//
// glibc's allocator was measured as well, with 50 000 quotas. It held the event loop for 12 to 20
// ms whenever it merged free memory, reported how much is free, or returned it. jemalloc returns
// single pages over time, and needed a fifth less memory and CPU time.
//
// A build with a sanitizer uses the sanitizer's allocator, and these functions do nothing.

#include <chrono>
#include <cstddef>

namespace heap {

// The maximum time for which free pages are kept for reuse.
inline constexpr std::chrono::milliseconds kDecay{3'000};

// The bytes of free pages that were not returned yet. Zero in a build with a sanitizer. Any thread.
std::size_t FreeBytes();

// Returns the pages that are due. The share of freed pages that is due grows with the time since
// they were freed, up to all of them after kDecay. A page costs about half a microsecond, so call
// this often while much is free. Any thread.
void GiveBackDue();

}  // namespace heap
