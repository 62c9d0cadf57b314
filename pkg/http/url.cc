// URLs and request targets: the parsing half of message.h. It accepts what Go's net/url accepts.
// Boost.URL 1.81 does not: it reads the host of http://user:p@ss@proxy:3128 as "ss", and refuses
// the target /metrics?match[]=up.

#include <algorithm>
#include <charconv>

#include "pkg/http/message.h"
#include "pkg/http/server.h"

namespace http {
namespace {

base::Error Invalid(std::string_view what, std::string_view text, std::string_view why) {
  std::string message(what);
  message.append(" \"").append(WithoutCredentials(text)).append("\": ").append(why);
  return {.code = base::ErrorCode::kInvalidArgument, .message = std::move(message)};
}

std::optional<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return port;
}

std::uint16_t DefaultPort(std::string_view scheme) {
  if (scheme == "https") return 443;
  if (scheme == "http") return 80;
  if (scheme == "socks5") return 1080;
  return 0;
}

std::string Bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

struct HostPort {
  std::string_view host;
  std::string_view port;  // "" if the text has none
  bool has_port = false;
};

// Parses "host", "host:port", "[v6]" and "[v6]:port"; nullopt for unbalanced brackets and a bare
// IPv6 address.
std::optional<HostPort> SplitHostPort(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return std::nullopt;
    return HostPort{text.substr(1, close - 1), rest.empty() ? rest : rest.substr(1), !rest.empty()};
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return HostPort{text, {}, false};
  const std::string_view port = text.substr(colon + 1);
  if (port.find(':') != std::string_view::npos) return std::nullopt;
  return HostPort{text.substr(0, colon), port, true};
}

// For a host without brackets around it.
bool IsHostCharacter(char c) {
  return c > ' ' && c < '\x7f' &&
         std::string_view("/?#@\\\"<>[]").find(c) == std::string_view::npos;
}

// Sets the user name and password from "user:password".
base::Result<void> ParseUserInfo(std::string_view text, Url* url) {
  const std::size_t colon = text.find(':');
  auto username = DecodeComponent(text.substr(0, colon), false);
  if (!username) return username.error();
  url->username = std::move(*username);
  if (colon == std::string_view::npos) return {};
  auto password = DecodeComponent(text.substr(colon + 1), false);
  if (!password) return password.error();
  url->password = std::move(*password);
  return {};
}

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

base::Result<std::vector<std::string>> ParseSegments(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) {
      auto segment = DecodeComponent(path.substr(0, end), false);
      if (!segment) return segment.error();
      segments.push_back(std::move(*segment));
    }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return segments;
}

base::Result<Query> ParseQuery(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = DecodeComponent(pair.substr(0, equals), true);
    if (!name) return name.error();
    auto value = DecodeComponent(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!value) return value.error();
    query.emplace_back(std::move(*name), std::move(*value));
  }
  return query;
}

}  // namespace

std::string WithoutCredentials(std::string_view url) {
  const std::size_t at = url.rfind('@');
  if (at == std::string_view::npos) return std::string(url);
  const std::size_t separator = url.substr(0, at).find("://");
  const std::size_t begin = separator == std::string_view::npos ? 0 : separator + 3;
  return std::string(url.substr(0, begin)).append("***").append(url.substr(at));
}

std::string Url::Authority() const { return Bracketed(host) + ":" + std::to_string(port); }

std::string Url::HostField() const {
  return port == DefaultPort(scheme) ? Bracketed(host) : Authority();
}

base::Result<Url> ParseUrl(std::string_view text) {
  Url url;
  const std::size_t separator = text.find("://");
  if (separator == std::string_view::npos) {
    return Invalid("URL", text, "no scheme; expected https://host:port");
  }
  url.scheme = text.substr(0, separator);
  for (char& c : url.scheme) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  url.port = DefaultPort(url.scheme);
  if (url.port == 0) return Invalid("URL", text, "the scheme is not http, https or socks5");

  std::string_view rest = text.substr(separator + 3);
  if (rest.find_first_of("?#") != std::string_view::npos) {
    return Invalid("URL", text, "a query or fragment is not allowed");
  }
  std::string_view authority = rest.substr(0, rest.find('/'));
  std::string_view path = rest.substr(authority.size());
  while (path.ends_with('/')) path.remove_suffix(1);
  url.path = path;
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    if (auto done = ParseUserInfo(authority.substr(0, at), &url); !done) {
      return Invalid("URL", text, "the user name or password is not percent-encoded correctly");
    }
    authority.remove_prefix(at + 1);
  }
  const std::optional<HostPort> parts = SplitHostPort(authority);
  if (!parts || parts->host.empty() ||
      !std::all_of(parts->host.begin(), parts->host.end(), IsHostCharacter)) {
    return Invalid("URL", text, "invalid host");
  }
  url.host = parts->host;
  if (parts->port.empty()) return url;  // "host:" is allowed and means the scheme's default port
  const std::optional<std::uint16_t> port = ParsePort(parts->port);
  if (!port || *port == 0) return Invalid("URL", text, "the port is not a number from 1 to 65535");
  url.port = *port;
  return url;
}

base::Result<BindAddress> ParseBindAddress(std::string_view text) {
  const std::optional<HostPort> parts = SplitHostPort(text);
  if (!parts || !parts->has_port) {
    return Invalid("address", text, "expected host:port, :port or [ipv6]:port");
  }
  const std::optional<std::uint16_t> port = ParsePort(parts->port);
  if (!port) return Invalid("address", text, "the port is not a number from 0 to 65535");
  if (!std::all_of(parts->host.begin(), parts->host.end(), IsHostCharacter)) {
    return Invalid("address", text, "invalid host");
  }
  return BindAddress{std::string(parts->host), *port};
}

std::string EncodeComponent(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (IsUnreserved(c)) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kHex[byte >> 4];
    encoded += kHex[byte & 15];
  }
  return encoded;
}

base::Result<std::string> DecodeComponent(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += plus_is_space && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 1 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      base::Error error = Invalid("URL part", text, "\"%\" is not followed by two hex digits");
      error.code = base::ErrorCode::kMalformed;
      return error;
    }
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

std::string EncodeQuery(const Query& query) {
  std::string encoded;
  for (const auto& [name, value] : query) {
    if (!encoded.empty()) encoded += '&';
    encoded += EncodeComponent(name) + "=" + EncodeComponent(value);
  }
  return encoded;
}

std::string_view Target::Get(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return {};
}

bool Target::Has(std::string_view name) const {
  return std::any_of(query.begin(), query.end(),
                     [name](const auto& pair) { return pair.first == name; });
}

base::Result<Target> ParseTarget(std::string_view target) {
  target = target.substr(0, target.find('#'));
  Target parsed;
  const std::size_t question = std::min(target.find('?'), target.size());
  parsed.path = target.substr(0, question);
  if (!parsed.path.starts_with('/')) {
    base::Error error = Invalid("request target", target, "does not start with \"/\"");
    error.code = base::ErrorCode::kMalformed;
    return error;
  }
  auto segments = ParseSegments(parsed.path);
  if (!segments) return segments.error();
  parsed.segments = std::move(*segments);
  if (question == target.size()) return parsed;
  auto query = ParseQuery(target.substr(question + 1));
  if (!query) return query.error();
  parsed.query = std::move(*query);
  return parsed;
}

}  // namespace http
