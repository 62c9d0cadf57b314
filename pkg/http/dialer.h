#pragma once

// Internal to pkg/http. Opens a connection to the client's server: name look-up, TCP to each
// address in turn, the proxy, TLS. Several dials may run at once.

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

  // Errors: kUnavailable, kTimeout, kTls, kCancelled, naming host and port.
  base::Task<base::Result<std::unique_ptr<Connection>>> Dial(base::TimePoint deadline);
  // True if requests go to an http proxy unchanged, with the server in their target.
  [[nodiscard]] bool absolute_targets() const;

 private:
  base::Task<base::Result<std::unique_ptr<Connection>>> ConnectTcp(base::TimePoint deadline);
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
