#include "pkg/quota/resource_list.h"

#include <limits>

#include "tests/pkg/quota/quota_testing.h"

namespace quota::resource_list_test {
namespace {

TEST_CASE("resource list: names are sorted and unique", "[quota]") {
  ResourceList list = List({{"pods", "2"}, {"cpu", "1"}, {"cpu", "600m"}});
  CHECK(list.ToString() == "cpu=600m,pods=2");
  CHECK(list.size() == 2);
  CHECK(list.Get("pods") == Q("2"));
  CHECK(list.Get("memory").IsZero());
  CHECK(list.Find("memory") == nullptr);
  list.Erase("pods");
  list.Erase("memory");
  CHECK(list.ToString() == "cpu=600m");
}

TEST_CASE("resource list: a missing name is not a zero, and notation does not matter", "[quota]") {
  CHECK(List({{"memory", "1Gi"}}) == List({{"memory", "1073741824"}}));
  CHECK_FALSE(List({{"pods", "0"}}) == ResourceList());
  CHECK_FALSE(List({{"pods", "1"}}) == List({{"pods", "2"}}));
  CHECK_FALSE(List({{"pods", "1"}}) == List({{"cpu", "1"}}));
}

TEST_CASE("resource list: adding multiplies and adds new names", "[quota]") {
  ResourceList list = List({{"pods", "1"}});
  REQUIRE(list.Add(List({{"pods", "2"}, {"memory", "512Mi"}}), 3).has_value());
  CHECK(list.ToString() == "memory=1536Mi,pods=7");
  REQUIRE(list.Add(List({{"pods", "2"}}), -1).has_value());
  CHECK(list.Get("pods") == Q("5"));
}

TEST_CASE("resource list: the error for an overflow names the resource, and the list is unchanged",
          "[quota]") {
  ResourceList list = List({{"cpu", "1"}, {"memory", "170141183460469231731687303715"}});
  const auto added = list.Add(List({{"cpu", "1"}, {"memory", "1Gi"}}));
  REQUIRE_FALSE(added.has_value());
  CHECK(added.error().code == base::ErrorCode::kInvalidArgument);
  CHECK(added.error().message.starts_with("memory: quantity is out of range"));
  CHECK(list.Get("cpu") == Q("1"));
}

}  // namespace
}  // namespace quota::resource_list_test
