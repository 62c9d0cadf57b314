#include "tests/bench/counted.h"

namespace bench {

[[gnu::noinline, gnu::noclone]] void Counted(const std::function<void()>& work) {
  work();
  asm volatile("");  // keeps the call above from becoming a jump, which would hide its end
}

[[gnu::noinline, gnu::noclone]] void Uncounted(const std::function<void()>& work) {
  work();
  asm volatile("");
}

}  // namespace bench
