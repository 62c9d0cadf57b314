#pragma once

// Internal to pkg/http; only this and format.cc use Beast. Parses bytes to messages without I/O:
// Put() bytes as they arrive, read the fields once header_done(), take the body as it grows.

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
  // Returns the number of bytes consumed; the caller passes the rest again with more after it.
  // Errors: kMalformed and kTooLarge.
  virtual base::Result<std::size_t> Put(std::string_view bytes) = 0;
  // The peer has ended its side. Errors: kUnavailable if the message is incomplete.
  virtual base::Result<void> PutEnd() = 0;
  [[nodiscard]] virtual bool started() const = 0;
  [[nodiscard]] virtual bool header_done() const = 0;
  [[nodiscard]] virtual bool done() const = 0;
  // True if the connection may be used again after this message.
  [[nodiscard]] virtual bool keep_alive() const = 0;
  // The Content-Length, if there is one. REQUIRES: header_done().
  [[nodiscard]] virtual std::optional<std::uint64_t> content_length() const = 0;
};

class RequestParser : public Parser {
 public:
  Request request;  // its body grows until done()
  int minor_version = 1;
  int refusal = 0;  // after an error of Put(): the status to answer with
};

class ResponseParser : public Parser {
 public:
  Response response;  // the reader may take pieces of the body while it grows
};

struct ParserLimits {
  std::size_t header_bytes = std::size_t{64} << 10;
  // Also bounds what the body takes on the wire, with the sizes of its chunks: 64 KiB and twice as
  // many bytes.
  std::optional<std::size_t> body_bytes;
};

std::unique_ptr<RequestParser> NewRequestParser(ParserLimits limits);
// `no_body` is for answers to HEAD, and 2xx answers to CONNECT.
std::unique_ptr<ResponseParser> NewResponseParser(bool no_body);

// Feeds `parser` what the connection holds or receives next, and leaves the bytes after the message
// in the connection. Errors: those of Receive() and Put(), and kUnavailable if the peer ends in
// mid-message. `parser` and `connection` must outlive the call.
base::Task<base::Result<void>> Feed(Connection& connection, Parser& parser,
                                    base::TimePoint deadline);

}  // namespace http
