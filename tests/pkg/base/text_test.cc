#include "pkg/base/text.h"

#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <string_view>
#include <vector>

namespace text_test {

TEST_CASE("text: any range of strings is joined in its order", "[base]") {
  CHECK(base::Join(std::vector<std::string>(), ", ").empty());
  CHECK(base::Join(std::vector<std::string>{"a"}, ", ") == "a");
  CHECK(base::Join(std::set<std::string>{"b", "a"}, ",") == "a,b");
  CHECK(base::Join(std::array<std::string_view, 3>{"a", "b", "c"}, "; ") == "a; b; c");
}

TEST_CASE("text: a beginning ends between characters", "[base]") {
  CHECK(base::Beginning("abc", 3) == "abc");
  CHECK(base::Beginning("abc", 2) == "ab");
  CHECK(base::Beginning("a\xC3\xA4", 2) == "a");
  CHECK(base::Beginning("\x80\x80\x80", 2).empty());
}

}  // namespace text_test
