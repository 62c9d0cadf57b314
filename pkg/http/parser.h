#pragma once

// Internal to pkg/http, with format.cc the only user of Beast. Bytes to messages, without I/O:
// Put() as many as have arrived, read the fields once header_done(), take the body as it grows.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/base/asio.h"
#include "pkg/http/connection.h"
#include "pkg/http/message.h"

namespace http {

class Parser {
 public:
  virtual ~Parser() = default;
  // The number of bytes consumed; the caller presents the rest again with more behind it. Errors:
  // kMalformed and kTooLarge.
  virtual base::Result<std::size_t> Put(std::string_view bytes) = 0;
  // The peer has ended its side. Errors: kUnavailable when that cuts the message.
  virtual base::Result<void> PutEnd() = 0;
  [[nodiscard]] virtual bool started() const = 0;
  [[nodiscard]] virtual bool header_done() const = 0;
  [[nodiscard]] virtual bool done() const = 0;
  // After this message the connection may be used for another.
  [[nodiscard]] virtual bool keep_alive() const = 0;
  // Content-Length, where there is one. REQUIRES: header_done().
  [[nodiscard]] virtual std::optional<std::uint64_t> content_length() const = 0;
};

class RequestParser : public Parser {
 public:
  Request request;  // its body grows until done()
  int minor_version = 1;
  int refusal = 0;  // after an error of Put(): the status that tells the client so
};

class ResponseParser : public Parser {
 public:
  Response response;  // the reader may take pieces of the body while it grows
};

struct ParserLimits {
  std::size_t header_bytes = std::size_t{64} << 10;
  std::optional<std::size_t> body_bytes;
};

std::unique_ptr<RequestParser> NewRequestParser(ParserLimits limits);
// `no_body`: the answer to HEAD, and to CONNECT when it is 2xx.
std::unique_ptr<ResponseParser> NewResponseParser(bool no_body);

// Gives `parser` what the connection holds or receives next, leaving what follows the message
// there. Errors: those of Receive and Put, and kUnavailable when the peer ends in mid-message.
// `parser` and `connection` outlive the call.
base::Task<base::Result<void>> Feed(Connection& connection, Parser& parser,
                                    base::TimePoint deadline);

}  // namespace http
