#include "pkg/http/proxy.h"

#include <array>
#include <boost/asio/ip/address.hpp>

#include "pkg/base/base64.h"
#include "pkg/http/format.h"
#include "pkg/http/parser.h"

namespace http {
namespace {

base::Error Refused(const Url& proxy, const Url& server, std::string_view why) {
  std::string message = "proxy " + proxy.Authority() + " to " + server.Authority() + ": ";
  message.append(why);
  return {.code = base::ErrorCode::kUnavailable, .message = std::move(message)};
}

base::Task<base::Result<std::string>> ReceiveExactly(Connection& connection, std::size_t count,
                                                     base::TimePoint deadline) {
  std::string& waiting = connection.leftover();
  while (waiting.size() < count) {
    const auto received = co_await connection.Receive(deadline);
    if (!received) co_return received.error();
    if (received->empty()) {
      co_return base::Error{.code = base::ErrorCode::kUnavailable,
                            .message = connection.peer() + ": connection closed by the proxy"};
    }
    waiting.append(*received);
  }
  std::string bytes = waiting.substr(0, count);
  waiting.erase(0, count);
  co_return bytes;
}

// Sends `bytes` and returns the `count` bytes of the answer.
base::Task<base::Result<std::string>> Ask(Connection& connection, std::string bytes,
                                          std::size_t count, base::TimePoint deadline) {
  const auto sent = co_await connection.Send(std::move(bytes), deadline);
  if (!sent) co_return sent.error();
  co_return co_await ReceiveExactly(connection, count, deadline);
}

// SOCKS5 (RFC 1928) with user name and password (RFC 1929).
constexpr char kVersion = 5;
constexpr char kNoAuthentication = 0;
constexpr char kUserAndPassword = 2;

void AppendText(std::string* to, std::string_view text) {
  *to += static_cast<char>(text.size());
  to->append(text);
}

std::string SocksRequest(const Url& server) {
  std::string request{kVersion, 1 /* CONNECT */, 0};
  boost::system::error_code not_an_address;
  const auto address = boost::asio::ip::make_address(server.host, not_an_address);
  if (not_an_address) {
    request += '\3';
    AppendText(&request, server.host);
  } else if (address.is_v4()) {
    request += '\1';
    for (const unsigned char byte : address.to_v4().to_bytes()) request += static_cast<char>(byte);
  } else {
    request += '\4';
    for (const unsigned char byte : address.to_v6().to_bytes()) request += static_cast<char>(byte);
  }
  request += static_cast<char>(server.port >> 8);
  request += static_cast<char>(server.port & 0xff);
  return request;
}

std::string_view SocksReason(char code) {
  constexpr std::array<std::string_view, 9> kReasons = {"",
                                                        "general failure",
                                                        "not allowed by the proxy's rules",
                                                        "network unreachable",
                                                        "host unreachable",
                                                        "connection refused",
                                                        "TTL expired",
                                                        "command not supported",
                                                        "address type not supported"};
  const auto index = static_cast<std::size_t>(static_cast<unsigned char>(code));
  return index < kReasons.size() ? kReasons[index] : "unknown failure";
}

std::string SocksGreeting(bool with_user) {
  if (with_user) return {kVersion, 2, kNoAuthentication, kUserAndPassword};
  return {kVersion, 1, kNoAuthentication};
}

base::Task<base::Result<void>> SocksAuthenticate(Connection& connection, Url proxy, Url server,
                                                 base::TimePoint deadline) {
  std::string greeting = SocksGreeting(!proxy.username.empty());
  const auto method = co_await Ask(connection, std::move(greeting), 2, deadline);
  if (!method) co_return method.error();
  if ((*method)[0] != kVersion) co_return Refused(proxy, server, "it does not speak SOCKS5");
  if ((*method)[1] == kNoAuthentication) co_return base::Result<void>();
  if ((*method)[1] != kUserAndPassword || proxy.username.empty()) {
    co_return Refused(proxy, server, "it accepts none of our authentication methods");
  }
  std::string credentials(1, '\1');
  AppendText(&credentials, proxy.username);
  AppendText(&credentials, proxy.password);
  const auto verdict = co_await Ask(connection, std::move(credentials), 2, deadline);
  if (!verdict) co_return verdict.error();
  if ((*verdict)[1] != 0) co_return Refused(proxy, server, "user or password refused");
  co_return base::Result<void>();
}

}  // namespace

std::string ProxyAuthorization(const Url& proxy) {
  if (proxy.username.empty()) return {};
  return "Basic " + base::EncodeBase64(proxy.username + ":" + proxy.password);
}

base::Task<base::Result<void>> HttpConnect(Connection& connection, Url proxy, Url server,
                                           base::TimePoint deadline) {
  Request request;
  request.method = "CONNECT";
  request.target = server.Authority();
  request.headers.Add("Host", request.target);
  const std::string authorization = ProxyAuthorization(proxy);
  if (!authorization.empty()) request.headers.Add("Proxy-Authorization", authorization);
  std::string head = FormatHead(request, Framing());
  const auto sent = co_await connection.Send(std::move(head), deadline);
  if (!sent) co_return sent.error();
  const auto parser = NewResponseParser(true);
  while (!parser->header_done()) {
    const auto fed = co_await Feed(connection, *parser, deadline);
    if (!fed) co_return fed.error().Wrap("proxy " + proxy.Authority());
  }
  const int status = parser->response.status;
  if (status >= 200 && status < 300) co_return base::Result<void>();
  std::string why = "refused, " + std::to_string(status) + " ";
  why.append(ReasonPhrase(status));
  co_return Refused(proxy, server, why);
}

base::Task<base::Result<void>> Socks5Connect(Connection& connection, Url proxy, Url server,
                                             base::TimePoint deadline) {
  if (server.host.size() > 255 || proxy.username.size() > 255 || proxy.password.size() > 255) {
    co_return Refused(proxy, server, "a name is too long for SOCKS5");
  }
  const auto ready = co_await SocksAuthenticate(connection, proxy, server, deadline);
  if (!ready) co_return ready.error();
  std::string request = SocksRequest(server);
  const auto reply = co_await Ask(connection, std::move(request), 4, deadline);
  if (!reply) co_return reply.error();
  if ((*reply)[0] != kVersion) co_return Refused(proxy, server, "it does not speak SOCKS5");
  if ((*reply)[1] != 0) co_return Refused(proxy, server, SocksReason((*reply)[1]));
  // The proxy's own address and port follow. They are only skipped.
  std::size_t rest = (*reply)[3] == 4 ? 18 : 6;
  if ((*reply)[3] == 3) {
    const auto length = co_await ReceiveExactly(connection, 1, deadline);
    if (!length) co_return length.error();
    rest = static_cast<std::size_t>(static_cast<unsigned char>((*length)[0])) + 2;
  }
  const auto skipped = co_await ReceiveExactly(connection, rest, deadline);
  if (!skipped) co_return skipped.error();
  co_return base::Result<void>();
}

}  // namespace http
