#include "tests/bench/counted.h"

namespace bench {

[[gnu::noinline, gnu::noclone]] void Counted(const std::function<void()>& work) {
  work();
  asm volatile("");  // the call above must not become a jump: its end would not be seen
}

[[gnu::noinline, gnu::noclone]] void Uncounted(const std::function<void()>& work) {
  work();
  asm volatile("");
}

}  // namespace bench
