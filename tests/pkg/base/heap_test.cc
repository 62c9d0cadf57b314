#include "pkg/base/heap.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

namespace heap_test {

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST_CASE("heap: what is in use, and a little more, is left alone", "[base]") {
  CHECK_FALSE(base::IsWorthTrimming({}));
  CHECK_FALSE(base::IsWorthTrimming({.resident = 30 * kMiB, .allocated = 14 * kMiB}));
  CHECK_FALSE(base::IsWorthTrimming({.resident = 130 * kMiB, .allocated = 100 * kMiB}));
  CHECK_FALSE(base::IsWorthTrimming({.resident = 10 * kMiB, .allocated = 100 * kMiB}));  // swapped
  CHECK(base::IsWorthTrimming({.resident = 100 * kMiB, .allocated = 10 * kMiB}));
  CHECK(base::IsWorthTrimming({.resident = 200 * kMiB, .allocated = 120 * kMiB}));
}

// Sanitizers use their own allocator.
#ifndef QCM_SANITIZED  // compilers differ in what they define
TEST_CASE("heap: what a burst leaves behind goes back to the system", "[base]") {
  std::vector<std::unique_ptr<std::string>> burst;
  burst.reserve(100'000);
  for (int i = 0; i < 100'000; ++i) {
    burst.push_back(std::make_unique<std::string>(std::size_t{1000}, 'x'));
  }
  // Occupies the end of the heap, as something always does.
  const auto last = std::make_unique<std::string>(std::size_t{1000}, 'y');
  CHECK_FALSE(base::IsWorthTrimming(base::ReadHeapUse()));
  burst.clear();
  REQUIRE(base::IsWorthTrimming(base::ReadHeapUse()));
  const std::size_t before = base::ReadHeapUse().resident;
  base::TrimHeap();
  CHECK(base::ReadHeapUse().resident + 60 * kMiB < before);
  CHECK_FALSE(base::IsWorthTrimming(base::ReadHeapUse()));
}
#endif

}  // namespace

}  // namespace heap_test
