// HTTP/1.1 messages, requests and answers: the same wherever the bytes are cut, and a message that
// we write again is read as the same.

#include "pkg/http/format.h"
#include "pkg/http/parser.h"
#include "tests/fuzz/target.h"

namespace {

using http::Headers;

constexpr std::size_t kMaxBody = 4096;

std::string TextOf(const Headers& headers) {
  std::string text;
  for (const auto& [name, value] : headers)
    text.append(name).append(": ").append(value).append("\n");
  return text;
}

struct Read {
  std::string error;
  std::size_t left = 0;  // bytes after the message
};

// Like Feed(): bytes that were not consumed are passed again with more after them.
Read Give(http::Parser& parser, const std::vector<std::string>& pieces) {
  std::string held;
  std::size_t given = 0;
  for (const std::string& piece : pieces) {
    held += piece;
    ++given;
    while (!parser.done() && !held.empty()) {
      const std::string bytes(held);
      const auto consumed = parser.Put(bytes);
      if (!consumed) return {consumed.error().message};
      fuzz::Require(*consumed <= held.size(), "no more is consumed than there was");
      held.erase(0, *consumed);
      if (*consumed == 0) break;
    }
    if (parser.done()) break;
  }
  Read read{.left = held.size()};
  for (; given < pieces.size(); ++given) read.left += pieces[given].size();
  if (!parser.done()) {
    const auto ended = parser.PutEnd();
    if (!ended) read.error = ended.error().message;
  }
  return read;
}

template <typename Parser>
void CheckSame(const Parser& a, const Parser& b, const Read& read, const Read& other) {
  // A truncated message may or may not have been found invalid before its end.
  fuzz::Require(other.error.empty() == read.error.empty(), "refused wherever it is cut");
  if (!read.error.empty()) return;
  fuzz::Require(read.left == other.left, "the same end");
  fuzz::Require(a.keep_alive() == b.keep_alive(), "the same fate of the connection");
}

http::Framing FramingOf(const std::string& body) { return {.content_length = body.size()}; }

void WithoutFraming(Headers& headers) {
  for (const char* name : {"Content-Length", "Transfer-Encoding", "Connection"}) {
    headers.Remove(name);
  }
}

void CheckRequest(std::string_view input, const std::vector<std::string>& pieces) {
  const auto whole = http::NewRequestParser({.body_bytes = kMaxBody});
  const auto cut = http::NewRequestParser({.body_bytes = kMaxBody});
  const Read read = Give(*whole, {std::string(input)});
  const Read other = Give(*cut, pieces);
  CheckSame(*whole, *cut, read, other);
  if (!read.error.empty() || !whole->done()) return;
  http::Request request = whole->request;
  fuzz::Require(request.body.size() <= kMaxBody, "the body is within bounds");
  fuzz::RequireSame(cut->request.body, request.body, "the same body");
  fuzz::RequireSame(TextOf(cut->request.headers), TextOf(request.headers), "the same fields");

  const auto again = http::NewRequestParser({.body_bytes = kMaxBody});
  const Read echo =
      Give(*again, {http::FormatHead(request, FramingOf(request.body)), request.body});
  fuzz::RequireSame(echo.error, "", "a request that is written is read");
  fuzz::Require(again->done() && echo.left == 0, "to its end");
  fuzz::RequireSame(again->request.target, request.target, "the same target");
  fuzz::RequireSame(again->request.body, request.body, "the same body as written");
  WithoutFraming(again->request.headers);
  WithoutFraming(request.headers);
  fuzz::RequireSame(TextOf(again->request.headers), TextOf(request.headers), "fields as written");
}

void CheckResponse(std::string_view input, const std::vector<std::string>& pieces, bool no_body) {
  const auto whole = http::NewResponseParser(no_body);
  const auto cut = http::NewResponseParser(no_body);
  const Read read = Give(*whole, {std::string(input)});
  const Read other = Give(*cut, pieces);
  CheckSame(*whole, *cut, read, other);
  if (!read.error.empty()) return;
  const http::Response& response = whole->response;
  fuzz::Require(!no_body || response.body.empty(), "no body where there is none");
  fuzz::Require(response.status == cut->response.status, "the same status");
  fuzz::RequireSame(cut->response.body, response.body, "the same body");
  fuzz::RequireSame(TextOf(cut->response.headers), TextOf(response.headers), "the same fields");
}

FUZZ_TARGET(http) {
  fuzz::Chance chance(input);
  const std::vector<std::string> pieces = fuzz::Pieces(input, chance);
  if (input.starts_with("HTTP/")) {
    CheckResponse(input, pieces, false);
    CheckResponse(input, pieces, true);
  } else {
    CheckRequest(input, pieces);
  }
}

}  // namespace
