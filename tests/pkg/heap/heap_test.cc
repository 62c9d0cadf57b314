#include "pkg/heap/heap.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace heap_test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::size_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  std::size_t resident = 0;
  statm >> pages >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Leaves 100 MB of free memory behind, and returns one piece that stays in use.
std::unique_ptr<std::string> Burst() {
  std::vector<std::unique_ptr<std::string>> burst;
  burst.reserve(100'000);
  for (int i = 0; i < 100'000; ++i) {
    burst.push_back(std::make_unique<std::string>(std::size_t{1000}, 'x'));
  }
  return std::move(burst.back());
}

}  // namespace

#ifdef QCM_SANITIZED
TEST_CASE("heap: a sanitizer's allocator has no statistics", "[heap]") {
  const auto kept = Burst();
  heap::GiveBackDue();
  CHECK(heap::FreeBytes() == 0);
  CHECK(ResidentBytes() > 0);
}
#else
// The allocator reads the real clock, so this test cannot run in virtual time.
TEST_CASE("heap: free memory after a burst is returned to the system in small parts", "[heap]") {
  const auto kept = Burst();
  const std::size_t after_burst = ResidentBytes();
  REQUIRE(heap::FreeBytes() > 60 * kMiB);
  const auto patience = std::chrono::steady_clock::now() + 10 * heap::kDecay;
  std::size_t most_at_once = 0;
  while (heap::FreeBytes() > kMiB && std::chrono::steady_clock::now() < patience) {
    const std::size_t before = heap::FreeBytes();
    heap::GiveBackDue();
    most_at_once = std::max(most_at_once, before - heap::FreeBytes());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CHECK(heap::FreeBytes() <= kMiB);
  CHECK(ResidentBytes() + 60 * kMiB < after_burst);
  CHECK(most_at_once < 60 * kMiB);
}
#endif

}  // namespace heap_test
