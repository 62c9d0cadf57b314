#include "controllers/quota/writer_keys.h"

#include <catch2/catch.hpp>

namespace writer_keys_test {
namespace {

using Keys = std::vector<api::ObjectKey>;

TEST_CASE("writer keys: a namespace with quotas of its own has its own writer", "[quota]") {
  controllers::WriterKeys keys;
  CHECK(keys.Of("a", {{"a", "q"}, {"a", "r"}}, 4) == "a");
  CHECK(keys.Of("b", {}, 4) == "b");
  CHECK(keys.size() == 0);
}

TEST_CASE("writer keys: the namespaces of a tree have one writer", "[quota]") {
  controllers::WriterKeys keys;
  const std::string a = keys.Of("a", {{"", "team-a"}, {"", "company"}}, 3);
  CHECK(keys.Of("b", {{"", "team-b"}, {"", "company"}}, 3) == a);
  CHECK(keys.Of("c", {{"", "company"}}, 3) == a);
  CHECK(a != "company");  // which may be the name of a namespace
}

TEST_CASE("writer keys: what has no namespace in common is written apart", "[quota]") {
  controllers::WriterKeys keys;
  CHECK(keys.Of("a", {{"", "a"}}, 2) != keys.Of("b", {{"", "b"}}, 2));
}

TEST_CASE("writer keys: a quota over all joins those it is seen beside", "[quota]") {
  controllers::WriterKeys keys;
  const Keys a{{"", "all"}, {"", "team-a"}};
  const Keys b{{"", "all"}, {"", "team-b"}};
  keys.Of("a", a, 3);
  keys.Of("b", b, 3);
  CHECK(keys.Of("a", a, 3) == keys.Of("b", b, 3));
  CHECK(keys.Of("c", {{"", "team-a"}}, 3) == keys.Of("b", b, 3));
}

TEST_CASE("writer keys: quotas that went are forgotten", "[quota]") {
  controllers::WriterKeys keys;
  for (int i = 0; i < 1000; ++i) keys.Of("a", {{"", "q" + std::to_string(i)}}, 10);
  CHECK(keys.size() <= 21);
}

}  // namespace
}  // namespace writer_keys_test
