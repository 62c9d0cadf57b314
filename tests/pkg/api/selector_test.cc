#include "pkg/api/selector.h"

#include <catch2/catch.hpp>
#include <map>

namespace api::selector_test {
namespace {

json::Value Labels(std::string_view text) { return *json::Parse(text); }

bool Selects(std::string_view selector, std::string_view labels) {
  const auto parsed = LabelSelector::Parse(selector);
  INFO(selector);
  if (!parsed) FAIL(parsed.error().message);
  const json::Value value = Labels(labels);
  return parsed->Matches(&value);
}

TEST_CASE("label selector: every operator of the query form is parsed", "[api]") {
  const char* labels = R"({"a":"b","n":"5","e":""})";
  for (const char* selector : {"",
                               " ",
                               "a=b",
                               "a==b",
                               "a = b",
                               "a!=c",
                               "x!=b",
                               "a in (b,c)",
                               "a in(c,b)",
                               "a notin (c)",
                               "x notin (c)",
                               "a",
                               "!x",
                               "! x",
                               "e=",
                               "e",
                               "e in (,q)",
                               "n>4",
                               "n<6",
                               "a=b,n=5,!x",
                               "in!=x",
                               "notin notin (in)"}) {
    INFO(selector);
    CHECK(Selects(selector, labels));
  }
  for (const char* selector : {"a=c", "a!=b", "a in (c,d)", "a notin (b)", "x", "!a", "x=", "e!=",
                               "n>5", "n<5", "x>1", "a>1", "a=b,x", "x in (b)", "a=in"}) {
    INFO(selector);
    CHECK_FALSE(Selects(selector, labels));
  }
}

TEST_CASE("label selector: an object without labels has no label", "[api]") {
  const auto selector = LabelSelector::Parse("!a,b!=c");
  REQUIRE(selector.has_value());
  CHECK(selector->Matches(nullptr));
  const json::Value null;
  CHECK(selector->Matches(&null));
  CHECK_FALSE(LabelSelector::Parse("a")->Matches(nullptr));
  CHECK(LabelSelector().Matches(nullptr));
}

TEST_CASE("label selector: a malformed selector is refused", "[api]") {
  for (const char* selector :
       {",",          "a,",    ",a",   "a=b,,c", "a b",    "a in", "a in b", "a in (b", "a in ()",
        "a in (b c)", "!a=b",  "!",    "a=b=c",  "a===b",  "=b",   "a!b",    "a>x",     "a>",
        "a=-b",       "a=b/c", "-a=b", "a/b/c",  "A.B_/c", "/a",   "a=(b)",  "(a)"}) {
    INFO(selector);
    const auto parsed = LabelSelector::Parse(selector);
    REQUIRE(parsed.has_error());
    CHECK(parsed.error().code == base::ErrorCode::kInvalidArgument);
    CHECK(parsed.error().message.starts_with("unable to parse requirement: "));
  }
  CHECK(LabelSelector::Parse("a=" + std::string(63, 'x')).has_value());
  CHECK(LabelSelector::Parse("a=" + std::string(64, 'x')).has_error());
  CHECK(LabelSelector::Parse("app.kubernetes.io/Name_1=v1.2-x_Y").has_value());
}

TEST_CASE("label selector: the JSON form is parsed", "[api]") {
  const auto selector = LabelSelector::FromJson(*json::Parse(
      R"({"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"In","values":["d","e"]},
        {"key":"f","operator":"NotIn","values":["g"]},{"key":"h","operator":"Exists"},
        {"key":"i","operator":"DoesNotExist","values":[]}]})"));
  REQUIRE(selector.has_value());
  const auto matches = [&](const char* text) {
    const json::Value labels = Labels(text);
    return selector->Matches(&labels);
  };
  CHECK(matches(R"({"a":"b","c":"e","h":""})"));
  CHECK_FALSE(matches(R"({"a":"x","c":"e","h":""})"));
  CHECK_FALSE(matches(R"({"a":"b","h":""})"));
  CHECK_FALSE(matches(R"({"a":"b","c":"e","f":"g","h":""})"));
  CHECK_FALSE(matches(R"({"a":"b","c":"e"})"));
  CHECK_FALSE(matches(R"({"a":"b","c":"e","h":"","i":"1"})"));
  CHECK(LabelSelector::FromJson(*json::Parse("{}"))->empty());
}

TEST_CASE("label selector: a JSON form of another shape is refused", "[api]") {
  for (const char* text :
       {"null", "[]", R"({"matchLabels":[]})", R"({"matchLabels":{"a":1}})",
        R"({"matchExpressions":{}})", R"({"matchExpressions":[{"key":"a","operator":"in"}]})",
        R"({"matchExpressions":[{"key":"a","operator":"In"}]})",
        R"({"matchExpressions":[{"key":"a","operator":"In","values":[1]}]})",
        R"({"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]})",
        R"({"matchExpressions":[{"key":"","operator":"Exists"}]})",
        R"({"matchExpressions":[5]})"}) {
    INFO(text);
    const auto selector = LabelSelector::FromJson(*json::Parse(text));
    REQUIRE(selector.has_error());
    CHECK(selector.error().code == base::ErrorCode::kInvalidArgument);
  }
}

bool SelectsFields(std::string_view text) {
  static const std::map<std::string, std::string, std::less<>> fields{
      {"metadata.name", "x"}, {"status.phase", "Running"}, {"odd", "a,b=c\\"}};
  const auto selector = FieldSelector::Parse(text);
  INFO(text);
  if (!selector) FAIL(selector.error().message);
  return selector->Matches([](std::string_view field) {
    const auto found = fields.find(field);
    return found == fields.end() ? std::string() : found->second;
  });
}

TEST_CASE("field selector: equal, not equal, several and escaped terms match", "[api]") {
  for (const char* text : {"", "metadata.name=x", "metadata.name==x", "status.phase!=Failed",
                           "metadata.name=x,status.phase!=Failed", "spec.nodeName=",
                           "metadata.name!=", ",metadata.name=x,", R"(odd=a\,b\=c\\)"}) {
    INFO(text);
    CHECK(SelectsFields(text));
  }
  for (const char* text : {"metadata.name=y", "metadata.name!=x", "spec.nodeName=n",
                           "spec.nodeName!=", "metadata.name=x,status.phase=Failed"}) {
    INFO(text);
    CHECK_FALSE(SelectsFields(text));
  }
}

TEST_CASE("field selector: a malformed selector is refused", "[api]") {
  for (const char* text : {"a", "a,b=c", "=b", "!=b", "a=b=c", R"(a=\x)", R"(a=b\)", "a>b"}) {
    INFO(text);
    const auto selector = FieldSelector::Parse(text);
    REQUIRE(selector.has_error());
    CHECK(selector.error().code == base::ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace api::selector_test
