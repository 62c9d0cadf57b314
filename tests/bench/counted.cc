#include "tests/bench/counted.h"

#include <cstdint>

// The names must be in the program as they are here.
#if defined(__clang__)
#define BENCH_KEPT [[gnu::noinline]]  // it makes no clones
#else
#define BENCH_KEPT [[gnu::noinline, gnu::noclone]]
#endif

namespace bench {

BENCH_KEPT void Counted(const std::function<void()>& work) {
  work();
  asm volatile("");  // keeps the call above from becoming a jump, which would hide its end
}

BENCH_KEPT void Uncounted(const std::function<void()>& work) {
  work();
  asm volatile("");
}

// The client request VG_USERREQ__DUMP_STATS of valgrind 3.19, whose headers need not be installed.
// The rotations change nothing; valgrind knows the sequence.
void WriteCount() {
#if defined(__x86_64__)
  const std::uint64_t request[6] = {0x43540000};
  std::uint64_t result = 0;
  asm volatile(
      "rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
      : "=d"(result)
      : "a"(request), "0"(result)
      : "cc", "memory");
#endif
}

}  // namespace bench
