#include "pkg/http/message.h"

#include <catch2/catch.hpp>

namespace message_test {

namespace {

TEST_CASE("headers: names compare without case and keep their order", "[http]") {
  http::Headers headers{{"Content-Type", "text/plain"}, {"Warning", "299 a"}};
  headers.Add("warning", "299 b");

  CHECK(headers.Get("content-TYPE") == "text/plain");
  CHECK(headers.Get("WARNING") == "299 a");
  CHECK(headers.Get("Accept").empty());
  CHECK_FALSE(headers.Has("Accept"));
  std::vector<std::string> values;
  for (const auto& [name, value] : headers) values.push_back(value);
  CHECK(values == std::vector<std::string>{"text/plain", "299 a", "299 b"});
}

TEST_CASE("headers: setting a name replaces every field of that name", "[http]") {
  http::Headers headers{{"A", "1"}, {"B", "2"}, {"a", "3"}};
  headers.Set("a", "4");
  headers.Set("C", "5");

  std::vector<std::string> values;
  for (const auto& [name, value] : headers) values.push_back(value);
  CHECK(values == std::vector<std::string>{"4", "2", "5"});
}

TEST_CASE("headers: all spellings of a removed name are gone", "[http]") {
  http::Headers headers{{"A", "1"}, {"B", "2"}, {"a", "3"}};
  headers.Remove("a");
  CHECK_FALSE(headers.Has("A"));
  CHECK(headers.Get("b") == "2");
}

}  // namespace

}  // namespace message_test
