#include "pkg/http/hello_guard.h"

#include <catch2/catch.hpp>
#include <string>

namespace hello_guard_test {

namespace {

using http::HelloGuard;

std::string Byte(std::size_t value) { return std::string(1, static_cast<char>(value & 0xFF)); }

// The heads of a record of this size and of a ClientHello of that size in it.
std::string Heads(std::size_t record, std::size_t hello) {
  return "\x16\x03\x01" + Byte(record >> 8) + Byte(record) + "\x01" + Byte(hello >> 16) +
         Byte(hello >> 8) + Byte(hello);
}

std::string ServerHello(const std::string& random) {
  return Heads(80, 76).replace(5, 1, "\x02") + "\x03\x03" + random + std::string(40, '\0');
}

}  // namespace

TEST_CASE("hello guard: hellos up to 16 KiB pass", "[http][tls]") {
  for (const std::size_t hello : {200U, 2'000U, 16'384U}) {
    HelloGuard guard;
    CHECK(guard.Receive(Heads(512, hello) + std::string(500, 'x')));
    CHECK(guard.Receive(std::string(500, '\xFF')));  // the rest is not checked
  }
}

TEST_CASE("hello guard: longer hellos are refused, however they arrive", "[http][tls]") {
  const std::string heads = Heads(512, 16'385);
  HelloGuard at_once;
  CHECK_FALSE(at_once.Receive(heads + std::string(500, 'x')));
  HelloGuard in_pieces;
  for (std::size_t i = 0; i + 1 < heads.size(); ++i) CHECK(in_pieces.Receive(heads.substr(i, 1)));
  CHECK_FALSE(in_pieces.Receive(heads.substr(heads.size() - 1)));
  HelloGuard in_records;
  CHECK_FALSE(in_records.Receive("\x16\x03\x01" + Byte(0) + Byte(1) + "\x01\x16\x03\x01"));
}

TEST_CASE("hello guard: other records than handshakes pass", "[http][tls]") {
  HelloGuard guard;
  CHECK(guard.Receive("GET / HTTP/1.1\r\n"));
}

TEST_CASE("hello guard: no client has to send a second hello", "[http][tls]") {
  // The SHA-256 of "HelloRetryRequest".
  const std::string retry(
      "\xCF\x21\xAD\x74\xE5\x9A\x61\x11\xBE\x1D\x8C\x02\x1E\x65\xB8\x91"
      "\xC2\xA2\x11\x16\x7A\xBB\x8C\x5E\x07\x9E\x09\xE2\xC8\xA8\x33\x9C");
  HelloGuard asks;
  CHECK_FALSE(asks.Send(ServerHello(retry)));
  HelloGuard answers;
  CHECK(answers.Send(ServerHello(std::string(32, 'r'))));
  CHECK(answers.Send(ServerHello(retry)));  // application data by now
  HelloGuard alerts;
  CHECK(alerts.Send("\x15\x03\x03"));
}

}  // namespace hello_guard_test
