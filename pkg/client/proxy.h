#pragma once

// The proxy for a server, from the environment: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in upper or
// lower case, as in Go's net/http. Pure; any thread.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/base/error.h"
#include "pkg/http/message.h"

namespace client {

// Returns the value of an environment variable; nullopt if it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;
// Reads this process's environment.
std::optional<std::string> ProcessEnvironment(std::string_view name);

// nullopt: connect directly. Loopback servers never use a proxy of the environment. Errors:
// kInvalidArgument, naming the variable, if the proxy URL does not parse.
base::Result<std::optional<http::Url>> ProxyFromEnvironment(const http::Url& server,
                                                            const Environment& environment);

// True if `list` contains the server. Its entries are names, .suffixes, addresses and CIDRs, each
// with an optional port, or "*".
bool MatchesNoProxy(const http::Url& server, std::string_view list);

// Parses a proxy URL: http, https or socks5; http without a scheme. Errors: kInvalidArgument.
base::Result<http::Url> ParseProxyUrl(std::string_view text);

}  // namespace client
