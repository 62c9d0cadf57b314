#include "pkg/quota/cluster/label_text.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "pkg/api/selector.h"

namespace label_text_test {
namespace {

using quota::LabelText;

bool Matches(const api::LabelSelector& selector, const json::Value& labels) {
  const LabelText text(&labels);
  return selector.Matches([&](std::string_view key) { return text.Find(key); });
}

TEST_CASE("label text: each label is found, and no other", "[quota]") {
  const json::Value labels = json::Object{
      {"team", "a"}, {"app.kubernetes.io/name", "web"}, {"a", ""}, {"tea", "x"}, {"number", 7}};
  const LabelText text(&labels);
  CHECK(text.Find("team") == "a");
  CHECK(text.Find("tea") == "x");
  CHECK(text.Find("app.kubernetes.io/name") == "web");
  CHECK(text.Find("a") == "");
  for (const char* key : {"", "te", "teams", "x", "web", "app", "number"}) {
    INFO(key);
    CHECK_FALSE(text.Find(key));
  }
  std::string visited;
  text.Visit([&](std::string_view key, std::string_view value) {
    visited.append(key).append(":").append(value).append(" ");
  });
  CHECK(visited == "a: app.kubernetes.io/name:web tea:x team:a ");
  const json::Value other =
      json::Object{{"tea", "x"}, {"a", ""}, {"team", "a"}, {"app.kubernetes.io/name", "web"}};
  CHECK(LabelText(&other) == text);
  CHECK(LabelText(nullptr) == LabelText());
}

TEST_CASE("label text: selectors match as with the JSON, also texts that are no labels",
          "[quota]") {
  std::mt19937 random(5);
  const auto one_of = [&](const std::vector<std::string>& texts) {
    return texts[random() % texts.size()];
  };
  const std::vector<std::string> keys = {"a", "b", "ab", "abc", "x.y/a", "B"};
  const std::vector<std::string> values = {"", "1", "2", "x", "xy"};
  const std::vector<std::string> odd = {"=", ",", "a=", "1,b=2", "?", "x,", std::string(1, '\0')};
  const auto selectors = [] {
    std::vector<api::LabelSelector> all;
    for (const char* text : {"a", "!a", "a=1", "a!=1", "b in (1,x)", "ab notin (x,xy)",
                             "x.y/a,B!=2", "abc>1", "a<2", "", "a=,b", "!b,!ab"}) {
      all.push_back(api::LabelSelector::Parse(text).value());
    }
    return all;
  }();
  for (int i = 0; i < 20'000; ++i) {
    json::Object labels;
    for (auto n = random() % 6; n > 0; --n) {
      const bool plain = random() % 4 != 0;
      labels.Set(plain ? one_of(keys) : one_of(odd),
                 random() % 4 != 0 ? json::Value(one_of(values)) : json::Value(one_of(odd)));
    }
    if (random() % 8 == 0) labels.Set(one_of(keys), random() % 2 == 0 ? json::Value() : 1);
    const json::Value value(labels);
    INFO(json::Write(value));
    for (const api::LabelSelector& selector : selectors) {
      REQUIRE(Matches(selector, value) == selector.Matches(&value));
    }
  }
}

TEST_CASE("label text: it is no longer than the JSON", "[quota]") {
  json::Object labels;
  for (int i = 0; i < 1'000; ++i) labels.Set("l" + std::to_string(i), i % 2 == 0 ? "" : "value");
  const json::Value value(labels);
  CHECK(LabelText(&value).bytes() <= json::Write(value).size());
}

}  // namespace
}  // namespace label_text_test
