#include <catch2/catch.hpp>
#include <random>

#include "pkg/json/projection.h"

namespace json::skim_test {
namespace {

void CheckSame(const std::string& text, const std::vector<std::string>& paths) {
  const Projection projection(paths);
  const auto expected = ParseProjected(text, projection);
  const auto skimmed = Skim(text, projection);
  CAPTURE(text, paths);
  REQUIRE(expected.has_value());
  REQUIRE(skimmed.has_value());
  CHECK(Write(*skimmed) == Write(*expected));
}

// Generates documents with every kind of value, much white space, and strings full of brackets.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string Value(int depth) {
    switch (Pick(depth > 0 ? 7 : 5)) {
      case 0:
        return Blank() + "null";
      case 1:
        return Blank() + "-12.5e3" + Blank();
      case 2:
        return "true";
      case 3:
      case 4:
        return Blank() + String();
      case 5:
        return Container('[', ']', depth);
      default:
        return Container('{', '}', depth);
    }
  }
  std::string Container(char open, char close, int depth) {
    std::string text = Blank() + open + Blank();
    const unsigned count = Pick(5);
    for (unsigned i = 0; i < count; ++i) {
      if (i > 0) text += "," + Blank();
      if (open == '{') text += "\"" + std::string(1, "abcde"[i]) + "\"" + Blank() + ":";
      text += Value(depth - 1);
    }
    return text + Blank() + close + Blank();
  }

 private:
  unsigned Pick(unsigned below) { return static_cast<unsigned>(random_()) % below; }
  std::string Blank() { return std::string(Pick(12) == 0 ? Pick(70) : 0, ' '); }
  std::string String() {
    static const std::vector<std::string> parts{"{",    "}",    "[",       "]", "\\\"",
                                                "\\\\", "name", "\\u00e9", "é", ","};
    std::string text = "\"";
    for (unsigned i = Pick(Pick(20) == 0 ? 200 : 8); i > 0; --i) {
      text += parts[Pick(static_cast<unsigned>(parts.size()))];
    }
    return text + "\"";
  }

  std::mt19937 random_;
};

TEST_CASE("skim: the result is that of the projecting parser", "[json]") {
  const std::vector<std::vector<std::string>> projections = {
      {}, {""}, {"a"}, {"a.b", "c"}, {"*.a"}, {"a.b.c", "b.*.a", "d"}, {"e.e.e"}};
  for (unsigned seed = 0; seed < 500; ++seed) {
    Generator generator(seed);
    const std::string text = generator.Container('{', '}', 5);
    for (const auto& paths : projections) CheckSame(text, paths);
  }
  CheckSame(" 7 ", {"a"});
  CheckSame(R"([[{"a":1,"b":2}],{"a":3}])", {"a"});
  CheckSame(R"({"a":1,"x":2,"a":{"b":1}})", {"a.b"});
  CheckSame(R"({"\u0061":{"b":1}})", {"a.b"});
}

TEST_CASE("skim: a backslash at the end of a block escapes the first byte of the next", "[json]") {
  for (std::size_t length = 0; length < 140; ++length) {
    const std::string fill(length, 'x');
    CheckSame("{\"skip\":{\"k\":\"" + fill + "\\\"}{\"},\"a\":1}", {"a"});
    CheckSame("{\"skip\":{\"k\":\"" + fill + "\\\\\"},\"a\":[]}", {"a"});
    CheckSame("{\"skip\":[\"" + fill + "\\\\\\\"]\"],\"a\":1}", {"a"});
  }
}

TEST_CASE("skim: errors are those of the parser, at their place", "[json]") {
  const Projection projection({"a.b"});
  const std::string good = R"({"skip":[1,{"x":"y"}],"a":{"b":"text","c":[]}})";
  for (std::size_t length = 0; length < good.size(); ++length) {
    const std::string text = good.substr(0, length);
    const auto skimmed = Skim(text, projection);
    CAPTURE(text);
    REQUIRE_FALSE(skimmed.has_value());
    CHECK(skimmed.error().message == ParseProjected(text, projection).error().message);
  }
  for (const char* text :
       {R"({"a":{"b":01}})", R"({"a":{"b":1},})", R"({"a":1}})", R"({"a" 1})", R"({"a":{"b":tru}})",
        R"({"a":})", R"([1,])", R"({a:1})", "{\"a\":{\"b\":\"\xff\"}}"}) {
    const auto skimmed = Skim(text, projection);
    CAPTURE(text);
    REQUIRE_FALSE(skimmed.has_value());
    CHECK(skimmed.error().Is(base::ErrorCode::kMalformed));
  }
  CHECK_FALSE(Skim(std::string(1000, '['), projection).has_value());
}

TEST_CASE("skim: an error in a skipped part is not detected", "[json]") {
  const Projection projection({"a"});
  const auto skimmed = Skim(R"({"skip":{"x":tru,,},"a":1})", projection);
  REQUIRE(skimmed.has_value());
  CHECK(Write(*skimmed) == R"({"a":1})");
}

// Documents whose wanted part is small as text and large in memory, or just large.
std::string Repeated(const std::string& element, std::size_t bytes) {
  std::string list = element;
  while (list.size() < bytes) list += "," + element;
  return "[" + list + "]";
}

TEST_CASE("skim: the memory for wanted parts is bounded", "[json]") {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  const Projection projection({"a.b"});
  for (const std::string& wanted :
       {Repeated("0", kBytes / 8), Repeated("{}", kBytes / 8), Repeated(R"({"b":""})", kBytes / 8),
        Repeated("[]", 2 * kBytes), "{\"b\":\"" + std::string(kBytes, 'x') + "\"}"}) {
    for (const std::string& name : {std::string("a"), std::string("\\u0061")}) {
      const std::string text = "{\"" + name + "\":" + wanted + "}";
      for (const auto& read : {Skim(text, projection, {.bytes = kBytes}),
                               ParseProjected(text, projection, {.bytes = kBytes})}) {
        REQUIRE_FALSE(read.has_value());
        CHECK(read.error().Is(base::ErrorCode::kTooLarge));
        CHECK(read.error().message == "JSON that takes more than 1048576 bytes of memory");
      }
      CHECK(Skim(text, projection).has_value());
    }
  }
  const auto whole = Parse(Repeated("0", kBytes / 8), {.bytes = kBytes});
  REQUIRE_FALSE(whole.has_value());
  CHECK(whole.error().Is(base::ErrorCode::kTooLarge));
}

TEST_CASE("skim: skipped parts may have any size", "[json]") {
  const Projection projection({"a"});
  const std::string text = R"({"skip":)" + Repeated("{}", 1 << 20) + R"(,"a":1})";
  CHECK(Skim(text, projection, {.bytes = 1000}).has_value());
  CHECK(ParseProjected(text, projection, {.bytes = 1000}).has_value());
}

TEST_CASE("json: the size of a value includes everything below it", "[json]") {
  const std::string text(100, 'x');
  CHECK(SizeInMemory(Value()) == sizeof(Value));
  CHECK(SizeInMemory(Value(text)) == sizeof(Value) + 100);
  const Value tree(Object{{"name", Value(text)}, {"list", Value(Array{1, nullptr})}});
  CHECK(SizeInMemory(tree) ==
        5 * sizeof(Value) + 100 + 1 + 2 * sizeof(std::string) + std::size_t{8});
}

}  // namespace
}  // namespace json::skim_test
