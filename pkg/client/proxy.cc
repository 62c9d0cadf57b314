#include "pkg/client/proxy.h"

#include <cstdlib>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include "pkg/base/text.h"
#include "pkg/client/files.h"

namespace client {
namespace {

namespace ip = boost::asio::ip;
using base::Error;
using base::ErrorCode;
using base::Result;

std::optional<ip::address> ParseAddress(std::string_view text) {
  boost::system::error_code ec;
  const ip::address address = ip::make_address(std::string(text), ec);
  if (ec) return std::nullopt;
  return address;
}

bool InNetwork(const ip::address& address, const std::string& cidr) {
  boost::system::error_code ec;
  if (address.is_v4()) {
    const ip::network_v4 network = ip::make_network_v4(cidr, ec);
    if (ec) return false;
    const unsigned shift = 32U - network.prefix_length();
    // A shift by 32 bits would be undefined.
    return shift == 32 ||
           address.to_v4().to_uint() >> shift == network.address().to_uint() >> shift;
  }
  const ip::network_v6 network = ip::make_network_v6(cidr, ec);
  if (ec) return false;
  const ip::network_v6 own(address.to_v6(), network.prefix_length());
  return own.canonical().address() == network.canonical().address();
}

// Splits "host:port" and "[v6]:port"; port 0 if there is none. A bare IPv6 address has no port.
std::pair<std::string, unsigned> SplitPort(const std::string& entry) {
  const std::size_t colon = entry.rfind(':');
  const bool bracketed = !entry.empty() && entry.front() == '[';
  const std::size_t bracket = entry.find(']');
  std::string host = entry;
  unsigned port = 0;
  const bool has_port =
      colon != std::string::npos && (bracketed ? colon == bracket + 1 : entry.find(':') == colon);
  if (has_port) {
    host = entry.substr(0, colon);
    for (const char c : entry.substr(colon + 1)) {
      if (c < '0' || c > '9' || port > 65535) return {entry, 0};
      port = port * 10 + static_cast<unsigned>(c - '0');
    }
  }
  if (bracketed && host.size() >= 2) host = host.substr(1, host.size() - 2);
  return {host, port};
}

bool MatchesName(const std::string& host, std::string name) {
  if (name.starts_with("*.")) name.erase(0, 1);
  if (name.starts_with('.')) return host.ends_with(name);
  return host == name || host.ends_with("." + name);
}

bool MatchesEntry(const http::Url& server, const std::string& host, const std::string& entry) {
  if (entry == "*") return true;
  const std::optional<ip::address> address = ParseAddress(host);
  if (entry.find('/') != std::string::npos) return address && InNetwork(*address, entry);
  const auto [name, port] = SplitPort(entry);
  if (name.empty() || (port != 0 && port != server.port)) return false;
  const std::optional<ip::address> wanted = ParseAddress(name);
  if (wanted || address) return wanted && address && *wanted == *address;
  return MatchesName(host, name);
}

// Returns the first variable that is set and not empty, and its name.
std::pair<std::string, std::string> Lookup(const Environment& environment, std::string_view name) {
  for (const std::string& candidate : {std::string(name), base::ToLower(name)}) {
    const std::optional<std::string> value = environment(candidate);
    if (value && !value->empty()) return {candidate, *value};
  }
  return {};
}

bool IsLoopback(const std::string& host) {
  const std::optional<ip::address> address = ParseAddress(host);
  return host == "localhost" || (address && address->is_loopback());
}

}  // namespace

bool MatchesNoProxy(const http::Url& server, std::string_view list) {
  const std::string host = base::ToLower(server.host);
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const std::string entry = base::ToLower(Trim(list.substr(0, end)));
    if (!entry.empty() && MatchesEntry(server, host, entry)) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

Result<http::Url> ParseProxyUrl(std::string_view text) {
  const bool bare = text.find("://") == std::string_view::npos;
  Result<http::Url> url = http::ParseUrl(bare ? "http://" + std::string(text) : std::string(text));
  if (!url) return url;
  if (url->scheme != "http" && url->scheme != "https" && url->scheme != "socks5") {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .message = "scheme \"" + url->scheme + "\" is not one of http, https, socks5"};
  }
  return url;
}

Result<std::optional<http::Url>> ProxyFromEnvironment(const http::Url& server,
                                                      const Environment& environment) {
  const auto [name, value] =
      Lookup(environment, server.scheme == "https" ? "HTTPS_PROXY" : "HTTP_PROXY");
  if (value.empty() || IsLoopback(base::ToLower(server.host))) return std::optional<http::Url>();
  if (MatchesNoProxy(server, Lookup(environment, "NO_PROXY").second)) {
    return std::optional<http::Url>();
  }
  Result<http::Url> proxy = ParseProxyUrl(value);
  if (!proxy) return proxy.error().Wrap("environment variable " + name);
  return std::optional<http::Url>(std::move(*proxy));
}

std::optional<std::string> ProcessEnvironment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace client
