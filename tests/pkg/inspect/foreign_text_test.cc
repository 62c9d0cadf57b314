#include "pkg/inspect/foreign_text.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "pkg/config/yaml.h"
#include "pkg/inspect/table.h"
#include "pkg/json/utf8.h"
#include "pkg/json/value.h"

namespace foreign_text_test {

using inspect::Harmless;

// One of each kind: it moves the cursor, names a window, ends a line, reverses, hides.
const std::string kHostile =
    "a\x1b[2J\x1b]0;t\a\r\n\xC2\x9B\x32J\xE2\x80\xAE\xE2\x80\xA8\xE2\x80\x8B\xF3\xA0\x81\x81z";

TEST_CASE("foreign text: a hidden character becomes a blank", "[inspect]") {
  CHECK(Harmless(kHostile) == "a [2J ]0;t    2J    z");
  CHECK(Harmless("grüße ██ 日本 ✓") == "grüße ██ 日本 ✓");
  CHECK(Harmless(std::string_view("\0\x7F", 2)) == "  ");
  CHECK(Harmless("") == "");
  for (const char* ignorable :
       {"\u034F", "\u115F", "\u180F", "\u3164", "\uFE0F", "\uFFA0", "\U000E0100", "\U0001D173"}) {
    CHECK(Harmless(ignorable) == " ");
  }
  CHECK(inspect::Line("a\nb") == "a b\n");
}

TEST_CASE("foreign text: bytes that are not UTF-8 are replaced one by one", "[inspect]") {
  CHECK(Harmless("a\x9B\xC0z\xE2\x80") == "a\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("foreign text: output keeps its line ends and the colours of tables", "[inspect]") {
  const inspect::Table table{.titles = {"A"}, .rows = {{{"x", inspect::Tone::kFull}}}};
  const std::string coloured = inspect::PrintTable(table, {.colours = true});
  CHECK(inspect::HarmlessOutput(coloured) == coloured);
  CHECK(inspect::HarmlessOutput("a,b\r\nc,d\r\n") == "a,b\r\nc,d\r\n");
  CHECK(inspect::HarmlessOutput("\n\n") == "\n\n");
  CHECK(inspect::HarmlessOutput("a\rb\x1b[41mc\x1b[31") == "a b [41mc [31");
}

TEST_CASE("foreign text: documents keep the value of every string", "[inspect]") {
  std::string long_key(400, 'k');
  for (int i = 0; i < 200; ++i) long_key += "\xE2\x80\xAE";
  const json::Value value = json::Object{
      {kHostile, kHostile}, {"plain", "x"}, {long_key, "y"}, {std::string(400, '\x7F'), "z"}};
  for (const bool yaml : {false, true}) {
    const std::string text = yaml ? inspect::HarmlessYaml(config::WriteYaml(value))
                                  : inspect::HarmlessJson(json::WritePretty(value));
    INFO(text);
    CHECK(inspect::HarmlessOutput(text) == text);
    const auto read = config::ParseYaml(text);
    REQUIRE(read.has_value());
    CHECK(*read == value);
  }
}

TEST_CASE("foreign text: whatever the bytes are, no control character is left", "[inspect]") {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 24, '\0');
    for (char& c : text) {
      constexpr std::string_view kOften = "\x1b\r\n[0m\xC2\x9B\xE2\x80\xAE\xF3\xA0";
      c = random() % 2 == 0 ? kOften[random() % kOften.size()] : static_cast<char>(random());
    }
    const std::string safe = Harmless(text);
    REQUIRE(json::FindInvalidUtf8(safe) == std::string::npos);
    REQUIRE(safe.find_first_of("\r\n\x1b\x7F") == std::string::npos);
    REQUIRE(safe.find("\xC2\x9B") == std::string::npos);
    REQUIRE(Harmless(safe) == safe);
    REQUIRE(inspect::HarmlessOutput(safe) == safe);
    const inspect::Table table{.titles = {"A", "B"}, .rows = {{text, "x"}, {"y", text}}};
    const std::string printed = inspect::PrintTable(table, {.titles = false});
    REQUIRE(std::ranges::count(printed, '\n') == 2);
  }
}

}  // namespace foreign_text_test
