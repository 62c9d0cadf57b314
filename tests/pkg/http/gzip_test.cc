#include "pkg/http/gzip.h"

#include <zlib.h>

#include <catch2/catch.hpp>

#include "tests/pkg/http/loopback.h"

namespace gzip_test {

namespace {

using base::ErrorCode;
using base::Task;
using http::test::kLong;
using http::test::Loopback;

std::string Gzip(std::string plain) {
  z_stream zlib{};
  REQUIRE(deflateInit2(&zlib, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&zlib, plain.size()) + 64, '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(plain.data());
  zlib.avail_in = static_cast<uInt>(plain.size());
  zlib.next_out = reinterpret_cast<Bytef*>(packed.data());
  zlib.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&zlib, Z_FINISH) == Z_STREAM_END);
  packed.erase(zlib.total_out);
  deflateEnd(&zlib);
  return packed;
}

std::string Numbers(std::size_t size) {
  std::string text;
  while (text.size() < size) text += std::to_string(text.size() * 7919) + ",";
  return text;
}

// Everything that can be decoded now.
std::string Drain(http::Gunzip& gunzip) {
  std::string all;
  for (;;) {
    const auto piece = gunzip.Take();
    REQUIRE(piece.has_value());
    if (piece->empty()) return all;
    all += *piece;
  }
}

TEST_CASE("gunzip: consecutive members are one body, wherever the bytes are cut", "[http][gzip]") {
  const std::string plain = Numbers(200'000);
  const std::string packed = Gzip(plain.substr(0, 1000)) + Gzip("") +
                             Gzip(plain.substr(1000, 99'000)) + Gzip(plain.substr(100'000));
  const std::size_t cut =
      GENERATE(std::size_t{1}, std::size_t{7}, std::size_t{4096}, std::size_t{1} << 20);
  const auto gunzip = http::NewGunzip();
  std::string decoded;
  for (std::size_t i = 0; i < packed.size(); i += cut) {
    gunzip->Add(packed.substr(i, cut));
    decoded += Drain(*gunzip);
  }
  CHECK(decoded == plain);
  CHECK(gunzip->AtEnd());
}

TEST_CASE("gunzip: a truncated member is an error", "[http][gzip]") {
  const std::string packed = Gzip(Numbers(10'000));
  const auto gunzip = http::NewGunzip();
  CHECK(gunzip->AtEnd());
  gunzip->Add(packed.substr(0, packed.size() - 1));
  Drain(*gunzip);
  CHECK_FALSE(gunzip->AtEnd());
}

TEST_CASE("gunzip: other data and damaged data are malformed", "[http][gzip]") {
  const std::string plain = Numbers(10'000);
  std::string damaged = Gzip(plain);
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);  // checksum
  const std::string input = GENERATE_COPY(std::string("{}{}{}{}{}"), damaged, Gzip(plain) + "tail");
  const auto gunzip = http::NewGunzip();
  gunzip->Add(input);
  bool failed = false;
  for (int i = 0; i < 100 && !failed; ++i) {
    const auto piece = gunzip->Take();
    if (piece) continue;
    failed = true;
    CHECK(piece.error().Is(ErrorCode::kMalformed));
  }
  CHECK(failed);
}

TEST_CASE("gunzip: a decompression bomb comes in bounded pieces", "[http][gzip]") {
  const auto gunzip = http::NewGunzip();
  gunzip->Add(Gzip(std::string(std::size_t{50} << 20, '\0')));
  const auto piece = gunzip->Take();
  REQUIRE(piece.has_value());
  CHECK(piece->size() <= (std::size_t{512} << 10));
}

TEST_CASE("client: a decompression bomb is refused while it is decoded", "[http][client][gzip]") {
  Loopback loopback;
  const std::string bomb = Gzip(std::string(std::size_t{50} << 20, ' '));
  const int status = GENERATE(200, 500);
  loopback.handler = [&](http::Request, http::Peer, http::ResponseWriter& writer) -> Task<void> {
    http::Response response;
    response.status = status;
    response.headers.Add("Content-Encoding", "gzip");
    response.body = bomb;
    co_await writer.Send(std::move(response));
  };
  loopback.Run([&]() -> Task<void> {
    http::ClientOptions options;
    options.server = loopback.url();
    options.max_held_bytes = options.max_body_bytes + 1;
    const auto client = http::NewClient(loopback.io().get_executor(), options).value();
    const auto response = co_await client->Do(http::Request(), kLong);
    if (status == 200) {
      REQUIRE_FALSE(response.has_value());
      CHECK(response.error().Is(ErrorCode::kTooLarge));
    } else {
      REQUIRE(response.has_value());
      CHECK(response->body.size() == options.max_refusal_bytes);
    }
  });
}

TEST_CASE("client: gzip is decoded if it was requested", "[http][client][gzip]") {
  const std::string plain = Numbers(300'000);
  const bool wanted = GENERATE(true, false);
  const std::string coding = GENERATE("gzip", "GZIP");  // not case-sensitive (RFC 9110, 8.4.1)
  Loopback loopback;
  loopback.handler = [&](http::Request request, http::Peer,
                         http::ResponseWriter& writer) -> Task<void> {
    http::Response response;
    response.body = plain;
    if (request.headers.Get("Accept-Encoding") == "gzip") {
      response.headers.Add("Content-Encoding", coding);
      response.body = Gzip(plain);
    }
    co_await writer.Send(std::move(response));
  };
  loopback.Run([&]() -> Task<void> {
    http::ClientOptions options;
    options.server = loopback.url();
    options.gzip = wanted;
    const auto client = http::NewClient(loopback.io().get_executor(), options).value();
    const auto response = co_await client->Do(http::Request(), kLong);
    REQUIRE(response.has_value());
    CHECK(response->body == plain);
    CHECK_FALSE(response->headers.Has("Content-Encoding"));
    const std::string length = std::to_string(plain.size());
    CHECK(response->headers.Get("Content-Length") == (wanted ? "" : length));
  });
}

TEST_CASE("client: a gzip body that swells beyond the bound is refused", "[http][client][gzip]") {
  Loopback loopback;
  loopback.handler = [&](http::Request, http::Peer, http::ResponseWriter& writer) -> Task<void> {
    http::Response response;
    response.headers.Add("Content-Encoding", "gzip");
    response.body = Gzip(std::string(std::size_t{20} << 20, '\0'));
    co_await writer.Send(std::move(response));
  };
  loopback.Run([&]() -> Task<void> {
    http::ClientOptions options;
    options.server = loopback.url();
    options.max_body_bytes = std::size_t{1} << 20;
    const auto client = http::NewClient(loopback.io().get_executor(), options).value();
    const auto response = co_await client->Do(http::Request(), kLong);
    REQUIRE_FALSE(response.has_value());
    CHECK(response.error().Is(ErrorCode::kTooLarge));
  });
}

TEST_CASE("client: a gzip body truncated by its Content-Length is malformed",
          "[http][client][gzip]") {
  Loopback loopback;
  loopback.handler = [&](http::Request, http::Peer, http::ResponseWriter& writer) -> Task<void> {
    http::Response response;
    response.headers.Add("Content-Encoding", "gzip");
    response.body = Gzip(Numbers(10'000)).substr(0, 2000);
    co_await writer.Send(std::move(response));
  };
  loopback.Run([&]() -> Task<void> {
    http::ClientOptions options;
    options.server = loopback.url();
    const auto client = http::NewClient(loopback.io().get_executor(), options).value();
    const auto response = co_await client->Do(http::Request(), kLong);
    REQUIRE_FALSE(response.has_value());
    CHECK(response.error().Is(ErrorCode::kMalformed));
  });
}

}  // namespace

}  // namespace gzip_test
