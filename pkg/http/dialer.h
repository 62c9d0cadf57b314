#pragma once

// Internal to pkg/http. Opens a connection to the client's server: name look-up, TCP to each
// address in turn, the proxy, TLS. Several may be opened at once.

#include <memory>
#include <optional>

#include "pkg/http/client.h"
#include "pkg/http/connection.h"
#include "pkg/http/resolve.h"

namespace http {

class Dialer {
 public:
  Dialer(base::asio::any_io_executor executor, Url server, std::optional<Url> proxy);
  // Errors: kInvalidArgument; the old certificates stay in use.
  base::Result<void> SetTls(const TlsOptions& options);

  // Connects to the server, or to the proxy. Errors: kUnavailable, kTimeout, kCancelled, naming
  // host and port.
  base::Task<base::Result<std::unique_ptr<Connection>>> Connect(base::TimePoint deadline);
  // Speaks with the proxy, and shakes hands with the server: then the connection takes requests. It
  // must outlive the task. Errors: those, and kTls.
  base::Task<base::Result<void>> Prepare(Connection& connection, base::TimePoint deadline);
  // True if requests go to an http proxy unchanged, with the server in their target.
  [[nodiscard]] bool absolute_targets() const;

 private:
  base::Task<base::Result<void>> PassProxy(Connection& connection, base::TimePoint deadline);

  base::asio::any_io_executor executor_;
  Url server_;
  std::optional<Url> proxy_;
  Resolver resolver_;                            // of the proxy, or else of the server
  std::shared_ptr<const TlsContext> tls_;        // null before SetTls(), and for plain http
  std::shared_ptr<const TlsContext> proxy_tls_;  // the same trust, without our certificate
  std::string server_name_;                      // the name that the server's certificate must have
};

}  // namespace http
