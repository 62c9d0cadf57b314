#include "pkg/json/projection.h"

#include <catch2/catch.hpp>

namespace json::projection_test {
namespace {

std::string Projected(std::string_view text, const std::vector<std::string>& paths) {
  const auto value = ParseProjected(text, Projection(paths));
  INFO(text);
  REQUIRE(value.has_value());
  return Write(*value);
}

TEST_CASE("projection: only the wanted paths stay", "[json]") {
  const std::string pod = R"({"kind":"Pod","metadata":{"name":"p","uid":"u","labels":{"a":"b"},
    "managedFields":[{"f":{"g":[1,{"h":2}]}}]},"spec":{"overhead":{"cpu":"1"},"x":[[1]]}})";
  CHECK(Projected(pod, {"metadata.uid", "spec.overhead"}) ==
        R"({"metadata":{"uid":"u"},"spec":{"overhead":{"cpu":"1"}}})");
  CHECK(Projected(pod, {"metadata.labels"}) == R"({"metadata":{"labels":{"a":"b"}}})");
  CHECK(Projected(pod, {"absent.path"}) == "{}");
  CHECK(Projected(pod, {}) == "{}");
  CHECK(*ParseProjected(pod, Projection({""})) == *Parse(pod));
}

TEST_CASE("projection: arrays are transparent and keep their number of elements", "[json]") {
  const std::string text =
      R"({"c":[{"name":"a","resources":{"x":[1]}},{"skip":{"resources":1}},7,{"resources":{}}],"d":1})";
  CHECK(Projected(text, {"c.resources"}) ==
        R"({"c":[{"resources":{"x":[1]}},{},7,{"resources":{}}]})");
  CHECK(Projected(R"({"a":[[{"b":1,"c":2}],[{"c":3,"b":4}]]})", {"a.b"}) ==
        R"({"a":[[{"b":1}],[{"b":4}]]})");
}

TEST_CASE("projection: a name with dots is in brackets", "[json]") {
  const std::string text = R"({"m":{"a":{"a.b/c":1,"a.b/d":2,"e":3},"x.y":{"z":4,"w":5}}})";
  CHECK(Projected(text, {"m.a[a.b/c]"}) == R"({"m":{"a":{"a.b/c":1}}})");
  CHECK(Projected(text, {"m.a[a.b/c]", "m.a.e"}) == R"({"m":{"a":{"a.b/c":1,"e":3}}})");
  CHECK(Projected(text, {"m[x.y].z"}) == R"({"m":{"x.y":{"z":4}}})");
  CHECK(Projected(text, {"m[x.y][z]"}) == R"({"m":{"x.y":{"z":4}}})");
  CHECK(Projected(R"({"x.y":1,"x":{"y":2}})", {"[x.y]"}) == R"({"x.y":1})");
  CHECK(Projection({"m.a[a.b/c]"}).Under("object", {}).paths() ==
        std::vector<std::string>{"object.m.a[a.b/c]"});
}

TEST_CASE("projection: a star stands for every member, beside named ones", "[json]") {
  const std::string text = R"({"m":{"a":{"x":1,"y":2},"b":{"x":3,"y":4}}})";
  CHECK(Projected(text, {"m.*.x"}) == R"({"m":{"a":{"x":1},"b":{"x":3}}})");
  CHECK(Projected(text, {"m.*.x", "m.b.y"}) == R"({"m":{"a":{"x":1},"b":{"x":3,"y":4}}})");
}

TEST_CASE("projection: a path includes the paths below it, in either order", "[json]") {
  const std::string text = R"({"a":{"b":{"c":1},"d":2}})";
  CHECK(Projected(text, {"a", "a.b.c"}) == text);
  CHECK(Projected(text, {"a.b.c", "a"}) == text);
}

TEST_CASE("projection: a field of another type is kept", "[json]") {
  CHECK(Projected(R"({"spec":"text","metadata":null})", {"spec.a", "metadata.uid"}) ==
        R"({"spec":"text","metadata":null})");
  CHECK(Projected("3", {"a"}) == "3");
}

TEST_CASE("projection: Under() puts the tree into an envelope", "[json]") {
  const Projection event = Projection({"metadata.uid"}).Under("object", {"type"});
  const auto value =
      ParseProjected(R"({"type":"ADDED","object":{"metadata":{"uid":"u","x":1}},"y":2})", event);
  REQUIRE(value.has_value());
  CHECK(Write(*value) == R"({"type":"ADDED","object":{"metadata":{"uid":"u"}}})");
  CHECK(Projection({""}).Under("object", {}).paths() == std::vector<std::string>{"object"});
}

TEST_CASE("projection: skipped parts are still checked", "[json]") {
  for (const char* text :
       {R"({"a":1,"skip":{"b":[1,}]}})", R"({"a":1,"skip":"\xZ"})", R"({"a":1} x)",
        "{\"a\":1,\"skip\":\"\xFF\"}", R"({"a":1,"skip":[01]})"}) {
    const auto value = ParseProjected(text, Projection({"a"}));
    REQUIRE(value.has_error());
    CHECK(value.error().code == base::ErrorCode::kMalformed);
  }
}

// Whoever may write one object of a kind must not end the list of all.
TEST_CASE("projection: what is nested too deep is null", "[json]") {
  for (const char* text : {R"({"a":[[[[1]],{}],2],"b":2,"s":[[[[[]]]]]})",
                           R"({"\u0062":2,"a":[[[[1]],{}],2],"s":[[[[[]]]]]})"}) {
    for (const auto& value : {ParseProjected(text, Projection({"a", "b"}), {.depth = 3}),
                              Skim(text, Projection({"a", "b"}), {.depth = 3})}) {
      REQUIRE(value.has_value());
      CHECK(json::Write(*value->At({"a"})) == "[[null,null],2]");
      CHECK(json::Write(*value->At({"b"})) == "2");
      CHECK(value->AsObject()->size() == 2);
    }
  }
  const auto looked_at = Skim(R"({"a":[[{"b":1}],{"b":2}]})", Projection({"a.b"}), {.depth = 3});
  REQUIRE(looked_at.has_value());
  CHECK(json::Write(*looked_at) == R"({"a":[[null],{"b":2}]})");
}

TEST_CASE("projection: a long list on a bounded path becomes a text", "[json]") {
  struct Example {
    std::vector<std::string> paths;
    std::string_view document;
    std::string kept;
  };
  const std::string cut = '"' + std::string(json::kTooManyElements) + '"';
  const std::vector<std::string> sizes = {"a.size#"};
  const Example examples[] = {
      {sizes, R"({"a":[{"size":1},{},{"x":[1,2,3,4]}]})", R"({"a":[{"size":1},{},{}]})"},
      {sizes, R"({"a":[0,"]",{"size":1},[]],"b":1})", R"({"a":)" + cut + "}"},
      {{"a.size#", "b"},
       R"({"a":[0,{"x":"]"},[[]],true, [2]],"b":[1,2,3,4]})",
       R"({"a":)" + cut + R"(,"b":[1,2,3,4]})"},
      // Together with those of the lists in it.
      {sizes, R"({"a":[{"size":[1,2]}]})", R"({"a":[{"size":[1,2]}]})"},
      {sizes, R"({"a":[{"size":[1,2]},5]})", R"({"a":)" + cut + "}"},
      {sizes, R"({"a":[[[1]]]})", R"({"a":[[[1]]]})"},
      {sizes, R"({"a":[[[[1]]]]})", R"({"a":)" + cut + "}"},
      {sizes, R"({"a":{"size":[1,2,3,4]},"b":[[[[]]]]})", R"({"a":{"size":)" + cut + "}}"},
      // Lists beside each other have a bound each.
      {{"a#", "b#"}, R"({"a":[1,2,3],"b":[1,2,3]})", R"({"a":[1,2,3],"b":[1,2,3]})"},
      // An object at the end of the path is empty.
      {{"a#"}, R"({"a":{"b":1}})", R"({"a":{}})"},
      {{"a#"}, R"({"a":[{"b":1},[{"c":[1,2,3,4]}]]})", R"({"a":[{},[{}]]})"},
      {{"a#", "a.b#"}, R"({"a":{"b":1,"c":2}})", R"({"a":{"b":1}})"},
      // Who wants it as it is gets it so.
      {{"a.size#", "a"}, R"({"a":[1,2,3,4,{"x":1}]})", R"({"a":[1,2,3,4,{"x":1}]})"},
      {{"a.size#", "a.x"},
       R"({"a":[1,2,3,{"size":[1,2,3,4]}]})",
       R"({"a":[1,2,3,{"size":)" + cut + "}]}"},
      {{"*.x", "a.size#"}, R"({"a":[1,2,3,4]})", R"({"a":[1,2,3,4]})"},
  };
  constexpr json::ParseLimits kLimits{.list_elements = 3};
  for (const Example& example : examples) {
    INFO(example.document);
    const json::Projection projection(example.paths);
    const auto parsed = json::ParseProjected(example.document, projection, kLimits);
    REQUIRE(parsed.has_value());
    CHECK(json::Write(*parsed) == example.kept);
    const auto skimmed = json::Skim(example.document, projection, kLimits);
    REQUIRE(skimmed.has_value());
    CHECK(json::Write(*skimmed) == example.kept);
    const std::string event = R"({"object":)" + std::string(example.document) + "}";
    const auto below = json::Skim(event, projection.Under("object", {"type"}), kLimits);
    REQUIRE(below.has_value());
    CHECK(json::Write(*below) == R"({"object":)" + example.kept + "}");
  }
}

TEST_CASE("projection: a long list that is left out takes no memory", "[json]") {
  std::string zeros = "[0";
  for (int i = 1; i < 20'000; ++i) zeros += ",0";
  const std::string document =
      R"({"a":)" + zeros + R"(],"b":)" + zeros + R"(],"c":)" + zeros + "]}";
  const json::Projection projection({"a#", "b#", "c#"});
  const json::ParseLimits limits{.bytes = 1 << 20};
  const auto parsed = json::ParseProjected(document, projection, limits);
  const auto skimmed = json::Skim(document, projection, limits);
  REQUIRE(parsed.has_value());
  REQUIRE(skimmed.has_value());
  CHECK(*parsed == *skimmed);
}

TEST_CASE("projection: the last of repeated members wins", "[json]") {
  CHECK(Projected(R"({"a":{"x":1},"s":0,"a":{"x":2,"y":3}})", {"a.x"}) == R"({"a":{"x":2}})");
}

}  // namespace
}  // namespace json::projection_test
