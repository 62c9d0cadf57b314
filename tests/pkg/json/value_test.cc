#include "pkg/json/value.h"

#include <catch2/catch.hpp>

namespace json::value_test {
namespace {

Value Parsed(std::string_view text) {
  const auto value = Parse(text);
  INFO(text);
  REQUIRE(value.has_value());
  return *value;
}

std::string ErrorOf(std::string_view text, ParseLimits limits = {}) {
  const auto value = Parse(text, limits);
  INFO(text);
  REQUIRE(value.has_error());
  CHECK(value.error().code == base::ErrorCode::kMalformed);
  return value.error().message;
}

TEST_CASE("json: a document survives a round trip", "[json]") {
  const std::string text =
      R"({"a":[1,-2.50,1e3,9007199254740993,true,false,null],"b":{"c":"\"\\\n\u0001é😀"},"d":{},"e":[]})";
  CHECK(Write(Parsed(text)) == text);
  CHECK(Write(Parsed(" \n 7 ")) == "7");
  CHECK(Write(Parsed(R"("\u00e9\ud83d\ude00\/")")) == "\"é😀/\"");
}

TEST_CASE("json: a control character is refused at every place", "[json]") {
  for (char control = 1; control < 0x20; ++control) {
    for (std::size_t before = 0; before < 40; ++before) {
      const std::string text = std::string(before, ' ') + "\"" + std::string(before, 'x') +
                               std::string(20, control) + "\"";
      INFO(static_cast<int>(control) << " behind " << before);
      CHECK_FALSE(Parse(text).has_value());
    }
  }
}

TEST_CASE("json: half of a surrogate pair is read as the replacement character", "[json]") {
  CHECK(Write(Parsed(R"("\ude00")")) == "\"\uFFFD\"");
  CHECK(Write(Parsed(R"("\uD83Dx")")) == "\"\uFFFDx\"");
  CHECK(Write(Parsed(R"("\ud83d\ud83d\ude00")")) == "\"\uFFFD😀\"");
  CHECK(Write(Parsed(R"("\\ud83d\ude00u")")) == R"("\\ud83d)"
                                                "\uFFFDu\"");
  CHECK(Write(Parsed(R"({"\uDC00":1})")) == "{\"\uFFFD\":1}");
  ErrorOf(R"("\ud83")");
  ErrorOf(R"("\)");
}

TEST_CASE("json: the last of repeated members wins, in small and large objects", "[json]") {
  CHECK(Write(Parsed(R"({"a":1,"b":2,"a":3})")) == R"({"a":3,"b":2})");
  std::string large = "{\"first\":0";
  for (int i = 0; i < 1000; ++i)
    large += ",\"k" + std::to_string(i % 500) + "\":" + std::to_string(i);
  const Value value = Parsed(large + "}");
  CHECK(value.AsObject()->size() == 501);
  CHECK(value.At({"k7"})->AsInt64() == 507);
  CHECK(value.AsObject()->begin()->first == "first");
  CHECK((value.AsObject()->end() - 1)->first == "k499");
}

TEST_CASE("json: members in any order and number make one object", "[json]") {
  for (const int count : {0, 1, 3, 24, 25, 1000}) {
    std::vector<Member> ascending;
    std::vector<Member> mixed;
    for (int i = 0; i < count; ++i) {
      ascending.emplace_back(std::to_string(10'000 + i), i);
      mixed.emplace_back(std::to_string(10'000 + i * 7919 % count), i * 7919 % count);
    }
    const Object object = Object::FromMembers(ascending);
    CHECK(static_cast<int>(object.size()) == count);
    CHECK(object == Object::FromMembers(mixed));
    if (count == 0) continue;
    mixed.back().second = "other";
    CHECK_FALSE(object == Object::FromMembers(mixed));
    mixed.emplace_back(mixed.back().first, mixed.back().first);
    CHECK(static_cast<int>(Object::FromMembers(mixed).size()) == count);
  }
}

TEST_CASE("json: the error for a malformed document has the position", "[json]") {
  for (const char* text :
       {"",           "  ",      "{",   "[1,]",       "{\"a\":}", "{\"a\" 1}", "tru",   "01",
        "1.",         "-",       "+1",  "'a'",        "\"a",      "\"\t\"",    "{} {}", "[1] x",
        "\"\\ud80\"", "\"\\x\"", "NaN", "{\"a\":1,}", "[1 2]",    "// c\n1"}) {
    ErrorOf(text);
  }
  CHECK(ErrorOf(R"({"a":1 "b":2})").starts_with("malformed JSON at byte 7: "));
  CHECK(ErrorOf("\"ab\xFF\"") == "malformed JSON at byte 3: not UTF-8");
  CHECK(ErrorOf("\"\xED\xA0\x80\"") == "malformed JSON at byte 1: not UTF-8");
  CHECK(ErrorOf(std::string("{}\0{}", 5)) == "malformed JSON at byte 2: a zero byte");
}

TEST_CASE("json: nesting beyond the limit is refused without using the stack", "[json]") {
  CHECK(Parse("[[[]]]", {.depth = 3}).has_value());
  CHECK(ErrorOf("[[{}]]", {.depth = 2}).find("nested deeper than 2 levels") != std::string::npos);
  ErrorOf(std::string(1'000'000, '['));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  ErrorOf(objects);
}

TEST_CASE("json: numbers are equal by value, and keep their text", "[json]") {
  for (const char* one : {"1", "1.0", "1e0", "10e-1", "0.1E+1", "100e-2"}) {
    CHECK(Parsed(one) == Value(1));
  }
  CHECK(Parsed("-0") == Value(0));
  CHECK(Parsed("0e5") == Parsed("0.00"));
  CHECK_FALSE(Parsed("10") == Value(1));
  CHECK_FALSE(Parsed("-1") == Value(1));
  CHECK_FALSE(Parsed("9007199254740993") == Parsed("9007199254740992"));
  CHECK_FALSE(Parsed("1") == Value("1"));
}

TEST_CASE("json: only an integer of 64 bits is an Int64", "[json]") {
  CHECK(Parsed("-9223372036854775808").AsInt64() == INT64_MIN);
  CHECK(Parsed("9223372036854775808").AsInt64() == std::nullopt);
  CHECK(Parsed("1.0").AsInt64() == std::nullopt);
  CHECK(Parsed("1e3").AsInt64() == std::nullopt);
  CHECK(Parsed("\"1\"").AsInt64() == std::nullopt);
  CHECK(Parsed("2.5e1").AsDouble() == 25.0);
  CHECK(Write(Value(0.1)) == "0.1");
  CHECK(Value(std::numeric_limits<double>::infinity()).IsNull());
}

TEST_CASE("json: objects are equal whatever the order of their members", "[json]") {
  CHECK(Parsed(R"({"a":1,"b":[{"c":2,"d":3}]})") == Parsed(R"({"b":[{"d":3,"c":2}],"a":1})"));
  CHECK_FALSE(Parsed(R"({"a":1})") == Parsed(R"({"a":1,"b":null})"));
  CHECK_FALSE(Parsed(R"({"a":1,"b":2})") == Parsed(R"({"a":1,"c":2})"));
  CHECK_FALSE(Parsed("[1,2]") == Parsed("[2,1]"));
}

TEST_CASE("json: paths are found and created, and missing ones are reported", "[json]") {
  Value value = Parsed(R"({"metadata":{"name":"x","n":5}})");
  CHECK(value.StringAt({"metadata", "name"}) == "x");
  CHECK(value.StringAt({"metadata", "n"}).empty());
  const Value listed = Parsed(R"({"a":{"b":[1,2]}})");
  CHECK(listed.ArrayAt({"a", "b"}).size() == 2);
  CHECK(value.ArrayAt({"metadata", "name"}).empty());
  CHECK(value.ArrayAt({"metadata", "absent"}).empty());
  CHECK(value.At({"metadata", "name", "deeper"}) == nullptr);
  CHECK(value.At({"absent"}) == nullptr);
  value.Make({"metadata", "labels", "a"}) = "b";
  value.Make({"metadata", "n", "m"}) = 1;
  CHECK(Write(value) == R"({"metadata":{"name":"x","n":{"m":1},"labels":{"a":"b"}}})");
  CHECK(value.AsObject()->Erase("metadata"));
  CHECK_FALSE(value.AsObject()->Erase("metadata"));
}

TEST_CASE("json: invalid UTF-8 is written as replacement characters", "[json]") {
  CHECK(Quote("a\xFFz") == "\"a\xEF\xBF\xBDz\"");
  CHECK(Quote("\xC3") == "\"\xEF\xBF\xBD\"");
  CHECK(Quote(std::string("\0", 1)) == "\"\\u0000\"");
  CHECK(Parse(Quote("\xF0\x9F\x98")).has_value());
}

TEST_CASE("json: the pretty form is indented by four", "[json]") {
  CHECK(WritePretty(Parsed(R"({"a":[1,{}],"b":[]})")) ==
        "{\n    \"a\": [\n        1,\n        {}\n    ],\n    \"b\": []\n}");
}

}  // namespace
}  // namespace json::value_test
