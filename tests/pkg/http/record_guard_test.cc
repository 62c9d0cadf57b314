#include "pkg/http/record_guard.h"

#include <catch2/catch.hpp>

namespace record_guard_test {

namespace {

using http::RecordGuard;

// How many records pass in a row.
int Most(RecordGuard guard) {
  int passed = 0;
  while (guard.OnRecord()) ++passed;
  return passed;
}

RecordGuard Connected() {
  RecordGuard guard;
  guard.OnHandshakeDone();
  return guard;
}

}  // namespace

TEST_CASE("record guard: 256 records and messages are enough for a handshake", "[http][tls]") {
  CHECK(Most(RecordGuard()) == 256);
}

TEST_CASE("record guard: later 32 in a row may have no data", "[http][tls]") {
  CHECK(Most(Connected()) == 32);
}

TEST_CASE("record guard: data records cost nothing, however small they are", "[http][tls]") {
  RecordGuard guard = Connected();
  for (int i = 0; i < 100'000; ++i) {
    REQUIRE(guard.OnRecord());
    guard.OnData(1);
  }
  CHECK(Most(guard) == 32);
}

TEST_CASE("record guard: data pays for other records by the byte", "[http][tls]") {
  RecordGuard guard = Connected();
  const auto exchange = [&](std::size_t bytes) {
    if (!guard.OnRecord() || !guard.OnRecord()) return false;
    guard.OnData(bytes);
    return true;
  };
  for (int i = 0; i < 1'000; ++i) REQUIRE(exchange(RecordGuard::kRecord));
  int small = 0;
  while (exchange(1)) ++small;
  CHECK(small == 31);
}

}  // namespace record_guard_test
