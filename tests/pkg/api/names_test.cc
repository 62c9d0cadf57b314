#include "pkg/api/names.h"

#include <catch2/catch.hpp>
#include <string>

namespace names_test {

TEST_CASE("names: a label is a valid name of a namespace", "[api]") {
  for (const char* good : {"a", "0", "kube-system", "a--b", "123"}) {
    INFO(good);
    CHECK(api::IsDns1123Label(good));
  }
  for (const char* bad : {"", "-a", "a-", "A", "a.b", "a_b", "a b", "\xc3\xa4"}) {
    INFO(bad);
    CHECK_FALSE(api::IsDns1123Label(bad));
  }
  CHECK(api::IsDns1123Label(std::string(63, 'a')));
  CHECK_FALSE(api::IsDns1123Label(std::string(64, 'a')));
}

TEST_CASE("names: a subdomain is labels with dots between them", "[api]") {
  for (const char* good : {"a", "a.b", "machine-class.v1", "0.0"}) {
    INFO(good);
    CHECK(api::IsDns1123Subdomain(good));
  }
  for (const char* bad : {"", ".", ".a", "a.", "a..b", "a.-b", "a-.b", "A.b", "a/b", ".."}) {
    INFO(bad);
    CHECK_FALSE(api::IsDns1123Subdomain(bad));
  }
  CHECK(api::IsDns1123Subdomain(std::string(253, 'a')));
  CHECK_FALSE(api::IsDns1123Subdomain(std::string(254, 'a')));
}

}  // namespace names_test
