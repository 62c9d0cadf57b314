#include "pkg/http/parser.h"

#include <catch2/catch.hpp>

namespace http::parser_test {
namespace {

// Like a connection: bytes that were not consumed are passed again with the next ones.
base::Result<void> Show(Parser& parser, std::string_view text, std::size_t piece) {
  std::string held;
  while (!text.empty() && !parser.done()) {
    held += text.substr(0, piece);
    text.remove_prefix(std::min(piece, text.size()));
    for (int again = 0; again < 3 && !held.empty() && !parser.done(); ++again) {
      const auto consumed = parser.Put(held);
      if (!consumed) return consumed.error();
      held.erase(0, *consumed);
    }
  }
  return {};
}

}  // namespace

TEST_CASE("parser: a chunked body may be cut anywhere, even in its last chunk", "[http]") {
  const std::string fields = "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string body : {"0\r\n\r\n", "3\r\nabc\r\n0\r\n\r\n", "0\r\nA: b\r\n\r\n"}) {
    for (std::size_t piece = 1; piece < 90; ++piece) {
      INFO(body << " in pieces of " << piece);
      const auto request = NewRequestParser({});
      REQUIRE(Show(*request, std::string("POST / HTTP/1.1\r\n").append(fields).append(body), piece)
                  .has_value());
      CHECK(request->done());
      const auto response = NewResponseParser(false);
      REQUIRE(Show(*response, std::string("HTTP/1.1 200 OK\r\n").append(fields).append(body), piece)
                  .has_value());
      CHECK(response->done());
      CHECK(response->response.body == (body.starts_with("3") ? "abc" : ""));
    }
  }
}

TEST_CASE("parser: a body of known length may be cut anywhere", "[http]") {
  const std::string fields = "Host: a\r\nContent-Length: 7\r\n\r\n";
  for (std::size_t piece = 1; piece < 70; ++piece) {
    INFO("in pieces of " << piece);
    const auto request = NewRequestParser({});
    REQUIRE(Show(*request, "POST / HTTP/1.1\r\n" + fields + "abcdefg", piece).has_value());
    CHECK(request->done());
    const auto response = NewResponseParser(false);
    REQUIRE(Show(*response, "HTTP/1.1 200 OK\r\n" + fields + "abcdefg", piece).has_value());
    CHECK(response->done());
    CHECK(response->response.body == "abcdefg");
  }
}

}  // namespace http::parser_test
