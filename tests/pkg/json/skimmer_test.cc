#include <catch2/catch.hpp>
#include <random>

#include "pkg/json/projection.h"
#include "pkg/json/skimmer.h"
#include "pkg/json/splitter.h"

namespace json::skimmer_test {
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

// What a list of two documents gives, each decoded, in pieces of random lengths.
std::vector<std::string> Listed(const std::string& list, Scanner* items, std::mt19937& random,
                                const DocumentSink& item) {
  ListSplitter splitter(1 << 20, items);
  std::string_view rest = list;
  while (!rest.empty()) {
    const std::string_view piece = rest.substr(0, 1 + random() % (random() % 4 == 0 ? 300 : 20));
    rest.remove_prefix(piece.size());
    const auto fed = splitter.Feed(piece, item);
    if (!fed) return {fed.error().message};
  }
  const auto envelope = splitter.Envelope();
  return {envelope ? *envelope : envelope.error().message};
}

// Damages a few bytes, or none.
std::string Mutated(std::string text, std::mt19937& random) {
  static constexpr std::string_view kBytes = "{}[]\"\\:,0e. ntu/\n\x01\x80\xc3";
  for (unsigned i = random() % 4; i > 0; --i) {
    const std::size_t at = random() % text.size();
    const char byte = kBytes[random() % kBytes.size()];
    switch (random() % 4) {
      case 0:
        text.erase(at, 1 + random() % 3);
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), random() % 40));
        break;
      default:
        text[at] = byte;
    }
    if (text.empty()) return "0";
  }
  return text;
}

std::string TextOf(const base::Result<Value>& value) {
  return value ? Write(*value) : value.error().message;
}

// First the documents are found and then parsed by RapidJSON, or both is done in one pass.
TEST_CASE("skimmer: one pass gives what two passes give", "[json]") {
  const Projection projection({"a.b.c", "b.*.a", "d", "e.e"});
  std::mt19937 random(1);
  int wrong = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    Generator generator(seed);
    const std::string list = "{\"items\":[" + Mutated(generator.Container('{', '}', 5), random) +
                             "," + Mutated(generator.Container('{', '}', 4), random) + "]}";
    CAPTURE(list);
    std::vector<std::string> texts;
    const auto said = Listed(list, nullptr, random, [&](std::string_view text) {
      texts.emplace_back(text);
      return base::Result<void>();
    });
    Skimmer skimmer(projection);
    std::size_t passed = 0;
    const auto told = Listed(list, &skimmer, random, [&](std::string_view text) {
      REQUIRE(passed < texts.size());
      REQUIRE(text == texts[passed++]);
      const auto skimmed = skimmer.Take(text);
      const auto parsed = ParseProjected(text, projection);
      // Mistakes in unwanted parts go unnoticed.
      if (parsed || !skimmed) REQUIRE(TextOf(skimmed) == TextOf(parsed));
      REQUIRE(TextOf(skimmed) == TextOf(Skim(text, projection)));
      wrong += parsed ? 0 : 1;
      return base::Result<void>();
    });
    REQUIRE(told == said);
    REQUIRE(passed == texts.size());
  }
  CHECK(wrong > 1000);
}

TEST_CASE("skimmer: a document may be cut at every byte", "[json]") {
  const Projection projection({"a.b", "long name"});
  const std::string text =
      R"( {"skip":[1,{"x":"}\\\"{"}],"a":{"b":"t\u00e9xt","c":[]},"long name":-1.5e3 })";
  const std::string expected = R"({"a":{"b":"t\u00e9xt"},"long name":-1.5e3})";
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    Skimmer skimmer(projection);
    DocumentSplitter splitter(1000, &skimmer);
    int documents = 0;
    const auto take = [&](std::string_view document) -> base::Result<void> {
      ++documents;
      const auto value = skimmer.Take(document);
      REQUIRE(value.has_value());
      CHECK(*value == Parse(expected).value());
      return {};
    };
    for (int twice = 0; twice < 2; ++twice) {
      CHECK(splitter.AtBoundary());
      REQUIRE(splitter.Feed(text.substr(0, cut), take).has_value());
      REQUIRE(splitter.Feed(text.substr(cut), take).has_value());
    }
    CHECK(documents == 2);
  }
}

TEST_CASE("skimmer: a scalar hides no bracket and no string", "[json]") {
  const Projection projection({"a"});
  for (const char* scalar : {R"(t"}")", "t{}", "t[{}]", R"(\"}")"}) {
    const std::string text = std::string(R"({"skip":)") + scalar + R"(,"a":1})";
    Skimmer skimmer(projection);
    NestingScanner plain;
    CAPTURE(text);
    CHECK(skimmer.Scan(text) == plain.Scan(text));
    CHECK(skimmer.Complete() == plain.Complete());
    CHECK_FALSE(skimmer.Take(text).has_value());
  }
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
      std::string text = "{\"";
      text.append(name).append("\":").append(wanted).append("}");
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
}  // namespace json::skimmer_test
