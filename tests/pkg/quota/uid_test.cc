#include "pkg/quota/uid.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

namespace quota::uid_test {
namespace {

TEST_CASE("uid: a UUID is its 16 bytes", "[quota]") {
  const Uid uid = Uid::FromText("01234567-89ab-cdef-0011-223344556677");
  CHECK(uid.high == 0x0123456789abcdefU);
  CHECK(uid.low == 0x0011223344556677U);
  CHECK(Uid::FromText("01234567-89AB-CDEF-0011-223344556677") == uid);
}

TEST_CASE("uid: other texts have different values", "[quota]") {
  std::set<Uid> seen = {Uid::FromText("01234567-89ab-cdef-0011-223344556677")};
  for (const char* text :
       {"", "a", "b", "ab", "ba", "0123456789ab-cdef-0011-2233-44556677",
        "g1234567-89ab-cdef-0011-223344556677", "01234567-89ab-cdef-0011-2233445566770",
        "01234567089ab-cdef-0011-223344556677"}) {
    INFO(text);
    CHECK(seen.insert(Uid::FromText(text)).second);
  }
  for (int i = 0; i < 100'000; ++i) REQUIRE(seen.insert(Uid::FromText(std::to_string(i))).second);
}

TEST_CASE("uid: a text with zero bytes is not its prefix", "[quota]") {
  CHECK(Uid::FromText(std::string("a\0", 2)) != Uid::FromText("a"));
}

}  // namespace
}  // namespace quota::uid_test
