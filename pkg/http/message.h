#pragma once

// HTTP/1.1 requests and responses as values, for our client and our server. No I/O here.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/base/error.h"

namespace http {

// Field names are case-insensitive; order is kept; a name may occur several times.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> fields) : fields_(fields) {}
  void Add(std::string_view name, std::string_view value);
  void Set(std::string_view name, std::string_view value);  // replaces all of that name
  void Remove(std::string_view name);
  [[nodiscard]] std::string_view Get(std::string_view name) const;  // the first; "" if absent
  [[nodiscard]] bool Has(std::string_view name) const;
  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct Request {
  std::string method = "GET";
  std::string target = "/";  // path and query, already percent-encoded
  Headers headers;
  std::string body;
  // Of a client, instead of ClientOptions::max_body_bytes.
  std::optional<std::size_t> max_answer_bytes{};
};

struct Response {
  int status = 200;
  Headers headers;
  std::string body;
};

struct Url {
  std::string scheme;  // "http", "https", "socks5"
  std::string host;    // without brackets, also for IPv6
  std::uint16_t port = 0;
  std::string path;      // prefix without trailing slash, "" for none
  std::string username;  // for proxies
  std::string password;
  // "host:port", brackets around IPv6: for CONNECT and messages.
  [[nodiscard]] std::string Authority() const;
  // The same without the default port of the scheme, as other clients send it: some proxies before
  // a server compare its name literally.
  [[nodiscard]] std::string HostField() const;
};

// Parses "https://10.0.0.1:6443/prefix". A missing port is the scheme's default. Errors:
// kInvalidArgument.
base::Result<Url> ParseUrl(std::string_view text);
// For messages about a text that should be a URL, and may not parse: everything that may be a user
// name or a password is replaced by "***".
std::string WithoutCredentials(std::string_view url);

// Percent-encodes everything but unreserved characters (RFC 3986).
std::string EncodeComponent(std::string_view text);
base::Result<std::string> DecodeComponent(std::string_view text, bool plus_is_space);

using Query = std::vector<std::pair<std::string, std::string>>;
// "a=b&c=d", encoded; "" for none.
std::string EncodeQuery(const Query& query);

// A request target, split and decoded, for routing.
struct Target {
  std::vector<std::string> segments;  // decoded, without empty ones
  std::string path;                   // as sent, without the query
  Query query;
  [[nodiscard]] std::string_view Get(std::string_view name) const;  // first value; "" if absent
  [[nodiscard]] bool Has(std::string_view name) const;
};
base::Result<Target> ParseTarget(std::string_view target);

}  // namespace http
