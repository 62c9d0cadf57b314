#include "pkg/quota/rules.h"

#include <catch2/catch.hpp>

namespace quota {
namespace {

using Resize = Rules::Resize;

TEST_CASE("rules: Kubernetes counts pods in another way since 1.37", "[quota]") {
  CHECK(RulesOf({1, 29}).resize == Resize::kByContainer);
  CHECK(RulesOf({1, 36}).resize == Resize::kByContainer);
  CHECK(RulesOf({1, 37}).resize == Resize::kByPod);
  CHECK(RulesOf({1, 38}).resize == Resize::kByPod);
  CHECK(RulesOf({2, 0}).resize == Resize::kByPod);
  CHECK(RulesOf({1, 36}).empty_pod_level_decides);
  CHECK_FALSE(RulesOf({1, 37}).empty_pod_level_decides);
  CHECK(Rules() == RulesOf({1, 29}));
}

}  // namespace
}  // namespace quota
