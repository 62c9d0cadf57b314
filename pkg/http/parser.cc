#include "pkg/http/parser.h"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>

namespace http {
namespace {

namespace beast_http = boost::beast::http;
using BoostError = boost::system::error_code;
using View = boost::beast::string_view;

// Nobody sends extensions of chunks, and trailers are short. Both are no part of a body, so that
// its limit does not bound them.
constexpr std::size_t kMaxExtension = std::size_t{1} << 10;
constexpr std::size_t kMaxUnparsed = std::size_t{4} << 10;  // a line with a chunk's size; trailers
// Of a body on the wire, if its size is limited. In chunks of five bytes a body doubles.
constexpr std::size_t WireLimit(std::size_t body) { return 2 * body + (std::size_t{64} << 10); }

std::string_view ToStd(View text) { return {text.data(), text.size()}; }

// Of a request. A field takes 64 bytes of memory, but only two on the wire ("a:").
constexpr std::size_t kMaxFields = 100;

// The shortest rest from the head of a chunk on: "0\r\n\r\n". If Beast has seen the head of the
// last chunk, and is given less than this again, it ends the process (BOOST_ASSERT).
constexpr std::size_t kLeastChunk = 5;

struct Refusal {
  base::Error error;
  int status;
};

Refusal Explain(const BoostError& error) {
  if (error == beast_http::error::header_limit) {
    return {{base::ErrorCode::kTooLarge, "the header is larger than allowed"}, 431};
  }
  if (error == beast_http::error::body_limit || error == beast_http::error::buffer_overflow) {
    return {{base::ErrorCode::kTooLarge, "the body is larger than allowed"}, 413};
  }
  return {{base::ErrorCode::kMalformed, "not valid HTTP: " + error.message()}, 400};
}

// For both kinds of message; `Base` is RequestParser or ResponseParser.
template <bool is_request, typename Base>
class BeastParser final : public Base, private beast_http::basic_parser<is_request> {
  using Beast = beast_http::basic_parser<is_request>;

 public:
  BeastParser() { Beast::eager(true); }
  void LimitBody(std::size_t bytes) {
    Beast::body_limit(bytes);
    wire_limit_ = WireLimit(bytes);
  }
  using Beast::body_limit;
  using Beast::header_limit;
  using Beast::skip;

  base::Result<std::size_t> Put(std::string_view bytes) override {
    if (waits_ && header_done() && bytes.size() < kLeastChunk) return std::size_t{0};
    BoostError error;
    const std::size_t consumed =
        Beast::put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    waits_ = error == beast_http::error::need_more;
    if (waits_) {
      // Beast limits an unparsed header itself.
      const bool fits = !header_done() || bytes.size() - consumed <= kMaxUnparsed;
      error = fits ? BoostError() : beast_http::error::header_limit;
    }
    if (!error && header_done() && (wire_bytes_ += consumed) > wire_limit_) {
      error = beast_http::error::body_limit;
    }
    if (!error) return consumed;
    const Refusal why = Explain(error);
    if constexpr (is_request) Base::refusal = why.status;
    return why.error;
  }

  base::Result<void> PutEnd() override {
    BoostError error = beast_http::error::end_of_stream;
    if (started()) Beast::put_eof(error);
    if (!error) return {};
    return base::Error{.code = base::ErrorCode::kUnavailable,
                       .message = header_done() ? "connection closed in mid-body"
                                                : "connection closed before the header's end"};
  }

  bool started() const override { return Beast::got_some(); }
  bool header_done() const override { return Beast::is_header_done(); }
  bool done() const override { return Beast::is_done(); }
  bool keep_alive() const override { return header_done() && Beast::keep_alive(); }
  std::optional<std::uint64_t> content_length() const override {
    const auto length = Beast::content_length();
    return length ? std::optional<std::uint64_t>(*length) : std::nullopt;
  }

 private:
  auto& Message() {
    if constexpr (is_request) {
      return Base::request;
    } else {
      return Base::response;
    }
  }

  void on_request_impl(beast_http::verb, View method, View target, int version,
                       BoostError&) override {
    if constexpr (is_request) {
      Base::request.method = ToStd(method);
      Base::request.target = ToStd(target);
      Base::minor_version = version % 10;
    }
  }
  void on_response_impl(int code, View, int, BoostError&) override {
    if constexpr (!is_request) Base::response.status = code;
  }
  void on_field_impl(beast_http::field, View name, View value, BoostError& error) override {
    if (header_done()) return;  // no trailers
    if (is_request && ++fields_ > kMaxFields) {
      error = beast_http::error::header_limit;
      return;
    }
    Message().headers.Add(ToStd(name), ToStd(value));
  }
  void on_header_impl(BoostError& error) override {
    // A body with an unknown encoding has no known end.
    if (is_request && Message().headers.Has("Transfer-Encoding") && !Beast::chunked()) {
      error = beast_http::error::bad_transfer_encoding;
    }
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, BoostError&) override {}
  std::size_t on_body_impl(View bytes, BoostError&) override { return Append(bytes); }
  void on_chunk_header_impl(std::uint64_t, View extensions, BoostError& error) override {
    if (extensions.size() > kMaxExtension) error = beast_http::error::header_limit;
  }
  std::size_t on_chunk_body_impl(std::uint64_t, View bytes, BoostError&) override {
    return Append(bytes);
  }
  void on_finish_impl(BoostError&) override {}

  std::size_t Append(View bytes) {
    Message().body.append(bytes.data(), bytes.size());
    return bytes.size();
  }

  std::size_t fields_ = 0;
  std::size_t wire_bytes_ = 0;  // from the piece on that ended the header
  std::size_t wire_limit_ = std::numeric_limits<std::size_t>::max();
  bool waits_ = false;  // needs more bytes than it was given last
};

}  // namespace

std::unique_ptr<RequestParser> NewRequestParser(ParserLimits limits) {
  auto parser = std::make_unique<BeastParser<true, RequestParser>>();
  parser->header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  if (limits.body_bytes) parser->LimitBody(*limits.body_bytes);
  return parser;
}

std::unique_ptr<ResponseParser> NewResponseParser(bool no_body) {
  auto parser = std::make_unique<BeastParser<false, ResponseParser>>();
  parser->header_limit(static_cast<std::uint32_t>(ParserLimits().header_bytes));
  parser->body_limit(boost::none);
  parser->skip(no_body);
  return parser;
}

base::Task<base::Result<void>> Feed(Connection& connection, Parser& parser,
                                    base::TimePoint deadline) {
  std::string& leftover = connection.leftover();
  if (!leftover.empty()) {
    const auto consumed = parser.Put(leftover);
    if (!consumed) co_return consumed.error().Wrap(connection.peer());
    leftover.erase(0, *consumed);
    if (*consumed > 0 || parser.done()) co_return base::Result<void>();
  }
  const auto received = co_await connection.Receive(deadline);
  if (!received) co_return received.error();
  if (received->empty()) {
    auto ended = parser.PutEnd();
    if (!ended) co_return ended.error().Wrap(connection.peer());
    co_return base::Result<void>();
  }
  // Leftover bytes are rare. Without them the bytes are parsed where they arrived.
  std::string_view bytes = *received;
  if (!leftover.empty()) bytes = leftover.append(bytes);
  const auto consumed = parser.Put(bytes);
  if (!consumed) co_return consumed.error().Wrap(connection.peer());
  leftover = std::string(bytes.substr(*consumed));
  co_return base::Result<void>();
}

}  // namespace http
