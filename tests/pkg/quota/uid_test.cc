#include "pkg/quota/uid.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

namespace quota::uid_test {
namespace {

TEST_CASE("uid: a short text has all bits of the value", "[quota]") {
  CHECK(Uid{0}.ToShortText() == "AAAAAAAAAAA");
  CHECK(Uid{0x0123456789abcdefU}.ToShortText() == "ASNFZ4mrze8");
  CHECK(Uid{~std::uint64_t{0}}.ToShortText() == "__________8");
  for (int bit = 0; bit < 64; ++bit) {
    const Uid uid{std::uint64_t{1} << bit};
    CHECK(Uid::FromShortText(uid.ToShortText()) == uid);
  }
}

TEST_CASE("uid: other short texts are refused", "[quota]") {
  for (const char* text :
       {"", "AAAAAAAAAA", "AAAAAAAAAAAA", "AAAAAAAAAAB", "AAAAAAAAAA=", "AAAAA+AAAAA",
        "AAAAA/AAAAA", "AAAAA AAAAA", "AAAAAAAAAA ", "01234567-89ab-cdef-0011-223344556677"}) {
    INFO(text);
    CHECK_FALSE(Uid::FromShortText(text));
  }
}

TEST_CASE("uid: different texts have different values", "[quota]") {
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
