#pragma once

// Freed memory that the allocator keeps. After a burst (a long list, many charges at once), it
// would otherwise stay at the peak. Any thread.

#include <cstddef>

namespace base {

struct HeapUse {
  std::size_t resident = 0;   // bytes of resident memory of this process
  std::size_t allocated = 0;  // heap bytes in use by the program
};

// Zeros if the system does not tell.
HeapUse ReadHeapUse();

// True if the allocator keeps more than 16 MiB and more than half of what is in use: then trimming
// is worth some milliseconds.
bool IsWorthTrimming(const HeapUse& use);

// Returns free pages to the system. Takes about a millisecond for each 20 MB of heap.
void TrimHeap();

}  // namespace base
