#pragma once

// Internal to pkg/http. Brings up a connection to the client's server: name look-up, TCP to each
// address in turn, the proxy, TLS. Several dials may be under way at once.

#include <memory>
#include <optional>

#include "pkg/http/client.h"
#include "pkg/http/connection.h"

namespace http {

class Dialer {
 public:
  Dialer(base::asio::any_io_executor executor, Url server, std::optional<Url> proxy);
  // Errors: kInvalidArgument; the old certificates stay in use.
  base::Result<void> SetTls(const TlsOptions& options);

  // Errors: kUnavailable, kTimeout, kTls, kCancelled, naming host and port.
  base::Task<base::Result<std::unique_ptr<Connection>>> Dial(base::TimePoint deadline);
  // Requests go to an http proxy whole, with the server in their target.
  [[nodiscard]] bool absolute_targets() const;

 private:
  base::Task<base::Result<std::unique_ptr<Connection>>> ConnectTcp(Url to,
                                                                   base::TimePoint deadline);
  base::Task<base::Result<void>> PassProxy(Connection& connection, base::TimePoint deadline);

  base::asio::any_io_executor executor_;
  Url server_;
  std::optional<Url> proxy_;
  std::shared_ptr<const TlsContext> tls_;        // null until SetTls, and for plain http
  std::shared_ptr<const TlsContext> proxy_tls_;  // the same trust, without our certificate
  std::string server_name_;                      // what the server's certificate must be for
};

}  // namespace http
