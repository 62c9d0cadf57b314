#include "pkg/quota/usage/field_path.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/pkg/quota/usage/usage_testing.h"

namespace quota::usage::field_path_test {
namespace {

std::string ErrorOf(std::string_view text) {
  const auto path = FieldPath::Parse(text);
  if (path) return "no error, but " + path->ToString();
  CHECK(path.error().code == base::ErrorCode::kMalformed);
  return path.error().message;
}

TEST_CASE("field path: what is accepted", "[usage]") {
  struct Example {
    std::string_view text;
    std::string shown;
    std::string projected;
    std::string cel;  // after "object"
  };
  const Example examples[] = {
      {".spec", "spec", "spec", ".?spec"},
      {".spec.size", "spec.size", "spec.size", ".?spec.?size"},
      {".spec.disks[*].size", "spec.disks[*].size", "spec.disks.size", ".?spec.?disks"},
      {".a[*][*].b[*]", "a[*][*].b[*]", "a.b", ".?a"},
      {".a[*]['b.c']", "a[*][b.c]", "a[b.c]", ".?a"},
      // Messages show it as it was written.
      {".a['b']", "a[b]", "a.b", ".?a.?b"},
      {"['a']", "", "", ""},
      {".['a']['b.c/d'].e", "a[b.c/d].e", "a[b.c/d].e", ".?a[?'b.c/d'].?e"},
      {".['a.b']", "[a.b]", "[a.b]", "[?'a.b']"},
      {".['.']", "[.]", "[.]", "[?'.']"},
      {R"(.a.b\.c/d.e)", "a[b.c/d].e", "a[b.c/d].e", ".?a[?'b.c/d'].?e"},
      {R"(.\.)", "[.]", "[.]", "[?'.']"},
      // As kubectl and printer columns want it.
      {R"(.a['b\.c/d'])", "a[b.c/d]", "a[b.c/d]", ".?a[?'b.c/d']"},
      {".a-b.c/d", "a-b.c/d", "a-b.c/d", "[?'a-b'][?'c/d']"},
      {".a.0", "a.0", "a.0", ".?a[?'0']"},
      {".in._in.null.x1", "in._in.null.x1", "in._in.null.x1", "[?'in'].?_in[?'null'].?x1"},
      {".a.@{}()|$?,:*x", "a.@{}()|$?,:*x", "a.@{}()|$?,:*x", ".?a[?'@{}()|$?,:*x']"},
  };
  for (const Example& example : examples) {
    INFO(example.text);
    if (!example.text.starts_with('.')) {
      CHECK(ErrorOf(example.text) == "must begin with a dot, as .spec.size");
      continue;
    }
    const FieldPath path = Path(example.text);
    CHECK(path.ToString() == example.shown);
    CHECK(Path(path.ToText()) == path);
    CHECK(path.Projected() == example.projected + "#");
    CHECK(FieldPath::ToCel("object", path.Named()) == "object" + example.cel);
    CHECK(FieldPath::ToCel("oldObject", path.Named()) == "oldObject" + example.cel);
    CHECK(path.HasEach() == (example.text.find("[*]") != std::string_view::npos));
  }
}

TEST_CASE("field path: what is refused, and why", "[usage]") {
  const std::string no_dot = "must begin with a dot, as .spec.size";
  const std::string no_name = "a name must follow each dot, as in .spec.size";
  const std::string bad_name =
      "a name must have printable ASCII characters only, and no quotes, brackets or backslashes";
  for (const char* text : {"", "spec", "spec.size", "{.spec.size}", "$.spec", "[*]", " .spec"}) {
    INFO(text);
    CHECK(ErrorOf(text) == no_dot);
  }
  for (const char* text : {".", "..", "..spec", ".spec.", ".spec..size", ".a.['b']", ".a.[*]"}) {
    INFO(text);
    CHECK(ErrorOf(text) == no_name);
  }
  for (const char* text : {".*", ".spec.*", ".spec.*.size"}) {
    INFO(text);
    CHECK(ErrorOf(text) == "[*] is for the elements of lists, and .* is not supported");
  }
  for (const char* text : {".a['*']",
                           ".a]",
                           ".a.b]c",
                           ".a['[']",
                           ".a[']']",
                           ".a['b]']",
                           ".a['b[0]']",
                           ".a'b",
                           ".a\"b",
                           ".a['b'c']",
                           ".a['b\"c']",
                           R"(.a\b)",
                           R"(.a\)",
                           R"(.a\\.b)",
                           R"(.a['b\c'])",
                           R"(.a['\\.'])",
                           ".a b",
                           ".a ",
                           ".a['b c']",
                           ".a\tb",
                           ".a\n",
                           ".\x7f",
                           ".gr\xc3\xb6\xc3\x9f",
                           ".a\xff"}) {
    INFO(text);
    CHECK(ErrorOf(text) == bad_name);
  }
  CHECK(ErrorOf(std::string_view(".a\0b", 4)) == bad_name);
  CHECK(ErrorOf(std::string_view(".a[\0]", 5)) == bad_name);
  for (const char* rest : {"[0]", "[]", "[", "['b", "['b'", "[b]", "[\"b\"]", "[?(@.b==1)]",
                           "[0:1]", "[-1]", "[* ]", "['b']x", "[*]x"}) {
    INFO(rest);
    CHECK(ErrorOf(std::string(".a") + rest) != "no error, but " + std::string("a") + rest);
    CHECK_FALSE(FieldPath::Parse(std::string(".a") + rest).has_value());
  }
  CHECK(ErrorOf(".a[0].b") == "only [*] and ['name'] are supported, not [0].b");
  CHECK(ErrorOf(".a['']") == "the name in [''] is empty");
  CHECK(ErrorOf(".a[*]b") == "a dot or a bracket must follow each bracket");
  CHECK(ErrorOf(".[*]") == "must begin with the name of a field");
  CHECK(ErrorOf(".[*].a") == "must begin with the name of a field");
}

TEST_CASE("field path: there are bounds", "[usage]") {
  std::string steps;
  for (std::size_t i = 0; i < FieldPath::kMostSteps; ++i) steps += ".a";
  CHECK(Path(steps).steps().size() == FieldPath::kMostSteps);
  CHECK(ErrorOf(steps + ".a") == "must have at most 16 steps");
  CHECK(ErrorOf(steps + "[*]") == "must have at most 16 steps");
  const std::string longest = "." + std::string(FieldPath::kMostBytes - 1, 'a');
  CHECK(Path(longest).ToString().size() == FieldPath::kMostBytes - 1);
  CHECK(ErrorOf(longest + "a") == "must have at most 1024 bytes");
}

TEST_CASE("field path: equal paths are equal, however they are written", "[usage]") {
  CHECK(Path(".a['b'].c") == Path(".['a'].b['c']"));
  CHECK(Path(R"(.a.b\.c)") == Path(".a['b.c']"));
  CHECK(Path(R"(.a['b\.c'])") == Path(".a['b.c']"));
  CHECK_FALSE(Path(".a.b") == Path(".a['b.c']"));
  CHECK_FALSE(Path(".a") == Path(".a[*]"));
}

TEST_CASE("field path: the status is told by its first name", "[usage]") {
  for (const char* text : {".status", ".status.size", ".['status'].size", ".status['a.b'][*]"}) {
    CHECK(Path(text).IsInStatus());
  }
  for (const char* text : {".spec.status", ".statuses", ".Status", ".['status.size']"}) {
    CHECK_FALSE(Path(text).IsInStatus());
  }
}

// Keeps what the path leads to, and nothing beside it.
TEST_CASE("field path: a projection keeps the field", "[usage]") {
  struct Example {
    std::string_view path;
    std::string_view object;
    std::string_view kept;
  };
  const Example examples[] = {
      {".a.b", R"({"a":{"b":1,"c":2},"b":3})", R"({"a":{"b":1}})"},
      {".a[*].b", R"({"a":[{"b":1,"c":2},{"c":3},4,null]})", R"({"a":[{"b":1},{},4,null]})"},
      {".a[*][*].b", R"({"a":[[{"b":1,"c":2}],[],[{"b":2}]]})",
       R"({"a":[[{"b":1}],[],[{"b":2}]]})"},
      {".a[*].b[*].c", R"({"a":[{"b":[{"c":1,"d":2}]},{"x":1}]})", R"({"a":[{"b":[{"c":1}]},{}]})"},
      {".a['b.c/d']", R"({"a":{"b.c/d":1,"b":{"c/d":2}}})", R"({"a":{"b.c/d":1}})"},
      {".['a.b'].c", R"({"a.b":{"c":1,"d":2},"a":{"b":{"c":3}}})", R"({"a.b":{"c":1}})"},
      {".a[*]['b.c'].d", R"({"a":[{"b.c":{"d":1,"e":2},"b":{"c":3}}]})",
       R"({"a":[{"b.c":{"d":1}}]})"},
      {".a.b", R"({"a":{"*":1,"b*":2,"b":{"x":[1,{"y":2}]}}})", R"({"a":{"b":{}}})"},
      {".a.b*", R"({"a":{"b":1,"b*":2}})", R"({"a":{"b*":2}})"},
      {".['.']", R"({".":1,"":2})", R"({".":1})"},
  };
  for (const Example& example : examples) {
    INFO(example.path);
    const json::Projection projection({Path(example.path).Projected()});
    const auto kept = json::ParseProjected(example.object, projection);
    REQUIRE(kept.has_value());
    CHECK(json::Write(*kept) == example.kept);
    const auto below = json::ParseProjected(R"({"object":)" + std::string(example.object) + "}",
                                            projection.Under("object", {}));
    REQUIRE(below.has_value());
    CHECK(json::Write(*below) == R"({"object":)" + std::string(example.kept) + "}");
  }
}

}  // namespace
}  // namespace quota::usage::field_path_test
