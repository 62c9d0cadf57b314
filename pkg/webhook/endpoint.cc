#include "pkg/webhook/endpoint.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <optional>

#include "pkg/api/names.h"
#include "pkg/http/message.h"

namespace webhook {
namespace {

constexpr std::size_t kMaxHost = 253;

base::Error Invalid(std::string_view what, std::string_view text, std::string_view why) {
  std::string message(what);
  message.append(" \"").append(text).append("\": ").append(why);
  return {.code = base::ErrorCode::kInvalidArgument, .message = std::move(message)};
}

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

// A host with only dots and digits is meant as an IPv4 address.
bool LooksLikeIpV4(std::string_view host) {
  return std::all_of(host.begin(), host.end(), [](char c) { return IsDigit(c) || c == '.'; });
}

// DNS labels, separated by dots.
bool IsDnsName(std::string_view host) {
  if (host.size() > kMaxHost) return false;
  while (true) {
    const std::size_t end = std::min(host.find('.'), host.size());
    if (!api::IsDns1123Label(host.substr(0, end))) return false;
    if (end == host.size()) return true;
    host.remove_prefix(end + 1);
  }
}

bool IsAddress(std::string_view host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(host, error);
  return !error && host.find('%') == std::string_view::npos;  // zones are local to a host
}

std::string_view HostTrouble(std::string_view host) {
  if (host.find(':') != std::string_view::npos) {
    return IsAddress(host) ? "" : "the host is not an IPv6 address";
  }
  if (LooksLikeIpV4(host)) return IsAddress(host) ? "" : "the host is not an IPv4 address";
  return IsDnsName(host) ? "" : "the host is neither a DNS name in lower case nor an IP address";
}

}  // namespace

std::string ServiceReference::ServerName() const { return name + "." + ns + ".svc"; }

std::vector<std::string> ServiceReference::Hosts() const {
  return {ServerName(), ServerName() + ".cluster.local", name + "." + ns};
}

std::string ServiceReference::ToString() const {
  return ns + "/" + name + ":" + std::to_string(port);
}

base::Result<ServiceReference> ParseServiceReference(std::string_view text) {
  constexpr std::string_view kWhat = "service";
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return Invalid(kWhat, text, "expected namespace/name:port");
  }
  ServiceReference service;
  service.ns = text.substr(0, slash);
  std::string_view rest = text.substr(slash + 1);
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    const std::optional<std::uint16_t> port = ParsePort(rest.substr(colon + 1));
    if (!port) return Invalid(kWhat, text, "the port is not a number from 1 to 65535");
    service.port = *port;
    rest = rest.substr(0, colon);
  }
  service.name = rest;
  if (!api::IsDns1123Label(service.ns)) {
    return Invalid(kWhat, text, "the namespace is not a DNS label (a-z, 0-9, -, at most 63)");
  }
  // The name of a Service, unlike that of a namespace, begins with a letter (RFC 1035).
  if (!api::IsDns1123Label(service.name) || !IsLower(service.name.front())) {
    return Invalid(kWhat, text,
                   "the name is not a service's (a-z, 0-9, -, at most 63, a letter first)");
  }
  return service;
}

std::string AdmissionUrl::ToString(std::string_view below) const {
  const http::Url url{.scheme = "https", .host = host, .port = port};
  return "https://" + url.Authority() + path + std::string(below);
}

base::Result<AdmissionUrl> ParseAdmissionUrl(std::string_view text) {
  constexpr std::string_view kWhat = "URL";
  // The message does not repeat a password.
  const std::size_t scheme_end = text.find("://");
  if (scheme_end != std::string_view::npos) {
    const std::string_view rest = text.substr(scheme_end + 3);
    if (rest.substr(0, rest.find_first_of("/?#")).find('@') != std::string_view::npos) {
      return base::Error{.code = base::ErrorCode::kInvalidArgument,
                         .message =
                             "URL: a user name or password is not allowed; the API "
                             "server would reject it"};
    }
  }
  auto url = http::ParseUrl(text);
  if (!url) return url.error();
  if (url->scheme != "https") {
    return Invalid(kWhat, text, "the scheme is not https; API servers call webhooks over TLS only");
  }
  if (const std::string_view trouble = HostTrouble(url->host); !trouble.empty()) {
    return Invalid(kWhat, text, trouble);
  }
  const auto bad = [](char c) { return c <= ' ' || c >= '\x7f'; };
  if (std::any_of(url->path.begin(), url->path.end(), bad)) {
    return Invalid(kWhat, text, "the path has a character that must be percent-encoded");
  }
  return AdmissionUrl{
      .host = std::move(url->host), .port = url->port, .path = std::move(url->path)};
}

}  // namespace webhook
