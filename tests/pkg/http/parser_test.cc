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

const std::string kChunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST_CASE("parser: a chunk's extension has at most 1 KiB, however it arrives", "[http]") {
  const std::size_t piece = GENERATE(std::size_t{1}, std::size_t{1} << 20);
  const auto with = [](std::size_t bytes) {
    return kChunked + "3;" + std::string(bytes - 1, 'e') + "\r\nabc\r\n0\r\n\r\n";
  };
  const auto accepted = NewRequestParser({});
  CHECK(Show(*accepted, with(1024), piece).has_value());
  CHECK(accepted->done());
  const auto refused = NewRequestParser({});
  CHECK(Show(*refused, with(1025), piece).error().Is(base::ErrorCode::kTooLarge));
  CHECK(refused->refusal == 431);
}

TEST_CASE("parser: a chunk's size and trailers have an end", "[http]") {
  const std::string endless = GENERATE("3;", "0\r\nA: ", "0\r\nA: b\r\nA: ");
  const auto parser = NewRequestParser({});
  CHECK(Show(*parser, kChunked + endless + std::string(10'000, 'x'), 100)
            .error()
            .Is(base::ErrorCode::kTooLarge));
}

TEST_CASE("parser: a limited body is limited on the wire, too", "[http]") {
  constexpr std::size_t kLimit = 10'000;
  const auto chunks = [](std::size_t count, std::size_t extension) {
    std::string text = kChunked;
    for (std::size_t i = 0; i < count; ++i) {
      text += "1" + (extension > 0 ? ";" + std::string(extension - 1, 'e') : "") + "\r\nx\r\n";
    }
    return text + "0\r\n\r\n";
  };
  const auto small = NewRequestParser({.body_bytes = kLimit});
  CHECK(Show(*small, chunks(kLimit, 0), 1'000).has_value());
  CHECK(small->request.body.size() == kLimit);
  const auto padded = NewRequestParser({.body_bytes = kLimit});
  CHECK(Show(*padded, chunks(1'000, 100), 1'000).error().Is(base::ErrorCode::kTooLarge));
  CHECK(padded->refusal == 413);
  CHECK(padded->request.body.size() < kLimit);
  const auto unlimited = NewRequestParser({});
  CHECK(Show(*unlimited, chunks(1'000, 100), 1'000).has_value());
}

}  // namespace http::parser_test
