#include "pkg/api/version_order.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace version_order_test {

TEST_CASE("versions: GA before beta before alpha, higher numbers first, other names last",
          "[api]") {
  std::vector<std::string> versions = {"foo1",    "v1alpha1", "v1",      "v10",     "v2beta1",
                                       "v1beta2", "v2",       "v11beta", "v1alpha", "v3beta1"};
  std::ranges::stable_sort(versions, api::ComesBefore);
  CHECK(versions == std::vector<std::string>{"v10", "v2", "v1", "v3beta1", "v2beta1", "v1beta2",
                                             "v1alpha1", "foo1", "v11beta", "v1alpha"});
  CHECK_FALSE(api::ComesBefore("v1", "v1"));
  CHECK_FALSE(api::ComesBefore("a", "b"));
  CHECK_FALSE(api::ComesBefore("b", "a"));
}

}  // namespace version_order_test
