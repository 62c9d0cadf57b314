#include "pkg/heap/heap.h"

#ifdef QCM_JEMALLOC
#include <glog/logging.h>
#include <jemalloc/jemalloc.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#endif

#ifdef QCM_JEMALLOC
// jemalloc reads this before the first allocation. One arena is enough for one thread. Pieces above
// 4 KiB are rare, so they are not cached. Free pages are returned within kDecay, without the second
// stage that jemalloc calls muzzy.
extern "C" const char* malloc_conf;  // NOLINT(readability-identifier-naming): jemalloc's name
const char* malloc_conf = "narenas:1,lg_tcache_max:12,dirty_decay_ms:3000,muzzy_decay_ms:0";
static_assert(heap::kDecay.count() == 3000, "malloc_conf says the same");
#endif

namespace heap {

#ifdef QCM_JEMALLOC

std::size_t FreeBytes() {
  // Statistics are those of the last epoch.
  std::uint64_t epoch = 1;
  std::size_t size = sizeof epoch;
  CHECK_EQ(mallctl("epoch", &epoch, &size, &epoch, size), 0);
  static const std::string name = "stats.arenas." + std::to_string(MALLCTL_ARENAS_ALL) + ".pdirty";
  std::size_t pages = 0;
  size = sizeof pages;
  CHECK_EQ(mallctl(name.c_str(), &pages, &size, nullptr, 0), 0);
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void GiveBackDue() {
  static const std::string name = "arena." + std::to_string(MALLCTL_ARENAS_ALL) + ".decay";
  CHECK_EQ(mallctl(name.c_str(), nullptr, nullptr, nullptr, 0), 0);
}

#else

std::size_t FreeBytes() { return 0; }
void GiveBackDue() {}

#endif

}  // namespace heap
