#include "pkg/http/digest.h"

#include <catch2/catch.hpp>

TEST_CASE("digest: SHA-256 of a published test vector", "[http]") {
  const std::string digest = http::Sha256("abc");
  REQUIRE(digest.size() == 32);
  CHECK(digest.substr(0, 4) == "\xba\x78\x16\xbf");
  CHECK(digest.substr(28) == std::string("\xf2\x00\x15\xad", 4));
  CHECK(http::Sha256("") != digest);
}
