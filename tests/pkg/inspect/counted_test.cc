#include "pkg/inspect/counted.h"

#include <catch2/catch.hpp>

namespace counted_test {

TEST_CASE("counted: only one thing is singular", "[inspect]") {
  CHECK(inspect::Counted(0, "pod") == "0 pods");
  CHECK(inspect::Counted(1, "pod") == "1 pod");
  CHECK(inspect::Counted(2, "pod") == "2 pods");
}

}  // namespace counted_test
