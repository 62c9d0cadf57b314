#include "pkg/base/heap.h"

#include <malloc.h>
#include <unistd.h>

#include <fstream>

namespace base {

HeapUse ReadHeapUse() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  std::size_t resident = 0;
  if (!(statm >> pages >> resident)) return {};
  const struct mallinfo2 heap = mallinfo2();
  return {.resident = resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)),
          .allocated = heap.uordblks + heap.hblkhd};
}

bool IsWorthTrimming(const HeapUse& use) {
  constexpr std::size_t kLittle = std::size_t{16} << 20;
  if (use.resident <= use.allocated) return false;
  // Includes the program's own text and stacks.
  const std::size_t kept = use.resident - use.allocated;
  return kept > kLittle && kept > use.allocated / 2;
}

void TrimHeap() { malloc_trim(0); }

}  // namespace base
