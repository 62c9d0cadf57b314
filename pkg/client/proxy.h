#pragma once

// Which proxy the environment names for a server: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in upper or
// lower case, read as Go's net/http does. Pure; any thread.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/base/error.h"
#include "pkg/http/message.h"

namespace client {

// The value of an environment variable; nullopt if it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;
// The process's own.
std::optional<std::string> ProcessEnvironment(std::string_view name);

// nullopt: connect directly. Loopback servers never go through a proxy of the environment.
// Errors: kInvalidArgument, naming the variable, for a proxy URL that does not parse.
base::Result<std::optional<http::Url>> ProxyFromEnvironment(const http::Url& server,
                                                            const Environment& environment);

// True if `list` (names, .suffixes, addresses, CIDRs, each perhaps with a port, or "*") holds the
// server.
bool MatchesNoProxy(const http::Url& server, std::string_view list);

// A proxy's URL: http, https or socks5; without a scheme it is http. Errors: kInvalidArgument.
base::Result<http::Url> ParseProxyUrl(std::string_view text);

}  // namespace client
