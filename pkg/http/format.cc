#include "pkg/http/format.h"

#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <charconv>
#include <ctime>

namespace http {
namespace {

void AppendClean(std::string* to, std::string_view text) {
  for (const char c : text) *to += c == '\r' || c == '\n' || c == '\0' ? ' ' : c;
}

void AppendField(std::string* to, std::string_view name, std::string_view value) {
  AppendClean(to, name);
  *to += ": ";
  AppendClean(to, value);
  *to += "\r\n";
}

void AppendFields(std::string* to, Headers headers, const Framing& framing) {
  // Only `framing` decides the length: contradicting fields would allow request smuggling.
  headers.Remove("Content-Length");
  headers.Remove("Transfer-Encoding");
  for (const auto& [name, value] : headers) AppendField(to, name, value);
  if (framing.chunked) AppendField(to, "Transfer-Encoding", "chunked");
  if (framing.content_length) {
    AppendField(to, "Content-Length", std::to_string(*framing.content_length));
  }
}

std::string Date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[40];
  return std::string(text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts));
}

}  // namespace

std::string FormatHead(const Request& request, const Framing& framing) {
  std::string head;
  AppendClean(&head, request.method);
  head += ' ';
  AppendClean(&head, request.target);
  head += " HTTP/1.1\r\n";
  AppendFields(&head, request.headers, framing);
  return head += "\r\n";
}

std::string FormatHead(int status, const Headers& headers, const Framing& framing,
                       bool keep_alive) {
  std::string head = "HTTP/1.1 " + std::to_string(status) + " ";
  head.append(ReasonPhrase(status)).append("\r\n");
  Headers fields = headers;
  fields.Remove("Connection");
  if (!keep_alive) fields.Add("Connection", "close");
  if (!fields.Has("Date")) fields.Add("Date", Date());
  AppendFields(&head, std::move(fields), framing);
  return head += "\r\n";
}

std::string FormatChunk(std::string_view bytes) {
  char size[20];
  const auto end = std::to_chars(size, size + sizeof size, bytes.size(), 16);
  std::string chunk;
  chunk.reserve(bytes.size() + 24);
  chunk.append(size, end.ptr).append("\r\n").append(bytes).append("\r\n");
  return chunk;
}

std::string_view ReasonPhrase(int status) {
  if (status == 422) return "Unprocessable Entity";
  const auto phrase = boost::beast::http::obsolete_reason(
      boost::beast::http::int_to_status(static_cast<unsigned>(std::clamp(status, 0, 999))));
  return {phrase.data(), phrase.size()};
}

}  // namespace http
