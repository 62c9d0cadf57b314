#include "pkg/json/splitter.h"

#include <catch2/catch.hpp>
#include <vector>

namespace json::splitter_test {
namespace {

using Texts = std::vector<std::string>;

DocumentSink Into(Texts& texts) {
  return [&texts](std::string_view text) -> base::Result<void> {
    texts.emplace_back(text);
    return {};
  };
}

// Feeds `text` in pieces of `size` bytes; the first error ends it.
template <typename Splitter>
base::Result<void> FeedIn(Splitter& splitter, std::string_view text, std::size_t size,
                          const DocumentSink& sink) {
  for (std::size_t at = 0; at < text.size(); at += size) {
    auto fed = splitter.Feed(text.substr(at, size), sink);
    if (!fed) return fed;
  }
  return {};
}

const std::string kDocuments =
    "{\"a\":\"}{\\\"[\\\\\"}\n{\"b\":[{},[]]} [1]{\"c\":\"\\\\\\\"}\"}\r\n\n{}\n";
const Texts kSplit = {"{\"a\":\"}{\\\"[\\\\\"}", "{\"b\":[{},[]]}", "[1]", "{\"c\":\"\\\\\\\"}\"}",
                      "{}"};

TEST_CASE("document splitter: documents are found wherever the bytes are cut", "[json]") {
  for (std::size_t size = 1; size <= kDocuments.size(); ++size) {
    Texts texts;
    DocumentSplitter splitter(100);
    REQUIRE(FeedIn(splitter, kDocuments, size, Into(texts)).has_value());
    CHECK(texts == kSplit);
    CHECK(splitter.AtBoundary());
  }
}

// Texts of all lengths around that of the blocks in which the splitter looks for brackets.
TEST_CASE("document splitter: long documents are found wherever the bytes are cut", "[json]") {
  Texts documents;
  std::string all;
  for (std::size_t length = 0; length < 140; ++length) {
    const std::string text(length, 'x');
    const std::string escapes = length % 3 == 0 ? R"(\\\")" : R"(}\\)";
    std::string document = R"({"a":")";
    document.append(text).append(escapes).append(R"(]{","b":[{},[")").append(text);
    documents.push_back(document.append(R"("],{}]})"));
    all.append(documents.back()).append(length % 2 == 0 ? "\n" : "");
  }
  for (const std::size_t size : {1, 63, 64, 65, 200, 1000, 100'000}) {
    Texts texts;
    DocumentSplitter splitter(1000);
    REQUIRE(FeedIn(splitter, all, size, Into(texts)).has_value());
    CHECK(texts == documents);
    CHECK(splitter.AtBoundary());
  }
}

TEST_CASE("document splitter: cuts do not matter for text that is not JSON, either", "[json]") {
  const std::string text = R"({"a":1,\"b":{}, \\"}":2})" + std::string(70, ' ') + R"({"c":\"}"})" +
                           std::string(70, ' ') + "[]";
  Texts whole;
  DocumentSplitter once(1000);
  REQUIRE(once.Feed(text, Into(whole)).has_value());
  for (std::size_t size = 1; size < text.size(); ++size) {
    Texts texts;
    DocumentSplitter splitter(1000);
    REQUIRE(FeedIn(splitter, text, size, Into(texts)).has_value());
    CHECK(texts == whole);
  }
}

TEST_CASE("document splitter: the end of a truncated document is not a boundary", "[json]") {
  for (const char* text : {"{", "{}{\"a", "[\"\\", "{\"a\":{}"}) {
    Texts texts;
    DocumentSplitter splitter(100);
    REQUIRE(splitter.Feed(text, Into(texts)).has_value());
    CHECK_FALSE(splitter.AtBoundary());
  }
}

TEST_CASE("document splitter: the size of one document is bounded, not that of the stream",
          "[json]") {
  const std::string document = "{\"a\":\"" + std::string(80, 'x') + "\"}";
  for (const std::size_t size : {1, 7, 1000}) {
    Texts texts;
    DocumentSplitter fits(document.size());
    CHECK(FeedIn(fits, document + document, size, Into(texts)).has_value());
    CHECK(texts.size() == 2);
    DocumentSplitter tight(document.size() - 1);
    const auto fed = FeedIn(tight, document, size, Into(texts));
    REQUIRE(fed.has_error());
    CHECK(fed.error().code == base::ErrorCode::kTooLarge);
  }
}

TEST_CASE("document splitter: other text is refused at its first byte", "[json]") {
  Texts texts;
  DocumentSplitter splitter(100);
  const auto fed = splitter.Feed("{} <html>", Into(texts));
  REQUIRE(fed.has_error());
  CHECK(fed.error().code == base::ErrorCode::kMalformed);
  CHECK(fed.error().message.find("byte 3") != std::string::npos);
  CHECK(texts == Texts{"{}"});
}

TEST_CASE("document splitter: an error of the sink ends the splitting", "[json]") {
  int calls = 0;
  DocumentSplitter splitter(100);
  const auto fed = splitter.Feed("{}{}{}", [&calls](std::string_view) -> base::Result<void> {
    if (++calls == 2) return base::Error{.code = base::ErrorCode::kCancelled};
    return {};
  });
  REQUIRE(fed.has_error());
  CHECK(fed.error().code == base::ErrorCode::kCancelled);
  CHECK(calls == 2);
}

struct List {
  std::string text;
  Texts items;
  std::string envelope;
};

// A list gives the same items and envelope wherever it is cut.
void CheckList(const List& list) {
  for (std::size_t size = 1; size <= list.text.size(); ++size) {
    Texts items;
    ListSplitter splitter(200);
    INFO(list.text << " in pieces of " << size);
    const auto fed = FeedIn(splitter, list.text, size, Into(items));
    REQUIRE(fed.has_value());
    CHECK(items == list.items);
    const auto envelope = splitter.Envelope();
    REQUIRE(envelope.has_value());
    CHECK(*envelope == list.envelope);
  }
}

TEST_CASE("list splitter: items and envelope are separated wherever the bytes are cut", "[json]") {
  CheckList({R"({"kind":"L","items":[{"a":1},{"b":[{}]}],"metadata":{"continue":"x"}})",
             {R"({"a":1})", R"({"b":[{}]})"},
             R"({"kind":"L","items":[],"metadata":{"continue":"x"}})"});
  CheckList({" { \"items\" : [ {} , {} ] } \n", {"{}", "{}"}, "{ \"items\" : [] }"});
  CheckList({R"({"items":[]})", {}, R"({"items":[]})"});
  CheckList({R"({"items":null,"a":1})", {}, R"({"items":null,"a":1})"});
  CheckList({"{}", {}, "{}"});
}

TEST_CASE("list splitter: strings may contain structural characters", "[json]") {
  CheckList({R"({"x":"items\":[{","items":[{"s":"]}\\\"],"},{"s":"\\"}],"y":"}]"})",
             {R"({"s":"]}\\\"],"})", R"({"s":"\\"})"},
             R"({"x":"items\":[{","items":[],"y":"}]"})"});
  CheckList({R"({"a":"items","b":["items"],"it\u0065ms":[{}]})",
             {"{}"},
             R"({"a":"items","b":["items"],"it\u0065ms":[]})"});
}

TEST_CASE("list splitter: only the items of the document itself count", "[json]") {
  CheckList({R"({"spec":{"items":[{"no":1}]},"l":[{"items":[2]}],"items":[{"items":[3]}]})",
             {R"({"items":[3]})"},
             R"({"spec":{"items":[{"no":1}]},"l":[{"items":[2]}],"items":[]})"});
  CheckList({R"({"items":{"a":[1]}})", {}, R"({"items":{"a":[1]}})"});
}

TEST_CASE("list splitter: items that are not objects are passed on, too", "[json]") {
  CheckList({R"({"items":[null,1.5e3 ,"a,]",[1,[2]],true]})",
             {"null", "1.5e3", "\"a,]\"", "[1,[2]]", "true"},
             R"({"items":[]})"});
}

TEST_CASE("list splitter: a document that is not a list is refused", "[json]") {
  for (const char* text : {"[]", "7", "<html>", R"({"items":[,{}]})", R"({"items":[{},]})",
                           R"({"items":[{}{}]})", R"({"items":[}]})", "{} {}", "{]"}) {
    Texts items;
    ListSplitter splitter(100);
    INFO(text);
    const auto fed = splitter.Feed(text, Into(items));
    REQUIRE(fed.has_error());
    CHECK(fed.error().code == base::ErrorCode::kMalformed);
  }
}

TEST_CASE("list splitter: a truncated list has no envelope", "[json]") {
  const std::string whole = R"({"items":[{"a":1},2],"b":{"c":"d"}})";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Texts items;
    ListSplitter splitter(100);
    REQUIRE(splitter.Feed(whole.substr(0, size), Into(items)).has_value());
    REQUIRE(splitter.Envelope().has_error());
    CHECK(splitter.Envelope().error().code == base::ErrorCode::kMalformed);
  }
}

TEST_CASE("list splitter: the size of an item and of the rest is bounded", "[json]") {
  const std::string large = "{\"a\":\"" + std::string(100, 'x') + "\"}";
  for (const std::string& text : {"{\"items\":[" + large + "]}", "{\"metadata\":" + large + "}",
                                  "{\"items\":[" + std::string(101, '1') + "]}"}) {
    for (const std::size_t size : {1, 1000}) {
      Texts items;
      ListSplitter splitter(100);
      const auto fed = FeedIn(splitter, text, size, Into(items));
      REQUIRE(fed.has_error());
      CHECK(fed.error().code == base::ErrorCode::kTooLarge);
    }
  }
}

TEST_CASE("list splitter: many items need the memory of one", "[json]") {
  Texts items;
  ListSplitter splitter(40);
  std::string text = "{\"items\":[{}";
  for (int i = 0; i < 1000; ++i) text += ",{\"i\":" + std::to_string(i) + "}";
  CHECK(FeedIn(splitter, text + "]}", 13, Into(items)).has_value());
  CHECK(items.size() == 1001);
}

}  // namespace
}  // namespace json::splitter_test
