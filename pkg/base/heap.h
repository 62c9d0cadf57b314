#pragma once

// Memory that was freed and is kept by the allocator all the same: after a burst (a long list, many
// charges at once) it would stay at the peak for good. Any thread.

#include <cstddef>

namespace base {

struct HeapUse {
  std::size_t resident = 0;   // bytes of this process in memory
  std::size_t allocated = 0;  // bytes that the program holds of its heap
};

// Zeros where the system does not say.
HeapUse ReadHeapUse();

// True if so much is kept free that giving it back is worth some milliseconds: more than 16 MiB and
// half of what is in use.
bool IsWorthTrimming(const HeapUse& use);

// Gives free pages back to the system. Takes about a millisecond for each 20 MB of heap.
void TrimHeap();

}  // namespace base
