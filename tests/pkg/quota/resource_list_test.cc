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
  list.Add(List({{"pods", "2"}, {"memory", "512Mi"}}), 3);
  CHECK(list.ToString() == "memory=1536Mi,pods=7");
  list.Add(List({{"pods", "2"}}), -1);
  CHECK(list.Get("pods") == Q("5"));
}

TEST_CASE("resource list: a growth and a rest differ for saturated amounts", "[quota]") {
  CHECK(Above(Q("5"), Q("3")) == Q("2"));
  CHECK(Rest(Q("5"), Q("3")) == Q("2"));
  CHECK(Above(Q("3"), Q("5")).IsZero());
  CHECK(Rest(Q("3"), Q("5")).IsZero());
  CHECK(Above(Q("1e30"), Q("5")) == Q("1e30"));
  CHECK(Rest(Q("1e30"), Q("5")) == Q("1e30"));
  CHECK(Above(Q("5"), Q("1e30")).IsZero());
  CHECK(Rest(Q("5"), Q("1e30")).IsZero());
  // An update from 1e31 to 1e30 does not grow, but 1e31 without 1e30 may be anything.
  CHECK(Above(Q("1e30"), Q("1e31")).IsZero());
  CHECK(Rest(Q("1e31"), Q("1e30")) == Q("1e30"));
  CHECK(Excess(List({{"cpu", "1e30"}, {"pods", "2"}}), List({{"cpu", "1e30"}, {"pods", "1"}})) ==
        List({{"pods", "1"}}));
}

TEST_CASE("resource list: it is lowered to zero at least, under its own names", "[quota]") {
  ResourceList list = List({{"cpu", "5"}, {"memory", "2Gi"}, {"pods", "1e30"}});
  Lower(list, List({{"cpu", "7"}, {"memory", "1Gi"}, {"pods", "3"}, {"secrets", "1"}}));
  CHECK(list == List({{"cpu", "0"}, {"memory", "1Gi"}, {"pods", "1e30"}}));
}

TEST_CASE("resource list: lists are merged by name", "[quota]") {
  const ResourceList low = List({{"a", "1"}, {"c", "1024"}, {"e", "5"}});
  const ResourceList other = List({{"b", "2"}, {"c", "1Ki"}, {"e", "7"}, {"f", "3"}});
  ResourceList list = low;
  list.RaiseTo(other);
  // The first of two equal amounts decides the format.
  CHECK(list.ToString() == "a=1,b=2,c=1024,e=7,f=3");
  CHECK(Larger(low, {}) == low);
  CHECK(Larger({}, low) == low);
  list = low;
  list.Add(other);
  CHECK(list.ToString() == "a=1,b=2,c=2048,e=12,f=3");
  list = low;
  list.Add(other, -1);
  CHECK(list.ToString() == "a=1,b=-2,c=0,e=-2,f=-3");
  list = low;
  list.SetAll(other);
  CHECK(list.ToString() == "a=1,b=2,c=1Ki,e=7,f=3");
  const std::vector<ResourceList::Item> items = std::move(list).Take();
  CHECK(items.size() == 5);
}

}  // namespace
}  // namespace quota::resource_list_test
