#include "pkg/config/yaml.h"

#include <array>
#include <catch2/catch.hpp>

namespace config::yaml_test {
namespace {

// The meaning of the text, as JSON.
std::string Json(std::string_view text) {
  const auto value = ParseYaml(text);
  INFO(text);
  if (!value) FAIL(value.error().message);
  return json::Write(*value);
}

std::string ErrorOf(std::string_view text, YamlLimits limits = {}) {
  const auto value = ParseYaml(text, limits);
  INFO(text);
  REQUIRE(value.has_error());
  CHECK(value.error().code == base::ErrorCode::kMalformed);
  return value.error().message;
}

bool Says(const std::string& message, std::string_view part) {
  INFO(message << " should say " << part);
  return message.find(part) != std::string::npos;
}

TEST_CASE("yaml: unquoted scalars get the types that Kubernetes' tools give them", "[config]") {
  CHECK(Json("[null, ~, Null, ]") == "[null,null,null]");
  CHECK(Json("[true, True, yes, on, y, FALSE, no, Off, n]") ==
        "[true,true,true,true,true,false,false,false,false]");
  CHECK(Json("[1, -7, +5, 0x1F, 0b101, 0o17, 017, 1_000]") == "[1,-7,5,31,5,15,15,1000]");
  CHECK(Json("[18446744073709551615, -9223372036854775808]") ==
        "[18446744073709551615,-9223372036854775808]");
  CHECK(Json("[0.5, .5, 1., 1e3, 1.5E-7, 08, -0.25]") == "[0.5,0.5,1,1000,1.5e-07,8,-0.25]");
  CHECK(Json("[-0, -.0, 0.0]") == "[-0,-0,0]");
  CHECK(Json("[100m, 1Gi, 1.2.3, 0x, 1e, _1, tRuE, 2026-01-02, 1:30, '']") ==
        R"(["100m","1Gi","1.2.3","0x","1e","_1","tRuE","2026-01-02","1:30",""])");
}

TEST_CASE("yaml: a number means the same in JSON and in YAML", "[config]") {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kNumbers{{
      {"18446744073709551615", "18446744073709551615"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"18446744073709551616", "18446744073709551616"},  // a power of two, and so a float
      {"18446744073709551617", "18446744073709551616"},
      {"-9223372036854775809", "-9223372036854775808"},
      {"11110000000000000000571", "1.111e+22"},
      {"0.10000000000000000001", "0.1"},
      {"1.50", "1.5"},
      {"1e3", "1000"},
      {"-0", "-0"},
      {"1e-400", "0"},
      {"-1e-400", "-0"},
      {"1e400", "\"1e400\""},  // too large for a float, so not a number in Go either
  }};
  for (const auto& [text, number] : kNumbers) {
    const std::string wanted = "{\"a\":[" + std::string(number) + "]}";
    const std::string json = "{\"a\":[" + std::string(text) + "]}";
    CHECK(Json(json) == wanted);
    CHECK(Json(json + " # no JSON") == wanted);
    CHECK(Json("a:\n- " + std::string(text) + "\n") == wanted);
    CHECK(Json(WriteYaml(*ParseYaml(json))) == wanted);
  }
}

TEST_CASE("yaml: quoted and block scalars stay strings", "[config]") {
  CHECK(Json("['1', \"true\", 'null', \"a\\n\\u00e9\"]") == "[\"1\",\"true\",\"null\",\"a\\né\"]");
  CHECK(Json("a: |\n  1\n  2\nb: >-\n  x\n  y\n") == R"({"a":"1\n2\n","b":"x y"})");
  CHECK(Json("[!!str 1, !!int \"7\", !!float 1, !!bool \"true\", !!null '']") ==
        R"(["1",7,1,true,null])");
}

TEST_CASE("yaml: keys become strings", "[config]") {
  CHECK(Json("{1: a, true: b, 'x': c, yes: d}") == R"({"1":"a","true":"d","x":"c"})");
  CHECK(Says(ErrorOf("? [a]\n: b\n"), "a key must be a scalar"));
  CHECK(Says(ErrorOf("~: b\n"), "a key must not be null"));
}

TEST_CASE("yaml: a manifest is read like its JSON form", "[config]") {
  CHECK(Json("# quota\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec:\n"
             "  hard:\n    cpu: 1\n    \"pods\": \"4\"\n  scopes:\n  - BestEffort\n") ==
        R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q"},)"
        R"("spec":{"hard":{"cpu":1,"pods":"4"},"scopes":["BestEffort"]}})");
  CHECK(Json(R"({"a": "\ud83d\ude00\/", "b": [1.50]})") == R"({"a":"😀/","b":[1.5]})");
  CHECK(Json("{\"a\": 1, b: 2} # flow") == R"({"a":1,"b":2})");
}

TEST_CASE("yaml: aliases are expanded, and a merge key stands for its members", "[config]") {
  CHECK(Json("a: &x {k: [1]}\nb: *x\nc: &s text\nd: *s\n") ==
        R"({"a":{"k":[1]},"b":{"k":[1]},"c":"text","d":"text"})");
  const auto merged = ParseYaml(
      "p: &p {a: 1, b: 1}\nq: &q {b: 2, c: 2}\nr: {<<: *p, b: 9}\ns: {<<: [*p, *q]}\nt: {'<<': 1}\n"
      "u: {b: 9, <<: *p}\nv: {<<: *p, a: 5, <<: *q}");
  REQUIRE(merged.has_value());
  CHECK(*merged->At({"r"}) == json::Object{{"a", 1}, {"b", 9}});
  CHECK(*merged->At({"s"}) == json::Object{{"a", 1}, {"b", 1}, {"c", 2}});
  CHECK(*merged->At({"t"}) == json::Object{{"<<", 1}});
  CHECK(*merged->At({"u"}) == json::Object{{"a", 1}, {"b", 1}});
  CHECK(*merged->At({"v"}) == json::Object{{"a", 5}, {"b", 2}, {"c", 2}});
  CHECK(Says(ErrorOf("a: {<<: 1}"), "<< needs a map"));
  CHECK(Says(ErrorOf("a: &x [*x]"), "an alias is inside"));
  ErrorOf("a: *unknown");
}

TEST_CASE("yaml: of equal keys the last one wins", "[config]") {
  CHECK(Json("a: 1\nb: 2\na: 3\n") == R"({"a":3,"b":2})");
}

TEST_CASE("yaml: errors name line and column", "[config]") {
  CHECK(Says(ErrorOf("a: 1\nb: [1, 2\nc: 3\n"), "malformed YAML at line "));
  CHECK(Says(ErrorOf("a: 1\n b: 2\n"), "line 2, column 3"));
  CHECK(Says(ErrorOf("a: 1\nb: .inf\n"), "line 2, column 4: .inf cannot be written in JSON"));
  CHECK(Says(ErrorOf("a: 1\nb: \xFF\n"), "line 2: not UTF-8"));
  CHECK(Says(ErrorOf("a: !!int x\n"), "\"x\" is not a valid int"));
  CHECK(Says(ErrorOf("a: !custom x\n"), "unsupported tag"));
  for (const char* text : {"a: 'b", "{", "]", "\"", "a: \"b\n", "a: 'b\n  \n  ", "a: '",
                           "a:\n\t- b", "- a\nb: c", "%YAML 9.9\n---\na: @b"}) {
    ErrorOf(text);
  }
}

TEST_CASE("yaml: JSON documents may follow each other", "[config]") {
  const auto written = [](std::string_view text) {
    const auto documents = ParseYamlDocuments(text);
    INFO(text);
    REQUIRE(documents.has_value());
    std::string all;
    for (const json::Value& document : *documents) all += json::Write(document);
    return all;
  };
  CHECK(written(R"({"a":"}{"}{"b":1.50})") == R"({"a":"}{"}{"b":1.5})");
  CHECK(written("{\"a\":1}\n{\"b\":\n2}\n \n") == R"({"a":1}{"b":2})");
  CHECK(written("{\"a\":1}\n---\n{\"b\":2}\n") == R"({"a":1}{"b":2})");
  CHECK(ErrorOf(R"({"a":1}{"b":2})") == "expected one YAML document, found 2");
  CHECK(ParseYamlDocuments(R"({"a":1}{"b":2)").has_error());
  CHECK(ParseYamlDocuments(R"({"a":1}{"b":2} c)").has_error());
}

TEST_CASE("yaml: documents are separated, empty ones omitted", "[config]") {
  const auto documents = ParseYamlDocuments("---\na: 1\n---\n# nothing\n---\n- 2\n...\n---\n");
  REQUIRE(documents.has_value());
  REQUIRE(documents->size() == 2);
  CHECK(json::Write((*documents)[0]) == R"({"a":1})");
  CHECK(json::Write((*documents)[1]) == "[2]");
  CHECK(Json("") == "null");
  CHECK(Json("# only a comment\n") == "null");
  CHECK(Json("--- {a: 1}\n---\n") == R"({"a":1})");
  CHECK(Says(ErrorOf("a: 1\n---\nb: 2\n"), "found 2"));
}

TEST_CASE("yaml: text after a document is an error, not another document", "[config]") {
  CHECK(Says(ErrorOf("- x\ny\n"), "line 2, column 1: unexpected text after the document"));
  CHECK(Says(ErrorOf("{a: 1}\n:\n"), "line 2"));
  CHECK(Says(ErrorOf("a: 1\n---\n- x\ny\n"), "line 4"));
  const auto documents = ParseYamlDocuments("a: 1\n...\n# next\n\nb: 2\n---\nc: 3\n--- d\n");
  REQUIRE(documents.has_value());
  CHECK(documents->size() == 4);
}

TEST_CASE("yaml: nesting is bounded, even through aliases", "[config]") {
  CHECK(ParseYaml("[[[1]]]", {.depth = 3}).has_value());
  CHECK(Says(ErrorOf("[[[1]]]", {.depth = 2}), "nested deeper than 2 levels"));
  CHECK(Says(ErrorOf("a: &a [1]\nb: [*a]\n", {.depth = 2}), "nested deeper"));
  ErrorOf(std::string(100'000, '['));
  std::string braces;
  for (int i = 0; i < 10'000; ++i) braces += "{a: ";
  ErrorOf(braces);
}

TEST_CASE("yaml: aliases that multiply are refused", "[config]") {
  std::string laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int j = 1; j < 9; ++j) laughs += ", " + last;
    laughs += "]\n";
  }
  CHECK(Says(ErrorOf(laughs), "aliases repeat too much"));
  std::string long_text = "a: &a " + std::string(10'000, 'x') + "\nb:\n";
  for (int i = 0; i < 1'000; ++i) long_text += "- *a\n";
  CHECK(Says(ErrorOf(long_text), "aliases repeat too much"));
}

TEST_CASE("yaml: a written value is read back unchanged", "[config]") {
  for (const char* text :
       {R"({"a":{"b":[1,{"c":"d","e":[]},[[2],{}],"x"],"f":{}},"g":null})", "[]", "{}", "\"\"", "7",
        "[[1,[2]],{\"a\":[{\"b\":1}]}]",
        R"(["true","yes","1","1e3","0x1","~","null",".inf","- a","a: b","#x","@a","*a","&a","!a"])",
        R"([" lead","trail ","two\nlines\n","tab\t","quote\"s"])",
        R"(["'","%","`","é","|",">","?","<<","a #b"])",
        R"({"true":1,"1":2,"":3,"a b":4,"x: y":5,"<<":6})", R"([0.50,1e3,9007199254740993,false])",
        R"(["---","...","-","=","2026-01-02","a=b","v1.2.3","registry/x@sha256"])"}) {
    const json::Value value = *json::Parse(text);
    const std::string written = WriteYaml(value);
    INFO(written);
    const auto read = ParseYaml(written);
    REQUIRE(read.has_value());
    CHECK(*read == value);
  }
}

TEST_CASE("yaml: the written form is block style", "[config]") {
  const json::Value value = *json::Parse(R"({"a":{"b":["x",{"c":1,"d":"2"}]},"e":[],"f":true})");
  CHECK(WriteYaml(value) == "a:\n  b:\n  - x\n  - c: 1\n    d: \"2\"\ne: []\nf: true\n");
}

TEST_CASE("yaml: a key of any length is read as it was written", "[config]") {
  for (const std::size_t length : {999U, 1001U, 1025U, 5000U}) {
    INFO(length);
    const std::string key(length, 'k');
    json::Value value;
    value.Make({"a", key, "b"}) = 1;
    value.Make({"list"}) = json::Array{json::Object{{key, json::Array{"x"}}, {"y", 2}}};
    const auto again = ParseYaml(WriteYaml(value));
    REQUIRE(again.has_value());
    CHECK(*again == value);
  }
}

}  // namespace
}  // namespace config::yaml_test
