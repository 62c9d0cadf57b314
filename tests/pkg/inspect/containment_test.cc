#include "pkg/inspect/containment.h"

#include <catch2/catch.hpp>

namespace inspect::containment_test {
namespace {

TEST_CASE("containment: amounts are compared by value, and empty members may be absent",
          "[inspect]") {
  const auto contained = [](const char* part, const char* whole) {
    return IsContained(*json::Parse(part), *json::Parse(whole));
  };
  CHECK(contained(R"({"requests": {"cpu": "0.5"}})", R"({"requests": {"cpu": "500m"}, "b": 1})"));
  CHECK(contained(R"({"sizeLimit": 1, "e": {}, "l": []})", R"({"sizeLimit": "1"})"));
  CHECK_FALSE(contained(R"({"limits": {"cpu": "0.5"}})", R"({"limits": {"cpu": "600m"}})"));
  // Other texts are not amounts.
  CHECK_FALSE(contained(R"({"value": "1024Mi"})", R"({"value": "1Gi"})"));
  CHECK_FALSE(contained(R"({"labels": {"version": "1.1"}})", R"({"labels": {"version": "1.10"}})"));
  CHECK_FALSE(contained(R"({"l": [1]})", R"({"l": [1, 2]})"));
  CHECK_FALSE(contained(R"({"a": {"b": 1}})", R"({"a": 1})"));
}

}  // namespace
}  // namespace inspect::containment_test
